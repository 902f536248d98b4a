// What Python holds: a Session on one rank, with everything it needs to live.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "halo/communicator.hpp"
#include "halo/watch/arithmetic.hpp"
#include "halo/watch/forked.hpp"
#include "python/arrays.hpp"
#include "solver/eigen/eigenpair_file.hpp"
#include "solver/request/eigen_request.hpp"
#include "solver/request/option_table.hpp"
#include "solver/session/campaign/campaign.hpp"
#include "solver/session/session.hpp"

namespace staghorn::python {

// This process alone, for as long as anything of the module lives: every Python process solves by itself, under mpirun
// too, and calls no function of MPI.
struct Process {
  Communicator communicator;
};

// Runs `work` without the interpreter, whose other threads run meanwhile: in the arithmetic of all calls, and in a
// child that was forked on a thread of its own.
template <class Work>
auto without_interpreter(const Work& work) {
  const nanobind::gil_scoped_release others_may_run;
  return with_living_threads([&] {
    const TeamArithmetic arithmetic;
    return work();
  });
}

using OptionTexts = std::map<std::string, std::string>;  // by the names of solver/request/option_table.hpp

// Lets Ctrl-C stop a long solve: asks the interpreter every few iterations, without holding it in between.
void check_interrupt(const CgProgress& progress);

// A campaign, on this process alone: `gauge` as the program's --gauge, `mass` and `source` among the options. Returns
// the report as JSON, and the table for people. `progress`, where it is not None, is called as progress(gauge, number,
// of, iteration, residual over tolerance, words): when a configuration begins, every 16 iterations, and with words when
// it ends. The interpreter may run other threads meanwhile, and an interrupt or an error of `progress` stops it: a
// second call goes on. Throws Error.
std::pair<std::string, std::string> campaign(const Process& process, const std::string& gauge,
                                             const OptionTexts& options, CampaignRequest request,
                                             const nanobind::object& progress);

class NativeSession {
 public:
  // `gauge` is a path or links of shape (T, Z, Y, X, 4, 3, 3). Throws Error.
  NativeSession(std::shared_ptr<Process> process, const std::variant<std::string, ComplexArray>& gauge,
                const OptionTexts& options);

  const Session& session() const { return *session_; }
  NumpyArray links() const;

  // Solves for `source`, vectors of shape (n, T, Z, Y, X, 3) or a source in words, from `guess`. Returns the solutions
  // and the report as JSON. `progress`, where it is not None, is called as progress(iteration, residual over tolerance)
  // every 16 iterations. The interpreter may run other threads meanwhile; an interrupt (Ctrl-C) or an error of
  // `progress` stops the solve. Throws Error.
  std::pair<NumpyArray, std::string> solve(const std::variant<std::string, ComplexArray>& source,
                                           const std::optional<ComplexArray>& guess, const OptionTexts& options,
                                           const nanobind::object& progress);

  // Finds eigenpairs. Returns the vectors, of shape (n, T, Z, Y, X, 3) and zero on odd sites, or nothing where they are
  // not wanted, and the report as JSON. Writes `output`. As `solve` otherwise.
  std::pair<std::optional<NumpyArray>, std::string> eigen(const EigenRequest& request, bool with_vectors,
                                                          const std::optional<EigenpairOutput>& output);

 private:
  // The same for `sources` or with a `batch`.
  std::pair<NumpyArray, std::string> solve_many_of(const std::variant<std::string, ComplexArray>& source,
                                                   SolveOptions& asked, const nanobind::object& progress);

  std::shared_ptr<Process> process_;
  std::unique_ptr<Session> session_;
  bool busy_ = false;
};

}  // namespace staghorn::python
