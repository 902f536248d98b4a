// Measurements of the parts of a solve, each beside what the machine's own memory streams in the same process.
//
// Gauge field: independent random SU(3) links, Naik ones of improved quarks too; sources: Gaussian noise. Every figure
// is the best of several batches of calls (machines are shared), the slowest rank of each. Collective.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dirac/operators/staggered_operator.hpp"
#include "halo/communicator.hpp"
#include "halo/lattice.hpp"
#include "solver/report/time_table.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// Faces and global sums timed on their own, without the hops that hide them, beside what the link between GPUs carries
// and what the way through the host takes. Seconds of the slowest rank, best of several batches; 0: there is no such
// figure.
struct FaceRates {
  std::int64_t bytes = 0;  // of all faces that a rank sends in one exchange, as many as it receives
  double exchange = 0;     // faces packed, sent and arrived
  // Where kernels store faces straight into the ghosts of their receivers (p2p):
  double stored = 0;  // by the kernel that does so, alone
  double copied = 0;  // by a plain copy for each face: the same bytes, from contiguous memory to the same places

  // One number for each right-hand side, added exactly over all ranks, once the last kernel has added up this rank's:
  double sum_through_host = 0;  // as loops on the host do it; on a GPU that is two copies and a wait more than MPI
  double sum_by_mpi = 0;        // MPI's part of that
  double sum_in_kernels = 0;    // by p2p, as the loop of CG on the GPU does it, through mailboxes
};

struct BenchmarkResult {
  std::string what;
  Precision precision;
  Reconstruct links;
  int rhs;
  double microseconds;  // of one call, all right-hand sides
  double gflops;        // 570 flop a site and hop, 1146 of improved quarks; all ranks; 0 where no flops are counted
  double gb_s;          // minimal traffic: every link and every vector once; all ranks
  double fraction_of_stream;                // gb_s over the streaming read of all ranks
  double site_iterations_per_second = 0;    // CG: sites of the whole lattice times iterations times right-hand sides
  std::string transport{};                  // that faces took: "none", "mpi", "p2p", ...
  TransportChoice transports{};             // how it was chosen
  std::optional<Reconstruct> naik_links{};  // of improved quarks, beside fat links of 18 reals
  bool reads_links = true;                  // of what does not, `links` means nothing
  TimeTable times{};                        // of `exchange`: one hop by phase, and what was hidden
  FaceRates faces{};                        // of `exchange`: faces and sums on their own
  LaunchTuning tuning{};
  std::string loop{};     // CG: what its loop ran as (krylov/loop_form.hpp)
  bool in_cache = false;  // what one call moves fits into the caches: gb_s is not a figure of the memory
};

struct BenchmarkOptions {
  std::vector<Precision> precisions{Precision::fp64, Precision::fp32};
  std::vector<Reconstruct> links{Reconstruct::none18, Reconstruct::row12, Reconstruct::su3_8};
  std::vector<Reconstruct> naik_links{Reconstruct::none18, Reconstruct::u3_13, Reconstruct::u3_9};  // improved quarks
  int rhs = 1;
  double seconds = 1;            // spent on each figure
  std::size_t stream_bytes = 0;  // that all ranks together stream; 0: far more than caches hold, 1 GiB, or 4 on GPUs
  int cuda_device = -1;          // >= 0: on that GPU
  std::string instruction_set = "auto";
  SessionOptions session;  // its transport, overlap and tuning
  // Which forms of Conjugate Gradient are timed; cublas on a GPU only, block CG in place of the others.
  bool fused = true, cublas = false, block = false;
};

// The shortest time of one call of `work`, over batches that last about `seconds` together; the slowest rank counts.
double best_time(const Communicator& communicator, double seconds, const std::function<void()>& work);

// What all ranks together stream, in bytes.
std::size_t streamed_bytes(const BenchmarkOptions& options);

// For faces of `v`, which lies on the parity opposite to `target`; nothing where no faces travel. Spends about
// `seconds` on each figure. Collective.
FaceRates measure_faces(StaggeredOperator& d, const ColorVectorField& v, Parity target, double seconds);

// Bytes per second that all ranks and threads together read from a buffer of options.stream_bytes, in huge pages where
// the system gives them.
double measure_stream_read(const Communicator& communicator, const BenchmarkOptions& options);
// The same of copying one half of such a buffer to another: bytes read and bytes written together.
double measure_copy(const Communicator& communicator, const BenchmarkOptions& options);

// One parity-changing hop, alternating parities.
std::vector<BenchmarkResult> benchmark_hop(const Communicator& communicator, const Lattice& lattice,
                                           const BenchmarkOptions& options, double stream_read);
// One iteration of Conjugate Gradient at mass 0.05, everything included: the whole call over its iterations. The cuBLAS
// baseline is counted with the 126 vector reals that it moves, the fused form with its 55.
std::vector<BenchmarkResult> benchmark_cg(const Communicator& communicator, const Lattice& lattice,
                                          const BenchmarkOptions& options, double stream_read);
// What the exact sums of one CG iteration cost: the sums inside kernels and their reductions over ranks, and the
// iteration they belong to. Then products and combinations of 16 vectors.
std::vector<BenchmarkResult> benchmark_sums(const Communicator& communicator, const Lattice& lattice,
                                            const BenchmarkOptions& options, double stream_read);
// For each precision of the options, on 16 vectors of one parity: their dot products with 16 others; their Gram matrix;
// combinations of all of them into one vector and into 16. Bytes: each vector that is read or written, once. Flops: 24
// a site for each complex product of two vectors, or of a vector and a number. Collective.
std::vector<BenchmarkResult> benchmark_vectors(const Communicator& communicator, const Lattice& lattice,
                                               const BenchmarkOptions& options, double stream_read);
// A hop with faces in flight during the interior and without, and, on the CPU, its parts as the host meets them (pack,
// interior, wait, boundary; means of all hops, of the slowest rank in each, so they may add up to more than the hop). A
// GPU works through a queue: there whole hops are timed, in batches. Beside both, the table of phases. Then faces and
// sums on their own.
std::vector<BenchmarkResult> benchmark_exchange(const Communicator& communicator, const Lattice& lattice,
                                                const BenchmarkOptions& options, double stream_read);

}  // namespace staghorn
