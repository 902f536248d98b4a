#include "solver/session/pass_memory.hpp"

namespace staghorn {

void put_passes(SearchNumbers& numbers, const std::vector<PassMemory>& memory, const std::vector<RhsReport>& reports) {
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const RhsReport& rhs = reports[i];
    const auto add = [&](const char* name, double number) { numbers[std::string("passes.") + name].push_back(number); };
    add("outcome", memory[i].outcome ? double(*memory[i].outcome) : -1);
    add("previous", memory[i].previous_residual);
    add("broke_down", memory[i].broke_down);
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
    rhs.residual_true = of_rhs("residual_true");
    rhs.residual_hq = of_rhs("residual_hq");
    rhs.residual_iterated = of_rhs("residual_iterated");
    rhs.iterations = long(of_rhs("iterations"));
    rhs.history = get(numbers, "passes.history" + std::to_string(i));
    rhs.updates.clear();
    for (const double update : get(numbers, "passes.updates" + std::to_string(i))) rhs.updates.push_back(long(update));
  }
}

}  // namespace staghorn
