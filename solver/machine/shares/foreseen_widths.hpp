// The slabs that suit machines that need not be here, by what is known of them.
#pragma once

#include <span>

#include "solver/machine/machine_model.hpp"

namespace staghorn {

// The widths of the slabs of `shape.grid` for which the slowest rank ends an iteration first, by its bytes and the
// latencies of its phases. Kinds as in iteration_times. Local.
SlabWidths foreseen_widths(std::span<const Machine> kinds, const SolveShape& shape, LoopChoice asked);

}  // namespace staghorn
