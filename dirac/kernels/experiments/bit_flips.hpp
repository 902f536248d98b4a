// Bits that change in what a kernel is about to read, as in a fault of memory or of a message: on request, so that
// tests see what notices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/kernels/hop_view.hpp"
#include "halo/buffer.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// What a kernel is about to read.
struct KernelMemory {
  using Bytes = std::vector<std::span<std::byte>>;
  MemorySpace space;
  Bytes links, vectors, ghosts;
  std::span<ExactPartial> sums{};  // on the host
};

// The links of `view`, packed, of both parities.
KernelMemory::Bytes packed_links(const HopView& view);
// Those of `vectors` that are not nullptr, in this precision.
KernelMemory::Bytes vectors_of(const VectorShape& shape, Precision precision,
                               std::initializer_list<const void*> vectors);

class BitFlips {
 public:
  // "WHAT:CALL[:SEED],...", WHAT = link, vector, halo or sum: a bit of that changes in the first call of a kernel after
  // CALL others that reads any; the seed says on which rank, and which bit. Throws Error.
  explicit BitFlips(const std::string& text);

  // Changes the bits whose call has come. Before each call of a kernel, on the ranks that call it. Local.
  void strike(const KernelMemory& memory, int rank, int n_ranks);

  // Those that happened, in the words of the constructor. The same on all ranks. Collective.
  std::vector<std::string> struck(const Communicator& communicator) const;

 private:
  enum class What { link, vector, halo, sum };
  struct Flip {
    What what;
    long call;
    std::uint64_t seed;
    std::string text;
    bool happened = false;
  };
  static Flip parse(const std::string& text);

  std::vector<Flip> flips_;
  long calls_ = 0;
};

}  // namespace staghorn
