// From the options of a session to those of an operator. The one place where the former become the latter. Local.
#pragma once

#include "dirac/operators/staggered_operator.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// The options of the operator in `precision`, for so many right-hand sides, on that GPU (-1: on the CPU).
OperatorOptions operator_options(const SessionOptions& options, int n_rhs, int cuda_device);

// The legs of the hop of these quarks.
Stencil stencil_of(const SessionOptions& options);

// The same options with the precision and links of the iterations, which differ in mixed precision.
SessionOptions iterated_options(SessionOptions options);

}  // namespace staghorn
