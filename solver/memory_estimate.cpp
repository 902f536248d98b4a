#include "solver/memory_estimate.hpp"

namespace staghorn {

std::map<std::string, double> estimate_memory(const Extents& extents, Precision precision, Reconstruct reconstruct,
                                              int n_rhs) {
  const double sites = double(volume(extents)), real = bytes_per_real(precision);
  return {{"links", sites * 4 * reals_per_link(reconstruct) * real},
          {"vectors", sites / 2 * 6 * 6 * real * n_rhs},
          {"certificate_links", sites * 4 * 18 * 8},
          {"certificate_vectors", sites * 3 * 6 * 8},
          {"sources_solutions", sites * 2 * 6 * 8 * n_rhs}};
}

double total_bytes(const std::map<std::string, double>& memory_bytes) {
  double total = 0;
  for (const auto& [object, bytes] : memory_bytes) total += bytes;
  return total;
}

}  // namespace staghorn
