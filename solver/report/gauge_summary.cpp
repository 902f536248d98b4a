#include "solver/report/gauge_summary.hpp"

#include <algorithm>
#include <limits>

#include "halo/watch/error.hpp"

namespace staghorn {

GaugeSummary summarize_gauge(const Communicator& communicator, const LinkField& links, const UnitarityCheck& check,
                             const GaugeChecks& checks) {
  GaugeSummary summary;
  summary.checksums = checks.checksums;
  summary.warnings = checks.warnings;
  summary.max_unitarity_deviation = check.max_deviation;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  summary.plaquette = summary.plaquette_space = summary.plaquette_time = none;
  summary.link_trace = {none, none};
  if (!check.finite) return summary;
  const Plaquette p = checks.plaquette ? *checks.plaquette : plaquette(communicator, links);
  summary.plaquette = p.all;
  summary.plaquette_space = p.space;
  summary.plaquette_time = p.time;
  summary.link_trace = checks.link_trace ? *checks.link_trace : link_trace(communicator, links);
  return summary;
}

void require_su3(const std::string& name, const UnitarityCheck& check, bool will_reunitarize) {
  if (!check.finite) throw Error(name, "finite links", "NaN or infinity among them");
  const double deviation = std::max(check.max_deviation, check.max_determinant_deviation);
  if (deviation <= (will_reunitarize ? reunitarization_limit : unitarity_tolerance)) return;
  const std::string hint = deviation <= reunitarization_limit
                               ? "`reunitarize` projects them onto SU(3)."
                               : "The naive staggered action takes thin links; smeared (fat) and Naik links, or links "
                                 "with staggered phases or boundary signs folded in, cannot be used.";
  throw Error(name + ": links are not in SU(3)",
              "deviations up to " + three_digits(will_reunitarize ? reunitarization_limit : unitarity_tolerance),
              "|U U^dagger - 1| up to " + three_digits(check.max_deviation) + ", |det U - 1| up to " +
                  three_digits(check.max_determinant_deviation) + ". " + hint);
}

}  // namespace staghorn
