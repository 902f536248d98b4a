// The exchange of the eight faces of a local lattice: buffers and messages. What a face site holds, and how faces are
// packed into the send buffer, is the caller's business.
//
// Face 2 mu is the ghost of the forward hop: it is received from the neighbour at +mu, which sends its sites x_mu = 0.
// Face 2 mu + 1 is the ghost of the backward hop: received from -mu, which sends its sites x_mu = L_mu - 1.
// Send and ghost buffers use the same order of faces and bytes.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "halo/buffer.hpp"
#include "halo/communicator.hpp"
#include "halo/lattice.hpp"
#include "halo/transport.hpp"

namespace staghorn {

class FaceExchange {
 public:
  // face_bytes[f] for the faces of partitioned directions, 0 for the others. `communicator` must outlive the exchange.
  // Local; all ranks must pass the same sizes.
  FaceExchange(const Communicator& communicator, const Lattice& lattice, const std::array<std::size_t, 8>& face_bytes);

  std::byte* send_face(int face) { return send_.data() + offset_[face]; }
  std::byte* send_buffer() { return send_.data(); }
  const std::byte* ghost_buffer() const { return ghost_.data(); }  // faces in order, each of face_bytes
  std::int64_t bytes() const { return std::int64_t(send_.bytes() + ghost_.bytes()); }
  std::int64_t message_bytes() const { return std::int64_t(ghost_.bytes()); }  // received per exchange
  std::string transport() const;                                               // "none", "self", "mpi", "self+mpi"

  void start();
  void progress();
  void finish();

 private:
  std::array<std::size_t, 8> offset_{};
  Buffer send_, ghost_;
  std::unique_ptr<Transport> self_, mpi_;
};

}  // namespace staghorn
