// Gathers the face sites of a colour-vector field into the send buffer of a FaceExchange.
#pragma once

#include <cstddef>

#include "dirac/algebra/precision.hpp"
#include "dirac/stencil/neighbour_table.hpp"

namespace staghorn {

// Writes all faces in order, lane-blocked like the field itself: faces.blocks * n_rhs V vectors. Local.
void pack_faces(const FaceSites& faces, int lanes, Precision precision, int n_rhs, const void* field, std::byte* send);

}  // namespace staghorn
