#include "solver/session/job/checkpoint_identity.hpp"

#include "dirac/fields/site_hash.hpp"
#include "halo/watch/error.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/report/provenance.hpp"
#include "solver/request/option_text.hpp"

namespace staghorn {

std::string hashes_of(const Communicator& all, std::span<const VectorField> sources) {
  std::string hashes;
  for (const VectorField& b : sources) {
    const bool here = b.space() == MemorySpace::host;
    hashes += (hashes.empty() ? "" : " ") +
              hash_text(here ? site_hash(all, b) : site_hash(all, VectorField(b, MemorySpace::host)));
  }
  return hashes;
}

std::map<std::string, std::string> checkpoint_identity(const Gauge& gauge, const SolveRequest& request,
                                                       const std::string& sources_hash) {
  const Communicator& all = gauge.context().communicator();
  const SessionOptions& options = gauge.options();
  const LinkField& links = gauge.links().on_host();
  const SolverEntry& solver = solver_for(options);
  if (!solver.can.resume) throw Error("`checkpoint`", "another solver", solver.name);
  std::map<std::string, std::string> identity = {{"staghorn_version", version()},
                                                 {"lattice", to_string(links.lattice().global())},
                                                 {"links_hash", hash_text(site_hash(all, links))},
                                                 {"sources_hash", sources_hash},
                                                 {"boundary", to_string(options.boundary)},
                                                 {"numbers", describe_numbers(options)},
                                                 {"solver", solver.name},
                                                 {"system", to_string(request.system)},
                                                 {"max_iterations", limit_text(request)}};
  if (request.masses.empty()) identity["mass"] = option_text(request.mass);
  for (const double mass : request.masses)
    identity["masses"] += (identity["masses"].empty() ? "" : ",") + option_text(mass);
  for (const std::optional<double>& epsilon : request.naik_epsilons)
    identity["naik_epsilons"] += epsilon ? option_text(*epsilon) + " " : "own ";
  for (const double tolerance : request.tolerances) identity["tolerances"] += option_text(tolerance) + " ";
  if (const CoarseSpace* const space = gauge.blocks().space(); space && solver.can.blocks) {
    const CoarseSummary& blocks = gauge.blocks().summary();
    identity["blocks"] = to_string(blocks.block) + " " + std::to_string(blocks.vectors) + " " +
                         option_text(blocks.smallest) + " " + option_text(blocks.largest);
  }
  if (gauge.eigenpairs().deflation(request)) identity["eigenvectors"] = gauge.eigenpairs().text();
  if (solver.can.precondition) identity["preconditioner"] = options.preconditioner;
  for (const auto& [name, value] : request.named(tolerance_in_force(request, options.precision)))
    if (value) identity[name] = option_text(*value);
  if (const ImprovedGauge* improved = gauge.links().improved()) {
    identity["naik_links_hash"] = hash_text(site_hash(all, improved->naik));
    identity["naik_scale"] = option_text(improved->naik_scale);
  }
  return identity;
}

}  // namespace staghorn
