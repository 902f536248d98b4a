// A model of a machine, and a lower bound of the time of a Conjugate Gradient iteration on it, from bytes and
// latencies. docs/performance.md shows how near a real iteration comes to the bound.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "solver/krylov/loop_form.hpp"
#include "solver/machine/memory_estimate.hpp"

namespace staghorn {

// Figures of one rank: of its GPU, or of its share of a host of CPUs.
struct Machine {
  std::string name;
  double stream = 0;             // bytes per second that it reads from its memory
  double memory = 0;             // bytes
  int ranks_per_host = 1;        // GPUs of a host; of CPUs its NUMA domains. Placed as halo/host_mapping.hpp does
  double host_bandwidth = 0;     // bytes per second that one rank sends to others of its host
  double host_latency = 0;       // seconds of such a message
  double network_bandwidth = 0;  // the same between hosts
  double network_latency = 0;
  double kernel_latency = 0;  // seconds that a phase of CG takes on one rank alone beyond its bytes
  double phase_latency = 0;   // the same on several ranks, where it ends with a sum over them
  int threads_per_rank = 0;   // 0: a GPU

  bool has_gpus() const { return threads_per_rank == 0; }
};

// Latencies and bandwidths of hosts with CPUs of which nothing is known but these figures: assumptions.
Machine assumed_cpus(double stream, double memory, int ranks_per_host, int threads_per_rank);

// The built-in machine of that name, or one read from a JSON file whose keys are those of to_json. Throws Error naming
// the key that is missing, unknown or not a positive number (latencies may be 0). Collective: one rank reads.
Machine find_machine(const Communicator& communicator, const std::string& name_or_file);
std::string to_json(const Machine& machine);

// Seconds of one iteration with all right-hand sides.
struct IterationTime {
  double memory = 0;         // bytes over the stream
  double communication = 0;  // of faces, where interior sites do not hide it
  double latency = 0;        // of its phases, each of which ends with sums
  bool one_kernel = false;   // the form of the loop on GPUs; else two kernels an iteration
  double total() const { return memory + communication + latency; }
};

// The time of an iteration in the form of the loop that a solve takes (loop_form.hpp), of every rank. Rank k runs on
// kinds[k % kinds.size()]. Ranks of several kinds are on one host, and messages take them all as long as the slowest
// kind. On one host faces travel by p2p, unless options.transport names another transport. With R reals a link, n
// right-hand sides and w bytes a real, the phases of an iteration move per site of one parity
//   hop (8 R + 18 n) w   residual update (8 R + 36 n) w   in one iteration of 16 direction update 18 n w
// bytes. Every second residual update reads and writes x, which is fp32 where the precision is fp16.
// Faces (6 n w a site, both ways in each cut direction) travel while the interior sites of hop and residual update are
// computed. Boundary sites wait for the faces. With options.sloppy the iteration is in that precision. Local.
std::vector<IterationTime> iteration_times(std::span<const Machine> kinds, const SolveShape& shape, LoopChoice asked);
// Of the slowest rank.
IterationTime iteration_time(std::span<const Machine> kinds, const SolveShape& shape, LoopChoice asked);

}  // namespace staghorn
