#include "solver/machine/shares/share_choice.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "halo/cuda/device_scope.hpp"
#include "halo/cut_lattice.hpp"
#include "halo/device_choice.hpp"
#include "halo/watch/error.hpp"
#include "solver/machine/memory_check.hpp"
#include "solver/machine/shares/iteration_time.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

namespace {

// What is not better by this is not worth slabs of other widths: times of a moment vary so much.
constexpr double least_gain = 0.03;
constexpr int most_refinements = 2;
// A time so far above what is foreseen may be that of a busy moment, and is taken again, so often at most.
constexpr double suspicious = 1.1;
constexpr int most_repeats = 2;
// Slabs without some ranks are measured where they are foreseen to take less than so many times as long.
constexpr double worth_a_look = 2;
constexpr double never = std::numeric_limits<double>::infinity();

// What each rank computes on, the same for ranks of one kind: "cpu x 4 threads", "cuda:0 (NVIDIA H200)", with
// ", slowed 3" at the end where it is. `cuda_device` and `slowness` are those of this rank. Collective.
std::vector<std::string> kinds_of_ranks(const Communicator& all, int cuda_device, double slowness) {
  const std::array<double, 2> own{cuda_device < 0 ? double(omp_get_max_threads()) : 0, slowness};
  const std::vector<double> numbers = of_all_ranks(all, own);
  std::vector<std::string> kinds = devices_of_ranks(all, cuda_device);
  for (std::size_t rank = 0; rank < kinds.size(); ++rank) {
    const int threads = int(numbers[2 * rank]);
    if (threads > 0) kinds[rank] += format(" x %d thread%s", threads, threads == 1 ? "" : "s");
    if (numbers[2 * rank + 1] > 1) kinds[rank] += format(", slowed %g", numbers[2 * rank + 1]);
  }
  return kinds;
}

class Chooser {
 public:
  Chooser(const Communicator& all, const Extents& global, const SessionOptions& options, Mapping mapping)
      : all_(all),
        global_(global),
        options_(options),
        mapping_(mapping),
        least_(smallest_extent(stencil_of(options))),
        hosts_(all.hosts()) {
    const int rank_on_host = all.rank_on_host();
    all.agree([&] {
      device_ = choose_device(options.device, all, rank_on_host);
      options_.slowness = slowness_of(options, all);
    });
    options_.device = device_ < 0 ? "cpu" : "cuda:" + std::to_string(device_);
    options_.shares = {};
  }

  ShareChoice choose(bool may_leave_out) {
    const cuda::DeviceScope scope(device_);
    const int per_host = mapping_ == Mapping::host ? ranks_per_host(hosts_) : 0;
    const SlabWidths even = choose_widths(global_, all_.size(), options_.grid, {}, per_host, least_);
    Cut best{std::vector<bool>(std::size_t(all_.size()), true), even};
    best.measured = measure(best, never);
    speeds_ = measure_speeds(all_, Lattice(even, 0).local(), grid_of(even), options_alone(), device_);
    if (best.measured > suspicious * own(best)) best.measured = std::min(best.measured, measure(best, never));
    summary_.even = best.measured * 1e6;
    // What is left of the time of all together: messages, sums, and waiting for them.
    waits_ = std::max(0.0, best.measured - own(best));
    best.predicted = own(best) + waits_;
    const Cut of_all = improved(best);
    summary_.of_all = of_all.measured * 1e6;
    Cut chosen = of_all;
    if (may_leave_out && !options_.grid) {
      if (const std::optional<Cut> fewer = best_of_fewer(of_all)) {
        summary_.of_fewer = (fewer->measured > 0 ? fewer->measured : fewer->predicted) * 1e6;
        summary_.fewer_measured = fewer->measured > 0;
        if (fewer->measured > 0 && fewer->measured < (1 - least_gain) * of_all.measured) chosen = *fewer;
      }
    }
    ShareChoice choice = answer(chosen);
    choice.even = even;
    choice.speeds = speeds_;
    choice.waits = waits_;
    return choice;
  }

 private:
  // Slabs for the ranks that work.
  struct Cut {
    std::vector<bool> works;  // by rank
    SlabWidths widths;
    double predicted = 0, measured = 0;  // seconds of an iteration
  };

  std::vector<int> workers(const std::vector<bool>& works) const {
    std::vector<int> ranks;
    for (int rank = 0; rank < int(works.size()); ++rank)
      if (works[std::size_t(rank)]) ranks.push_back(rank);
    return ranks;
  }

  // By rank of those who work, as the functions of the model want them.
  std::vector<RankSpeed> speeds_of(const std::vector<bool>& works) const {
    std::vector<RankSpeed> speeds;
    for (const int rank : workers(works)) speeds.push_back(speeds_[std::size_t(rank)]);
    return speeds;
  }

  std::vector<int> hosts_of(const std::vector<bool>& works) const {
    std::map<int, int> numbers;  // hosts are numbered from 0 without gaps
    std::vector<int> hosts;
    for (const int rank : workers(works))
      hosts.push_back(numbers.emplace(hosts_[std::size_t(rank)], int(numbers.size())).first->second);
    return hosts;
  }

  // The part of each rank; nothing of those who do not work.
  std::vector<std::optional<Extents>> parts(const Cut& cut) const {
    const std::vector<int> ranks = workers(cut.works), hosts = hosts_of(cut.works);
    const Placement placement = place_ranks(cut.widths, hosts, mapping_);
    std::vector<std::optional<Extents>> result(cut.works.size());
    for (std::size_t k = 0; k < ranks.size(); ++k)
      result[std::size_t(ranks[k])] = Lattice(cut.widths, placement.positions[k]).local();
    return result;
  }

  // Seconds of the rank that needs most for its own work, by the model.
  double own(const Cut& cut) const {
    const std::vector<std::optional<Extents>> local = parts(cut);
    double slowest = 0;
    for (std::size_t rank = 0; rank < local.size(); ++rank)
      if (local[rank]) slowest = std::max(slowest, own_seconds(speeds_[rank], *local[rank], grid_of(cut.widths)));
    return slowest;
  }

  // As a rank works beside others: where hosts take part in iterations of all, in those of one rank too.
  SessionOptions options_alone() const {
    SessionOptions options = options_;
    options.host_loop = by_hosts_;
    return options;
  }

  // Whether a solve in one right-hand side fits into the memory of all who work. Collective among them.
  bool fits(const PlacedLattice& placed) const {
    SolveShape shape{global_, placed.lattice.grid(), options_, 1, System::full, device_ >= 0};
    shape.widths = placed.lattice.widths();
    shape.rank = placed.lattice.rank();
    shape.unlike_ranks = placed.communicator.any(device_ >= 0) && placed.communicator.any(device_ < 0);
    if (speeds_.empty()) require_memory(placed.communicator, shape, device_, {});  // even slabs come first
    return fits_on_all(placed.communicator, shape, device_);
  }

  // Seconds of an iteration of those who work, while the others wait; `never` where it does not fit into memory. What
  // is far above `foreseen` is measured again. Collective.
  double measure(const Cut& cut, double foreseen) {
    const bool works = cut.works[std::size_t(all_.rank())];
    const Communicator group = all_.split(works ? 0 : 1, all_.rank());
    MeasuredIteration time{never};
    std::exception_ptr failure;
    if (works) try {
        const PlacedLattice placed = place_lattice(group, global_, grid_of(cut.widths), shares_of(cut.widths),
                                                   options_.loopback, mapping_, least_);
        int repeats = 0;
        if (fits(placed)) do {
            const MeasuredIteration again = time_iteration(placed.communicator, placed.lattice, options_, device_);
            time = {std::min(time.seconds, again.seconds), again.by_hosts};
          } while (time.seconds > suspicious * foreseen && repeats++ < most_repeats);
      } catch (const LocalError&) {
        throw;
      } catch (const Error&) {
        failure = std::current_exception();  // the same on all who work
      }
    all_.patient_barrier();
    all_.agree([&] {
      if (failure) std::rethrow_exception(failure);
    });
    by_hosts_ = by_hosts_ || all_.any(works && time.by_hosts);
    return all_.max(works ? time.seconds : 0);
  }

  // Each rank times its own work on its part of this cut, and its speed is corrected by it. Collective.
  void correct_speeds(const Cut& cut) {
    const std::optional<Extents> local = parts(cut)[std::size_t(all_.rank())];
    const Extents grid = grid_of(cut.widths);
    const Extents part = local.value_or(Lattice(cut.widths, 0).local());
    const double measured = time_own_iteration(all_, part, grid, options_alone(), device_);
    const RankSpeed& speed = speeds_[std::size_t(all_.rank())];
    const double of_sites = speed.per_site * double(volume(part));
    const double rest = own_seconds(speed, part, grid) - of_sites;
    const double ratio = local ? std::clamp((measured - rest) / of_sites, 0.5, 2.0) : 1;
    const std::vector<double> ratios = of_all_ranks(all_, {&ratio, 1});
    for (std::size_t rank = 0; rank < speeds_.size(); ++rank) speeds_[rank].per_site *= ratios[rank];
  }

  // The best slabs of all ranks, measured: found by the model, whose speeds are corrected on each that is better.
  Cut improved(Cut best) {
    for (int round = 0; round <= most_refinements; ++round) {
      Cut next = best;
      const BalancedCut found =
          balanced_cut(global_, options_.grid, least_, speeds_of(next.works), hosts_of(next.works), mapping_);
      next.widths = found.widths;
      next.predicted = found.seconds + waits_;
      if (next.widths == best.widths || found.seconds > (1 - least_gain) * own(best)) break;
      next.measured = measure(next, next.predicted);
      if (!(next.measured < best.measured)) break;
      best = next;
      if (round < most_refinements) correct_speeds(best);
    }
    return best;
  }

  // Without the slowest rank, the two slowest, and so on, rank 0 always with the rest: the best as foreseen, measured
  // where it may be better than `of_all`. Nothing where no fewer ranks can cut the lattice.
  std::optional<Cut> best_of_fewer(const Cut& of_all) {
    std::vector<int> ranks(std::size_t(all_.size() - 1));
    std::iota(ranks.begin(), ranks.end(), 1);
    std::stable_sort(ranks.begin(), ranks.end(),
                     [&](int a, int b) { return speeds_[std::size_t(a)].per_site > speeds_[std::size_t(b)].per_site; });
    std::optional<Cut> best;
    Cut next{of_all.works, {}};
    for (const int slowest : ranks) {
      next.works[std::size_t(slowest)] = false;
      const std::vector<RankSpeed> speeds = speeds_of(next.works);
      try {
        const BalancedCut found = balanced_cut(global_, std::nullopt, least_, speeds, hosts_of(next.works), mapping_);
        next.widths = found.widths;
        next.predicted = found.seconds + (speeds.size() > 1 ? waits_ : 0);
      } catch (const Error&) {
        continue;  // so many ranks cannot cut this lattice
      }
      if (!best || next.predicted < best->predicted) best = next;
    }
    if (best && best->predicted < worth_a_look * of_all.measured) {
      best->measured = measure(*best, best->predicted);
      if (best->measured == never) best->measured = 0;  // it does not fit
    }
    return best;
  }

  ShareChoice answer(const Cut& chosen) {
    summary_.widths = chosen.widths;
    summary_.predicted = chosen.predicted * 1e6;
    summary_.measured = chosen.measured * 1e6;
    const std::vector<std::optional<Extents>> local = parts(chosen);
    const std::vector<std::string> kinds = kinds_of_ranks(all_, device_, options_.slowness.value_or(1));
    std::map<std::string, std::size_t> places;
    for (int rank = 0; rank < all_.size(); ++rank) {
      const std::string& device = kinds[std::size_t(rank)];
      const auto [place, is_new] = places.emplace(device, summary_.kinds.size());
      if (is_new) summary_.kinds.push_back({device});
      ShareSummary::Kind& kind = summary_.kinds[place->second];
      const std::optional<Extents>& part = local[std::size_t(rank)];
      if (!part) {
        summary_.left_out.push_back(rank);
        ++kind.left_out;
        continue;
      }
      ++kind.ranks;
      kind.share += double(volume(*part)) / double(volume(global_));
      kind.microseconds =
          std::max(kind.microseconds, 1e6 * own_seconds(speeds_[std::size_t(rank)], *part, grid_of(chosen.widths)));
    }
    ShareChoice choice;
    choice.options = options_;
    choice.summary = std::make_shared<const ShareSummary>(summary_);
    choice.works = chosen.works[std::size_t(all_.rank())];
    choice.options.grid = grid_of(chosen.widths);
    choice.options.shares = shares_of(chosen.widths);
    choice.options.shares.measured = choice.summary;
    return choice;
  }

  const Communicator& all_;
  const Extents global_;
  SessionOptions options_;
  const Mapping mapping_;
  const int least_;
  const std::vector<int> hosts_;
  int device_ = -1;
  std::vector<RankSpeed> speeds_;  // by rank
  double waits_ = 0;               // seconds of an iteration, beside the own work of the slowest rank
  bool by_hosts_ = false;          // hosts take part in iterations of all ranks
  ShareSummary summary_;
};

}  // namespace

AskedShares shares_of(const SlabWidths& widths) {
  AskedShares shares;
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (widths[mu].size() > 1) shares.of[mu].assign(widths[mu].begin(), widths[mu].end());
  return shares;
}

ShareChoice choose_shares(const Communicator& all, const Extents& global, const SessionOptions& options,
                          Mapping mapping, bool may_leave_out) {
  return Chooser(all, global, options, mapping).choose(may_leave_out && all.size() > 1);
}

std::optional<double> slowness_of(const SessionOptions& options, const Communicator& all) {
  if (options.slowness || options.slow_device.empty()) return options.slowness;
  const int last = options.slow_device.rbegin()->first;
  if (last >= all.size())
    throw Error("slow_device", "ranks below " + std::to_string(all.size()), "rank " + std::to_string(last));
  const auto found = options.slow_device.find(all.rank());
  return found == options.slow_device.end() ? 1 : found->second;
}

}  // namespace staghorn
