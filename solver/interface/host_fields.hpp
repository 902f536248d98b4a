// Fields of a host, in its layout and memory, to fields of the library and back. Local.
#pragma once

#include <staghorn.h>

#include <optional>

#include "dirac/fields/site_field.hpp"

namespace staghorn {

// Throws Error where the layout does not fit the lattice, or the memory is of a device that this context does not have.
void check_layout(const Lattice& lattice, int cuda_device, const staghorn_links& links);
void check_layout(const Lattice& lattice, int cuda_device, const staghorn_vectors& vectors);

// Links without phases, boundary or dagger.
void take_links(const staghorn_links& layout, const void* const u[4], LinkField& links);
void give_links(const staghorn_links& layout, const LinkField& links, void* const u[4]);

// Vectors in CPS phases, on the sites of `sites` or on all; other sites stay as they are. A half vector holds the sites
// of `sites`.
void take_vector(const staghorn_vectors& layout, std::optional<Parity> sites, const void* in, VectorField& vector);
void give_vector(const staghorn_vectors& layout, std::optional<Parity> sites, const VectorField& vector, void* out);

}  // namespace staghorn
