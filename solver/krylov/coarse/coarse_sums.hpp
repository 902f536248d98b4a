// Dot products of vectors on a grid of blocks: within a block in one order, over blocks exactly. The same bits on any
// ranks and threads.
#pragma once

#include <span>
#include <vector>

#include "dirac/algebra/su3.hpp"
#include "halo/communicator.hpp"
#include "solver/krylov/coarse/coarse_vector.hpp"

namespace staghorn {

// (a_k, b) for each vector a_k and right-hand side of b: [k][right-hand side]. An a_k of one right-hand side serves all
// of b. `about`: the sizes of the results, for the grids of the sums, alike on all ranks; one message, or three where one is far
// too small. Empty: two messages. Collective.
std::vector<Complex<double>> coarse_dots(const Communicator& communicator, std::span<const CoarseVector* const> a,
                                         const CoarseVector& b, std::span<const double> about = {});
// v += factor w for each right-hand side; a w of one serves all of v. Local.
void add_scaled(std::span<const Complex<double>> factor, const CoarseVector& w, CoarseVector& v);

}  // namespace staghorn
