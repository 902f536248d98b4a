// The exchange of the eight faces of a local lattice: buffers and messages. What a face site holds, and how faces are
// packed into the send buffer, is the caller's business: dirac/stencil/face_packing.hpp, and
// dirac/operators/operator_state.cpp, which computes the interior meanwhile.
//
// Face 2 mu is the ghost of the forward hop: it is received from the neighbour at +mu, which sends its sites x_mu = 0.
// Face 2 mu + 1 is the ghost of the backward hop: received from -mu, which sends its sites x_mu = L_mu - 1.
// Send and ghost buffers use the same order of faces and bytes.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "halo/buffer.hpp"
#include "halo/communicator.hpp"
#include "halo/lattice.hpp"
#include "halo/transport/transport_p2p.hpp"
#include "halo/transport/transport_table.hpp"

namespace staghorn {

class FaceExchange {
 public:
  // face_bytes[f] for the faces of partitioned directions, 0 for the others. Both sides of a cut have faces of the same
  // size. `space` is where the vectors lie: host or cuda. `transport` is a name out of transport_names(space), or out
  // of mixed_transport_names() if `space` differs between ranks; it carries what goes to other ranks, and may be "self"
  // where nothing does. Ranks of `communicator` are those of `lattice`, and it must outlive the exchange. Collective.
  FaceExchange(const Communicator& communicator, const Lattice& lattice, const std::array<std::size_t, 8>& face_bytes,
               MemorySpace space, const std::string& transport);

  // Where the faces of the coming round are to be packed, and where the ghosts of that round lie once it is finished.
  // On the CPU all faces lie one after the other in one buffer, and so do all ghosts.
  FacePointers outgoing() const;
  FacePointers incoming() const;
  std::byte* send_buffer() { return send_.data(); }
  const std::byte* ghost_buffer() const { return ghost_.data(); }

  std::int64_t bytes() const;
  const std::array<std::size_t, 8>& face_bytes() const { return face_bytes_; }
  std::string transport() const { return name_; }  // "none", "self", "mpi", "self+mpi", "p2p", ...
  // What carries the faces to other ranks, where there are two ways those to ranks of the other kind; nullptr if there
  // is no face.
  const TransportKind* kind() const { return kind_; }
  // What loops on GPUs can drive without the host. The interface of NCCL is there only if every face leaves its rank:
  // then no face of outgoing() is a ghost of incoming().
  PeerTransport* peers() { return on_device_.peers; }
  NcclTransport* nccl() { return on_device_.nccl; }

  // A round: start(), and messages leave; progress() now and then while the caller computes; finish(), and every ghost
  // has arrived. `computed`: seconds for which the rank has computed since start() or the last of these.
  void start();
  void progress(double computed = 0);
  void finish();
  // After finish(): as Transport::await.
  void await(double limit_seconds);
  void set_wait_limit(double seconds);  // as Transport::set_wait_limit

  // On the CPU: the time that faces took since the last reset, from start() until the host saw that all had arrived.
  // The time in which the host computed meanwhile is hidden.
  const TimeSpent& time_in_flight() const { return in_flight_; }
  void reset_time_in_flight() { in_flight_ = {}; }
  // On a GPU, unless kernels store faces straight into ghosts: as in Transport.
  bool can_time_rounds() const { return others_ && !owns_ghosts(); }
  void time_next_round() { others_->time_next_round(); }
  Flight timed_round() const { return others_->timed_round(); }

 private:
  bool owns_ghosts() const { return kind_ && kind_->owns_ghosts; }
  void make_among_gpus(const Communicator& communicator, const TransportKind& kind, MemorySpace space,
                       std::vector<FaceChannel>& channels);
  void account(double computed, bool arrived);

  int rank_;
  Buffer send_, ghost_;
  FacePointers send_places_{}, ghost_places_{};
  std::array<std::size_t, 8> face_bytes_;
  std::string name_ = "none";
  std::unique_ptr<Transport> self_, among_gpus_, others_;
  const TransportKind* kind_ = nullptr;
  DeviceInterface on_device_;           // of others_
  double departed_ = 0, computed_ = 0;  // when faces left; seconds computed since
  bool arrived_ = true;
  TimeSpent in_flight_;
};

}  // namespace staghorn
