// Vector currents whose quark and antiquark stand links apart. D has no factor 1/2, and neither have these.
//
// The conserved current of M = 2m + D, for fields with (2m - D) phi = c and (2m + D) psi = b, is
//
//   J_mu(x) = j1(x) + j3(x) + j3(x-mu) + j3(x-2mu)
//   j1(x)   = eta_mu(x) [phi^dagger(x) F_mu(x) psi(x+mu) + (F_mu(x) phi(x+mu))^dagger psi(x)]
//
// and j3 is j1 with the Naik links, their coefficient and x+3mu. On every configuration, at each site,
//
//   sum_mu [J_mu(x) - J_mu(x-mu)] = phi^dagger(x) b(x) - c^dagger(x) psi(x)            (Ward identity).
//
// It follows from multiplying the equations of phi and psi: each term of D stands once on either side of a link.
#pragma once

#include "solver/observables/observable_table.hpp"
#include "solver/request/mesons/meson_list.hpp"

namespace staghorn {

// J_mu at each site of this rank. Fields and links on the host, in the phases of CPS. The same bits on every process
// grid. Collective.
SiteField<Complex<double>> conserved_current(const Communicator& communicator, const OperatorLinks& links,
                                             const Boundary& boundary, int mu, const VectorField& phi,
                                             const VectorField& psi);

// The density of a current at each site, for an antiquark G1 and a quark G2, both solutions of (2m + D) G = b. With
// eps(x) = (-1)^(x+y+z+t), x counted from `origin`:
//   conserved   J_mu of phi = eps G1, psi = G2;
//   forward     G1^dagger(x) eps(x) eta_mu(x) L_mu(x) G2(x+mu), L the thin or the fat links;
//   backward    [eps(x) (eta_mu L_mu)^dagger(x-mu) G1(x-mu)]^dagger G2(x);
//   both        half the sum of these two: those of MILC, which have no Naik part.
// Collective.
std::vector<Complex<double>> current_density(const Communicator& communicator, const MeasuredLinks& links,
                                             const LinkCurrent& current, const Coordinates& origin,
                                             const VectorField& antiquark, const VectorField& quark);

}  // namespace staghorn
