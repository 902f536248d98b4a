#include "solver/session/many/kept_solutions.hpp"

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/fields/site_hash.hpp"
#include "halo/watch/error.hpp"
#include "solver/search/archive.hpp"

namespace staghorn {

namespace {

struct KeptSolution {
  std::size_t number = 0;
  std::uint64_t hash = 0;
  RhsReport report;
  void visit(const Archive& archive) {
    archive("number", number);
    archive("hash", hash);
    archive("report", report);
  }
};

}  // namespace

KeptSolutions::KeptSolutions(const Communicator& communicator, const Lattice& lattice, SolutionSink* solutions,
                             std::string each)
    : communicator_(communicator), lattice_(lattice), solutions_(solutions), each_(std::move(each)) {
  if (!solutions || !solutions->can_go_on())
    throw Error("`checkpoint`", "an `output` file of HDF5, which keeps the solutions of sources that are done", "none");
}

void KeptSolutions::remember(std::size_t number, const VectorField& x) {
  hashes_[number] = site_hash(communicator_, x);
}

void KeptSolutions::write(const Archive& archive, const std::vector<RhsReport>& rhs, const std::vector<bool>& is_done) {
  solutions_->flush();
  std::vector<KeptSolution> kept;
  for (std::size_t number = 0; number < is_done.size(); ++number)
    if (is_done[number]) kept.push_back({number, hashes_.at(number), rhs[number]});
  archive(each_ + "s", kept);
}

void KeptSolutions::take_back(const Archive& archive, std::vector<RhsReport>& rhs, std::vector<bool>& is_done,
                              const TakeSolution& again, const std::function<void(const std::string&)>& note) {
  std::vector<KeptSolution> all;
  archive(each_ + "s", all);
  VectorField x(lattice_);
  for (KeptSolution& kept : all) {
    if (!read_back(kept.number, kept.hash, x)) {
      note(each_ + " " + std::to_string(kept.number) + " is solved again: its solution is not in the unfinished file");
      continue;
    }
    again(kept.number, x);
    hashes_[kept.number] = kept.hash;
    rhs.at(kept.number) = std::move(kept.report);
    is_done.at(kept.number) = true;
  }
}

// Reads a solution into x. Returns whether it is there and has this hash; then the sink counts it as written.
bool KeptSolutions::read_back(std::size_t number, std::uint64_t hash, VectorField& x) {
  try {
    solutions_->read_back(number, x);
  } catch (const LocalError&) {
    throw;
  } catch (const Error&) {
    clear_parity(x, Parity::even);  // it is not there
    clear_parity(x, Parity::odd);
  }
  if (site_hash(communicator_, x) != hash) return false;
  solutions_->accept(number, x);
  return true;
}

}  // namespace staghorn
