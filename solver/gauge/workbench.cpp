#include "solver/gauge/workbench.hpp"

#include <algorithm>
#include <optional>

#include "dirac/fields/vector_shape.hpp"
#include "solver/krylov/deflated_solver.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

bool Workbench::certifies_on_gpu() const {
  const CertificatePlace asked = links_.options().certificate;
  if (links_.context().field_device() < 0 || asked == CertificatePlace::host) return false;
  if (asked == CertificatePlace::device) return true;
  return certificate_.made() && certificate_.space() == MemorySpace::cuda;
}

MemorySpace Workbench::certificate_place() const {
  const bool on_gpu = links_.context().field_device() >= 0;
  return certificate_space(links_.options().certificate, on_gpu ? MemorySpace::cuda : MemorySpace::host, on_gpu);
}

MemorySpace Workbench::place_certificate(std::span<const VectorField> sources, std::span<const VectorField> solutions,
                                         System system) {
  const Context& context = links_.context();
  const CertificatePlace asked = links_.options().certificate;
  const bool on_gpu = context.field_device() >= 0;
  const MemorySpace given = common_space(sources, solutions);
  const bool is_open = asked == CertificatePlace::automatic && on_gpu && given != MemorySpace::cuda;
  if (!is_open) return certificate_space(asked, given, on_gpu);
  if (pass_ && certificate_.is_ready_on_gpu(sources.size(), solutions.size())) return MemorySpace::cuda;
  SolveShape there = shape(int(sources.size()), system, MemorySpace::cuda);
  there.n_masses = int(solutions.size() / sources.size());
  MemoryBudget held = held_memory(estimate_memory(there), operator_bytes());
  held.host += double(sources.size() + solutions.size()) * double(sources[0].bytes());
  if (fits_on_all(context.communicator(), there, context.cuda_device(), held)) return MemorySpace::cuda;
  certificate_.drop_links();
  return MemorySpace::host;
}

OperatorLinks Workbench::plain_links(MemorySpace space) {
  if (space != MemorySpace::cuda) return links_.all_on_host();
  const OperatorLinks links = links_.as_they_came();
  certificate_.bring_links(links, links_.generation());
  return certificate_.links_on_gpu(links);
}

OperatorLinks Workbench::links_to_pack(MemorySpace space) {
  std::optional<OperatorLinks> links;
  links_.context().communicator().agree([&] {  // there may be no memory for a copy
    links.emplace(space == MemorySpace::cuda && !links_.improved() ? plain_links(space) : links_.as_they_came());
  });
  return *links;
}

void Workbench::pack_links() {
  if (!precise_) return;
  try {
    const OperatorLinks links = links_to_pack(certifies_on_gpu() ? MemorySpace::cuda : MemorySpace::host);
    precise_->reload(links);
    if (sloppy_) sloppy_->reload(links, precise_->hop_data());
  } catch (...) {
    forget_operators();  // some links may be those of before
    throw;
  }
}

void Workbench::forget_operators() {
  pass_.reset();
  precise_.reset();
  sloppy_.reset();
}

void Workbench::forget_all() {
  forget_operators();
  certificate_ = {};
}

SolveShape Workbench::shape(int n_rhs, System system, MemorySpace certificate) const {
  const Context& context = links_.context();
  const Lattice& lattice = context.lattice();
  SolveShape shape = {lattice.global(), lattice.grid(), links_.options(), n_rhs, system, context.cuda_device() >= 0};
  shape.widths = lattice.widths();
  shape.rank = lattice.rank();
  shape.unlike_ranks = context.unlike_ranks();
  shape.options.certificate = certificate == MemorySpace::cuda ? CertificatePlace::device : CertificatePlace::host;
  eigenpairs_.describe(shape);
  blocks_.describe(shape);
  return shape;
}

MemoryBudget Workbench::held_by(double of_operators) const {
  const bool on_gpu = links_.context().cuda_device() >= 0;
  MemoryBudget held;
  (on_gpu ? held.device : held.host) = of_operators;
  eigenpairs_.add_to(held, on_gpu);
  blocks_.add_to(held);
  return held;
}

MemoryBudget Workbench::held_memory(const MemoryEstimate& estimate, double of_operators) const {
  MemoryBudget held = held_by(of_operators);
  held.host += estimate.objects.at("certificate_links") + double(certificate_.bytes(MemorySpace::host));
  if (links_.context().cuda_device() >= 0)
    held.device += std::min(certificate_bytes(MemorySpace::cuda), estimate.objects.at("device_certificate"));
  return held;
}

MemoryBudget Workbench::held_of(const MemoryEstimate& shifted, double field_bytes) const {
  MemoryBudget held = held_by(operator_bytes());
  held.host += double(links_.bytes(MemorySpace::host)) + double(certificate_.bytes(MemorySpace::host)) + field_bytes;
  if (links_.context().cuda_device() >= 0)
    held.device += std::min(certificate_bytes(MemorySpace::cuda), shifted.objects.at("device_certificate"));
  return held;
}

double Workbench::certificate_bytes(MemorySpace space) const {
  return double(certificate_.bytes(space) + (space == MemorySpace::cuda ? links_.bytes(space) : 0));
}

double Workbench::packed_bytes() const {
  return double((precise_ ? precise_->link_bytes() : 0) + (sloppy_ ? sloppy_->link_bytes() : 0));
}

double Workbench::operator_bytes() const {
  double bytes = (pass_ ? double(pass_->vector_bytes()) : 0) + packed_bytes();
  for (const StaggeredOperator* d : {precise_.get(), sloppy_.get()})
    if (d) bytes += double(d->halo_bytes());
  return bytes;
}

void Workbench::require_room(const SolveShape& wanted, double of_operators) const {
  const MemoryEstimate estimate = estimate_memory(wanted);
  MemoryBudget held = held_memory(estimate, of_operators);
  if (!wanted.refills) held.host += estimate.objects.at("sources_solutions");  // the caller made them
  require_memory(links_.context().communicator(), wanted, links_.context().cuda_device(), held);
}

void Workbench::make_operators(const SolveShape& wanted) {
  const Communicator& all = links_.context().communicator();
  const SessionOptions& options = links_.options();
  const int cuda_device = links_.context().cuda_device();
  const auto packed = packed_links();  // links that are there stay
  const auto sloppy_packed = sloppy_ ? sloppy_->hop_data() : nullptr;
  const double held_links = packed_bytes();
  forget_operators();  // frees its memory before the next takes its own
  require_room(wanted, held_links);
  const bool certified_there = wanted.options.certificate == CertificatePlace::device;
  const OperatorLinks links = links_to_pack(certified_there ? MemorySpace::cuda : MemorySpace::host);
  auto made =
      std::make_unique<StaggeredOperator>(all, links, operator_options(options, wanted.n_rhs, cuda_device), packed);
  if (options.sloppy)
    sloppy_ = std::make_unique<StaggeredOperator>(
        all, links, operator_options(iterated_options(options), wanted.n_rhs, cuda_device),
        sloppy_packed ? sloppy_packed : made->hop_data());
  precise_ = std::move(made);  // both are there, or, where one fails, neither
}

// Local.
void Workbench::make_pass() {
  const SolverEntry& entry = solver_for(links_.options());
  const Context& context = links_.context();
  std::unique_ptr<KrylovSolver> solver =
      entry.make({*precise_, sloppy_.get(), context.cublas(), links_.options().preconditioner, blocks_.space(),
                  links_.options().coarse_tolerance});
  if (eigenpairs_.deflation() && !entry.can.deflate)
    solver = std::make_unique<DeflatedSolver>(*precise_, std::move(solver));
  pass_ = std::make_unique<EvenOddPass>(*precise_, std::move(solver), context.loop());
}

Workbench::Times& Workbench::Times::operator+=(StaggeredOperator& d) {
  hops += d.times();
  communication += d.communication_times();
  return *this;
}

Workbench::Times Workbench::times() const {
  Times all = beside_;
  all += *precise_;
  if (sloppy_) all += *sloppy_;
  return all;
}

void Workbench::reset_times() {
  beside_ = {};
  precise_->reset_times();
  if (sloppy_) sloppy_->reset_times();
}

void Workbench::prepare(int n_rhs, System system, MemorySpace certificate) {
  const SolveShape wanted = shape(n_rhs, system, certificate);
  if (!precise_ || precise_->options().n_rhs != n_rhs)
    make_operators(wanted);
  else if (!pass_)
    require_room(wanted, operator_bytes());
  const bool first = !pass_;
  // If an allocation fails on one rank, all ranks get its Error, and the gauge is of no use before forget_derived().
  links_.context().communicator().agree([&] {
    if (!pass_) make_pass();
    certificate_.make(certificate, links_.context().lattice());
    plain_links(certificate);
  });
  if (first && links_.context().on_gpus()) pass_->rehearse(system);  // hops are collective: all ranks, or none
  reset_times();
  if (Deflation* const deflation = eigenpairs_.deflation()) deflation->reset_use();
  if (CoarseSpace* const space = blocks_.space()) space->reset_use();
}

Workbench::BatchParts Workbench::prepare_batch(int columns, std::size_t n_sources, System system) {
  const MemorySpace certificate = certificate_place();
  const Communicator& all = links_.context().communicator();
  const int most = int(std::min<std::size_t>(n_sources, max_rhs));
  SolveShape wanted = shape(std::min(columns > 0 ? columns : usual_batch, most), system, certificate);
  wanted.refills = true;
  if (columns == 0)
    wanted.n_rhs = most_rhs_that_fit(all, wanted, links_.context().cuda_device(),
                                     held_memory(estimate_memory(wanted), packed_bytes()));
  forget_vectors();  // they would stand beside those of the tile
  if (!precise_ || precise_->options().n_rhs != wanted.n_rhs) make_operators(wanted);
  std::optional<OperatorLinks> plain;
  all.agree([&] {
    certificate_.make(certificate, links_.context().lattice());
    plain.emplace(plain_links(certificate));
  });
  reset_times();
  return {*precise_, sloppy_.get(), certificate_, links_.as_they_came(), *plain};
}

}  // namespace staghorn
