#include "halo/transport/face_exchange.hpp"

#include <algorithm>
#include <utility>

#include "halo/watch/adverse_timing.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"

namespace staghorn {

namespace {

bool all_faces_stay(const Lattice& lattice) { return volume(lattice.grid()) == 1; }

// Between GPUs p2p also carries the faces of a rank to itself.
Ways ways_of(const Lattice& lattice, MemorySpace space, const std::string& name) {
  if (!all_faces_stay(lattice)) return find_ways(name, space);
  return {nullptr, space == MemorySpace::cuda ? &p2p_transport : &self_transport};
}

// Places of `transport`, where it has any, instead of those that were there.
void take_places(FacePointers& places, const FacePointers& of_transport) {
  for (std::size_t face = 0; face < places.size(); ++face)
    if (of_transport[face]) places[face] = of_transport[face];
}

// The number of each rank among those on GPUs; MPI_PROC_NULL of ranks on CPUs. Collective.
std::vector<int> gpu_ranks(const Communicator& communicator, MemorySpace space) {
  std::vector<std::int64_t> on_gpu(std::size_t(communicator.size()), 0);
  on_gpu[std::size_t(communicator.rank())] = space == MemorySpace::cuda;
  communicator.sum(on_gpu);
  std::vector<int> numbers;
  int count = 0;
  for (const std::int64_t one : on_gpu) numbers.push_back(one ? count++ : MPI_PROC_NULL);
  return numbers;
}

}  // namespace

FaceExchange::FaceExchange(const Communicator& communicator, const Lattice& lattice,
                           const std::array<std::size_t, 8>& face_bytes, MemorySpace space,
                           const std::string& transport)
    : rank_(lattice.rank()), face_bytes_(face_bytes) {
  std::size_t total = 0;
  for (const std::size_t bytes : face_bytes) total += bytes;
  if (total == 0) return;
  const Ways ways = ways_of(lattice, space, transport);
  kind_ = ways.others;
  std::vector<FaceChannel> to_self, to_others;
  if (!owns_ghosts())
    communicator.agree([&] {
      send_ = Buffer(total, kind_->packed_in);
      ghost_ = Buffer(total, space);
    });
  std::size_t offset = 0;
  bool all_leave = true;
  for (int face = 0; face < 8; ++face) {
    if (face_bytes[face] == 0) continue;
    const int mu = face / 2, from = face % 2 == 0 ? +1 : -1;
    FaceChannel channel{
        lattice.neighbour_rank(mu, -from), lattice.neighbour_rank(mu, from), face, nullptr, nullptr, face_bytes[face]};
    if (!owns_ghosts()) {
      channel.send = send_places_[face] = send_.data() + offset;
      channel.receive = ghost_places_[face] = ghost_.data() + offset;
      offset += face_bytes[face];
    }
    const bool leaves = channel.send_to != lattice.rank();
    all_leave &= leaves;
    if (leaves || owns_ghosts())
      to_others.push_back(channel);
    else if (space == MemorySpace::host)
      to_self.push_back(channel);
    else
      send_places_[face] = ghost_places_[face];  // kernels pack it into its ghost; the stream keeps the order
  }
  const bool some_leave = !to_others.empty();  // the same on all ranks
  name_ = all_faces_stay(lattice) || !some_leave ? "self" : to_self.empty() ? transport : "self+" + transport;
  if (!to_self.empty()) self_ = make_self_transport(std::move(to_self));
  if (ways.among_gpus) make_among_gpus(communicator, *ways.among_gpus, space, to_others);
  if (some_leave) others_ = kind_->make({communicator, to_others});
  if (some_leave && !ways.among_gpus && (all_leave || owns_ghosts())) on_device_ = others_->on_device();
}

// Takes the messages between two GPUs out of `channels`. Collective.
void FaceExchange::make_among_gpus(const Communicator& communicator, const TransportKind& kind, MemorySpace space,
                                   std::vector<FaceChannel>& channels) {
  const Communicator& like = alike(communicator, space);
  const std::vector<int> number = gpu_ranks(communicator, space);
  std::string trouble;
  if (space == MemorySpace::cuda) {
    std::vector<FaceChannel> taken;
    for (FaceChannel& channel : channels) {
      FaceChannel among_gpus = channel;
      among_gpus.send_to = number[std::size_t(channel.send_to)];
      among_gpus.receive_from = number[std::size_t(channel.receive_from)];
      if (among_gpus.sends()) channel.send_to = MPI_PROC_NULL;
      if (among_gpus.receives()) channel.receive_from = MPI_PROC_NULL;
      if (among_gpus.sends() || among_gpus.receives()) taken.push_back(among_gpus);
    }
    std::erase_if(channels, [](const FaceChannel& channel) { return !channel.sends() && !channel.receives(); });
    try {
      among_gpus_ = kind.make({like, taken});
    } catch (const LocalError&) {
      throw;
    } catch (const Error& error) {  // the same on all GPUs
      trouble = error.what();
    }
  }
  communicator.agree([&] {
    if (!trouble.empty()) throw Error(trouble);
  });
}

FacePointers FaceExchange::outgoing() const {
  FacePointers places = send_places_;
  for (const Transport* transport : {others_.get(), among_gpus_.get()})
    if (transport) take_places(places, transport->outgoing());
  return places;
}

FacePointers FaceExchange::incoming() const {
  FacePointers places = ghost_places_;
  for (const Transport* transport : {others_.get(), among_gpus_.get()})
    if (transport) take_places(places, transport->incoming());
  return places;
}

std::int64_t FaceExchange::bytes() const {
  std::int64_t bytes = std::int64_t(send_.bytes() + ghost_.bytes());
  for (const Transport* transport : {others_.get(), among_gpus_.get()})
    if (transport) bytes += transport->bytes();
  return bytes;
}

void FaceExchange::start() {
  const CollectiveActivity activity("faces leave", rank_);
  if (owns_ghosts()) return others_->start();
  departed_ = wall_seconds();
  computed_ = 0;
  arrived_ = false;
  if (among_gpus_) among_gpus_->start();
  if (others_) others_->start();
  if (self_) self_->start();
  account(0, !others_);
}

void FaceExchange::progress(double computed) {
  adverse_delay(rank_);
  if (others_) account(computed, others_->progress());
}

void FaceExchange::finish() {
  const CollectiveActivity activity("faces arrive", rank_);
  if (owns_ghosts()) return others_->finish();
  if (others_) others_->finish();
  if (among_gpus_) among_gpus_->finish();
  account(0, true);
}

void FaceExchange::await(double limit_seconds) {
  if (among_gpus_) among_gpus_->await(limit_seconds);
  if (others_) others_->await(limit_seconds);
}

void FaceExchange::set_wait_limit(double seconds) {
  if (among_gpus_) among_gpus_->set_wait_limit(seconds);
  if (others_) others_->set_wait_limit(seconds);
}

void FaceExchange::account(double computed, bool arrived) {
  if (arrived_) return;
  computed_ += computed;
  if (!arrived) return;
  arrived_ = true;
  const double seconds = wall_seconds() - departed_;
  in_flight_ += {seconds, std::min(computed_, seconds)};
}

}  // namespace staghorn
