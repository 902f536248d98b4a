#include "solver/session/many/kept_solutions.hpp"

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/fields/site_hash.hpp"
#include "halo/watch/error.hpp"
#include "solver/session/pass_memory.hpp"

namespace staghorn {

KeptSolutions::KeptSolutions(const Communicator& communicator, const Lattice& lattice, SolutionSink* solutions,
                             Names names)
    : communicator_(communicator), lattice_(lattice), solutions_(solutions), names_(std::move(names)) {
  if (!solutions || !solutions->can_go_on())
    throw Error("`checkpoint`", "an `output` file of HDF5, which keeps the solutions of sources that are done", "none");
}

void KeptSolutions::remember(std::size_t number, const VectorField& x) {
  hashes_[number] = site_hash(communicator_, x);
}

// Hashes are two lists, of 32 bits each.
void KeptSolutions::put(SearchNumbers& numbers, const std::vector<RhsReport>& rhs, const std::vector<bool>& is_done) {
  solutions_->flush();
  std::vector<double>&done = numbers[names_.lists + "done"], &high = numbers[names_.lists + "hash_high"],
  &low = numbers[names_.lists + "hash_low"];
  std::vector<RhsReport> reports;
  for (std::size_t number = 0; number < is_done.size(); ++number) {
    if (!is_done[number]) continue;
    const std::uint64_t hash = hashes_.at(number);
    done.push_back(double(number));
    high.push_back(double(hash >> 32));
    low.push_back(double(hash & 0xffffffff));
    reports.push_back(rhs[number]);
  }
  put_reports(numbers, names_.reports, reports);
}

void KeptSolutions::take_back(const SearchNumbers& numbers, std::vector<RhsReport>& rhs, std::vector<bool>& is_done,
                              const TakeSolution& again, const std::function<void(const std::string&)>& note) {
  const std::vector<double>& done = get(numbers, names_.lists + "done");
  const std::vector<double>&high = get(numbers, names_.lists + "hash_high", done.size()),
        &low = get(numbers, names_.lists + "hash_low", done.size());
  std::vector<RhsReport> reports = get_reports(numbers, names_.reports, done.size());
  VectorField x(lattice_);
  for (std::size_t i = 0; i < done.size(); ++i) {
    const auto number = std::size_t(done[i]);
    const std::uint64_t hash = std::uint64_t(high[i]) << 32 | std::uint64_t(low[i]);
    if (!read_back(number, hash, x)) {
      note(names_.each + " " + std::to_string(number) + " is solved again: its solution is not in the unfinished file");
      continue;
    }
    again(number, x);
    hashes_[number] = hash;
    rhs[number] = std::move(reports[i]);
    is_done[number] = true;
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
