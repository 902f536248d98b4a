// The fields of staghorn_request, at one place: checked, what ranks ask alike, and in the words of the table of
// options. Local.
#pragma once

#include <staghorn.h>

#include "solver/interface/alike.hpp"
#include "solver/interface/words.hpp"

namespace staghorn {

// Checks each field that stands alone. Throws Error.
void check(const staghorn_request& request);
// What is solved and how; not who looks on.
void add(Asked& asked, const staghorn_request& request);
// The request over what words of context and gauge ask for. Numbers that a field leaves at its default are theirs.
// `improved`: whether links are of improved quarks. Throws Error.
SolveOptions options_of(const staghorn_request& given, const SessionOptions& asked, bool improved);
// Fermilab's residual of a halved operator is halved, too.
void scale_heavy_quarks(SolveRequest& request, double factor);

}  // namespace staghorn
