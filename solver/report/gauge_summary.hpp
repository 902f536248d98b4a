// What a solver asks of a gauge field before it starts: its observables, and links that are in SU(3).
#pragma once

#include "dirac/fields/site_field.hpp"
#include "dirac/gauge/gauge_observables.hpp"
#include "halo/communicator.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "solver/report/solve_report.hpp"

namespace staghorn {

// Deviations of |U U^dagger - 1| and |det U - 1| up to which links are used as they stand, and up to which a projection
// onto SU(3) repairs them (beyond it the field is something else: smeared links, or links with phases folded in).
inline constexpr double unitarity_tolerance = 1e-5;
inline constexpr double reunitarization_limit = 1e-3;

// Plaquettes, link trace and the deviation from unitarity of `links`; the observables are NaN where links are not
// finite. What reading `links` computed already is taken from `checks`, with what it found. File and format are the
// caller's to fill. Collective.
GaugeSummary summarize_gauge(const Communicator& communicator, const LinkField& links, const UnitarityCheck& check,
                             const GaugeChecks& checks);

// Throws Error, naming what was found and what is allowed, unless the links are finite and in SU(3) within the limits
// above. `name` is that of the file, for messages; `will_reunitarize` allows the wider one. Local.
void require_su3(const std::string& name, const UnitarityCheck& check, bool will_reunitarize);

}  // namespace staghorn
