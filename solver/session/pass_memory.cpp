#include "solver/session/pass_memory.hpp"

#include <iterator>
#include <utility>

namespace staghorn {

namespace {

// What put_passes leaves out.
constexpr double RhsReport::*more_of_done[] = {&RhsReport::attainable, &RhsReport::norm2, &RhsReport::norm2_even,
                                               &RhsReport::norm2_odd, &RhsReport::mass};

}  // namespace

void put_passes(SearchNumbers& numbers, const std::vector<PassMemory>& memory, const std::vector<RhsReport>& reports) {
  for (const char* name : {"outcome", "previous", "broke_down", "made", "gave_up", "patient", "previous_hq",
                           "residual_true", "residual_hq", "residual_iterated", "iterations"})
    numbers[std::string("passes.") + name].clear();
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const RhsReport& rhs = reports[i];
    const auto add = [&](const char* name, double number) { numbers[std::string("passes.") + name].push_back(number); };
    add("outcome", memory[i].outcome ? double(*memory[i].outcome) : -1);
    add("previous", memory[i].previous_residual);
    add("broke_down", memory[i].broke_down);
    add("made", memory[i].passes);
    add("gave_up", memory[i].gave_up);
    add("patient", memory[i].patient);
    add("previous_hq", memory[i].previous_hq);
    add("residual_true", rhs.residual_true);
    add("residual_hq", rhs.residual_hq);
    add("residual_iterated", rhs.residual_iterated);
    add("iterations", double(rhs.iterations));
    numbers["passes.history" + std::to_string(i)] = rhs.history;
    numbers["passes.updates" + std::to_string(i)].assign(rhs.updates.begin(), rhs.updates.end());
  }
}

void get_passes(const SearchNumbers& numbers, std::vector<PassMemory>& memory, std::vector<RhsReport>& reports) {
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const auto of_rhs = [&](const char* name) { return get(numbers, std::string("passes.") + name, memory.size())[i]; };
    RhsReport& rhs = reports[i];
    memory[i].outcome.reset();
    if (of_rhs("outcome") >= 0) memory[i].outcome = Outcome(int(of_rhs("outcome")));
    memory[i].previous_residual = of_rhs("previous");
    memory[i].broke_down = of_rhs("broke_down") != 0;
    memory[i].passes = int(of_rhs("made"));
    memory[i].gave_up = of_rhs("gave_up") != 0;
    memory[i].patient = of_rhs("patient") != 0;
    memory[i].previous_hq = of_rhs("previous_hq");
    rhs.residual_true = of_rhs("residual_true");
    rhs.residual_hq = of_rhs("residual_hq");
    rhs.residual_iterated = of_rhs("residual_iterated");
    rhs.iterations = long(of_rhs("iterations"));
    rhs.history = get(numbers, "passes.history" + std::to_string(i));
    rhs.updates.clear();
    for (const double update : get(numbers, "passes.updates" + std::to_string(i))) rhs.updates.push_back(long(update));
  }
}

void put_reports(SearchNumbers& numbers, const std::string& prefix, std::span<const RhsReport> reports) {
  SearchNumbers done;
  std::vector<PassMemory> memory;
  for (const RhsReport& rhs : reports) memory.push_back({rhs.outcome});
  put_passes(done, memory, {reports.begin(), reports.end()});
  for (const char* name : {"shift_iterations", "iterations_more"}) done[name].clear();
  for (const RhsReport& rhs : reports) done["iterations_more"].push_back(double(rhs.iterations_more.value_or(0)));
  for (const RhsReport& rhs : reports) done["shift_iterations"].push_back(double(rhs.shift_iterations));
  for (std::size_t k = 0; k < std::size(more_of_done); ++k) {
    std::vector<double>& list = done["more" + std::to_string(k)];
    for (const RhsReport& rhs : reports) list.push_back(rhs.*more_of_done[k]);
  }
  put_below(numbers, prefix, std::move(done));
}

std::vector<RhsReport> get_reports(const SearchNumbers& numbers, const std::string& prefix, std::size_t n) {
  const SearchNumbers done = below(numbers, prefix);
  std::vector<PassMemory> memory(n);
  std::vector<RhsReport> reports(n);
  get_passes(done, memory, reports);
  const std::vector<double>&shift_iterations = get(done, "shift_iterations", n),
        &iterations_more = get(done, "iterations_more", n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!memory[i].outcome) throw Error("checkpoint: " + prefix, "an outcome", "none");
    reports[i].outcome = *memory[i].outcome;
    reports[i].shift_iterations = long(shift_iterations[i]);
    if (iterations_more[i] > 0) reports[i].iterations_more = long(iterations_more[i]);
  }
  for (std::size_t k = 0; k < std::size(more_of_done); ++k) {
    const std::vector<double>& list = get(done, "more" + std::to_string(k), n);
    for (std::size_t i = 0; i < n; ++i) reports[i].*more_of_done[k] = list[i];
  }
  return reports;
}

}  // namespace staghorn
