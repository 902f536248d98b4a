// What is measured on solutions that come in any order, and the names of sources in the report. Private to this folder.
#pragma once

#include "solver/observables/measurements.hpp"
#include "solver/request/source_list.hpp"
#include "solver/session/low_modes/kept_pairs.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

class ManyObservables {
 public:
  // All must outlive this. Throws Error where the request asks for exact low modes that there are not. Collective.
  ManyObservables(Session& session, const SourceList& sources, const SolveRequest& request);

  // Solution `number` of mass after mass, source after source, on the host, in the phases of its source. Collective.
  void take(std::size_t number, const VectorField& solution);
  // What other groups of the job have measured. Collective over the job.
  void complete(const VisitNumbers& part) { measurements_.complete(part); }
  // Sources, observables, names and colours of right-hand sides. Collective.
  void put_into(SolveReport& report) const;

 private:
  const Communicator& communicator_;
  const SourceList& sources_;
  const SolveRequest& request_;
  std::vector<SourceRequest> requests_;
  MeasuredLinks links_;
  LowModes low_modes_;
  Measurements measurements_;
  double seconds_ = 0;  // in take
};

}  // namespace staghorn
