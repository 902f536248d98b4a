#include "solver/gauge/kept_eigenpairs.hpp"

#include <utility>

#include "solver/request/option_text.hpp"

namespace staghorn {

void KeptEigenpairs::keep(std::unique_ptr<Deflation> pairs, const EigenpairCertificate& certificate, double seconds,
                          std::string file, std::string format) {
  deflation_ = std::move(pairs);
  are_used_ = true;
  const Eigenpairs& now = deflation_->pairs();
  summary_ = {};
  summary_.file = std::move(file);
  summary_.format = std::move(format);
  summary_.pairs = long(now.count());
  summary_.space = now.space;
  summary_.precision = deflation_->precision();
  summary_.smallest = now.values.front();
  summary_.largest = now.values.back();
  summary_.largest_residual = certificate.largest_residual;
  summary_.largest_change = certificate.largest_change;
  summary_.orthogonality = certificate.orthogonality;
  summary_.read_seconds = seconds;
  text_ = to_string(deflation_->precision()) + " ";
  for (const double value : now.values) text_ += option_text(value) + " ";
}

void KeptEigenpairs::describe(SolveShape& shape) const {
  if (!deflation_) return;
  shape.eigenpairs = std::int64_t(pairs().count());
  shape.eigenvector_precision = deflation_->precision();
  shape.eigenvectors_on_host = pairs().space == MemorySpace::pinned;
}

void KeptEigenpairs::add_to(MemoryBudget& held, bool on_gpu) const {
  if (!deflation_) return;
  (on_gpu ? held.device : held.host) += double(deflation_->work_bytes());
  (pairs().space == MemorySpace::cuda ? held.device : held.host) += double(deflation_->pair_bytes());
}

}  // namespace staghorn
