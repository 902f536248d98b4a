#include "halo/watch/adverse_timing.hpp"

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "halo/watch/error.hpp"
#include "halo/watch/surroundings.hpp"

namespace staghorn {

namespace {

constexpr long longest_delay = 1000000000;  // microseconds

}  // namespace

AdverseDelays AdverseDelays::parse(const char* text) {
  if (!text || !*text) return {};
  AdverseDelays delays;
  char* end = nullptr;
  delays.longest = std::strtol(text, &end, 10);
  if (*end == ',' && end[1] != '\0') delays.seed = std::strtoull(end + 1, &end, 10);
  if (*end != '\0' || delays.longest < 0 || delays.longest > longest_delay)
    throw Error(name, "MICROSECONDS or MICROSECONDS,SEED", text);
  return delays;
}

void adverse_delay(int rank) {
  const AdverseDelays& delays = Surroundings::current().delays();
  if (delays.longest == 0) return;
  static thread_local std::mt19937_64 random(delays.seed * 1000003 + std::uint64_t(rank));
  const std::uint64_t draw = random();
  if (draw % 4 == 0) return;
  std::this_thread::sleep_for(std::chrono::microseconds((draw >> 8) % std::uint64_t(delays.longest + 1)));
}

}  // namespace staghorn
