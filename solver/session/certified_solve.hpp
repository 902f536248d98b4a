// The passes of a solve: CG by the fast path, the certificate by the plain path. Private to this folder.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"
#include "solver/checkpoint/checkpoints.hpp"
#include "solver/krylov/even_odd.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// What the passes work with. The session owns it.
struct CertifiedWork {
  const Communicator& communicator;
  OperatorLinks links;  // fp64, uncompressed: those of the certificate, on the host or, as all fields, on the GPU
  const Boundary& boundary;
  Precision precision;                 // of the fast path
  EvenOddPass& pass;                   // the fast path
  VectorField& residual;               // work space of the certificate
  const bool* interrupted = nullptr;   // see CgStop
  Checkpoints* checkpoints = nullptr;  // of this solve, if it has any
  Deflation* deflation = nullptr;      // see CgStop
  std::function<void()> pack_links;    // again, from those of the certificate; collective
};

// The largest factor by which one pass is asked to reduce the residual. Rounding in its precision does not allow more.
double reduction_per_pass(Precision precision);

// CG aims a little lower than the tolerance, so that rounding does not cost a second pass.
constexpr double aim_of_pass = 0.999;

struct CertifiedSolve {
  std::string loop, precise_loop, took_over;  // as in the report
  std::vector<RhsReport> rhs;                 // complete but for the colour of the source
  // CG iterations as the wall clock saw them: the most of any right-hand side in each pass, summed over passes.
  long cg_iterations = 0;
  // Seconds of this rank: in CG, in the plain residuals, and in converting vectors to the kernels' form and back.
  double cg_seconds = 0, certify_seconds = 0, convert_seconds = 0;
  SolveReport::Faults faults;
  SpectrumEstimate spectrum;  // of all right-hand sides and passes together
  std::optional<CheckpointSummary> checkpoint;
};

// Solves for every source, from the guesses in `solutions`, which hold the solutions afterwards. `b2` holds |b|^2 of
// every source on the sites of the system; of a source that is zero there the solution is zero, on these sites. Sources
// and solutions are in CPS phases, and lie where the links of the certificate lie. Collective.
CertifiedSolve certified_solve(const CertifiedWork& with, const SolveRequest& request,
                               std::span<const VectorField> sources, std::span<const double> b2,
                               std::span<VectorField> solutions,
                               const std::function<void(const CgProgress&)>& progress);

}  // namespace staghorn
