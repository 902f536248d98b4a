// Which transport carries the faces. Every transport that can be used is tested and timed between the real neighbours,
// with faces of the real sizes. The fastest is taken.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "halo/buffer.hpp"
#include "halo/communicator.hpp"
#include "halo/lattice.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

struct TransportTrial {
  std::string name;
  double seconds = 0;    // of one exchange, with packing by copies, on the slowest rank; the median of several
  std::string left_out;  // why it cannot be taken; "" if it can
  bool failed = false;   // left out because it did not work: somebody should find out why
  ErrorKind kind = ErrorKind::value;  // of that failure
};

struct TransportChoice {
  std::string name;                   // what to give to FaceExchange
  std::string reason;                 // "the fastest", "the only one", "asked for", "no face leaves its rank"
  std::int64_t face_bytes = 0;        // received by a rank in one exchange
  double seconds = 0;                 // that all trials took
  std::vector<TransportTrial> tried;  // empty if no face leaves its rank
};

// Tests and times the transports for vectors in `space`. Where ranks differ in it, those that carry faces between both,
// alone and with those among GPUs beside. If `wanted` is not "auto", it tries only that one: among GPUs, where there
// are two ways. Two rounds of TestFaces must arrive as they left. A transport that fails is left out, and its trial
// says so. The answer is kept with `communicator` for the next call with the same sizes. If no transport is left,
// throws Error that names every obstacle. STAGHORN_CORRUPT_TRANSPORT=NAME in the environment makes the test of that
// transport fail. Collective.
TransportChoice choose_transport(const Communicator& communicator, const Lattice& lattice,
                                 const std::array<std::size_t, 8>& face_bytes, MemorySpace space,
                                 const std::string& wanted);

// "p2p, the fastest: 18.3 us an exchange of 1.2 MB; staged 95.1 us; cuda-aware left out: ...". Local.
std::string to_string(const TransportChoice& choice);
// One sentence for each transport that did not work. Local.
std::vector<std::string> transport_warnings(const TransportChoice& choice);

}  // namespace staghorn
