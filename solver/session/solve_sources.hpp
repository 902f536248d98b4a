// A solve as front ends ask for it: sources with names and colours in, solutions and a complete report out. The program
// and Python call this.
#pragma once

#include <functional>
#include <vector>

#include "solver/observables/observable_table.hpp"
#include "solver/request/rational_function.hpp"
#include "solver/request/sources.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

struct SolvedSources {
  std::vector<VectorField> solutions;  // one for each source
  SolveReport report;                  // with the source's name and colours, and observables
};

// Solves for all sources at once. `guesses`: one field for each source, or none for zeros; the solutions come out in
// their memory. The report has the observables of the full system. Of request.rational, whose file it reads: the
// rational function of -D^2 of each source, or with request.rational_parts its terms without their residues, pole by
// pole. Throws as Session::solve does. Collective.
SolvedSources solve_sources(Session& session, const SolveRequest& request, const SourceSet& sources,
                            std::vector<VectorField> guesses = {},
                            const std::function<void(const CgProgress&)>& progress = {});

// The links that the observables of a request read. Throws Error where its mesons cannot be measured on these sources.
// They refer to those of the session. Local.
MeasuredLinks measured_links(Session& session, const SolveRequest& request, std::span<const SourceRequest> sources);

// What a rational function asks of a session: the masses of its poles, and of HISQ quarks the epsilon that its file
// names, if it is not that of the links. Throws Error where links that `options` make cannot have it. Local.
SolveRequest request_of_poles(const SolveRequest& request, const RationalFunction& function,
                              const SessionOptions& options);

// From the solutions of all poles, pole by pole, to y = constant b + sum_k residue_k (-D^2 + pole_k)^-1 b on the sites
// of the system. Local.
void sum_poles(SolvedSources& solved, const RationalFunction& function, System system, const SourceSet& sources);

// What such a solve will ask of the memory of a session with links of these quarks. Local.
ExpectedSolve expected_solve(const SolveRequest& request, const SourceRequest& source, const QuarkAction& quarks);

}  // namespace staghorn
