// `staghorn plan --find-eigenpairs`: the memory of a search for eigenpairs.
#include <ostream>

#include "solver/json/json_text.hpp"
#include "solver/machine/memory_estimate.hpp"
#include "solver/program/plan/plan.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

using Json = nlohmann::ordered_json;

namespace {

struct SearchPlan {
  Extents grid, local;
  SearchMemory memory;  // of one rank
  bool fits;
  int most_pairs;
};

void print_table(std::ostream& out, const Machine& machine, int pairs, const std::string& precision,
                 const std::vector<SearchPlan>& plans) {
  out << format("%6s %-12s %-14s %12s %12s %12s %12s %10s\n", machine.has_gpus() ? "GPUs" : "ranks", "grid", "local",
                "links", "basis", "certificate", "memory", "most pairs");
  for (const SearchPlan& p : plans) {
    const auto of = [&](const char* object) { return gigabytes(p.memory.objects.at(object)); };
    out << format("%6lld %-12s %-14s %12s %12s %12s %12s %10d%s\n", static_cast<long long>(volume(p.grid)),
                  to_string(p.grid).c_str(), to_string(p.local).c_str(), of("links").c_str(), of("basis").c_str(),
                  of("certificate").c_str(), gigabytes(p.memory.needed()).c_str(), p.most_pairs,
                  p.fits ? "" : "  does not fit");
  }
  out << "basis: " << plans.front().memory.vectors << " vectors of " << pairs << " pairs at the peak, in " << precision
      << ". The certificate follows once the basis is gone.\n";
}

}  // namespace

void print_search_plan(std::ostream& out, const Machine& machine, const Extents& lattice, const SessionOptions& options,
                       int pairs, const std::vector<Extents>& grids, bool as_json) {
  const OperatorOptions of_operator = operator_options(options, 1, machine.has_gpus() ? 0 : -1);
  const bool improved = options.quarks.improved();
  std::vector<SearchPlan> plans;
  for (const Extents& grid : grids) {
    const Lattice cut(lattice, grid, 0, options.loopback);
    const SearchMemory memory = estimate_search_memory(cut, of_operator, improved, pairs);
    plans.push_back({grid, cut.local(), memory, memory.needed() <= machine.memory,
                     most_pairs_that_fit(cut, of_operator, improved, machine.memory)});
  }
  if (!as_json) {
    out << "machine " << machine.name << ", lattice " << to_string(lattice) << ", " << describe_numbers(options) << ", "
        << pairs << " eigenpairs to find\n";
    return print_table(out, machine, pairs, to_string(options.precision), plans);
  }
  Json json{{"machine", json_of_text("machine", to_json(machine), "a machine")},
            {"lattice", lattice},
            {"action", to_string(options.quarks.action)},
            {"links", reals_per_link(options.links)},
            {"find_eigenpairs", pairs}};
  for (const SearchPlan& p : plans)
    json["plans"].push_back({{"ranks", volume(p.grid)},
                             {"grid", p.grid},
                             {"local_lattice", p.local},
                             {"vectors", p.memory.vectors},
                             {"bytes", p.memory.needed()},
                             {"objects", p.memory.objects},
                             {"fits", p.fits},
                             {"most_pairs", p.most_pairs}});
  out << text_of_json(std::move(json)) << "\n";
}

}  // namespace staghorn
