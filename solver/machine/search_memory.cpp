#include "solver/machine/search_memory.hpp"

#include <algorithm>

#include "dirac/operators/operator_memory.hpp"
#include "solver/eigen/lanczos_search.hpp"
#include "solver/request/eigen_request.hpp"

namespace staghorn {

double SearchMemory::needed() const {
  const auto bytes = [&](const char* object) { return objects.at(object); };
  return bytes("links") + bytes("halo") + std::max(bytes("basis"), bytes("certificate") + bytes("eigenvectors"));
}

SearchMemory estimate_search_memory(const Lattice& lattice, const OperatorOptions& options, bool improved, int pairs) {
  const OperatorBytes bytes = predict_operator_bytes(lattice, options);
  OperatorOptions of_block = options;
  of_block.n_rhs = LanczosSearch::block_size(pairs, 3 * lattice.global_volume() / 2);
  const double sites = double(lattice.local_volume());
  SearchMemory memory;
  memory.vectors = LanczosSearch::most_vectors(pairs, 3 * lattice.global_volume() / 2);
  memory.vector = bytes.vector;
  const double plain = sites * ((improved ? 2 : 1) * double(sizeof(Links)) + 3 * double(sizeof(ColorVector<double>)));
  OperatorOptions of_values = options;
  of_values.precision = Precision::fp64;
  const double values = options.precision == Precision::fp64 ? 0 : predict_operator_bytes(lattice, of_values).links;
  const double block = of_block.n_rhs > 1 ? predict_operator_bytes(lattice, of_block).halo : 0;
  memory.objects = {{"links", bytes.links + values},
                    {"halo", bytes.halo + block},
                    {"basis", memory.vectors * bytes.vector},
                    {"certificate", options.cuda_device >= 0 ? plain : 0},
                    {"eigenvectors", pairs * bytes.vector}};
  return memory;
}

int most_pairs_that_fit(const Lattice& lattice, const OperatorOptions& options, bool improved, double bytes) {
  const auto fits = [&](int pairs) {
    return estimate_search_memory(lattice, options, improved, pairs).needed() <= bytes;
  };
  const std::int64_t dimension = 3 * lattice.global_volume() / 2;
  int fitting = 0, too_many = int(std::min<std::int64_t>(EigenRequest::most_pairs, dimension)) + 1;
  while (too_many - fitting > 1) {
    const int pairs = (fitting + too_many) / 2;
    (fits(pairs) ? fitting : too_many) = pairs;
  }
  return fitting;
}

}  // namespace staghorn
