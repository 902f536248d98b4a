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
#include "solver/observables/meson_place.hpp"
#include "solver/report/observable.hpp"
#include "solver/request/solve_request.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

// The links that observables read.
struct MeasuredLinks {
  OperatorLinks action;   // uncompressed, where they came to; on the host where the request asks for currents
  const LinkField* thin;  // on the host; null where the request asks for nothing that reads them
  Boundary boundary;
  std::shared_ptr<MesonPlace> mesons;  // of a request that asks for some
};

// What an observable of one source is measured with. All of it outlives the measurement.
struct MeasuredSource {
  const Communicator& communicator;
  const MeasuredLinks& links;
  const SolveRequest& request;
  const LowModes& low_modes;
  const SourceRequest& source;
  std::size_t n_vectors;                      // of the source: colours or noise vectors
  std::size_t number;                         // of the source among all of them
  std::span<const SourceRequest> sources;     // all of them
  std::span<const std::size_t> n_vectors_of;  // and their vectors
  std::size_t n_masses() const { return masses_of(request).size(); }
};

// A solution for vector k of a source at the mass of this number.
class Solution {
 public:
  // `field`: on the host, in these phases, those of the source. `make_source` makes the vector of the source. Both are
  // asked for within the call that gets the solution.
  Solution(std::size_t source, std::size_t mass, std::size_t k, const VectorField& field, PhaseConvention phases,
           const std::function<const VectorField&()>& make_source)
      : source(source), mass(mass), k(k), field(field), make_source(make_source), phases_(phases) {}
  const std::size_t source, mass, k;
  const VectorField& field;
  const std::function<const VectorField&()>& make_source;  // collective
  // A copy in the phases of CPS in that space, made once and shared by all that keep it. Local.
  const std::shared_ptr<const VectorField>& kept(MemorySpace space) const;

 private:
  PhaseConvention phases_;
  mutable std::shared_ptr<const VectorField> kept_;
};

using VisitNumbers = std::function<void(std::vector<double>& numbers)>;

// One observable of one source, at all masses.
class Measurement {
 public:
  virtual ~Measurement() = default;
  // A solution of this source. They come in any order, each once. Collective.
  virtual void take(const Solution& solution) = 0;
  // One of another source, of which few observables want to know. Collective.
  virtual void take_of_another(const Solution&) {}
  // Shows each list of numbers that solutions have given so far: empty where these went to another group of the job,
  // and filled there by `part`. The same lists, in the same order, in all groups. Collective as `part` is.
  virtual void visit_parts(const VisitNumbers& part) = 0;
  // All lists are filled: what was not computed before for want of some. Collective.
  virtual void complete() {}
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

// Fields on the host that the mesons of a request keep, of three colours: solutions of all masses of the sources that
// it pairs, shifted ones and two on the way to these, five on the way to currents.
int n_meson_fields(const SolveRequest& request);
// Likewise of baryons: solutions of all masses, and nine on the way to Delta.
int n_baryon_fields(const SolveRequest& request);

// One observable of each kind, without values: what a report has of a solve on which nothing is measured.
std::vector<Observable> nothing_observed();

}  // namespace staghorn
