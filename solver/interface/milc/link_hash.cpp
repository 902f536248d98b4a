#include "solver/interface/milc/link_hash.hpp"

#include <omp.h>
#include <staghorn.h>

#include <algorithm>
#include <chrono>

#include "halo/watch/stopwatch.hpp"

namespace staghorn::milc {

LinkHash hash_links(const GivenLinks& links, int threads) {
  constexpr std::size_t reals_of_site = 4 * 18;
  const std::size_t bytes_of_real = links.precision == STAGHORN_FP32 ? sizeof(float) : sizeof(double);
  const std::size_t bytes = links.sites * reals_of_site * bytes_of_real;
  return {links.precision, hash_bytes(FieldBytes::of_array(links.fat, bytes), bytes_of_real, threads),
          hash_bytes(FieldBytes::of_array(links.lng, bytes), bytes_of_real, threads)};
}

LinkHash HashBeside::make(int threads) {
  const Stopwatch making;
  const LinkHash hash = hash_links(links_, threads);
  seconds_ = making.seconds();
  return hash;
}

void HashBeside::begin() {
  if (hash_.valid()) return;
  const int threads = std::max(1, omp_get_max_threads() - 1);
  hash_ = std::async(std::launch::async | std::launch::deferred, [this, threads] { return make(threads); });
}

bool HashBeside::is_made() const {
  return hash_.valid() && hash_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

const LinkHash& HashBeside::get() {
  if (!hash_.valid()) hash_ = std::async(std::launch::deferred, [this] { return make(omp_get_max_threads()); });
  return hash_.get();
}

}  // namespace staghorn::milc
