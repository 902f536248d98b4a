// What an iteration of CG moves.
#pragma once

#include "dirac/stencil/hop_cost.hpp"
#include "solver/krylov/cg_recurrences.hpp"

namespace staghorn {

// Bytes of an iteration of CG at a site of one parity: x grows in every second one.
constexpr double bytes_per_iteration(const HopCost& cost) {
  return cost.hop_with_beta() + cost.residual_with_beta() + cost.growth() / 2 + cost.direction() / cg_refresh_interval;
}

}  // namespace staghorn
