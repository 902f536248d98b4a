// What a Krylov solver is given, and what it gives back: one interface for all of them (table/solver_table.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dirac/fields/color_vector_field.hpp"
#include "dirac/operators/staggered_operator.hpp"
#include "solver/krylov/cg_progress.hpp"
#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/loop_form.hpp"
#include "solver/krylov/stop_rule.hpp"
#include "solver/report/cg_spectrum.hpp"

namespace staghorn {

class Archive;
class Deflation;
class SearchKeeper;

// A x = b on the sites of one parity, where A = shift - D^2. A is Hermitian and positive for shift > 0.
struct ParitySystem {
  StaggeredOperator& d;
  Parity parity;
  double shift;
};
// The system of a mass: shift = 4 m^2.
inline ParitySystem parity_system(StaggeredOperator& d, Parity parity, double mass) {
  return {d, parity, 4 * mass * mass};
}

// r -= A x for each right-hand side, with tmp = D x; returns |r|^2. Collective.
inline std::vector<double> subtract_product(const ParitySystem& system, const ColorVectorField& x, ColorVectorField& r,
                                            ColorVectorField& tmp, std::span<ExactSum> sums) {
  const auto& [d, parity, shift] = system;
  d.hop(tmp, x, opposite(parity));
  return d.update_residual(r, x, tmp, parity, shift, std::vector<double>(sums.size(), 1), sums);
}

// r = b - A x in the same way. Collective.
inline std::vector<double> residual(const ParitySystem& system, const ColorVectorField& x, const ColorVectorField& b,
                                    ColorVectorField& r, ColorVectorField& tmp, std::span<ExactSum> sums) {
  r.copy_from(b);
  return subtract_product(system, x, r, tmp, sums);
}

// A target norm that every residual meets: its right-hand side stays as it is.
constexpr double met_at_once = std::numeric_limits<double>::infinity();

struct CgStop {
  std::vector<double> target_norm;  // for each right-hand side: stop when |r| <= target_norm (absolute)
  long max_iterations = no_limit;
  // Of each right-hand side, with those that a loop that goes on has done; empty: no limit of its own.
  std::vector<long> most_iterations{};
  // About |b|^2 of each right-hand side, for the grid of its exact sum. Empty: about 1.
  std::vector<double> source_norm2{};
  long stagnation_window =
      1000;  // of the stop rule (stop_rule.hpp); 0: nothing but targets and numbers ends the search
  // The window is the iteration bound of each right-hand side where that is larger (report/cg_spectrum.hpp).
  bool patient = false;
  LoopChoice choice = LoopChoice::automatic;
  long most_of(std::size_t i) const {
    return most_iterations.empty() ? std::numeric_limits<long>::max() : most_iterations[i];
  }
  bool until_first = false;  // return as soon as the first active right-hand side is done
  // The first search direction is not the residual: the coefficients are not those of A, and give no bound.
  bool restarted = false;
  // `show` sets it where the caller wants no more iterations, on all ranks alike. What is not done is out of
  // iterations.
  const bool* interrupted = nullptr;
  bool is_interrupted() const { return interrupted && *interrupted; }
  // If set, the solver hands over its state when asked to, and goes on from a state that is kept
  // (search/search_keeper.hpp).
  SearchKeeper* keeper = nullptr;
  // If set: the solver takes known eigenvectors of the system out of its residual. Solvers that cannot are wrapped by
  // one that can (deflated_solver.hpp).
  Deflation* deflation = nullptr;
};

// Exact sums that expect the norms of the sources.
inline std::vector<ExactSum> sums_of_sources(const CgStop& stop) {
  std::vector<ExactSum> sums(stop.target_norm.size(), ExactSum(1));
  for (std::size_t i = 0; i < stop.source_norm2.size(); ++i) sums[i] = sum_near(stop.source_norm2[i]);
  return sums;
}

std::string to_string(CgOutcome outcome);
void parse(const std::string& text, CgOutcome& outcome);  // throws Error naming the choices

struct SolvedRhs {  // one right-hand side
  CgOutcome outcome = CgOutcome::out_of_iterations;
  long iterations = 0;
  double residual_norm = 0;        // |r| as iterated, absolute
  std::vector<double> history;     // |r|^2 before the first and after each iteration
  std::vector<double> steps;       // alpha of each iteration; empty where a solver does not keep them
  std::vector<long> updates;       // iterations after which the residual was recomputed in higher precision
  std::vector<double> mismatches;  // |r - r as iterated| / |r| at each of them, where a solver knows it
  void visit(const Archive& archive);
};

struct CgResult {
  std::vector<SolvedRhs> rhs;
  LoopForm form = LoopForm::host;              // what the iterations ran as
  std::optional<LoopForm> precise_form;        // mixed precision: the form of iterations in high precision, if any ran
  const ColorVectorField* hop_of_x = nullptr;  // D x where the solver has it; valid until its next solve
  std::string took_over{};  // block CG: which solver went on in its place, when and why; "" where it finished itself
};

using ShowProgress = std::function<void(const CgProgress&)>;

class KrylovSolver {
 public:
  virtual ~KrylovSolver() = default;

  // Solves A x = b from x = 0, which `x` must hold, until every right-hand side meets its target. Right-hand sides that
  // are done no longer change. Non-convergence is a result, not an exception. `show`, if set, is called on every rank
  // after each iteration, or on a GPU after some of them. Collective.
  virtual CgResult solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                         const ShowProgress& show) = 0;

  // Of its vectors, without x and b; this rank. table/solver_table.hpp predicts this number.
  virtual std::int64_t bytes() const = 0;
};

}  // namespace staghorn
