// Gauge::solve: checks of request and fields around the passes of a certified solve.
#include <algorithm>

#include "dirac/fields/site_hash.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/eigen/eigenpair_identity.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/report/explanation.hpp"
#include "solver/report/provenance.hpp"
#include "solver/request/option_text.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/certificate/scaled_sources.hpp"
#include "solver/session/certified_solve.hpp"
#include "solver/session/gauge.hpp"

namespace staghorn {

std::string Gauge::hashes_of(std::span<const VectorField> sources) const {
  const Communicator& all = context_.communicator();
  std::string hashes;
  for (const VectorField& b : sources) {
    const bool here = b.space() == MemorySpace::host;
    hashes += (hashes.empty() ? "" : " ") +
              hash_text(here ? site_hash(all, b) : site_hash(all, VectorField(b, MemorySpace::host)));
  }
  return hashes;
}

std::map<std::string, std::string> Gauge::identity_of(const SolveRequest& request,
                                                      const std::string& sources_hash) const {
  const Communicator& all = context_.communicator();
  const SolverEntry& solver = solver_for(options_);
  if (!solver.can.resume) throw Error("`checkpoint`", "another solver", solver.name);
  std::map<std::string, std::string> identity = {
      {"staghorn_version", version()},
      {"lattice", to_string(lattice().global())},
      {"links_hash", hash_text(site_hash(all, links()))},
      {"sources_hash", sources_hash},
      {"boundary", to_string(options_.boundary)},
      {"numbers", describe_numbers(options_)},
      {"solver", solver.name},
      {"system", to_string(request.system)},
      {"tolerance", option_text(tolerance_in_force(request, options_.precision))},
      {"max_iterations", limit_text(request)}};
  if (request.masses.empty()) identity["mass"] = option_text(request.mass);
  for (const double mass : request.masses)
    identity["masses"] += (identity["masses"].empty() ? "" : ",") + option_text(mass);
  for (const std::optional<double>& epsilon : request.naik_epsilons)
    identity["naik_epsilons"] += epsilon ? option_text(*epsilon) + " " : "own ";
  for (const double tolerance : request.tolerances) identity["tolerances"] += option_text(tolerance) + " ";
  if (deflation(request)) identity["eigenvectors"] = eigenvectors_;
  if (solver.can.precondition) identity["preconditioner"] = options_.preconditioner;
  if (request.tolerance_hq) identity["tolerance_hq"] = option_text(*request.tolerance_hq);
  if (improved_) {
    identity["naik_links_hash"] = hash_text(site_hash(all, improved_->naik));
    identity["naik_scale"] = option_text(improved_->naik_scale);
  }
  return identity;
}

Checkpoints* Gauge::checkpoints_of(const SolveRequest& request, std::span<const VectorField> sources,
                                   const SolveHabits& habits, std::optional<Checkpoints>& own) const {
  if (habits.checkpoints || !request.checkpoint) return habits.checkpoints;
  return &own.emplace(context_.communicator(), lattice(), checkpoint_place(request),
                      identity_of(request, hashes_of(sources)));
}

CertifiedWork Gauge::certified_work(const SolveRequest& request, const SolveHabits& habits, Checkpoints* checkpoints) {
  return {context_.communicator(),
          plain_links(certificate_.space()),
          options_.boundary,
          options_.precision,
          *pass_,
          certificate_.residual(),
          habits.interrupted,
          checkpoints,
          deflation(request),
          [this] { pack_links(); }};
}

SolveReport Gauge::solve(const SolveRequest& request, std::span<const VectorField> sources,
                         std::span<VectorField> solutions, const std::function<void(const CgProgress&)>& progress,
                         const SolveHabits& habits) {
  const Communicator& all = context_.communicator();
  const std::size_t n_rhs = sources.size();
  check_request(request, options_.precision);
  check_fields(all, lattice(), sources, solutions);
  const std::vector<double> b2 = source_norms2(all, request.system, sources, habits.zero_source_is_a_result);
  if (std::any_of(b2.begin(), b2.end(), is_out_of_range))
    return solve_scaled(request, sources, b2, solutions, progress, habits);
  if (request.stop == StopOn::parity && request.system == System::full)
    return solve_on_parity(request, sources, solutions, progress, habits);
  if (n_rhs > most_at_once(request)) return solve_in_groups(request, sources, solutions, progress, habits);
  const MemorySpace certificate = place_certificate(sources, solutions, request.system);

  std::optional<Checkpoints> own_checkpoints;
  Checkpoints* const checkpoints = checkpoints_of(request, sources, habits, own_checkpoints);

  std::vector<int> guessed(n_rhs, 0);
  if (request.chronological > 0) {
    if (common_space(sources, solutions) != MemorySpace::host)
      throw Error("chronological", "fields on the host", "fields on a GPU");
    guessed = earlier_.guess(all, plain_links(MemorySpace::host), options_.boundary, request, sources, solutions);
  }

  const Stopwatch setting_up;
  prepare(int(n_rhs), request.system, certificate);
  const double setup_seconds = setting_up.seconds();

  CertificateFields::Brought here;
  all.agree([&] { here = certificate_.bring(sources, solutions); });  // there may be no memory for copies
  CertifiedSolve done = certified_solve(certified_work(request, habits, checkpoints), request, here.sources, b2,
                                        here.solutions, progress);
  certificate_.give_back(solutions);
  if (request.chronological > 0) earlier_.keep(request, solutions, std::size_t(request.chronological));
  for (std::size_t i = 0; i < n_rhs; ++i) done.rhs[i].earlier_solutions = guessed[i];
  return filled_report(request, done, setup_seconds, double(2 * n_rhs) * double(sources[0].bytes()));
}

SolveReport Gauge::solve_scaled(const SolveRequest& request, std::span<const VectorField> sources,
                                std::vector<double> b2, std::span<VectorField> solutions, const ShowProgress& progress,
                                const SolveHabits& habits) {
  const Communicator& all = context_.communicator();
  const MemorySpace space = common_space(sources, solutions);
  const std::size_t n_rhs = sources.size();
  std::vector<VectorField> scaled;
  std::optional<VectorField> residual;
  all.agree([&] {
    scaled.assign(sources.begin(), sources.end());
    residual.emplace(sources[0].lattice(), space);
  });
  std::vector<int> times;
  for (std::size_t i = 0; i < n_rhs; ++i) times.push_back(bring_into_range(all, request.system, scaled[i], b2[i]));
  const auto multiply_solutions = [&](int sign) {
    for (std::size_t i = 0; i < solutions.size(); ++i)
      multiply_times(request.system, solutions[i], sign * times[i % n_rhs]);
  };
  multiply_solutions(1);  // guesses
  SolveReport report;
  try {
    report = request.masses.empty() ? solve(request, scaled, solutions, progress, habits)
                                    : solve_masses(request, scaled, solutions, progress, habits);
  } catch (...) {
    multiply_solutions(-1);
    throw;
  }
  std::optional<OperatorLinks> links;
  all.agree([&] { links.emplace(plain_links(space)); });
  const Judge judge{all, *links, options_.boundary, *residual};
  for (std::size_t i = 0; i < solutions.size(); ++i) {
    const std::size_t mass = i / n_rhs, source = i % n_rhs;
    SolveRequest of_mass = request;
    double tolerance = report.tolerance;
    if (!request.masses.empty()) of_mass.mass = request.masses[mass];
    if (!request.tolerances.empty() && request.tolerances[mass] > 0) tolerance = request.tolerances[mass];
    take_back(judge, of_mass, tolerance, scaled[source], times[source], solutions[i], report.rhs[i]);
  }
  conclude(report);
  return report;
}

}  // namespace staghorn
