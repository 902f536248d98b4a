// A model of a machine, and a lower bound of the time of a Conjugate Gradient iteration on it, from bytes and
// latencies. docs/performance.md shows how near a real iteration comes to the bound.
#pragma once

#include <string>

#include "halo/communicator.hpp"
#include "solver/krylov/loop_form.hpp"
#include "solver/machine/memory_estimate.hpp"

namespace staghorn {

struct Machine {
  std::string name;
  double stream = 0;             // bytes per second that one GPU reads from its memory
  double memory = 0;             // bytes of one GPU
  int gpus_per_host = 1;         // ranks are placed as halo/host_mapping.hpp does
  double host_bandwidth = 0;     // bytes per second that one GPU sends to others of its host
  double host_latency = 0;       // seconds of such a message
  double network_bandwidth = 0;  // the same between hosts, of one GPU
  double network_latency = 0;
  double kernel_latency = 0;  // seconds that a phase of CG takes on one GPU beyond its bytes
  double phase_latency = 0;   // the same on several GPUs, where it ends with a sum over them
};

// The built-in machine of that name, or one read from a JSON file whose keys are those of to_json. Throws Error naming
// the key that is missing, unknown or not a positive number (latencies may be 0). Collective: one rank reads.
Machine find_machine(const Communicator& communicator, const std::string& name_or_file);
std::string to_json(const Machine& machine);

// Seconds of one iteration with all right-hand sides, of the slowest GPU.
struct IterationTime {
  double memory = 0;         // bytes over the stream
  double communication = 0;  // of faces, where interior sites do not hide it
  double latency = 0;        // of its phases, each of which ends with sums
  bool one_kernel = false;   // the form of the loop; else two kernels an iteration
  double total() const { return memory + communication + latency; }
};

// The time of an iteration in the form of the loop that a solve takes (loop_form.hpp). On one host faces travel by p2p,
// unless options.transport names another transport. With R reals a link, n right-hand sides and w bytes a real, the
// phases of an iteration move per site of one parity
//   hop (8 R + 18 n) w   residual update (8 R + 36 n) w   in one iteration of 16 direction update 18 n w
// bytes. Every second residual update reads and writes x, which is fp32 where the precision is fp16.
// Faces (6 n w a site, both ways in each cut direction) travel while the interior sites of hop and residual update are
// computed. Boundary sites wait for the faces. With options.sloppy the iteration is in that precision. Local.
IterationTime iteration_time(const Machine& machine, const SolveShape& shape, LoopChoice asked);

}  // namespace staghorn
