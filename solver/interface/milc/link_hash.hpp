// Links that MILC changes without a word are known again by a hash of both fields, which is read at the speed of
// memory: at once, or beside other work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>

#include "solver/interface/layouts/byte_hash.hpp"

namespace staghorn::milc {

// Fat and long links where the host has them. The pointers are not NULL.
struct GivenLinks {
  int precision;  // staghorn_precision
  const void *fat, *lng;
  std::size_t sites;
};

struct LinkHash {
  int precision = 0;
  ByteHash fat, lng;
  friend bool operator==(const LinkHash&, const LinkHash&) = default;
};

// By so many threads of OpenMP, on whose number it does not depend. Local.
LinkHash hash_links(const GivenLinks& links, int threads);

// A hash that other threads make while this one works. They call no function of MPI. The end of its life waits for
// them. Local.
class HashBeside {
 public:
  // `links` outlive it.
  explicit HashBeside(const GivenLinks& links) : links_(links) {}

  // Begins, unless it has begun, with as many threads as OpenMP gives the calling one, less that one, which works on.
  // Where the system gives no thread, `get` makes the hash.
  void begin();
  bool is_made() const;
  // Waits for it; makes it here and now if it has not begun. Throws what the making threw.
  const LinkHash& get();
  double seconds() const { return seconds_; }  // that the making took; after `get`

 private:
  LinkHash make(int threads);

  const GivenLinks& links_;
  double seconds_ = 0;
  std::shared_future<LinkHash> hash_;
};

}  // namespace staghorn::milc
