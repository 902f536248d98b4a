// The questions a solve asks of its request and of its sources before it starts. Each throws Error that names what was
// expected and what was found.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"
#include "solver/request/solve_request.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

// Precisions, links and libraries that go together. Local.
void check_options(const SessionOptions& options);

// Mass, tolerance and iterations in the ranges where the system makes sense. Local.
void check_request(const SolveRequest& request, Precision precision);

// Epsilons of masses that links made with these options can have. Local.
void check_epsilons(const SolveRequest& request, const SessionOptions& options);

// Where low modes are to be exact: a full system, masses of one epsilon, eigenvectors, and among `sources` (none: they
// are not known yet) one whose observable has a low part, which is noise, or a point or wall with all three colours.
// Local.
void check_low_modes(const SolveRequest& request, bool any_eigenvectors, std::span<const SourceRequest> sources);

// Whether a session with these options has the thin links. Local.
bool keeps_thin_links(const SessionOptions& options);

// Where mesons or baryons are asked for: a full system, among `sources` (none: they are not known yet) a point or wall
// with all three colours, and thin links where an operator has shifts. Local.
void check_mesons(const SolveRequest& request, bool thin_links, std::span<const SourceRequest> sources);

// As many sources as guesses, at least one, on `lattice`, all finite. Collective.
void check_fields(const Communicator& communicator, const Lattice& lattice, std::span<const VectorField> sources,
                  std::span<const VectorField> guesses, std::size_t n_masses = 1);

// The sites that a system has: one parity, or all where nothing is returned. Local.
std::optional<Parity> sites_of(System system);

// |b|^2 of every source, on the sites that the system has; a source that is zero there is an Error, unless that is
// allowed. Only such a source has the norm 0: squares that a double cannot hold make it the smallest double, or
// infinity. Collective.
std::vector<double> source_norms2(const Communicator& communicator, System system, std::span<const VectorField> sources,
                                  bool zero_is_allowed = false);

// The same of one source, which must be finite and not zero; errors call it `name`. Collective.
double require_source(const Communicator& communicator, const std::string& name, const VectorField& source,
                      System system);

}  // namespace staghorn
