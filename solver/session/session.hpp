// A resident session: one lattice, one gauge field, set up once and solved on many times. The command line and
// Python hold one of these: a context and a gauge of its own. Collective throughout.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"
#include "halo/host_mapping.hpp"
#include "solver/krylov/cg_progress.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

class Checkpoints;
class Context;
class Gauge;

class Session {
 public:
  // Reads `gauge_file` (any format lattice_io knows), verifies every checksum and header value (unless
  // options.no_verify), checks unitarity, makes the links of improved quarks. With options.quarks.fat and naik, it
  // reads these files instead, and `gauge_file` is empty.
  // Ranks are placed by options.mapping: communicator() below has their new numbers, and it is the one to use with the
  // session's fields. Throws Error on every rank alike, also where the solve that is expected would not fit into
  // memory; what others use of a GPU counts when it is solved.
  Session(const Communicator& communicator, const std::string& gauge_file, const SessionOptions& options,
          const ExpectedSolve& expected = {});
  // A session without links, for files that are read one after the other (read_links, take_links).
  Session(const Communicator& communicator, const Extents& global, const SessionOptions& options,
          const ExpectedSolve& expected = {});
  // The same with links from memory, this rank's part of a global lattice: cut in the order of `communicator`.
  Session(const Communicator& communicator, LinkField links, const SessionOptions& options);
  // Solves on the links of a gauge in its context; both are the caller's and outlive the session. `interrupted`: see
  // CgStop. Local.
  Session(const Context& context, Gauge& gauge, const bool* interrupted = nullptr);
  ~Session();

  // Links of another file in place of those that are here: the first verifies its checksums and returns the hash of
  // its thin links as they stand there (dirac/fields/site_hash.hpp), the second makes of them what solves use. There
  // are no links in between, nor after an Error. Operators, vectors and tuned launches stay, eigenpairs go. Not with
  // stored fat links, which belong to one file. Throws Error where the file is of another lattice, and as the
  // constructor does.
  std::uint64_t read_links(const std::string& gauge_file);
  void take_links();
  // In place of read_links, where rank 0 of `across` has called that: its links and all that is known of their file go
  // to the other ranks of `across`, which hold the same part of the lattice in sessions of their own. Collective over
  // `across` too.
  void copy_links(const Communicator& across);
  // Then the eigenpairs of these links, of the file `path`; found and written to it where it does not exist and the
  // options ask for `eigenpairs`.
  void take_eigenpairs(const std::string& path);

  const Communicator& communicator() const;
  const Placement& placement() const;
  const Lattice& lattice() const;
  const ImprovedSummary* improved() const;  // of improved quarks; nullptr for naive ones
  const GaugeSummary& gauge() const;
  const SessionOptions& options() const;
  std::string device() const;  // in use: "cpu" or "cuda:0 (NVIDIA H200)"
  Gauge& resident();           // with context, links and operators: for other folders of solver/
  const Context& context() const;

  // Solves for every source; with request.masses for every mass and source, mass by mass, and then from zero.
  // `solutions` come in as initial guesses (zero fields for none) and go out as solutions.
  // All sources are solved together, sharing every link that is loaded. Every right-hand side is certified by the
  // plain fp64 path. Fields may lie in the memory of the session's GPU, all or none: they then stay there, and so does
  // the certificate, unless options().certificate says otherwise. Non-convergence is a result; bad input (NaN, zero
  // source, mass <= 0 where it matters) throws Error. `of_job`: checkpoints of a job that the solve is a part of,
  // instead of its own.
  SolveReport solve(const SolveRequest& request, std::span<const VectorField> sources, std::span<VectorField> solutions,
                    const std::function<void(const CgProgress&)>& progress = {}, Checkpoints* of_job = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The gauge of a session that reads `gauge_file` with these options, in a context that is there: as the first
// constructor makes it. Collective.
std::unique_ptr<Gauge> gauge_of_file(const Context& context, const std::string& gauge_file,
                                     const SessionOptions& options);

}  // namespace staghorn
