// Solving in the space of known eigenvectors at once: what they say of A x = r, A = shift - D^2, costs two passes over
// them instead of many iterations. One object for any Krylov method, shift and parity.
//
//   even sites   x = V diag(1 / (lambda + shift)) V^+ r
//   odd sites    x = D_oe V diag(1 / (lambda (lambda + shift))) V^+ (D_oe)^+ r,   (D_oe)^+ = -D_eo
//
// On odd sites D_oe v / sqrt(lambda) are the eigenvectors, so those of even sites serve both. A pair with lambda = 0
// has no partner on odd sites and is left out there. D_oe makes what rounding has left in V large, for it lies all over
// the spectrum. Where V has 16 bits it is damped before: V diag(w) becomes T(K) V diag(w / T(lambda)), and V^+ becomes
// diag(1 / T(lambda)) V^+ T(K), with a Chebyshev polynomial of low degree that is small on all but the lowest part of
// the spectrum.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "dirac/algebra/complex_matrix.hpp"
#include "dirac/operators/staggered_operator.hpp"
#include "dirac/operators/vector_algebra.hpp"
#include "solver/eigen/chebyshev_filter.hpp"
#include "solver/eigen/eigenpair_certificate.hpp"

namespace staghorn {

struct KernelTable;

class Deflation {
 public:
  static constexpr int most_rhs = VectorAlgebra::max_columns;

  // For operators with the links and boundary of the pairs, on the device of `kernels`, where the pairs lie or which
  // reads them from pinned memory. The pairs keep their layout. `communicator` must outlive the object. Local.
  Deflation(const Communicator& communicator, Eigenpairs pairs, const KernelTable& kernels);

  const Eigenpairs& pairs() const { return pairs_; }
  Parity parity() const { return pairs_.parity; }
  Precision precision() const { return pairs_.blocks.front().precision(); }
  // Whether projections on this parity may use T. They put the residual of some low modes into others, so a search for
  // the solution begins anew after them, and they are needed each time the residual has fallen by damped_drop. Local.
  bool damps(Parity parity) const { return damps(precision(), parity != pairs_.parity); }
  static bool damps(Precision of_pairs, bool on_the_other_parity) {
    return on_the_other_parity && of_pairs == Precision::fp16;
  }
  static constexpr double damped_drop = 3e-3;
  // See certify_eigenpairs: values become those of the vectors. And their order. Before any use. Collective.
  EigenpairCertificate certify(const OperatorLinks& links, const Boundary& boundary) {
    return certify_eigenpairs(communicator_, links, boundary, algebra_, pairs_, Eigenvalues::recomputed);
  }
  void sort_by_value() { staghorn::sort_by_value(communicator_, pairs_); }

  // correction = the x above, for the right-hand sides that are `active`; zero for the others. Each right-hand side has
  // the bits that it would have alone. `r` and `correction` are fields of `d`, at most most_rhs right-hand sides, on
  // the sites of `parity`. r is rounded to the precision of the pairs. Reads all vectors twice. Collective.
  void project(StaggeredOperator& d, Parity parity, double shift, const ColorVectorField& r,
               std::span<const char> active, ColorVectorField& correction);

  // The two halves of that, for several shifts at once: V^+ r, or on odd sites V^+ (D_oe)^+ r; then the field
  //   V diag(weight(lambda)) C,   on odd sites D_oe V diag(weight(lambda) / lambda) C.
  // The weight 1 gives the part of r in the space of the vectors. Collective.
  ComplexMatrix coefficients(StaggeredOperator& d, Parity parity, const ColorVectorField& r);
  void combine(StaggeredOperator& d, Parity parity, const ComplexMatrix& coefficients,
               const std::function<double(double lambda)>& weight, ColorVectorField& result);

  // V^+ times the sites of a plain field that have the parity of the pairs, rounded to their precision. The field lies
  // on the host, or where the pairs lie. Counts as no use. Collective.
  std::vector<Complex<double>> components(const VectorField& field);

  // What it has been used for since reset_use: passes V^+ r, and the seconds of this rank.
  struct Use {
    long projections = 0;
    double seconds = 0;
  };
  const Use& use() const { return use_; }
  void reset_use() { use_ = {}; }

  // Of the pairs, and of the work space of the last call, this rank. Before anything is made, the work space is this
  // many vectors, in the precision of the pairs.
  std::int64_t pair_bytes() const { return pairs_.bytes(); }
  std::int64_t work_bytes() const { return work_ ? work_->in.bytes() + work_->out.bytes() : 0; }
  static int work_vectors(int n_rhs) { return 2 * n_rhs; }

 private:
  // Fields of n_rhs right-hand sides in the precision of the pairs.
  struct Work {
    ColorVectorField in, out;
  };
  Work& work(int n_rhs);
  // T(lambda) where projections on this parity use T, else 1; v = T(K) v on the parity of the pairs. Collective.
  double damping(StaggeredOperator& d, Parity parity, double lambda);
  void damp(StaggeredOperator& d, ColorVectorField& v);
  const std::optional<ChebyshevFilter>& filter(StaggeredOperator& d);  // T, none where it would damp nothing
  std::optional<ChebyshevFilter> make_filter(StaggeredOperator& d) const;
  ComplexMatrix products(const ColorVectorField& r);  // V^+ r, in the precision of the pairs

  const Communicator& communicator_;
  Eigenpairs pairs_;
  MemorySpace space_;
  VectorAlgebra algebra_;
  ColumnScales scales_;       // of the vectors; settled by the first product
  std::optional<Work> work_;  // of the last call
  // T, and the numbers and links of the operator that found the end of its spectrum: for another it is made anew, so
  // that no bit depends on earlier solves.
  std::optional<ChebyshevFilter> filter_;
  std::optional<std::tuple<Precision, Reconstruct, Reconstruct>> filter_of_;
  Use use_;
};

}  // namespace staghorn
