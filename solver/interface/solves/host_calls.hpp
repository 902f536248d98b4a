// Functions of a host that a solve calls: they may be NULL on some ranks, throw, or want another arithmetic.
#pragma once

#include <staghorn.h>

#include <cstdint>
#include <functional>

#include "halo/communicator.hpp"
#include "halo/watch/arithmetic.hpp"
#include "solver/krylov/cg_progress.hpp"

namespace staghorn {

// What `call` of the host returns, in the host's arithmetic; `failed` where it throws, for nothing of a host passes
// through a solve: other ranks wait. Local.
template <class Value, class Call>
Value of_host(const Call& call, Value failed) {
  try {
    const HostArithmetic arithmetic;
    return call();
  } catch (...) {
    return failed;
  }
}

// The progress function of a host: called on every rank, now and then; one rank is enough to stop all.
class ProgressCall {
 public:
  using Function = int (*)(void*, std::int64_t, double);
  using Show = std::function<void(const CgProgress&)>;

  // Collective.
  ProgressCall(const Communicator& communicator, Function function, void* data)
      : communicator_(communicator), function_(function), data_(data), wanted_(communicator.any(function != nullptr)) {}

  // To be handed to a solve; empty where no rank has a function. What it is called with must be alike on all ranks.
  Show show() {
    if (!wanted_) return {};
    return [this](const CgProgress& at) {
      if (stopped_ || at.iteration < next_) return;
      next_ = at.iteration + 10;
      ask(at);
    };
  }
  // The same for solves one after the other, each of which counts anew. `ends` is called where the host wants no more.
  Show show_each(const std::function<void()>& ends) {
    if (!wanted_) return {};
    return [this, ends](const CgProgress& at) {
      if (stopped_ || at.iteration % 16 != 0) return;
      ask(at);
      if (stopped_) ends();
    };
  }
  const bool* stopped() const { return &stopped_; }

 private:
  void ask(const CgProgress& at) {
    const auto call = [&] { return function_ && function_(data_, at.iteration, at.worst_ratio) != 0; };
    stopped_ = communicator_.any(of_host(call, true));
  }

  const Communicator& communicator_;
  Function function_;
  void* data_;
  bool wanted_, stopped_ = false;
  long next_ = 10;
};

}  // namespace staghorn
