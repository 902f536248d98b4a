// What a Session keeps between solves. Private to session.cpp and session_solve.cpp.
#pragma once

#include <memory>
#include <optional>

#include "dirac/staggered_operator.hpp"
#include "solver/cublas.hpp"
#include "solver/session.hpp"

namespace staghorn {

struct Session::State {
  const Communicator& communicator;
  SessionOptions options;
  LinkField links;
  GaugeSummary gauge;
  double read_seconds = 0;
  int cuda_device = -1;                       // -1: the CPU
  std::unique_ptr<StaggeredOperator> sloppy;  // where iterations run in lower precision than `fast`, else empty
  std::unique_ptr<StaggeredOperator> fast;    // made by the first solve, and again when n_rhs changes

  std::unique_ptr<Cublas> cublas{};  // with --blas cublas

  const Lattice& lattice() const { return links.lattice(); }
  // The fast operator for n_rhs right-hand sides. Collective.
  StaggeredOperator& fast_operator(int n_rhs);
};

}  // namespace staghorn
