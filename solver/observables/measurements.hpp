// All observables of a list of sources, measured on solutions that come in any order.
#pragma once

#include <vector>

#include "solver/observables/observable_table.hpp"

namespace staghorn {

class Measurements {
 public:
  // `n_vectors` of each source. Of a parity system nothing is measured. References must outlive this. Local.
  Measurements(const Communicator& communicator, const MeasuredLinks& links, const SolveRequest& request,
               const LowModes& low_modes, std::vector<SourceRequest> sources, std::vector<std::size_t> n_vectors);
  Measurements(const Measurements&) = delete;  // its parts refer to its sources
  Measurements& operator=(const Measurements&) = delete;

  // The solution for vector k of the source of this number, on the host, in the phases of the source. They come in any
  // order, each once. `make_source` makes the vector where it is wanted. Collective.
  void take(std::size_t source, std::size_t mass, std::size_t k, const VectorField& solution,
            const std::function<const VectorField&()>& make_source);
  // Where groups of a job have taken solutions of their own: shows `part` what each has, and fills in the rest.
  // Collective as `part` is.
  void complete(const VisitNumbers& part);
  // Mass by mass, source by source, one of each kind; those without values are not given by their source. Local.
  std::vector<Observable> results() const;

 private:
  std::size_t n_masses_;
  PhaseConvention phases_;
  std::vector<SourceRequest> sources_;
  std::vector<std::size_t> n_vectors_;
  std::vector<std::unique_ptr<Measurement>> measured_;  // [source][kind]; nullptr: the source does not give it
};

}  // namespace staghorn
