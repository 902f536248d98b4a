// Conjugate Gradient [Hestenes & Stiefel 1952] for A x = b, A = 4 m^2 - D^2 on the sites of one parity.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "dirac/fields/color_vector_field.hpp"
#include "dirac/operators/staggered_operator.hpp"
#include "solver/krylov/cg_progress.hpp"
#include "solver/krylov/loop_form.hpp"

namespace staghorn {

enum class CgOutcome { converged, out_of_iterations, stagnated, breakdown };

struct CgStop {
  std::vector<double> target_norm;  // per right-hand side: stop when |r| <= target_norm (absolute)
  long max_iterations = 10000;
  // Iterations without a new smallest residual after which a right-hand side counts as stagnated; 0 = never.
  long stagnation_window = 1000;
  LoopChoice kernels = default_loop_choice();
  bool until_first = false;  // stop as soon as one right-hand side that was not done at the start is
};

struct CgColumn {  // one right-hand side
  CgOutcome outcome = CgOutcome::out_of_iterations;
  long iterations = 0;
  double residual_norm = 0;     // |r| as iterated, absolute
  std::vector<double> history;  // |r|^2 before the first and after each iteration
  std::vector<long> updates;    // iterations after which the residual was recomputed in higher precision
  double direction_norm2 = 0;   // |p|^2, with which the search could go on
};

struct CgResult {
  std::vector<CgColumn> columns;         // one for each right-hand side
  LoopForm form = LoopForm::host;        // what the iterations ran as
  std::optional<LoopForm> precise_form;  // mixed precision: the same of iterations in the high precision, if any ran
};

struct CudaLoop;  // stream, buffers and graph of the loop on a GPU

// What CG works on besides x and b: made once, used by every solve on the same operator.
struct CgVectors {
  ColorVectorField r, p, tmp;
  std::shared_ptr<CudaLoop> loop = nullptr;  // kept from solve to solve
  explicit CgVectors(const StaggeredOperator& d) : r(d.make_vector()), p(d.make_vector()), tmp(d.make_vector()) {}
  std::int64_t bytes() const { return r.bytes() + p.bytes() + tmp.bytes(); }
};

// Solves A x = b from x = 0, which `x` must hold, until every right-hand side meets its target. Converged right-hand
// sides freeze; each column has the bits it would have alone. Collective; never throws for non-convergence.
// `progress`, if set, is called on every rank after each iteration.
CgResult conjugate_gradient(StaggeredOperator& d, double mass, Parity parity, ColorVectorField& x,
                            const ColorVectorField& b, CgVectors& work, const CgStop& stop,
                            const std::function<void(const CgProgress&)>& progress = {});

// The loop alone: r = b - A x and a search direction p are there, r2 = |r|^2 and p2 = |p|^2 known; tmp is work space.
// Leaves r and p as they are at the end. Calls with the same operator may share what a GPU needs set up, in `keep`,
// empty at first.
CgResult conjugate_gradient_loop(StaggeredOperator& d, double mass, Parity parity, ColorVectorField& x,
                                 ColorVectorField& r, ColorVectorField& p, ColorVectorField& tmp,
                                 std::vector<double> r2, std::vector<double> p2, const CgStop& stop,
                                 const std::function<void(const CgProgress&)>& progress = {},
                                 std::shared_ptr<CudaLoop>* keep = nullptr);

}  // namespace staghorn
