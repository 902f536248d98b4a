// What is read off solutions that come in any order: correlators of points and walls, condensates of noise, and the
// names of sources in the report. Private to this folder.
#pragma once

#include <optional>
#include <vector>

#include "solver/report/solve_report.hpp"
#include "solver/request/source_list.hpp"
#include "solver/session/gauge.hpp"
#include "solver/session/session.hpp"
#include "solver/session/solve_sources.hpp"

namespace staghorn {

class ManyObservables {
 public:
  // All must outlive this. Of a parity system nothing is read off. Throws Error where the request asks for exact low
  // modes that there are not. Collective.
  ManyObservables(Session& session, const SourceList& sources, const SolveRequest& request);

  // Solution `number` of mass after mass, source after source, on the host, in the phases of its source. Of a colour,
  // |x|^2 of each site is kept until all three colours are there. Collective.
  void take(std::size_t number, const VectorField& solution);
  // Sources, names and colours of right-hand sides; of a single source also what a report of one source has. Local.
  void put_into(SolveReport& report) const;

 private:
  double mass(std::size_t k) const { return masses_of(request_)[k]; }

  const Communicator& communicator_;
  const SourceList& sources_;
  const SolveRequest& request_;
  std::size_t n_masses_;
  std::vector<std::vector<double>> site_norms2_;  // of each solution that has a colour
  std::vector<double> trace_;                     // of each solution of noise
  std::vector<std::vector<double>> correlators_;  // of each source, mass by mass
  LowModes low_modes_;
  std::vector<std::vector<double>> seen_;  // by low modes, of each source of noise
};

}  // namespace staghorn
