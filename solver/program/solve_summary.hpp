// What `staghorn solve` prints for people: what it works with, and the certificate.
#pragma once

#include <iosfwd>
#include <string>

#include "halo/watch/error.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

// "staghorn 0.2.0: cpu, fp64, 18 reals a link, 1 rank x 2 threads". Local.
void print_machine(std::ostream& out, const Session& session);
// That, a note if bindings leave cores idle that a solve on CPUs would use, and the gauge field and how it is cut.
// Collective.
void print_session(std::ostream& out, const Session& session);
// The line of a certificate that stands first. Local.
void print_outcome(std::ostream& out, const std::string& outcome, bool verified);
// Outcome, residuals as iterated and recomputed, norms, times, memory, and the explanation where there is one. Local.
void print_certificate(std::ostream& out, const SolveReport& report);
// Of the times of a report; 0 where it has none of that name. Local.
double seconds_of(const std::map<std::string, double>& phases, const char* phase);
// What checkpoints did; `counted` is what was counted before the run went on. Local.
void print_checkpoint(std::ostream& out, const CheckpointSummary& checkpoint, const char* counted);

// Adds to the explanation of a report that its vectors were not written, and why. Local.
void add_failure(std::string& explanation, const char* what, const Error& failure);

// The JSON of a solve that ended with an error, in place of a report. `category` is one of those of
// docs/guide/troubleshooting.md.
std::string report_of_error(const Error& error);

}  // namespace staghorn
