// One pass of even-odd Conjugate Gradient at the precision of the operator: an approximate solution of
//   M x = b:  A x_e = 2m b_e - D_eo b_o,  then  x_o = (b_o - D_oe x_e) / 2m    [DeGrand & Rossi 1990]
//   A x = b:  on the sites of one parity; the other sites are neither read nor changed.
// For M the odd equation holds exactly, so the full residual is |b - M x| = |b' - A x_e| / 2m. Norms here are of the
// residual of the system that was asked for, M x = b or A x = b.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "solver/krylov/krylov_solver.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

class EvenOddPass {
 public:
  // Makes its vectors, of d.n_rhs() right-hand sides each; all solves use them. `solver` solves systems of `d`; it may
  // be empty, and then `solve` may not be called. `d` must outlive the pass. Local.
  EvenOddPass(StaggeredOperator& d, std::unique_ptr<KrylovSolver> solver, LoopChoice choice);

  // Runs one iteration on zeros. A GPU then has its kernels, graphs and buffers before a solve is timed. Collective.
  void rehearse(System system);

  // Begins a pass: no right-hand side has a source. The first pass for the full system makes one more vector. Local.
  void begin(double mass, System system);

  // Takes a source of norm |b|, scales it to about 1 by a power of two (which changes no bit of a mantissa) and rounds
  // it to the precision of the operator. A right-hand side without a source stays zero. With a tiny or huge mass it is
  // the source of A x = b that is scaled to about 1. Collective.
  void set_source(int rhs, const VectorField& b, double norm);
  // Solves from a zero guess until |b - M x| <= target_norm (absolute) for every right-hand side. Collective.
  // `interrupted`, `keeper`, `deflation`: see CgStop.
  CgResult solve(std::vector<double> target_norm, long max_iterations, const ShowProgress& show,
                 const bool* interrupted = nullptr, SearchKeeper* keeper = nullptr, Deflation* deflation = nullptr);
  // The two ends of `solve`, where something else solves A x = b in between. `prepare` makes b in place of the sources;
  // x is zero. `complete` takes what solved it did for each right-hand side: the other parity gets its solution, and
  // norms become those of the system that was asked for. Collective.
  void prepare();
  void complete(CgResult& result);
  ColorVectorField& x() { return x_; }
  const ColorVectorField& b() const { return b_; }
  // Whether the next `solve` is patient (CgStop); `begin` ends that. Local.
  void be_patient(bool patient) { patient_ = patient; }
  bool is_patient() const { return patient_; }
  // About |b|^2 of each right-hand side of A x = b, for the grid of its exact sum; empty: about 1. Of a full system
  // with a small mass, whose b' = 2m b_e can be tiny. After `prepare`.
  std::span<const double> source_norm2() const { return source_norm2_; }
  // |r| of A x = b is this times |b - M x|.
  double norm_of_cg(int rhs) const { return scale_[std::size_t(rhs)] * (system_ == System::full ? 2 * mass_ : 1); }

  // x += the solution, in double precision. Local.
  void add_solution(int rhs, VectorField& x) const;

  // x_o = (b_o - D_oe x_e) / 2m of each source, whose solution has even sites already and none but zeros on odd ones.
  // Collective.
  void complete(double mass, std::span<const VectorField> sources, std::span<VectorField> solutions);

  std::int64_t vector_bytes() const;  // of all vectors, those of the solver included; this rank

 private:
  void complete_odd_sites(const ColorVectorField* d_oe_x_e);
  void measure_sources();

  StaggeredOperator& d_;
  std::unique_ptr<KrylovSolver> solver_;
  LoopChoice choice_;
  double mass_ = 0;
  System system_ = System::even;
  Parity parity_ = Parity::even;           // where CG works
  std::vector<double> scale_;              // of each right-hand side: x_ and b_ hold scale times the real thing
  ColorVectorField x_, b_;                 // on parity_
  std::optional<ColorVectorField> other_;  // on the other parity: b_o, then x_o; once the full system was asked for
  bool other_has_source_ = false;          // some b_o is not 0, here
  bool patient_ = false;
  std::vector<char> has_source_;  // of each right-hand side
  std::vector<double> source_norm2_;
};

}  // namespace staghorn
