// A job of the solver as data, and what of a gauge stays between its solves.
#include <algorithm>
#include <cstring>

#include "solver/krylov/table/solver_table.hpp"
#include "solver/session/groups/job_groups.hpp"
#include "solver/session/job/job_plan.hpp"
#include "solver/session/job/solve.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

using Places = std::vector<std::size_t>;

// Five sources, at most three at once, and masses of the epsilons 0, -0.1, 0, of which 0 is that of the links.
bool a_job_is_cut_by_epsilons_and_then_by_sources() {
  SolveRequest request;
  request.masses = {0.5, 0.6, 0.7};
  request.tolerances = {1e-8, 1e-9, 1e-10};
  request.naik_epsilons = {std::nullopt, -0.1, 0.0};
  const JobPlan plan = plan_job(request, 5, 3, 0);
  if (!CHECK(plan.batches.size() == 4u)) return false;
  bool holds = true;
  Places all;
  for (const Batch& batch : plan.batches) {
    const bool own = *batch.epsilon == 0;
    holds = holds && CHECK(batch.request.masses == (own ? std::vector{0.5, 0.7} : std::vector{0.6})) &&
            CHECK(batch.request.tolerances == (own ? std::vector{1e-8, 1e-10} : std::vector{1e-9})) &&
            CHECK(batch.request.naik_epsilons.empty()) && CHECK(batch.n_sources <= 3u) &&
            CHECK(batch.places.size() == batch.n_sources * batch.request.masses.size());
    all.insert(all.end(), batch.places.begin(), batch.places.end());
  }
  // Mass by mass, source by source: sources 0 and 1 of the masses 0 and 2.
  holds = holds && CHECK(plan.batches[0].places == (Places{0, 1, 10, 11})) && CHECK(*plan.batches[0].epsilon == 0) &&
          CHECK(plan.batches[3].places == (Places{7, 8, 9})) && CHECK(*plan.batches[3].epsilon == -0.1);
  std::sort(all.begin(), all.end());  // each right-hand side once
  for (std::size_t i = 0; i < all.size(); ++i) holds = holds && CHECK(all[i] == i);
  return holds && CHECK(all.size() == 15u);
}

bool a_job_of_one_mass_is_one_batch() {
  SolveRequest request;
  request.mass = 0.3;
  const JobPlan plan = plan_job(request, 2, most_at_once(request, false), 0);
  return CHECK(plan.batches.size() == 1u) && CHECK(plan.batches[0].places == (Places{0, 1})) &&
         CHECK(!plan.batches[0].epsilon) && CHECK(plan.batches[0].request.mass == 0.3);
}

// Random links of a small lattice, on the CPU, and a point source.
struct SmallGauge {
  static SessionOptions on_cpu() {
    SessionOptions options;
    options.device = "cpu";
    return options;
  }
  SmallGauge() { make_random(links), sources[0][0].c[0] = {1, 0}; }

  const Communicator communicator;
  SessionOptions options = on_cpu();
  const Context context{communicator, {4, 6, 4, 8}, options, Mapping::natural};
  const Context::Scope scope{context};
  LinkField links{context.lattice()};
  std::vector<VectorField> sources{VectorField(context.lattice())};
};

// With noise on both parities multi-shift CG has an operator of two columns, which is gone when the report is written.
bool hops_of_more_columns_than_sources_are_counted() {
  SmallGauge small;
  small.sources[0][1].c[0] = {1, 0};
  Gauge gauge(small.context, small.links, small.context.options(), LinkOrigin{});
  SolveRequest request;
  request.masses = {0.5, 1};
  std::vector<VectorField> solutions(2, VectorField(small.context.lattice()));
  const SolveReport report = solve(gauge, request, small.sources, solutions);
  return CHECK(report.multi_shift->columns == 2) &&
         CHECK(report.seconds.at("hop_interior") == gauge.bench().times().hops.interior) &&
         CHECK(gauge.bench().times().hops.interior > gauge.bench().precise().times().interior);
}

// Solver and preconditioner read the links that are packed; another precision does not.
bool another_solver_keeps_the_packed_links() {
  SmallGauge small;
  auto& [communicator, options, context, scope, links, sources] = small;
  Gauge gauge(context, links, context.options(), LinkOrigin{});
  SolveRequest request;
  request.mass = 1;
  std::vector<VectorField> solutions;
  const auto solved_by = [&](const char* name, const char* preconditioner) {
    options.solver = name;
    options.preconditioner = preconditioner;
    gauge.set_numbers(options, {});
    solutions.assign(1, VectorField(context.lattice()));
    const SolveReport report = solve(gauge, request, sources, solutions);
    return CHECK(report.solver == name) && CHECK(report.outcome == Outcome::certified);
  };
  if (!solved_by("cg", "none")) return false;
  const std::shared_ptr<HopData> packed = gauge.bench().packed_links();
  const VectorField first = solutions[0];
  if (!solved_by("block", "none") || !CHECK(gauge.bench().packed_links() == packed)) return false;
  if (!solved_by("flexible", "chebyshev:4") || !CHECK(gauge.bench().packed_links() == packed)) return false;
  if (!solved_by("cg", "none") || !CHECK(gauge.bench().packed_links() == packed)) return false;
  if (!CHECK(std::memcmp(first.data(), solutions[0].data(), first.bytes()) == 0)) return false;
  options.precision = Precision::fp32;
  return solved_by("cg", "none") && CHECK(gauge.bench().packed_links() != packed);
}

// Chosen for a request, made once for requests alike, and chosen anew for one that differs.
bool a_precision_is_chosen_for_each_request() {
  SolveRequest request;
  request.mass = 0.005;
  SessionOptions gauge;
  Action& action = gauge.quarks.action;
  action = Action::hisq;
  SolveNumbers asked;
  const auto chosen = [&](std::int64_t sites) { return chosen_numbers(asked, gauge, request, sites).sloppy; };
  if (!CHECK(!chosen(1'000'000))) return false;
  asked.sloppy_auto = true;
  if (!CHECK(chosen(100'000) == Precision::fp16) || !CHECK(chosen(99'999) == Precision::fp32)) return false;
  request.mass = 0.002;
  for (const Action quarks : {Action::naive, Action::hisq}) {
    action = quarks;
    if (!CHECK(chosen(1'000'000) == Precision::fp16) || !CHECK(chosen(999'999) == Precision::fp32)) return false;
  }
  request.mass = 0.0019;
  if (!CHECK(chosen(1'000'000) == Precision::fp32)) return false;
  request.mass = 0.005;
  asked.solver = "block";
  if (!CHECK(chosen(100'000) == Precision::fp32)) return false;
  asked.solver = "cg";
  if (!CHECK(!chosen(100'000))) return false;
  asked.solver = "auto";
  gauge.blas = Blas::cublas;
  if (!CHECK(!chosen(100'000))) return false;
  gauge.blas = Blas::fused;
  asked.precision = Precision::fp32;
  if (!CHECK(!chosen(100'000))) return false;
  asked.precision = Precision::fp64;
  action = Action::naive;
  if (!CHECK(chosen(100'000) == Precision::fp32)) return false;
  action = Action::hisq;
  request.mass = 0.004;
  if (!CHECK(chosen(100'000) == Precision::fp32)) return false;
  request.masses = {0.1, 0.2};
  return CHECK(chosen(100'000) == Precision::fp32);
}

// Every piece goes to one group, in order, and no group has more than its share and a piece besides.
bool pieces_are_dealt_in_order_and_evenly() {
  Pieces pieces(9);
  pieces.join(4, 2), pieces.join(7, 4), pieces.join(0, 1);
  const std::vector<Places> list = pieces.list();
  if (!CHECK(list.size() == 6u) || !CHECK(list[0] == (Places{0, 1})) || !CHECK(list[1] == (Places{2, 4, 7})))
    return false;
  bool holds = true;
  for (std::size_t groups = 1; groups <= list.size(); ++groups) {
    std::size_t next = 0;
    for (const Places& dealt : deal(list, groups)) {
      std::size_t rhs = 0;
      for (const std::size_t piece : dealt) {
        holds = holds && CHECK(piece == next);
        rhs += list[next++].size();
      }
      holds = holds && CHECK(rhs <= 9 / groups + 3);
    }
    holds = holds && CHECK(next == list.size());
  }
  // Pieces alike: as many groups have work as there can be, and no group has two more than another.
  for (std::size_t n = 1; n <= 12; ++n)
    for (std::size_t groups = 1; groups <= n; ++groups)
      for (const Places& dealt : deal(Pieces(n).list(), groups))
        holds = holds && CHECK(dealt.size() >= n / groups) && CHECK(dealt.size() <= (n + groups - 1) / groups);
  return holds;
}

bool ranks_of_a_host_have_places_side_by_side() {
  return CHECK(places_by_host({0, 1, 0, 1, 2, 0}) == (std::vector{0, 3, 1, 4, 5, 2})) &&
         CHECK(places_by_host({0, 0, 0}) == (std::vector{0, 1, 2}));
}

}  // namespace

std::vector<UnitCheck> job_checks() {
  return {UNIT_CHECK(pieces_are_dealt_in_order_and_evenly),
          UNIT_CHECK(ranks_of_a_host_have_places_side_by_side),
          UNIT_CHECK(a_job_is_cut_by_epsilons_and_then_by_sources),
          UNIT_CHECK(a_job_of_one_mass_is_one_batch),
          UNIT_CHECK(a_precision_is_chosen_for_each_request),
          UNIT_CHECK(hops_of_more_columns_than_sources_are_counted),
          UNIT_CHECK(another_solver_keeps_the_packed_links)};
}

}  // namespace staghorn
