#include "halo/watch/slow_down.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <sstream>
#include <thread>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// A sleep ends so much too late at most, as a rule.
constexpr double lateness = 100e-6;

template <class Number>
bool read(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

SlowRanks parse_slow_ranks(const std::string& text) {
  SlowRanks ranks;
  if (text == "none") return ranks;
  std::istringstream parts(text + ",");
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t colon = part.find(':');
    int rank = -1;
    double factor = 0;
    const bool is_pair = colon != std::string::npos && read(part.substr(0, colon), rank) &&
                         read(part.substr(colon + 1), factor) && rank >= 0 && factor >= 1 && std::isfinite(factor);
    if (!is_pair || !ranks.emplace(rank, factor).second)
      throw Error("slow_device", "none, or ranks and how many times as long each takes, as 1:3 or 0:2,1:3",
                  "'" + text + "'");
  }
  return ranks;
}

std::string to_string(const SlowRanks& ranks) {
  std::ostringstream text;
  for (const auto& [rank, factor] : ranks) text << (text.tellp() > 0 ? "," : "") << rank << ":" << factor;
  return ranks.empty() ? "none" : text.str();
}

SlowDown::SlowDown(double factor) : factor_(factor) {
  if (factor_ > 1) start_ = now();
}

SlowDown::~SlowDown() {
  if (!(factor_ > 1)) return;
  const double at = now(), end = at + (factor_ - 1) * (at - start_);
  if (end - at > lateness) std::this_thread::sleep_for(std::chrono::duration<double>(end - at - lateness));
  while (now() < end) std::this_thread::yield();
}

}  // namespace staghorn
