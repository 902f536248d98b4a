#include "solver/session/many/kept_solutions.hpp"

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/fields/site_hash.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

SolutionSink* sink_that_goes_on(SolutionSink* solutions) {
  if (!solutions || !solutions->can_go_on())
    throw Error("`checkpoint`", "an `output` file of HDF5, which keeps the solutions of sources that are done", "none");
  return solutions;
}

bool read_back_whole(const Communicator& communicator, SolutionSink& solutions, std::size_t number, std::uint64_t hash,
                     VectorField& x) {
  try {
    solutions.read_back(number, x);
  } catch (const LocalError&) {
    throw;
  } catch (const Error&) {
    clear_parity(x, Parity::even);  // it is not there
    clear_parity(x, Parity::odd);
  }
  if (site_hash(communicator, x) != hash) return false;
  solutions.accept(number, x);
  return true;
}

void put_hashes(SearchNumbers& numbers, const std::string& prefix, const std::vector<std::uint64_t>& hashes) {
  std::vector<double>&high = numbers[prefix + "hash_high"], &low = numbers[prefix + "hash_low"];
  for (const std::uint64_t hash : hashes) {
    high.push_back(double(hash >> 32));
    low.push_back(double(hash & 0xffffffff));
  }
}

std::vector<std::uint64_t> get_hashes(const SearchNumbers& numbers, const std::string& prefix, std::size_t n) {
  const std::vector<double>&high = get(numbers, prefix + "hash_high", n), &low = get(numbers, prefix + "hash_low", n);
  std::vector<std::uint64_t> hashes;
  for (std::size_t i = 0; i < n; ++i) hashes.push_back(std::uint64_t(high[i]) << 32 | std::uint64_t(low[i]));
  return hashes;
}

}  // namespace staghorn
