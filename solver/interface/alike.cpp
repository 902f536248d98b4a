#include "solver/interface/alike.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <optional>
#include <sstream>

#include "halo/watch/alarm.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/files/checksums.hpp"

namespace staghorn {

namespace {

// Throws Error for the first line that differs from that of rank 0.
void compare(const std::string& first, const std::string& mine, int rank) {
  std::istringstream of_first(first), of_mine(mine);
  for (std::string theirs, own;;) {
    if (!std::getline(of_first, theirs)) theirs.clear();
    if (!std::getline(of_mine, own)) own.clear();
    if (theirs.empty() && own.empty()) return;
    if (theirs == own) continue;
    const auto split = [](const std::string& line) { return std::min(line.find(' '), line.size()); };
    const auto value = [&](const std::string& line) { return line.empty() ? "none" : line.substr(split(line) + 1); };
    const std::string& named = own.empty() ? theirs : own;
    throw Error(ErrorKind::argument, named.substr(0, split(named)), value(theirs) + " as on rank 0",
                value(own) + " on rank " + std::to_string(rank));
  }
}

}  // namespace

void Asked::add(const std::string& name, const char* text) { lines_ += name + ' ' + (text ? text : "(NULL)") + '\n'; }

void Asked::add(const std::string& name, double value) {
  std::array<char, 32> digits{};  // the shortest that give these bits again
  std::to_chars(digits.data(), digits.data() + digits.size() - 1, value);
  add(name, digits.data());
}

void Asked::add(const std::string& name, const double (&of_directions)[4]) {
  for (int mu = 0; mu < 4; ++mu) add(name + '[' + std::to_string(mu) + ']', of_directions[mu]);
}

void Asked::add(const std::string& name, const std::int32_t (&of_directions)[4]) {
  for (int mu = 0; mu < 4; ++mu) add(name + '[' + std::to_string(mu) + ']', of_directions[mu]);
}

void agree_alike(const Communicator& all, const char* call, const std::function<void(Asked&)>& read) {
  Alarm* const alarm = all.alarm();
  std::optional<Asked> asked;
  const auto work = [&] {
    asked.emplace(call);
    read(*asked);
  };
  if (!alarm) return all.agree(work);  // one rank
  std::exception_ptr thrown;
  try {
    work();
  } catch (...) {
    thrown = std::current_exception();
  }
  const std::uint64_t hash = asked ? hash_of_text(asked->lines()) : 0;
  std::array<std::uint64_t, 3> largest{hash, ~hash, thrown ? UINT64_C(1) : 0};
  alarm->combine({all.handle(), all.rank(), all.size()}, std::span<std::uint64_t>(largest),
                 [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
  if (largest[2] != 0) {
    all.agree([&] {
      if (thrown) std::rethrow_exception(thrown);
    });
  }
  if (largest[0] == ~largest[1]) return;
  const std::string first = all.broadcast(asked->lines());
  all.agree([&] { compare(first, asked->lines(), all.rank()); });
}

}  // namespace staghorn
