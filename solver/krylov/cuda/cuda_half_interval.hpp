// Batches of the forms that queue single iterations: a batch is half of an interval between given directions. Up to two
// batches run for nothing at the end of a solve.
#pragma once

#include "solver/krylov/cg_recurrences.hpp"

namespace staghorn {

// Queues batch 0, 1, 2, ... of a solve.
//   queue_iteration(given)  queues an iteration; given: p is the direction, and tmp = D p is computed from it
//   queue_direction()       queues p = r + beta p
template <class QueueIteration, class QueueDirection>
void queue_half_interval(long batch, const QueueIteration& queue_iteration, const QueueDirection& queue_direction) {
  const bool first_half = batch % 2 == 0;
  for (int k = 0; k < cg_refresh_interval / 2; ++k) queue_iteration(first_half && k == 0);
  if (!first_half) queue_direction();
}

}  // namespace staghorn
