// Where solves run: ranks, their cut of the lattice, the device, options with nothing left open. A context outlives the
// gauge fields in it. Several contexts may work in several threads. Collective throughout.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/cuda/device_scope.hpp"
#include "halo/cut_lattice.hpp"
#include "halo/watch/arithmetic.hpp"
#include "halo/watch/forked.hpp"
#include "halo/watch/surroundings.hpp"
#include "solver/krylov/cublas/cublas.hpp"
#include "solver/krylov/loop_form.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// The options, if they go together, with what they leave open filled in from the environment. Throws Error. Local.
SessionOptions completed_options(SessionOptions options);

// Has a child meet HDF5 files first in the surroundings of this thread, or not, if the options say either. Throws Error
// where there is no program beside the library for that. Local.
void choose_probe(const SessionOptions& options);

class Context {
 public:
  // Cuts `global` among the ranks of `all` and chooses the device. What `options` leave open is filled in from the
  // environment, if `surroundings` read it: here and nowhere else. `surroundings` absent: those of the thread.
  // `threads` of OpenMP within a Scope; 0: those that the thread has. Throws Error on every rank alike.
  Context(const Communicator& all, const Extents& global, const SessionOptions& options, Mapping mapping,
          std::shared_ptr<Surroundings> surroundings = {}, int threads = 0);

  const Communicator& communicator() const { return placed_.communicator; }  // its ranks are positions in the grid
  void renew_communicator() { placed_.communicator.renew(); }                // after Alarm::guard has settled a failure
  const Lattice& lattice() const { return placed_.lattice; }
  const Placement& placement() const { return placed_.placement; }
  const SessionOptions& options() const { return options_; }  // `shares` are decided
  LoopChoice loop() const { return loop_; }                   // of CG on a GPU
  int cuda_device() const { return cuda_device_; }            // -1: the CPU
  const Cublas* cublas() const { return cublas_.get(); }      // with `blas` cublas
  std::string device() const;  // "cpu", "cuda:0 (NVIDIA H200)", or both kinds of a mixed job
  const std::vector<std::string>& devices() const { return devices_; }  // of every rank
  bool on_gpus() const { return on_gpus_; }  // whether some rank computes on a GPU; the same on all ranks
  // The GPU on which fields and the certificate may lie; -1 where some rank computes on a CPU.
  int field_device() const { return mixed_ ? -1 : cuda_device_; }
  // Throws Error in a child that was forked since, unless the context is of one process on the CPU. Local.
  void require_own_process() const;
  bool unlike_ranks() const { return unlike_; }  // whether ranks lay out vectors differently; the same on all ranks

  // Within it this thread works for the context: its surroundings, threads and GPU, in the arithmetic of all calls. At
  // the end all four are as before.
  // Everything that uses a context runs in a Scope. Scopes nest. Local.
  class Scope {
   public:
    explicit Scope(const Context& context);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    std::optional<Surroundings::Scope> surroundings_;
    int threads_before_ = 0;
    cuda::DeviceScope device_;
    std::optional<TeamArithmetic> arithmetic_;
  };

 private:
  std::shared_ptr<Surroundings> surroundings_;
  int threads_, forks_ = forks();
  SessionOptions options_;
  LoopChoice loop_;
  PlacedLattice placed_;
  int cuda_device_ = -1;
  std::vector<std::string> devices_;
  bool on_gpus_ = false, mixed_ = false, unlike_ = false;
  std::unique_ptr<Cublas> cublas_;
};

}  // namespace staghorn
