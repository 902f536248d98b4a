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
// The request, and over it what was set by name, over what words of context and gauge ask for. Numbers that a field
// leaves at its default are theirs. `improved`: whether links are of improved quarks. Throws Error for a word that is
// none of `whose`.
SolveOptions options_of(const staghorn_request& given, OptionsOf whose, const SessionOptions& asked, bool improved);

// Sign and factor of a host's operator against the library's M = 2m + D. All changes are exact: signs and powers of
// two.
//
//   M = 2m - D      S (2m + D) S with S = (-1)^(x+y+z+t):  b -> S b, x -> S x
//   M = m + D/2     half of the library's M, so x is twice its solution of the same source; A is a quarter, x four
//   times
//
// The host's source times this is the library's, for the same x.
double source_scale(const staghorn_request& request, System system);
// Only the full system sees the sign of D.
inline bool flips(const staghorn_request& request, System system) { return request.sign < 0 && system == System::full; }

}  // namespace staghorn
