// What is read off solutions that come in any order: correlators of points and walls, condensates of noise, and the
// names of sources in the report. Private to this folder.
#pragma once

#include <vector>

#include "solver/report/solve_report.hpp"
#include "solver/request/source_list.hpp"

namespace staghorn {

class ManyObservables {
 public:
  // `communicator` and `sources` must outlive this. Of a parity system nothing is read off. Local.
  ManyObservables(const Communicator& communicator, const SourceList& sources, const SolveRequest& request);

  // Solution `number` of mass after mass, source after source, on the host, in the phases of its source. Of a colour,
  // |x|^2 of each site is kept until all three colours are there. Collective.
  void take(std::size_t number, const VectorField& solution);
  // Sources, names and colours of right-hand sides; of a single source also what a report of one source has. Local.
  void put_into(SolveReport& report) const;

 private:
  const Communicator& communicator_;
  const SourceList& sources_;
  System system_;
  std::size_t n_masses_;
  std::vector<std::vector<double>> site_norms2_;  // of each solution that has a colour
  std::vector<double> trace_;                     // of each solution of noise
  std::vector<std::vector<double>> correlators_;  // of each source, mass by mass
};

}  // namespace staghorn
