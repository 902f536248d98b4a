#include <algorithm>

#include "halo/watch/error.hpp"
#include "solver/krylov/preconditioned/chebyshev_preconditioner.hpp"
#include "solver/krylov/preconditioned/preconditioner.hpp"

namespace staghorn {

namespace {

constexpr PreconditionerEntry preconditioners[] = {
    {"chebyshev", "products with A", 1, 1000,
     [](StaggeredOperator& d, StaggeredOperator* sloppy, int n) -> std::unique_ptr<Preconditioner> {
       return std::make_unique<ChebyshevPreconditioner>(d, sloppy, n);
     },
     ChebyshevPreconditioner::predicted_bytes},
};

}  // namespace

PreconditionerChoice preconditioner_of(const std::string& text) {
  std::string choices = "none";
  for (const PreconditionerEntry& entry : preconditioners) {
    const std::string name = entry.name, digits = text.substr(std::min(text.size(), name.size() + 1));
    choices += ", " + name + ":N with " + std::to_string(entry.least) + " to " + std::to_string(entry.most) + " " +
               entry.number;
    if (text.compare(0, name.size() + 1, name + ":") != 0 || digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      continue;
    const int n = std::stoi(digits);
    if (n >= entry.least && n <= entry.most) return {&entry, n};
  }
  throw Error("preconditioner", choices, "'" + text + "'");
}

}  // namespace staghorn
