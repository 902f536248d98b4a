// Certificates of solutions that any code wrote: the residual in fp64 by the plain path, and, where it is large, the
// convention that makes it small.
#pragma once

#include <span>

#include "dirac/fields/site_field.hpp"
#include "solver/report/certify_report.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

// Judges solutions x of M x = b, or of A x = b, on the links of a session on the host: naive quarks, of which
// `request.quarks` makes others, or stored fat and Naik links. One source for each solution. The result depends on no
// process grid and no number of threads. Throws Error where there are not as many sources as solutions, where numbers
// are not finite, and where a source or a solution is zero on the sites of the system. Collective.
CertifyReport certify(Session& session, const CertifyRequest& request, std::span<const VectorField> solutions,
                      std::span<const VectorField> sources);

}  // namespace staghorn
