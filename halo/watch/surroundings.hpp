// What a piece of work takes from outside of its arguments: variables of the environment, failures and delays on
// request. Each context of the library has surroundings of its own; the program has those of the process.
//
// Work finds them by its thread: the door to a context opens a Scope. A thread without a Scope is in those of the
// process, which read the environment. Local.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "halo/watch/adverse_timing.hpp"
#include "halo/watch/injected_faults.hpp"

namespace staghorn {

class Surroundings {
 public:
  // `rank` is the one that STAGHORN_FAIL_... mean; absent: the rank in MPI_COMM_WORLD.
  // `launch_file` remembers launches of GPU kernels; "": the environment says which, if it is read.
  explicit Surroundings(bool reads_environment, std::optional<int> rank = {}, std::string launch_file = {});

  // Those of this thread.
  static Surroundings& current() noexcept;

  // The variable's text; nullptr where it is not set or the environment is not read.
  const char* variable(const char* name) const;
  const std::string& launch_file() const { return launch_file_; }
  // The program that meets a file first which may be damaged (bounded_child.hpp); "": none does.
  const std::string& probe() const { return probe_; }
  void set_probe(std::string program) { probe_ = std::move(program); }

  // Parsed when they are first asked for. Throw Error where the text in the environment is not valid.
  InjectedFault& cuda_fault();
  InjectedFault& mpi_fault();
  const AdverseDelays& delays();

  // This thread works in `surroundings` until the end of the scope. Scopes nest.
  class Scope {
   public:
    explicit Scope(Surroundings& surroundings) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Surroundings* outer_;
  };

 private:
  InjectedFault made_fault(const char* name) const;

  bool reads_environment_;
  std::optional<int> rank_;
  std::string launch_file_, probe_;
  std::once_flag cuda_parsed_, mpi_parsed_, delays_parsed_;
  std::optional<InjectedFault> cuda_fault_, mpi_fault_;
  AdverseDelays delays_;
};

// Surroundings::current().variable(name).
const char* environment_variable(const char* name);

}  // namespace staghorn
