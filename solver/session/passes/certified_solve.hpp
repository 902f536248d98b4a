// The passes of a solve: CG by the fast path, the certificate by the plain path. Private to this folder.
#pragma once

#include <functional>
#include <limits>
#include <optional>
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
  std::function<void()> pack_links{};  // again, from those of the certificate, for requests that recover; collective
};

// The largest factor by which one pass is asked to reduce the residual. Rounding in its precision does not allow more.
double reduction_per_pass(Precision precision);

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

// What the passes remember of one right-hand side.
struct PassMemory {
  std::optional<Outcome> outcome;  // set when the right-hand side is done
  double previous_residual = std::numeric_limits<double>::infinity();
  double previous_hq = std::numeric_limits<double>::infinity();
  bool broke_down = false;
  int passes = 0;        // that CG has made
  bool gave_up = false;  // CG stagnated in the last one
  bool patient = false;  // the pass after one without gain is the last: CG is given longer to stand
  void visit(const Archive& archive);
};

// The passes of one solve: certify and iterate take turns until certify finds nothing left.
class Passes {
 public:
  // Arguments as those of certified_solve. All must outlive the object. Collective.
  Passes(const CertifiedWork& with, const SolveRequest& request, std::span<const VectorField> sources,
         std::span<const double> b2, std::span<VectorField> solutions, std::span<const SolvedRhs> shifts = {});

  // Computes the true residual of every right-hand side that is not done, decides which of them are done now, and hands
  // the residuals of the others to the pass as its sources. Returns whether there are others. Collective.
  bool certify();

  // Runs CG on what `certify` handed over, and adds its solutions. Collective.
  void iterate(const std::function<void(const CgProgress&)>& progress);
  // The same where something else has solved what was handed over, for these targets of |b - M x|, within so many
  // iterations. Local.
  std::span<const double> targets() const { return target_; }
  long iterations_left() const { return iterations_left_; }
  void add(const CgResult& cg, double seconds);

  // Outcomes and norms of all right-hand sides, once none is left. Collective.
  CertifiedSolve result();

  // What the passes knew before the certificate of the pass that runs. A solve that goes on computes that certificate
  // again. Local.
  void visit(const Archive& archive);

 private:
  void judge(std::size_t i);
  bool is_fault(std::size_t i) const;
  void go_back(std::size_t i);
  void keep_good(std::size_t i);
  void solve_zero_source(std::size_t i);
  double residual_norm2(std::size_t i);  // of the plain path; the residual itself is in with_.residual

  const CertifiedWork& with_;
  const SolveRequest& request_;
  double tolerance_;
  std::span<const VectorField> sources_;
  std::span<const double> b2_;
  std::span<VectorField> solutions_;
  bool from_zero_ = false;  // of the last true residual, and its squared norm
  double r2_ = 0;
  std::vector<std::optional<VectorField>> good_;  // solutions before the last pass, to go back to; empty: zero
  std::vector<PassMemory> memory_, before_;       // before_: before the last certificate
  CertifiedSolve done_;
  // Of the next pass: absolute targets, iterations that are left, and the factor from the ratio that CG shows, which is
  // relative to its target, to a ratio relative to the tolerance.
  std::vector<double> target_;
  long iterations_left_ = 0;
  double scale_ = 0;
};

// Solves for every source, from the guesses in `solutions`, which hold the solutions afterwards. `b2` holds |b|^2 of
// every source on the sites of the system; of a source that is zero there the solution is zero, on these sites. Sources
// and solutions are in CPS phases, and lie where the links of the certificate lie. `shifts`: what multi-shift CG did
// before for each source. Reports begin with it; the limit of iterations does not count it. Collective.
CertifiedSolve certified_solve(const CertifiedWork& with, const SolveRequest& request,
                               std::span<const VectorField> sources, std::span<const double> b2,
                               std::span<VectorField> solutions, const std::function<void(const CgProgress&)>& progress,
                               std::span<const SolvedRhs> shifts = {});

}  // namespace staghorn
