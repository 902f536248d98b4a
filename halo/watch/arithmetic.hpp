// The floating-point environment in which everything here is computed: rounding to nearest, subnormal numbers kept, no
// traps. A host may call from another one (fesetround, -ffast-math, -ffpe-trap), and so may the threads of OpenMP that
// it has made before. Calls enter through these scopes and leave modes and flags of the host as they were. Local.
#pragma once

#include <omp.h>

#include <cfenv>
#include <optional>
#include <utility>

namespace staghorn {

inline void set_standard_arithmetic() noexcept { std::fesetenv(FE_DFL_ENV); }  // of the calling thread

// The calling thread, until the end of the scope. Scopes nest.
class StandardArithmetic {
 public:
  StandardArithmetic() noexcept {
    std::fegetenv(&before_);
    if (!of_host_) of_host_ = &before_;
    set_standard_arithmetic();
  }
  ~StandardArithmetic() {
    if (of_host_ == &before_) of_host_ = nullptr;
    std::fesetenv(&before_);
  }
  StandardArithmetic(const StandardArithmetic&) = delete;
  StandardArithmetic& operator=(const StandardArithmetic&) = delete;

 private:
  friend class TeamArithmetic;
  friend class HostArithmetic;
  static inline thread_local std::fenv_t* of_host_ = nullptr;  // the environment that the outermost scope found

  std::fenv_t before_;
};

// The threads of OpenMP's team too: as many as the calling thread has at both ends of the scope. Scopes nest. Threads
// that OpenMP makes within the scope leave it with the environment of the host, as if the host had made them.
class TeamArithmetic {
 public:
  TeamArithmetic() noexcept {
    if (depth_++ > 0 || omp_get_max_threads() == 1 || omp_in_parallel()) return;
    team_ = true;
    std::fesetenv(StandardArithmetic::of_host_);  // which new threads inherit
#pragma omp parallel
    if (omp_get_thread_num() != 0) {
      std::fegetenv(&found_.emplace());
      set_standard_arithmetic();
    }
    set_standard_arithmetic();
  }
  ~TeamArithmetic() {
    --depth_;
    if (!team_) return;
    const std::fenv_t& host = *StandardArithmetic::of_host_;
    std::fesetenv(&host);
#pragma omp parallel
    if (omp_get_thread_num() != 0) {
      std::fesetenv(found_ ? &*found_ : &host);
      found_.reset();
    }
    set_standard_arithmetic();
  }
  TeamArithmetic(const TeamArithmetic&) = delete;
  TeamArithmetic& operator=(const TeamArithmetic&) = delete;

 private:
  static inline thread_local int depth_ = 0;
  static inline thread_local std::optional<std::fenv_t> found_;  // by a thread of the team

  StandardArithmetic calling_thread_;
  bool team_ = false;
};

// For a function of the host that a call calls: the calling thread has the host's environment until the end of the
// scope, with what the function has changed of it.
class HostArithmetic {
 public:
  HostArithmetic() noexcept {
    std::fegetenv(&ours_);
    if (StandardArithmetic::of_host_) std::fesetenv(StandardArithmetic::of_host_);
  }
  ~HostArithmetic() {
    if (StandardArithmetic::of_host_) std::fegetenv(StandardArithmetic::of_host_);
    std::fesetenv(&ours_);
  }
  HostArithmetic(const HostArithmetic&) = delete;
  HostArithmetic& operator=(const HostArithmetic&) = delete;

 private:
  std::fenv_t ours_;
};

}  // namespace staghorn
