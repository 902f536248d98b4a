// The commands of the program. Each takes the words after its name, prints results to `out` (a stream that goes nowhere
// on every rank but the first), and returns the exit status. Throws UsageError (exit status 2) or Error (1).
// Collective.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "halo/communicator.hpp"

namespace staghorn {

// What scripts rely on.
enum ExitStatus {
  exit_certified = 0,
  exit_error = 1,
  exit_usage = 2,
  exit_not_converged = 3,
  exit_stalled = 4,
  exit_checkpointed = 5
};

int run_solve(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out);
int run_eigen(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out);
int run_coarse(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out);
int run_certify(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out);
int run_campaign_command(const Communicator& communicator, const std::vector<std::string>& arguments,
                         std::ostream& out);
int run_report(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out);
int run_inspect(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out);
int run_convert(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out);
int run_smear(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out);
int run_smooth(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out);
int run_bench(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out);
int run_plan(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out);
int run_generate(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out);

}  // namespace staghorn
