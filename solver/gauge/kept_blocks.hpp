// A basis of blocks that is kept with the links it was made from, and used by solves. It goes where the links change.
// Local throughout.
#pragma once

#include <memory>
#include <string>

#include "solver/krylov/coarse/coarse_space.hpp"
#include "solver/machine/memory_check.hpp"
#include "solver/report/solve_report.hpp"

namespace staghorn {

class KeptBlocks {
 public:
  // From now on this one. `file`: that its vectors came from, or "". `seconds`: of reading or finding them, and of
  // making the rest.
  void keep(std::unique_ptr<CoarseSpace> space, double seconds, std::string file);
  void forget() { space_.reset(); }

  CoarseSpace* space() const { return space_.get(); }  // nullptr without any
  // Without what solves add; there is one.
  const CoarseSummary& summary() const { return summary_; }

  void describe(SolveShape& shape) const;  // what memory estimates ask of it
  void add_to(MemoryBudget& held) const;

 private:
  std::unique_ptr<CoarseSpace> space_;
  CoarseSummary summary_;
};

}  // namespace staghorn
