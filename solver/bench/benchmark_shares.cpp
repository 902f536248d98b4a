#include "solver/bench/benchmark_shares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include "halo/cut_lattice.hpp"
#include "solver/machine/shares/iteration_time.hpp"
#include "solver/machine/shares/share_choice.hpp"
#include "solver/report/setting_json.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

namespace {

constexpr double alike = 1.1;  // speeds that differ by less count as equal
// All slabs take turns so often, and the fastest time of each counts: a busy moment of the machine does not decide.
constexpr int passes = 2;
constexpr double never = std::numeric_limits<double>::infinity();

std::vector<int> slower_ranks(const std::vector<RankSpeed>& speeds) {
  const auto [fast, slow] = std::minmax_element(
      speeds.begin(), speeds.end(), [](const RankSpeed& a, const RankSpeed& b) { return a.per_site < b.per_site; });
  std::vector<int> ranks;
  if (slow->per_site < alike * fast->per_site) return ranks;
  const double mean = std::sqrt(slow->per_site * fast->per_site);
  for (std::size_t rank = 0; rank < speeds.size(); ++rank)
    if (speeds[rank].per_site > mean) ranks.push_back(int(rank));
  return ranks;
}

// The sites that these ranks have, as a share of all. Ranks that are not left out lie in the grid as they are numbered.
double share_of(const std::vector<int>& ranks, const SlabWidths& widths, const std::vector<int>& left_out = {}) {
  double share = 0;
  for (const int rank : ranks) {
    if (std::count(left_out.begin(), left_out.end(), rank) > 0) continue;
    const auto before = std::count_if(left_out.begin(), left_out.end(), [rank](int other) { return other < rank; });
    const Lattice part(widths, rank - int(before));
    share += double(part.local_volume()) / double(part.global_volume());
  }
  return share;
}

// One slab of the longest direction for each rank, for every R that even widths allow.
std::vector<SlabWidths> slabs_by_share(const Extents& extents, int n_ranks, const std::vector<int>& slower, int least,
                                       int most_rows) {
  int mu = 3;
  for (int nu = 2; nu >= 0; --nu)
    if (extents[nu] > extents[mu]) mu = nu;
  Extents grid{1, 1, 1, 1};
  grid[mu] = n_ranks;
  std::vector<SlabWidths> cuts;
  if (!can_be_cut(extents, grid, least)) return cuts;
  const int pairs = extents[mu] / 2;
  for (int k = 1; k < pairs; ++k) {
    const double r = double(k) / pairs;
    const auto n_slower = double(slower.size());
    Shares shares;
    std::vector<double>& of = shares.of[std::size_t(mu)];
    of.assign(std::size_t(n_ranks), (1 - r) / (n_ranks - n_slower));
    for (const int rank : slower) of[std::size_t(rank)] = r / n_slower;
    const SlabWidths widths = slab_widths(extents, grid, shares, least);
    if (cuts.empty() || widths != cuts.back()) cuts.push_back(widths);
  }
  const std::size_t step = (cuts.size() + std::size_t(most_rows) - 1) / std::size_t(most_rows);
  std::vector<SlabWidths> taken;
  for (std::size_t k = 0; k < cuts.size(); k += step) taken.push_back(cuts[k]);
  return taken;
}

}  // namespace

ShareBenchmark benchmark_shares(const Communicator& communicator, const Extents& extents,
                                const BenchmarkOptions& options, int most_rows) {
  SessionOptions session = options.session;
  session.precision = options.precisions.front();
  session.links = options.links.front();
  session.naik_links = options.naik_links.front();
  const ShareChoice choice = choose_shares(communicator, extents, session, Mapping::natural, true);
  ShareBenchmark result;
  result.slower = slower_ranks(choice.speeds);
  const auto foreseen = [&](const SlabWidths& widths) {
    return 1e6 * (slowest_seconds(widths, choice.speeds) + choice.waits);
  };
  const ShareSummary& summary = *choice.summary;
  result.left_out = summary.left_out;
  result.chosen = {share_of(result.slower, summary.widths, summary.left_out), summary.widths, summary.measured,
                   summary.predicted};
  result.of_fewer = summary.of_fewer;
  result.fewer_measured = summary.fewer_measured;
  result.even = {share_of(result.slower, choice.even), choice.even, summary.even, foreseen(choice.even)};
  if (result.slower.empty()) return result;
  const int least = smallest_extent(stencil_of(session));
  for (const SlabWidths& widths : slabs_by_share(extents, communicator.size(), result.slower, least, most_rows))
    result.rows.push_back({share_of(result.slower, widths), widths, never, foreseen(widths)});
  std::vector<ShareRow*> timed{&result.even};
  if (result.left_out.empty()) timed.push_back(&result.chosen);
  for (ShareRow& row : result.rows) timed.push_back(&row);
  for (int pass = 0; pass < passes; ++pass)
    for (ShareRow* row : timed) {
      const PlacedLattice placed = place_lattice(communicator, extents, grid_of(row->widths), shares_of(row->widths),
                                                 {}, Mapping::natural, least);
      const double seconds =
          time_iteration(placed.communicator, placed.lattice, choice.options, options.cuda_device).seconds;
      row->microseconds = std::min(row->microseconds, 1e6 * seconds);
    }
  return result;
}

void print_table(std::ostream& out, const ShareBenchmark& shares) {
  const auto print = [&](const char* what, const ShareRow& row) {
    out << format("%8.3f %14.1f %14.1f  %-8s %s\n", row.share, row.microseconds, row.predicted, what,
                  to_string(row.widths).c_str());
  };
  if (shares.slower.empty()) {
    out << "all ranks are equally fast: even slabs take " << shares.even.microseconds << " us an iteration\n";
    return;
  }
  out << "R is the share of the slower ranks:";
  for (const int rank : shares.slower) out << " " << rank;
  out << format("\n%8s %14s %14s  %-8s %s\n", "R", "us/iteration", "foreseen", "", "slabs");
  const auto best = std::min_element(shares.rows.begin(), shares.rows.end(), [](const ShareRow& a, const ShareRow& b) {
    return a.microseconds < b.microseconds;
  });
  for (auto row = shares.rows.begin(); row != shares.rows.end(); ++row) print(row == best ? "minimum" : "", *row);
  print("even", shares.even);
  print("auto", shares.chosen);
  if (!shares.left_out.empty()) {
    out << "auto leaves out ranks:";
    for (const int rank : shares.left_out) out << " " << rank;
    out << "\n";
  } else if (shares.of_fewer > 0) {
    out << format("the best with ranks left out %.1f us%s, %.3f times auto (%.3f as foreseen)\n", shares.of_fewer,
                  shares.fewer_measured ? "" : " (foreseen)", shares.of_fewer / shares.chosen.microseconds,
                  shares.of_fewer / shares.chosen.predicted);
  }
}

Json to_json(const ShareBenchmark& shares) {
  const auto json_of = [](const ShareRow& row) -> Json {
    return {{"share", row.share},
            {"widths", row.widths},
            {"microseconds", row.microseconds},
            {"predicted_microseconds", row.predicted}};
  };
  Json json = {{"slower_ranks", shares.slower},
               {"rows", Json::array()},
               {"even", json_of(shares.even)},
               {"chosen", json_of(shares.chosen)},
               {"left_out", shares.left_out},
               {"of_fewer_microseconds", positive_or_null(shares.of_fewer)},
               {"of_fewer_measured", shares.fewer_measured}};
  for (const ShareRow& row : shares.rows) json["rows"].push_back(json_of(row));
  return json;
}

}  // namespace staghorn
