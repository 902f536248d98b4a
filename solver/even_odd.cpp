#include "solver/even_odd.hpp"

#include <cmath>

#include "solver/cublas_conjugate_gradient.hpp"
#include "solver/reliable_updates.hpp"

namespace staghorn {

EvenOddPass::EvenOddPass(StaggeredOperator& d, StaggeredOperator* sloppy, const Cublas* cublas, double mass,
                         System system)
    : d_(d),
      sloppy_(sloppy),
      cublas_(cublas),
      mass_(mass),
      system_(system),
      parity_(system == System::odd ? Parity::odd : Parity::even),
      scale_(std::size_t(d.options().n_rhs), 1),
      x_(d.make_vector()),
      b_(d.make_vector()) {
  if (system == System::full) other_.emplace(d.make_vector());
}

void EvenOddPass::set_source(int rhs, VectorField b, double norm) {
  const double scale = std::ldexp(1.0, -std::ilogb(norm));
  scale_[std::size_t(rhs)] = scale;
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < b.size(); ++site)
    for (Complex<double>& c : b[site].c) c = {scale * c.re, scale * c.im};
  b_.pack(parity_, rhs, b);
  if (other_) other_->pack(opposite(parity_), rhs, b);
}

std::vector<CgColumn> EvenOddPass::solve(std::vector<double> target_norm, long max_iterations,
                                         const std::function<void(const CgProgress&)>& progress) {
  const double two_m = 2 * mass_;
  // |r| of CG = norm_of_cg |b - M x|
  const auto norm_of_cg = [&](std::size_t rhs) { return scale_[rhs] * (other_ ? two_m : 1); };

  if (other_) {
    d_.hop(x_, *other_, parity_);   // D_eo b_o
    d_.combine(-1, x_, two_m, b_);  // b' = 2m b_e - D_eo b_o
    x_.set_zero();
  }

  CgStop stop;
  stop.max_iterations = max_iterations;
  for (std::size_t i = 0; i < target_norm.size(); ++i) stop.target_norm.push_back(target_norm[i] * norm_of_cg(i));
  std::vector<CgColumn> columns =
      sloppy_   ? reliable_conjugate_gradient(d_, *sloppy_, mass_, parity_, x_, b_, stop, {}, progress)
      : cublas_ ? cublas_conjugate_gradient(*cublas_, d_, mass_, parity_, x_, b_, stop, progress)
                : conjugate_gradient(d_, mass_, parity_, x_, b_, stop, progress);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i].residual_norm /= norm_of_cg(i);
    for (double& norm2 : columns[i].history) norm2 /= norm_of_cg(i) * norm_of_cg(i);
  }

  if (other_) {
    d_.hop(b_, x_, opposite(parity_));               // D_oe x_e; b' is not needed any more
    d_.combine(-1 / two_m, b_, 1 / two_m, *other_);  // x_o = (b_o - D_oe x_e) / 2m
  }
  return columns;
}

void EvenOddPass::add_solution(int rhs, VectorField& x) const {
  const double scale = 1 / scale_[std::size_t(rhs)];  // exact
  VectorField correction(x.lattice());
  x_.unpack(parity_, rhs, correction);
  if (other_) other_->unpack(opposite(parity_), rhs, correction);
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < x.size(); ++site)
    for (int i = 0; i < 3; ++i) {
      x[site].c[i].re += scale * correction[site].c[i].re;
      x[site].c[i].im += scale * correction[site].c[i].im;
    }
}

std::int64_t EvenOddPass::vector_bytes() const {
  const auto bytes = [](const StaggeredOperator& d) {
    return std::int64_t{6} * d.layout().blocks() * d.layout().lanes() * d.options().n_rhs *
           bytes_per_real(d.options().precision);
  };
  const std::int64_t of_cg = sloppy_ ? 2 * bytes(d_) + 4 * bytes(*sloppy_) : (cublas_ ? 4 : 3) * bytes(d_);
  return (other_ ? 3 : 2) * bytes(d_) + of_cg;
}

}  // namespace staghorn
