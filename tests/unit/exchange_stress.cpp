// Many exchanges of faces of several sizes, and sums over ranks between them, every byte checked:
//
//   exchange_stress TRANSPORT host|cuda ROUNDS GX GY GZ GT
//
// on GX x GY x GZ x GT ranks; a direction with one rank has no face. With STAGHORN_STRESS_DELAYS every step is delayed
// at random. Exit status 0: all arrived as sent; 1: not; 77: these ranks cannot use the transport.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "halo/cuda/cuda_device.hpp"
#include "halo/transport/face_exchange.hpp"
#include "halo/transport/test_faces.hpp"

using namespace staghorn;

namespace {

// A single byte, and sizes below and above those at which MPI changes its way of sending.
constexpr std::size_t sizes[] = {1, 4000, 70000, 300000};

struct Case {
  Case(const Communicator& communicator, const Lattice& lattice, const std::array<std::size_t, 8>& bytes,
       MemorySpace space, const std::string& transport)
      : exchange(communicator, lattice, bytes, space, transport), faces(lattice, bytes, space) {}

  FaceExchange exchange;
  TestFaces faces;
};

int run(const Communicator& communicator, const std::string& transport, MemorySpace space, int rounds,
        const Extents& grid) {
  const int gpus = cuda::device_count();
  if (space == MemorySpace::cuda && gpus > 0) cuda::select_device(communicator.rank_on_host() % gpus);
  const bool lacks_gpu = communicator.any(space == MemorySpace::cuda && gpus == 0);
  const std::string obstacle = lacks_gpu ? "no GPU" : transport_obstacle(communicator, transport, space);
  if (!obstacle.empty()) {
    if (communicator.is_root()) std::printf("%s: %s\n", transport.c_str(), obstacle.c_str());
    return 77;
  }
  Extents global = grid;
  for (int& extent : global) extent *= 4;
  const Lattice lattice(global, grid, communicator.rank());
  std::vector<std::unique_ptr<Case>> cases;
  for (const std::size_t size : sizes) {
    std::array<std::size_t, 8> bytes{};
    for (int face = 0; face < 8; ++face)
      if (lattice.partitioned(face / 2)) bytes[face] = size + 13 * std::size_t(face);
    cases.push_back(std::make_unique<Case>(communicator, lattice, bytes, space, transport));
  }

  std::int64_t faults = 0;
  const std::int64_t ranks = communicator.size();
  for (int round = 0; round < rounds; ++round) {
    auto& [exchange, faces] = *cases[std::size_t(round) % cases.size()];
    faces.pack(exchange, std::uint64_t(round));
    exchange.start();
    for (int part = 0; part < 2; ++part) exchange.progress();
    exchange.finish();
    const std::string fault = faces.fault(exchange, std::uint64_t(round));
    if (!fault.empty() && ++faults < 10) std::printf("%s\n", fault.c_str());
    const std::int64_t sum = communicator.sum(std::int64_t(communicator.rank()) + round);
    if (sum != ranks * (ranks - 1) / 2 + ranks * round && ++faults < 10) std::printf("round %d: sum %ld\n", round, sum);
  }
  faults = communicator.sum(faults);
  if (communicator.is_root()) std::printf("%d exchanges, %ld faults\n", rounds, faults);
  return faults == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  const MpiSession mpi;
  const Communicator communicator(MPI_COMM_WORLD);
  const MemorySpace space = std::string(argv[2]) == "cuda" ? MemorySpace::cuda : MemorySpace::host;
  const Extents grid{std::atoi(argv[4]), std::atoi(argv[5]), std::atoi(argv[6]), std::atoi(argv[7])};
  return run(communicator, argv[1], space, std::atoi(argv[3]), grid);
}
