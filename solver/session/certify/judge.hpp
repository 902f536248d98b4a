// The judge of a solution in one convention: mass, factor and sign of D are read off the fields, and the residual is
// computed by the functions that certify our own solves. Fields lie on the host. Collective.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "halo/communicator.hpp"
#include "solver/report/certify_report.hpp"

namespace staghorn {

// What is judged: solutions x and sources b of one system, as their files hold them.
struct JudgedFields {
  std::span<const VectorField> solutions, sources;
};

struct Judgement {
  Convention convention;                                      // with mass, factor and adjoint
  std::vector<double> residuals;                              // |b - M x| / |b| of each solution
  double residual = std::numeric_limits<double>::infinity();  // the largest
  double attainable = 0;  // relative residual that rounding of the numbers leaves: epsilon (|M| |x| + |b|) / |b|
  WorstSite worst;
};

// Judges b = alpha x + beta D x, or b = alpha x + gamma D^2 x where `trial` is squared: D is that of `links`, which are
// read as `trial` says, with its phases, origin and boundary. alpha, beta and gamma are fitted: D is anti-Hermitian, so
// x and D x are orthogonal and alpha = Re<x,b> / |x|^2, beta = Re<Dx,b> / |Dx|^2. From them follow factor, adjoint and
// mass. Both become numbers of few digits, and the mass becomes `mass`, half or twice of it, where this changes the
// residual by no more than `tolerance` and 1e-6.
Judgement judge(const Communicator& communicator, const OperatorLinks& links, const Convention& trial,
                const JudgedFields& fields, std::optional<double> mass, double tolerance, Precision stored);

// The residual in a convention with the factor, adjoint and mass that it names.
Judgement judge_as_named(const Communicator& communicator, const OperatorLinks& links, const Convention& convention,
                         const JudgedFields& fields, Precision stored);

}  // namespace staghorn
