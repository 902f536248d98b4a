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

// What ranks say first in a call. `exchange` makes every number the largest of all ranks.
struct FirstMessage {
  std::uint64_t hash = 0, complement = 0;  // of what is asked for; complements of each other where all are alike
  std::uint64_t refused = 0;               // arguments
  std::uint64_t calls_alone = 0;           // see Alarm
  std::uint64_t refused_late = 0;          // 1 + calls_alone of a rank that found itself awaited
};

// Throws RefusedBefore where a rank that found itself awaited has ended fewer calls alone than those that await it.
void exchange(const Communicator& all, FirstMessage& mine) {
  Alarm& alarm = *all.alarm();
  alarm.combine(Alarm::Ranks{all.handle(), all.rank(), all.size()}, std::span(&mine, 1),
                [](const FirstMessage& a, const FirstMessage& b) {
                  return FirstMessage{std::max(a.hash, b.hash), std::max(a.complement, b.complement),
                                      std::max(a.refused, b.refused), std::max(a.calls_alone, b.calls_alone),
                                      std::max(a.refused_late, b.refused_late)};
                });
  const bool is_late = mine.refused_late > 0 && mine.refused_late <= mine.calls_alone;
  alarm.calls_alone = mine.calls_alone;
  if (mine.refused_late > 0) alarm.calls_alone = std::max(mine.calls_alone, mine.refused_late - 1);
  if (is_late) throw RefusedBefore();
}

}  // namespace

void Asked::add(const std::string& name, const char* text) { lines_ += name + ' ' + (text ? text : "(NULL)") + '\n'; }

void Asked::add(const std::string& name, double value) {
  std::array<char, 32> digits{};  // the shortest that give these bits again
  std::to_chars(digits.data(), digits.data() + digits.size() - 1, value);
  add(name, digits.data());
}

void agree_alike(const Communicator& all, const char* call, const std::function<void(Asked&)>& read) {
  std::optional<Asked> asked;
  const auto work = [&] {
    asked.emplace(call);
    read(*asked);
  };
  if (!all.alarm()) return all.agree(work);  // one rank
  std::exception_ptr thrown;
  try {
    work();
  } catch (...) {
    thrown = std::current_exception();
  }
  FirstMessage largest{.refused = thrown != nullptr, .calls_alone = all.alarm()->calls_alone};
  if (asked) largest.hash = hash_of_text(asked->lines());
  largest.complement = ~largest.hash;
  exchange(all, largest);
  if (largest.refused || largest.refused_late) {
    all.agree([&] {
      if (thrown) std::rethrow_exception(thrown);
    });
  }
  if (largest.hash == ~largest.complement) return;
  const std::string first = all.broadcast(asked->lines());
  all.agree([&] { compare(first, asked->lines(), all.rank()); });
}

void refuse_alike(const Communicator& all, const Error& refused) {
  FirstMessage largest{.refused_late = all.alarm()->calls_alone + 1};
  exchange(all, largest);
  all.agree([&] { throw LocalError(refused.kind(), refused.what()); });
}

}  // namespace staghorn
