// What can be measured on solutions of (2m + D) x = b. A new observable is a file of this folder and a row of the
// table.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "dirac/fields/site_field.hpp"
#include "dirac/stencil/boundary.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "halo/communicator.hpp"
#include "solver/eigen/low_modes.hpp"
#include "solver/report/observable.hpp"
#include "solver/request/solve_request.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

// The links that observables read.
struct MeasuredLinks {
  OperatorLinks action;   // uncompressed, where they came to
  const LinkField* thin;  // on the host; null where the request asks for nothing that reads them
  Boundary boundary;
};

// What an observable is measured with. All of it outlives the measurement.
struct MeasuredSource {
  const Communicator& communicator;
  const MeasuredLinks& links;
  const SolveRequest& request;
  const LowModes& low_modes;
  const SourceRequest& source;
  std::size_t n_vectors;  // of the source: colours or noise vectors
  std::size_t n_masses() const { return masses_of(request).size(); }
};

// One observable of one source, at all masses.
class Measurement {
 public:
  virtual ~Measurement() = default;
  // The solution for vector k of the source at the mass of this number, on the host, in the phases of the source. They
  // come in any order, each once. `source` makes the vector of the source where it is wanted. Collective.
  virtual void take(std::size_t mass, std::size_t k, const VectorField& solution,
                    const std::function<const VectorField&()>& source) = 0;
  // Sets values and low part, once all solutions of this mass are there. Local.
  virtual void put_into(Observable& observable, std::size_t mass) const = 0;
};

struct ObservableEntry {
  ObservableKind kind;
  bool (*is_given_by)(const SourceRequest& source);
  std::unique_ptr<Measurement> (*measure)(const MeasuredSource& source);
};

// All of them, in the order of reports.
std::span<const ObservableEntry> observable_table();

std::vector<ObservableKind> observable_kinds();

// Fields on the host that the mesons of a request keep, for a source of three colours: solutions of all masses, shifted
// ones and two on the way to these.
int n_meson_fields(const SolveRequest& request);

// One observable of each kind, without values: what a report has of a solve on which nothing is measured.
std::vector<Observable> nothing_observed();

}  // namespace staghorn
