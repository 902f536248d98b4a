#include "dirac/operators/staggered_operator.hpp"

#include "dirac/operators/operator_state.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/slow_down.hpp"

namespace staghorn {

StaggeredOperator::StaggeredOperator(const Communicator& communicator, const OperatorLinks& links,
                                     const OperatorOptions& options, std::shared_ptr<HopData> from) {
  const Activity activity("setting up the operator");
  state_ = std::make_unique<State>(communicator, links, options, std::move(from));
}
StaggeredOperator::~StaggeredOperator() = default;

void StaggeredOperator::reload(const OperatorLinks& links, std::shared_ptr<HopData> from) {
  const Activity activity("reloading the links");
  state_->reload(links, from.get() == state_->data.get() ? nullptr : from.get());
}

const Communicator& StaggeredOperator::communicator() const { return state_->communicator; }
const SiteLayout& StaggeredOperator::layout() const { return state_->layout; }
const Lattice& StaggeredOperator::lattice() const { return state_->layout.lattice(); }
const OperatorOptions& StaggeredOperator::options() const { return state_->options; }
const KernelTable& StaggeredOperator::kernels() const { return state_->kernels; }
std::string StaggeredOperator::kernel_set() const { return state_->kernels.name; }
std::shared_ptr<HopData> StaggeredOperator::hop_data() const { return state_->data; }
std::int64_t StaggeredOperator::link_bytes() const {
  return state_->data->links.bytes() + (state_->data->naik ? state_->data->naik->bytes() : 0);
}
std::int64_t StaggeredOperator::halo_bytes() const {
  std::int64_t bytes = state_->exchange.bytes() + std::int64_t(state_->ghosts.bytes());
  for (const int parity : {0, 1}) {
    bytes += state_->data->tables[parity].bytes();
    if (state_->wires[parity]) bytes += state_->wires[parity]->bytes();
  }
  return bytes;
}
const std::array<std::size_t, 8>& StaggeredOperator::face_bytes() const { return state_->exchange.face_bytes(); }
std::string StaggeredOperator::transport() const { return state_->exchange.transport(); }
const TransportChoice& StaggeredOperator::transport_choice() const { return state_->transport; }
bool StaggeredOperator::host_free() const {
  if (state_->kernels.space != MemorySpace::cuda || state_->options.slowness) return false;
  return state_->communicator.size() == 1 || state_->exchange.peers() || state_->exchange.nccl();
}
FaceExchange& StaggeredOperator::faces() { return state_->exchange; }
PeerTransport* StaggeredOperator::peers() { return state_->exchange.peers(); }
const LaunchTuning& StaggeredOperator::tuning() const { return state_->tuning; }
const HopTimes& StaggeredOperator::times() const { return state_->times; }
CommunicationTimes StaggeredOperator::communication_times() const { return state_->communication_times(); }
void StaggeredOperator::reset_times() {
  state_->times = {};
  state_->sampled.reset();
  state_->exchange.reset_time_in_flight();
}

ColorVectorField StaggeredOperator::make_vector() const {
  return ColorVectorField(state_->layout, state_->options.precision, state_->options.n_rhs, state_->kernels.space,
                          &state_->pieces);
}

ColorVectorField StaggeredOperator::make_solution() const {
  return ColorVectorField(state_->layout, arithmetic_of(state_->options.precision), state_->options.n_rhs,
                          state_->kernels.space, &state_->pieces);
}

void StaggeredOperator::hop(ColorVectorField& out, const ColorVectorField& in, Parity target) {
  HopCall call;
  call.use = HopUse::store;
  call.in = in.data();
  call.out = out.data();
  state_->hop(target, call);
}

std::vector<double> StaggeredOperator::hop_and_norm2(ColorVectorField& out, const ColorVectorField& in, Parity target,
                                                     std::span<ExactSum> sums, std::span<const double> beta) {
  HopCall call;
  call.use = HopUse::store_norm;
  call.in = in.data();
  call.out = out.data();
  call.beta = beta.data();
  return state_->hop_and_sums(target, call, out, sums);
}

std::vector<double> StaggeredOperator::update_residual(ColorVectorField& r, const ColorVectorField& p,
                                                       const ColorVectorField& tmp, Parity parity, double four_m2,
                                                       std::span<const double> alpha, std::span<ExactSum> sums) {
  HopCall call;
  call.use = HopUse::update_residual;
  call.in = tmp.data();
  call.out = r.data();
  call.p = const_cast<void*>(p.data());  // without beta only read
  call.four_m2 = four_m2;
  call.alpha = alpha.data();
  return state_->hop_and_sums(parity, call, r, sums);
}

std::vector<double> StaggeredOperator::update_residual(ColorVectorField& r, ColorVectorField& p, ColorVectorField& x,
                                                       const ColorVectorField& tmp, Parity parity, double four_m2,
                                                       const CgStep& step, std::span<ExactSum> sums) {
  HopCall call;
  call.use = HopUse::update_residual;
  call.in = tmp.data();
  call.out = r.data();
  call.p = p.data();
  call.four_m2 = four_m2;
  call.alpha = step.alpha.data();
  call.beta = step.beta.data();
  call.x = x.data();
  call.new_weight = step.new_weight.data();
  call.old_weight = step.old_weight.data();
  return state_->hop_and_sums(parity, call, r, sums);
}

std::vector<double> StaggeredOperator::update_direction(ColorVectorField& x, ColorVectorField& p,
                                                        const ColorVectorField& r, Parity parity,
                                                        std::span<const double> alpha, std::span<const double> beta,
                                                        std::span<ExactSum> sums) {
  std::vector<SumGrid> grids = grids_of(sums, p.n_rhs());
  std::vector<ExactPartial> partials(grids.size());
  {
    const SlowDown slow(state_->kernels.space == MemorySpace::cuda ? 1 : state_->slowness());
    state_->kernels.update_direction(state_->views[int(parity)], {x.data(), p.data(), r.data(), alpha.data(),
                                                                  beta.data(), grids.data(), partials.data()});
  }
  return state_->collect(partials, grids, p, sums);
}

std::vector<double> StaggeredOperator::norm2(const ColorVectorField& v, std::span<ExactSum> sums) {
  std::vector<SumGrid> grids = grids_of(sums, v.n_rhs());
  std::vector<ExactPartial> partials(sums.size());
  state_->norm2(v, grids, partials);
  return state_->collect(partials, grids, v, sums);
}

void StaggeredOperator::exchange_faces(const ColorVectorField& in, Parity target) {
  state_->pack(state_->views[int(target)], in.data());
  state_->exchange.start();
  state_->exchange.finish();
}

void StaggeredOperator::combine(double alpha, const ColorVectorField& a, double beta, ColorVectorField& b) const {
  state_->kernels.combine(b.precision(), b.bytes() / bytes_per_real(b.precision()), alpha, a.data(), beta, b.data());
}

void StaggeredOperator::damage(Damage what, std::uint64_t bit) {
  if (what == Damage::halo) state_->ghost_bit = bit;
  if (what == Damage::sum) state_->sum_bit = bit;
  if (what != Damage::link) return;
  HopData& data = *state_->data;
  (data.naik && bit % 3 == 0 ? *data.naik : data.links).flip_bit(bit / 3);
}

const HopView& StaggeredOperator::view(Parity target) const {
  state_->refresh_scales();
  return state_->views[int(target)];
}

}  // namespace staghorn
