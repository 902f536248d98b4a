#include "halo/watch/adverse_timing.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <thread>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

constexpr long longest_delay = 1000000000;  // microseconds

struct Delays {
  long longest = 0;  // microseconds; 0: none
  std::uint64_t seed = 0;
};

Delays delays_asked_for() {
  const char* text = std::getenv("STAGHORN_STRESS_DELAYS");
  if (!text || !*text) return {};
  Delays delays;
  char* end = nullptr;
  delays.longest = std::strtol(text, &end, 10);
  if (*end == ',' && end[1] != '\0') delays.seed = std::strtoull(end + 1, &end, 10);
  if (*end != '\0' || delays.longest < 0 || delays.longest > longest_delay)
    throw Error("STAGHORN_STRESS_DELAYS", "MICROSECONDS or MICROSECONDS,SEED", text);
  return delays;
}

}  // namespace

void adverse_delay(int rank) {
  static const Delays delays = delays_asked_for();
  if (delays.longest == 0) return;
  static thread_local std::mt19937_64 random(delays.seed * 1000003 + std::uint64_t(rank));
  const std::uint64_t draw = random();
  if (draw % 4 == 0) return;
  std::this_thread::sleep_for(std::chrono::microseconds((draw >> 8) % std::uint64_t(delays.longest + 1)));
}

}  // namespace staghorn
