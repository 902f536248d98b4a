// What a Session keeps between solves. Private to this folder.
#pragma once

#include <memory>
#include <optional>

#include "dirac/operators/plain_operator.hpp"
#include "dirac/operators/staggered_operator.hpp"
#include "halo/host_mapping.hpp"
#include "solver/krylov/cublas/cublas.hpp"
#include "solver/krylov/even_odd.hpp"
#include "solver/machine/memory_estimate.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

struct CertifiedSolve;

struct Session::State {
  Communicator communicator;  // renumbered: its ranks are positions in the process grid
  Placement placement;
  SessionOptions options;
  LoopChoice loop;  // of CG on a GPU
  LinkField links;
  GaugeSummary gauge;
  double read_seconds = 0;
  int cuda_device = -1;  // -1: the CPU
  std::unique_ptr<StaggeredOperator>
      sloppy;  // iterates in lower precision than `precise`; empty without mixed precision
  std::unique_ptr<StaggeredOperator> precise;  // made by the first solve, and again when n_rhs changes
  std::unique_ptr<Cublas> cublas{};            // with --blas cublas
  std::unique_ptr<EvenOddPass> pass{};         // the vectors of CG, made with `precise`
  std::optional<VectorField> residual{};       // of the certificate; made by the first solve

  // Checks and, where asked for, projects the links of `file` ("": the caller's). Collective.
  static std::unique_ptr<State> make(Place place, LinkField links, const std::string& file, const std::string& format,
                                     const GaugeChecks& checks);

  const Lattice& lattice() const { return links.lattice(); }
  // Makes what a solve needs and what is not there yet: operators, vectors, fields of the certificate. Throws Error
  // where that does not fit into memory. Collective.
  void prepare(int n_rhs, System system);
  // Operators for so many right-hand sides. The vectors of those before are gone. Collective.
  void make_operators(int n_rhs, System system);
  SolveShape shape(int n_rhs, System system) const;

  // The report of a solve (filled_report.cpp). `source_bytes`: this rank's sources and solutions. Collective.
  SolveReport filled_report(const SolveRequest& request, const CertifiedSolve& done, double setup_seconds,
                            double source_bytes) const;
  void fill_setting(SolveReport& report) const;  // lattice, machine, links, operators
  void fill_times(SolveReport& report, const CertifiedSolve& done, double setup_seconds) const;
  void fill_memory(SolveReport& report, int n_rhs, double source_bytes) const;
};

}  // namespace staghorn
