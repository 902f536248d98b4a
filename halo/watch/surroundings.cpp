#include "halo/watch/surroundings.hpp"

#include <mpi.h>

#include <cstdlib>
#include <utility>

namespace staghorn {

namespace {

Surroundings& those_of_the_process() {
  static Surroundings process(true);
  return process;
}

thread_local Surroundings* of_this_thread = nullptr;

}  // namespace

Surroundings::Surroundings(bool reads_environment, std::optional<int> rank, std::string launch_file)
    : reads_environment_(reads_environment), rank_(rank), launch_file_(std::move(launch_file)) {}

Surroundings& Surroundings::current() noexcept { return of_this_thread ? *of_this_thread : those_of_the_process(); }

const char* Surroundings::variable(const char* name) const { return reads_environment_ ? std::getenv(name) : nullptr; }

InjectedFault Surroundings::made_fault(const char* name) const {
  const char* text = variable(name);
  if (!text || !*text) return {};
  int rank = rank_.value_or(0);
  int started = 0;
  MPI_Initialized(&started);
  if (!rank_ && started) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return InjectedFault(name, text, rank);
}

InjectedFault& Surroundings::cuda_fault() {
  std::call_once(cuda_parsed_, [this] { cuda_fault_.emplace(made_fault("STAGHORN_FAIL_CUDA")); });
  return *cuda_fault_;
}

InjectedFault& Surroundings::mpi_fault() {
  std::call_once(mpi_parsed_, [this] { mpi_fault_.emplace(made_fault("STAGHORN_FAIL_MPI")); });
  return *mpi_fault_;
}

const AdverseDelays& Surroundings::delays() {
  std::call_once(delays_parsed_, [this] { delays_ = AdverseDelays::parse(variable(AdverseDelays::name)); });
  return delays_;
}

Surroundings::Scope::Scope(Surroundings& surroundings) noexcept
    : outer_(std::exchange(of_this_thread, &surroundings)) {}
Surroundings::Scope::~Scope() { of_this_thread = outer_; }

const char* environment_variable(const char* name) { return Surroundings::current().variable(name); }

bool cuda_call_is_to_fail() { return Surroundings::current().cuda_fault().is_due(); }
bool mpi_call_is_to_fail() { return Surroundings::current().mpi_fault().is_due(); }

}  // namespace staghorn
