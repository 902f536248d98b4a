// The slabs that `shares auto` finds for ranks of known speed, and ranks that are slowed on purpose.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>

#include "dirac/kernels/experiments/hop_kernels.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/slow_down.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/machine/shares/share_model.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

std::vector<RankSpeed> random_speeds(int ranks, RandomStream& random) {
  std::vector<RankSpeed> speeds;
  for (int k = 0; k < ranks; ++k)
    speeds.push_back({1e-4 * random.uniform(), 1e-8 * std::exp(3 * random.uniform()), 1e-8 * random.uniform()});
  return speeds;
}

// Calls `look` for all even widths, at least `least`, of so many slabs.
void for_all_widths(std::vector<int>& widths, int slabs, int left, int least,
                    const std::function<void(const std::vector<int>&)>& look) {
  if (slabs == 1) {
    widths.push_back(left);
    look(widths);
    widths.pop_back();
    return;
  }
  for (int width = least; width <= left - least * (slabs - 1); width += 2) {
    widths.push_back(width);
    for_all_widths(widths, slabs - 1, left - width, least, look);
    widths.pop_back();
  }
}

// In one direction no widths have a faster slowest rank; in two directions found widths are the fastest too.
bool balanced_slabs_are_the_fastest() {
  RandomStream random(7, RandomPurpose::gaussian_noise, 0, 0);
  int uneven = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const int slabs = 2 + trial % 3, least = trial % 2 ? 4 : 2;
    const Extents global{8, 4, 6, 24}, grid{1, 1, 1, slabs};
    const std::vector<RankSpeed> speeds = random_speeds(slabs, random);
    const SlabWidths found = balanced_widths(global, grid, least, speeds);
    if (!CHECK(std::accumulate(found[3].begin(), found[3].end(), 0) == 24)) return false;
    if (!CHECK(*std::min_element(found[3].begin(), found[3].end()) >= least)) return false;
    uneven += !all_equal(found);
    double best = 1e9;
    std::vector<int> widths;
    for_all_widths(widths, slabs, 24, least, [&](const std::vector<int>& tried) {
      SlabWidths all = found;
      all[3] = tried;
      best = std::min(best, slowest_seconds(all, speeds));
    });
    if (!CHECK(slowest_seconds(found, speeds) == best)) return false;
  }
  double worst = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const Extents global{12, 4, 4, 16}, grid{2, 1, 1, 2};
    const std::vector<RankSpeed> speeds = random_speeds(4, random);
    double best = 1e9;
    for (int x = 2; x <= 10; x += 2)
      for (int t = 2; t <= 14; t += 2)
        best = std::min(best, slowest_seconds({{{x, 12 - x}, {4}, {4}, {t, 16 - t}}}, speeds));
    const SlabWidths found = balanced_widths(global, grid, 2, speeds);
    if (!CHECK(slowest_seconds(found, speeds) <= slowest_seconds(slab_widths(global, grid), speeds))) return false;
    worst = std::max(worst, slowest_seconds(found, speeds) / best);
  }
  std::printf("%d of 60 cuts uneven; in two directions at most %.3f of the best\n", uneven, worst);
  return CHECK(uneven > 30) && CHECK(worst == 1);
}

// Ranks of equal speed have equal slabs where there are any; a fast rank beside three slow ones has a slab of its own
// kind; a rank that is almost still has the least width.
bool cuts_follow_the_speeds() {
  const std::vector<int> one_host(4, 0);
  const auto cut = [&](const std::vector<double>& seconds_of_a_site, int least = 2) {
    std::vector<RankSpeed> speeds;
    for (const double seconds : seconds_of_a_site) speeds.push_back({0, seconds, 1e-9});
    return balanced_cut({8, 8, 8, 16}, std::nullopt, least, speeds, std::span(one_host).first(speeds.size()),
                        Mapping::natural);
  };
  const BalancedCut equal = cut({1e-8, 1e-8, 1e-8, 1e-8}), one_slow = cut({1e-8, 3e-8}), still = cut({1e-8, 1e-3}, 4);
  std::printf("%s, %s, %s\n", to_string(grid_of(equal.widths)).c_str(), to_string(one_slow.widths).c_str(),
              to_string(still.widths).c_str());
  return CHECK(all_equal(equal.widths)) && CHECK((one_slow.widths[3] == std::vector<int>{12, 4})) &&
         CHECK((still.widths[3] == std::vector<int>{12, 4}));
}

bool slow_ranks_are_read_and_refused() {
  for (const char* text : {"none", "1:3", "0:2,1:3.5"})
    if (!CHECK(to_string(parse_slow_ranks(text)) == text)) return false;
  for (const char* text : {"", "1", "1:", ":3", "1:0.5", "-1:2", "1:2,1:3", "1:2,", "a:2", "1:inf", "1:nan"}) {
    try {
      parse_slow_ranks(text);
      std::printf("'%s' was taken\n", text);
      return false;
    } catch (const Error&) {
    }
  }
  return true;
}

bool slowed_kernels_take_as_long_as_asked() {
  constexpr auto of_10_ms = [](const auto&, const auto&) {
    for (const Stopwatch clock; clock.seconds() < 0.01;) {
    }
  };
  KernelTable table{};
  table.hop = of_10_ms;
  table.update_direction = of_10_ms;
  for (const double factor : {1.0, 4.0}) {
    const HopKernels kernels = hop_kernels(table, {factor, nullptr}, Communicator(), {});
    const Stopwatch clock;
    kernels.hop({}, {});
    kernels.update_direction({}, {});
    const double seconds = clock.seconds();
    std::printf("20 ms took %.1f ms, slowed by %g\n", 1e3 * seconds, factor);
    if (!CHECK(seconds >= 0.0199 * factor)) return false;  // how much longer depends on what else runs
  }
  return true;
}

}  // namespace

std::vector<UnitCheck> share_checks() {
  return {UNIT_CHECK(balanced_slabs_are_the_fastest), UNIT_CHECK(cuts_follow_the_speeds),
          UNIT_CHECK(slow_ranks_are_read_and_refused), UNIT_CHECK(slowed_kernels_take_as_long_as_asked)};
}

}  // namespace staghorn
