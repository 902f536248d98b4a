// Eigenpairs that are kept with the links they belong to, and used by solves. They go where the links change. Local
// throughout.
#pragma once

#include <memory>
#include <string>

#include "solver/eigen/deflation.hpp"
#include "solver/machine/memory_check.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

class KeptEigenpairs {
 public:
  // From now on these, which were certified so. `origin`: a file and its format, or "" and "memory"; `seconds`: of
  // reading or finding them.
  void keep(std::unique_ptr<Deflation> pairs, const EigenpairCertificate& certificate, double seconds, std::string file,
            std::string format);
  void forget() { deflation_.reset(); }

  // Whether solves use them; a new set is used.
  void use(bool use) { are_used_ = use; }
  bool are_used() const { return deflation_ && are_used_; }
  // What a solve of this request deflates with, if anything.
  Deflation* deflation(const SolveRequest& request) const {
    return are_used() && request.deflate ? deflation_.get() : nullptr;
  }

  // nullptr without any; `summary` is without what solves add.
  Deflation* deflation() const { return deflation_.get(); }
  const DeflationSummary* summary() const { return deflation_ ? &summary_ : nullptr; }
  const Eigenpairs& pairs() const { return deflation_->pairs(); }  // there are some
  const std::string& text() const { return text_; }                // precision and values, for checkpoints

  void describe(SolveShape& shape) const;              // what memory estimates ask of them
  void add_to(MemoryBudget& held, bool on_gpu) const;  // their memory, and that of the work with them

 private:
  std::unique_ptr<Deflation> deflation_;
  DeflationSummary summary_;
  bool are_used_ = true;
  std::string text_;
};

}  // namespace staghorn
