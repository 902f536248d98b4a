// Campaigns from Python, and the process in which they and functions of files run.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "halo/communicator.hpp"
#include "halo/watch/arithmetic.hpp"
#include "halo/watch/forked.hpp"
#include "python/arrays.hpp"
#include "solver/request/option_table.hpp"
#include "solver/session/campaign/campaign.hpp"

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
inline void check_interrupt(const CgProgress& progress) {
  if (progress.iteration % 16 != 0) return;
  const nanobind::gil_scoped_acquire interpreter;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

// A campaign, on this process alone: `gauge` as the program's --gauge, `mass` and `source` among the options. Returns
// the report as JSON, and the table for people. `progress`, where it is not None, is called as progress(gauge, number,
// of, iteration, residual over tolerance, words): when a configuration begins, every 16 iterations, and with words when
// it ends. The interpreter may run other threads meanwhile, and an interrupt or an error of `progress` stops it: a
// second call goes on. Throws Error.
std::pair<std::string, std::string> campaign(const Process& process, const std::string& gauge,
                                             const OptionTexts& options, CampaignRequest request,
                                             const nanobind::object& progress);

}  // namespace staghorn::python
