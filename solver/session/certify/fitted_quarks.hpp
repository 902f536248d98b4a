// The tadpole factor of asqtad, or the epsilon of HISQ, with which a solution was made. Collective.
#pragma once

#include <optional>

#include "solver/session/certify/judge.hpp"

namespace staghorn {

// The quarks of `start` with the parameter p that leaves the smallest residual. b = alpha x + beta y + beta q dy/dp by
// least squares, y = D x or D^2 x, moves it by q, until it stands. Nothing where it does not come to stand, or leaves
// the range of such numbers. `thin`: the links that fat and Naik links are made from.
std::optional<QuarkAction> fitted_quarks(const Communicator& communicator, const LinkField& thin,
                                         const Convention& start, const JudgedFields& fields, double tolerance);

}  // namespace staghorn
