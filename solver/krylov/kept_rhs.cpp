#include "solver/krylov/kept_rhs.hpp"

namespace staghorn {

void put(SearchNumbers& numbers, const std::string& prefix, const std::vector<SolvedRhs>& rhs) {
  for (const char* name : {"outcome", "iterations", "residual"}) numbers[prefix + name].clear();
  for (std::size_t i = 0; i < rhs.size(); ++i) {
    const std::string number = std::to_string(i);
    numbers[prefix + "outcome"].push_back(double(rhs[i].outcome));
    numbers[prefix + "iterations"].push_back(double(rhs[i].iterations));
    numbers[prefix + "residual"].push_back(rhs[i].residual_norm);
    numbers[prefix + "history" + number] = rhs[i].history;
    numbers[prefix + "steps" + number] = rhs[i].steps;
    numbers[prefix + "updates" + number].assign(rhs[i].updates.begin(), rhs[i].updates.end());
  }
}

std::vector<SolvedRhs> get_rhs(const SearchNumbers& numbers, const std::string& prefix, std::size_t n_rhs) {
  std::vector<SolvedRhs> rhs(n_rhs);
  const std::vector<double>&outcome = get(numbers, prefix + "outcome", n_rhs),
        &iterations = get(numbers, prefix + "iterations", n_rhs), &residual = get(numbers, prefix + "residual", n_rhs);
  for (std::size_t i = 0; i < n_rhs; ++i) {
    rhs[i].outcome = CgOutcome(int(outcome[i]));
    rhs[i].iterations = long(iterations[i]);
    rhs[i].residual_norm = residual[i];
    rhs[i].history = get(numbers, prefix + "history" + std::to_string(i));
    rhs[i].steps = get(numbers, prefix + "steps" + std::to_string(i));
    for (const double update : get(numbers, prefix + "updates" + std::to_string(i)))
      rhs[i].updates.push_back(long(update));
  }
  return rhs;
}

}  // namespace staghorn
