// Solves one after the other in one process a rank, each with a Session of its own, as a library is used:
//
//   many_solves FILE
//
// Every line of FILE holds the options of one `staghorn solve`, separated by tabs; of one `staghorn eigen` where the
// first word is that. Prints the exit status of each; the first one that throws ends all ranks.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "halo/watchdog.hpp"
#include "solver/program/commands.hpp"

using namespace staghorn;

int main(int argc, char** argv) {
  if (argc != 2) return exit_usage;
  const MpiSession mpi;
  const Communicator communicator(MPI_COMM_WORLD);
  std::ostream nowhere(nullptr);
  std::ostream& out = communicator.is_root() ? std::cout : nowhere;
  std::ifstream lines(argv[1]);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> options;
    std::istringstream words(line);
    for (std::string word; std::getline(words, word, '\t');) options.push_back(word);
    const bool eigen = !options.empty() && options.front() == "eigen";
    if (eigen) options.erase(options.begin());
    try {
      const int status = (eigen ? run_eigen : run_solve)(communicator, options, out);
      out << "exit status " << status << std::endl;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d: %s\n", communicator.rank(), error.what());
      end_job(communicator, exit_error);
    }
  }
  return 0;
}
