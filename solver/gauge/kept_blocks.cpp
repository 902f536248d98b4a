#include "solver/gauge/kept_blocks.hpp"

#include <utility>

namespace staghorn {

void KeptBlocks::keep(std::unique_ptr<CoarseSpace> space, double seconds, std::string file) {
  space_ = std::move(space);
  const CoarsePairs& pairs = space_->pairs();
  const BlockGrid& grid = space_->basis().grid();
  summary_ = {};
  summary_.file = std::move(file);
  summary_.vectors = space_->basis().n();
  summary_.block = grid.block();
  summary_.blocks = grid.global_count();
  summary_.neighbours = space_->matrix().neighbours();
  summary_.pairs = long(pairs.values.size());
  if (!pairs.values.empty()) {
    summary_.smallest = pairs.values.front();
    summary_.largest_of_pairs = pairs.values.back();
  }
  summary_.largest = pairs.largest;
  summary_.set_up_products = pairs.products;
  summary_.set_up_seconds = seconds;
}

void KeptBlocks::describe(SolveShape& shape) const {
  if (!space_) return;
  shape.block_vectors = space_->basis().n();
  shape.block = space_->basis().grid().block();
}

void KeptBlocks::add_to(MemoryBudget& held) const {
  if (!space_) return;
  (space_->matrix().space() == MemorySpace::cuda ? held.device : held.host) += double(space_->bytes());
}

}  // namespace staghorn
