// Solutions that a job had before it went on: in the unfinished file, if they are what they were. Private to this
// folder.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "solver/report/solve_report.hpp"
#include "solver/search/search_keeper.hpp"
#include "solver/session/many/solve_many.hpp"

namespace staghorn {

class KeptSolutions {
 public:
  // `solutions` keeps them. each: what a number is, in notes: "source" or "solution"; states hold "sources" or
  // "solutions". All but `each` must outlive this. Throws Error where a job cannot go on from `solutions`. Local.
  KeptSolutions(const Communicator& communicator, const Lattice& lattice, SolutionSink* solutions, std::string each);

  // There is no state: all begin. Collective.
  void begin_anew() { solutions_->begin_anew(); }
  // A solution was taken. Collective.
  void remember(std::size_t number, const VectorField& x);
  // Adds those that are done, once they are on the disk. Collective.
  void write(const Archive& archive, const std::vector<RhsReport>& rhs, const std::vector<bool>& is_done);
  // Takes back those of a state that are in the file with the hash that they had: `again` takes each, on the host. The
  // others are solved again, as `note` says. Collective.
  void take_back(const Archive& archive, std::vector<RhsReport>& rhs, std::vector<bool>& is_done,
                 const TakeSolution& again, const std::function<void(const std::string&)>& note);

 private:
  bool read_back(std::size_t number, std::uint64_t hash, VectorField& x);

  const Communicator& communicator_;
  const Lattice& lattice_;
  SolutionSink* solutions_;
  const std::string each_;
  std::map<std::size_t, std::uint64_t> hashes_;
};

}  // namespace staghorn
