// Operators at sources, with the links of a session.
#pragma once

#include "solver/request/sources.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

// Applies the operators of sources whose vectors are in these phases. Throws Error where an operator shifts and the
// session has no thin links. `session` must outlive what is returned. Local; what is returned is collective.
ApplyOperators source_operators(Session& session, PhaseConvention phases);

}  // namespace staghorn
