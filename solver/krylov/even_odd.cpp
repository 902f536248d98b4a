#include "solver/krylov/even_odd.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dirac/fields/plain_algebra.hpp"

namespace staghorn {

namespace {

// From here on |b'|^2 has all the bits of a double on a grid for numbers near 1.
constexpr double small_two_m = 0x1p-15;
// Beyond it A b' could leave the range of fp32.
constexpr double large_two_m = 0x1p30;

}  // namespace

EvenOddPass::EvenOddPass(StaggeredOperator& d, std::unique_ptr<KrylovSolver> solver, LoopChoice choice)
    : d_(d),
      solver_(std::move(solver)),
      choice_(choice),
      scale_(std::size_t(d.options().n_rhs), 1),
      x_(d.make_vector()),
      b_(d.make_vector()) {}

void EvenOddPass::rehearse(System system) {
  begin(1, system);
  solve(std::vector<double>(scale_.size(), -1), 1, {});  // a target that no residual meets, not even 0
}

void EvenOddPass::begin(double mass, System system) {
  mass_ = mass;
  system_ = system;
  parity_ = system == System::odd ? Parity::odd : Parity::even;
  std::fill(scale_.begin(), scale_.end(), 1.0);
  x_.set_zero();
  b_.set_zero();
  other_has_source_ = false;
  has_source_.assign(scale_.size(), 0);
  source_norm2_.clear();
  patient_ = false;
  if (system != System::full) return;
  if (other_)
    other_->set_zero();
  else
    other_.emplace(d_.make_vector());
}

void EvenOddPass::set_source(int rhs, const VectorField& b, double norm) {
  if (system_ == System::full && (2 * mass_ < small_two_m || 2 * mass_ > large_two_m)) {  // of 2m b_e - D_eo b_o
    constexpr double largest_hop = 8;
    const double odd = std::sqrt(norm2(d_.communicator(), b, opposite(parity_)));
    norm = std::max(2 * mass_ * norm, std::min(largest_hop * odd, norm));
  }
  const double scale = std::ldexp(1.0, -std::ilogb(norm));
  scale_[std::size_t(rhs)] = scale;
  has_source_[std::size_t(rhs)] = 1;
  b_.pack(parity_, rhs, b, scale);
  if (system_ != System::full) return;
  other_->pack(opposite(parity_), rhs, b, scale);
  other_has_source_ = other_has_source_ || !is_zero_on(opposite(parity_), b);
}

void EvenOddPass::prepare() {
  if (system_ != System::full) return;
  const double two_m = 2 * mass_;
  if (d_.communicator().max(double(other_has_source_)) > 0) d_.hop(x_, *other_, parity_);  // D_eo b_o, else 0
  d_.combine(-1, x_, two_m, b_);                                                           // b' = 2m b_e - D_eo b_o
  x_.set_zero();
  if (two_m < small_two_m) measure_sources();
}

// An exact sum that expects about 1 is cut off at 2^-64: of a tiny b' nothing would be left, and CG would be done
// before it begins. So norms are measured on ever finer grids, until enough bits of each are there.
void EvenOddPass::measure_sources() {
  constexpr double enough = 0x1p-30, finer = 0x1p-50, finest = 0x1p-800;
  source_norm2_.assign(scale_.size(), 1);
  for (bool again = true; again;) {
    std::vector<ExactSum> sums = sums_near(source_norm2_);
    const std::vector<double> found = d_.norm2(b_, sums);
    again = false;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!has_source_[i] || found[i] >= enough * source_norm2_[i] || source_norm2_[i] < finest) continue;
      source_norm2_[i] = std::max(found[i], finer * source_norm2_[i]);
      again = true;
    }
  }
}

void EvenOddPass::complete(CgResult& result) {
  for (std::size_t i = 0; i < result.rhs.size(); ++i) {
    const double norm = norm_of_cg(int(i));
    result.rhs[i].residual_norm /= norm;
    for (double& norm2 : result.rhs[i].history) norm2 /= norm * norm;
  }
  if (system_ == System::full) complete_odd_sites(result.hop_of_x);
}

CgResult EvenOddPass::solve(std::vector<double> target_norm, long max_iterations, const ShowProgress& show,
                            const bool* interrupted, SearchKeeper* keeper, Deflation* deflation) {
  prepare();
  CgStop stop;
  stop.max_iterations = max_iterations;
  stop.choice = choice_;
  stop.interrupted = interrupted;
  stop.keeper = keeper;
  stop.deflation = deflation;
  stop.source_norm2 = source_norm2_;
  stop.patient = patient_;
  for (std::size_t i = 0; i < target_norm.size(); ++i) stop.target_norm.push_back(target_norm[i] * norm_of_cg(int(i)));
  CgResult result = solver_->solve(parity_system(d_, parity_, mass_), x_, b_, stop, show);
  complete(result);
  return result;
}

// x_o = (b_o - D_oe x_e) / 2m; `d_oe_x_e` where it is known.
void EvenOddPass::complete_odd_sites(const ColorVectorField* d_oe_x_e) {
  if (!d_oe_x_e) d_.hop(b_, x_, opposite(parity_));  // b' is not needed any more
  d_.combine(-1 / (2 * mass_), d_oe_x_e ? *d_oe_x_e : b_, 1 / (2 * mass_), *other_);
}

void EvenOddPass::complete(double mass, std::span<const VectorField> sources, std::span<VectorField> solutions) {
  begin(mass, System::full);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    x_.pack(parity_, int(i), solutions[i]);
    other_->pack(opposite(parity_), int(i), sources[i]);
  }
  complete_odd_sites(nullptr);
  for (std::size_t i = 0; i < sources.size(); ++i) other_->add_to(opposite(parity_), int(i), 1, solutions[i]);
}

void EvenOddPass::add_solution(int rhs, VectorField& x) const {
  const double scale = 1 / scale_[std::size_t(rhs)];  // exact
  x_.add_to(parity_, rhs, scale, x);
  if (system_ == System::full) other_->add_to(opposite(parity_), rhs, scale, x);
}

std::int64_t EvenOddPass::vector_bytes() const {
  return x_.bytes() + b_.bytes() + (other_ ? other_->bytes() : 0) + (solver_ ? solver_->bytes() : 0);
}

}  // namespace staghorn
