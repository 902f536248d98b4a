#include "solver/session/source_operators.hpp"

#include "halo/watch/error.hpp"
#include "solver/gauge/gauge.hpp"
#include "solver/observables/spin_taste_operator.hpp"

namespace staghorn {

ApplyOperators source_operators(Session& session, PhaseConvention phases) {
  return [&session, phases](const SourceRequest& source, VectorField& vector) {
    const GaugeLinks& links = session.resident().links();
    const bool shifts = have_shifts(source.spec.operators);
    if (shifts && !links.have_thin())
      throw Error("source " + to_string(source.spec),
                  "thin links for operators with shifts (`keep_thin_links` keeps those of asqtad and HISQ)",
                  "fat and Naik links");
    const MeasuredLinks read{
        links.as_they_came(), shifts ? &links.thin_on_host() : nullptr, session.options().boundary, {}};
    change_phases(phases, vector);
    for (const SourceOperator& applied : source.spec.operators)
      apply_source_operator(session.communicator(), read, source.origin(), applied, vector);
    change_phases(phases, vector);
  };
}

}  // namespace staghorn
