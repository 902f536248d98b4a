// Polyakov loop and Wilson loops.
#pragma once

#include <complex>
#include <functional>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// Mean over space of tr prod_t U_t(x, t) / 3, periodic. fp64, exact sums: the same bits on every process grid and
// number of threads. Collective.
std::complex<double> polyakov_loop(const Communicator& communicator, const LinkField& links);
// The same of links anywhere: multiply(product) makes product[i] = U_t(0) U_t(1) ... product[i] with the links of this
// rank, i running through the sites of a time slice. Collective.
using SliceProduct = std::vector<ColorMatrix<double>>;
std::complex<double> polyakov_loop(const Communicator& communicator, const Lattice& lattice,
                                   const std::function<void(SliceProduct& product)>& multiply);

// W[(r-1) times + t-1] = mean over sites and the directions i = x, y, z of Re tr W_i(r, t) / 3, for r = 1 ...
// `distances` and t = 1 ... `times`. W_i(r, t) is the product of links around r sites in i and t sites in time. Sums as
// above. Takes 576 + 288 `times` bytes a site. Collective.
std::vector<double> wilson_loops(const Communicator& communicator, const LinkField& links, int distances, int times);

}  // namespace staghorn
