// The part of a job of many sources that one group of its ranks solves. Private to this folder. Local.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "solver/report/solve_report.hpp"

namespace staghorn {

class PartOfJob {
 public:
  PartOfJob() = default;  // all of it, of a job that is not split
  // `mine`: of each right-hand side whether it is solved here, the same for all masses. `name`: "1 of 2".
  PartOfJob(std::vector<bool> mine, std::string name) : mine_(std::move(mine)), name_(std::move(name)) {}

  bool is_mine(std::size_t rhs) const { return mine_.empty() || mine_[rhs]; }
  std::size_t size(std::size_t all) const {
    return mine_.empty() ? all : std::size_t(std::count(mine_.begin(), mine_.end(), true));
  }
  // A solution was taken; numbers count masses times right-hand sides, mass by mass.
  void done(std::size_t number, const RhsReport& rhs) {
    if (!mine_.empty()) done_[number] = rhs;
  }
  const std::map<std::size_t, RhsReport>& done() const { return done_; }
  // What tells its checkpoints from those of other parts and of other numbers of groups.
  void add_to(std::map<std::string, std::string>& identity) const {
    if (!mine_.empty()) identity["group"] = name_;
  }

 private:
  std::vector<bool> mine_;
  std::string name_;
  std::map<std::size_t, RhsReport> done_;
};

}  // namespace staghorn
