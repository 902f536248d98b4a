#include "solver/krylov/rhs_ledger.hpp"

#include "halo/named_choice.hpp"

namespace staghorn {

namespace {

constexpr NamedChoice<CgOutcome, 4> outcomes{"outcome of CG",
                                             {{{CgOutcome::converged, "converged"},
                                               {CgOutcome::out_of_iterations, "out_of_iterations"},
                                               {CgOutcome::stagnated, "stagnated"},
                                               {CgOutcome::breakdown, "breakdown"}}}};

}  // namespace

std::string to_string(CgOutcome outcome) { return outcomes.name(outcome); }
void parse(const std::string& text, CgOutcome& outcome) { outcome = outcomes.parse(text); }

void SolvedRhs::visit(const Archive& archive) {
  archive("outcome", outcome);
  archive("iterations", iterations);
  archive("residual_norm", residual_norm);
  archive("history", history);
  archive("steps", steps);
  archive("updates", updates);
  archive("mismatches", mismatches);
}

void Running::visit(const Archive& archive) {
  archive("done", done);
  archive("active", active);
  archive("smallest", smallest);
  archive("since_smallest", since_smallest);
  archive("root_condition", root_condition);
  archive("patient", patient);
}

void append_leg(SolvedRhs& to, const SolvedRhs& leg) {
  for (const long update : leg.updates) to.updates.push_back(to.iterations + update);
  to.mismatches.insert(to.mismatches.end(), leg.mismatches.begin(), leg.mismatches.end());
  to.iterations += leg.iterations;
  to.residual_norm = leg.residual_norm;
  to.outcome = leg.outcome;
  if (!leg.history.empty()) to.history.insert(to.history.end(), leg.history.begin() + 1, leg.history.end());
  to.steps.insert(to.steps.end(), leg.steps.begin(), leg.steps.end());
}

void archive_sums(const Archive& archive, const char* name, std::vector<ExactSum>& sums) {
  std::vector<double> bounds = bounds_of(sums);
  archive(name, bounds, sums.size());
  if (archive.reads()) sums = sums_within(bounds);
}

}  // namespace staghorn
