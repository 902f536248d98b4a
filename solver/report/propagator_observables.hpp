// Numbers that physicists read off solutions of (2m + D) x = b. Every sum over sites is exact: the same bits on every
// process grid. Collective.
#pragma once

#include <span>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"
#include "solver/report/solve_report.hpp"

namespace staghorn {

// C(t) = sum_x |G(x,t)|^2, summed over the source colours (`solutions`, all of one source) and the sink colours: the
// Goldstone pion correlator. One number per global time slice t = 0 .. T-1, not shifted by the source's t.
std::vector<double> pion_correlator(const Communicator& communicator, std::span<const VectorField> solutions);

// The stochastic estimate of Tr M^-1 / V (colours summed): the mean over noise vectors of Re <eta, M^-1 eta> / V, and
// its standard error, sqrt(sum (v_i - mean)^2 / (n (n - 1))). The imaginary part vanishes on average, since the
// spectrum of D is imaginary and symmetric. `noise` and `solutions` are the sources eta and M^-1 eta, in the same
// order. `correction`, unless empty: what is added to the value of each noise vector.
CondensateEstimate estimate_condensate(const Communicator& communicator, std::span<const VectorField> noise,
                                       std::span<const VectorField> solutions, std::span<const double> correction = {});

// The pieces of both, for solutions that come one after the other. |x|^2 of each local site, added to what is there
// (empty: zeros); the sums of such numbers over each time slice; one value of the mean; the mean. All but
// time_slice_sums and trace_estimate are local.
void add_site_norms2(std::vector<double>& site_norms2, const VectorField& solution);
std::vector<double> time_slice_sums(const Communicator& communicator, const Lattice& lattice,
                                    std::span<const double> sites);
double trace_estimate(const Communicator& communicator, const VectorField& noise, const VectorField& solution);
CondensateEstimate condensate_of(std::span<const double> values);

}  // namespace staghorn
