// The progress function of a host: called on every rank, now and then; one rank is enough to stop all.
#pragma once

#include <cstdint>
#include <functional>

#include "halo/communicator.hpp"
#include "halo/watch/arithmetic.hpp"
#include "solver/krylov/cg_progress.hpp"

namespace staghorn {

class ProgressCall {
 public:
  using Function = int (*)(void*, std::int64_t, double);

  // `function` may be NULL on some ranks. Collective.
  ProgressCall(const Communicator& communicator, Function function, void* data)
      : communicator_(communicator), function_(function), data_(data), wanted_(communicator.any(function != nullptr)) {}

  // To be handed to a solve; empty where no rank has a function. What it is called with must be alike on all ranks.
  std::function<void(const CgProgress&)> show() {
    if (!wanted_) return {};
    return [this](const CgProgress& progress) {
      if (stopped_ || progress.iteration < next_) return;
      next_ = progress.iteration + interval;
      bool stop = false;
      try {
        const HostArithmetic arithmetic;
        stop = function_ && function_(data_, progress.iteration, progress.worst_ratio) != 0;
      } catch (...) {  // nothing passes through the loops of a solve
        stop = true;
      }
      stopped_ = communicator_.any(stop);
    };
  }
  const bool* stopped() const { return &stopped_; }

 private:
  static constexpr long interval = 10;  // iterations

  const Communicator& communicator_;
  Function function_;
  void* data_;
  bool wanted_, stopped_ = false;
  long next_ = interval;
};

}  // namespace staghorn
