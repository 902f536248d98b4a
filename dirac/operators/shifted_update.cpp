#include "dirac/operators/shifted_update.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "dirac/kernels/kernel_table.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

const VectorKernels& kernels_of(const StaggeredOperator& d) {
  return vector_kernels(d.options().cuda_device >= 0 ? cuda_kernels() : cpu_kernels(d.options().instruction_set));
}

}  // namespace

ShiftedUpdate::ShiftedUpdate(const StaggeredOperator& d, int n_shifts) : d_(d), kernels_(kernels_of(d)) {
  if (n_shifts < 0 || n_shifts > max_shifts)
    throw Error("shifts", "at most " + std::to_string(max_shifts), std::to_string(n_shifts));
  if (d.options().precision == Precision::fp16) throw Error("precision of shifted systems", "fp64 or fp32", "fp16");
  if (n_shifts == 0) return;
  for (int shift = 0; shift < n_shifts; ++shift) {
    x_.push_back(d.make_vector());
    p_.push_back(d.make_vector());
  }
  for (int step = 1; step < max_shifted_steps; ++step) earlier_.push_back(d.make_vector());
  counts_.resize(std::size_t(n_shifts) * std::size_t(d.options().n_rhs));
  steps_.resize(counts_.size() * max_shifted_steps);
  if (d.options().cuda_device < 0) return;
  const std::size_t bytes = steps_.size() * sizeof(steps_[0]) + counts_.size() * sizeof(int);
  steps_host_ = Buffer(bytes, MemorySpace::pinned);
  steps_device_ = Buffer(bytes, MemorySpace::cuda);
}

void ShiftedUpdate::begin(const ColorVectorField& r) {
  for (ColorVectorField& p : p_) p.copy_from(r);
  begin_without_steps();
}

void ShiftedUpdate::begin(std::span<ColorVectorField> p) {
  for (std::size_t shift = 0; shift < p_.size(); ++shift) {
    const ColorVectorField read = std::move(p[shift]);
    p_[shift].convert_from(read);
  }
  begin_without_steps();
}

void ShiftedUpdate::begin_without_steps() {
  for (ColorVectorField& x : x_) x.set_zero();
  waiting_ = 0;
  std::fill(counts_.begin(), counts_.end(), 0);
}

void ShiftedUpdate::step(const ColorVectorField& r, std::span<const ShiftedStep<double>> steps,
                         std::span<const char> takes_part) {
  if (x_.empty() || std::find(takes_part.begin(), takes_part.end(), char(true)) == takes_part.end()) return;
  for (std::size_t i = 0; i < counts_.size(); ++i)
    if (takes_part[i]) steps_[i * max_shifted_steps + std::size_t(counts_[i]++)] = steps[i];
  ++waiting_;
  if (waiting_ == max_shifted_steps) return take_steps(r);
  earlier_[std::size_t(waiting_ - 1)].copy_from(r);
}

void ShiftedUpdate::finish() {
  if (waiting_ > 0) take_steps(earlier_[std::size_t(waiting_ - 1)]);
}

void ShiftedUpdate::take_steps(const ColorVectorField& last_residual) {
  std::vector<const void*> residuals;
  for (int step = 0; step + 1 < waiting_; ++step) residuals.push_back(earlier_[std::size_t(step)].data());
  residuals.push_back(last_residual.data());
  std::vector<void*> x, p;
  for (std::size_t shift = 0; shift < x_.size(); ++shift) {
    x.push_back(x_[shift].data());
    p.push_back(p_[shift].data());
  }
  ShiftedCall call;
  call.precision = d_.options().precision;
  call.r = residuals, call.x = x, call.p = p;
  call.steps = steps_.data(), call.counts = counts_.data();
  call.blocks = d_.layout().blocks();
  call.lanes = d_.layout().lanes();
  call.n_rhs = d_.options().n_rhs;
  if (d_.options().cuda_device >= 0) {
    const std::size_t step_bytes = steps_.size() * sizeof(steps_[0]), count_bytes = counts_.size() * sizeof(int);
    std::memcpy(steps_host_.data(), steps_.data(), step_bytes);
    std::memcpy(steps_host_.data() + step_bytes, counts_.data(), count_bytes);
    steps_device_.copy_from(steps_host_);
    call.steps = reinterpret_cast<const ShiftedStep<double>*>(steps_device_.data());
    call.counts = reinterpret_cast<const int*>(steps_device_.data() + step_bytes);
  }
  kernels_.update_shifted(call);
  waiting_ = 0;
  std::fill(counts_.begin(), counts_.end(), 0);
}

std::vector<ColorVectorField*> ShiftedUpdate::vectors() {
  std::vector<ColorVectorField*> vectors;
  for (auto* fields : {&x_, &p_})
    for (ColorVectorField& field : *fields) vectors.push_back(&field);
  return vectors;
}

std::int64_t ShiftedUpdate::bytes() const {
  std::int64_t bytes = 0;
  for (const auto* fields : {&x_, &p_, &earlier_})
    for (const ColorVectorField& field : *fields) bytes += field.bytes();
  return bytes;
}

}  // namespace staghorn
