// The program: finds the command, turns exceptions into one message and an exit status.
#include <omp.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <thread>

#include "halo/one_process/launched_together.hpp"
#include "halo/thread_count.hpp"
#include "halo/waiting_threads.hpp"
#include "halo/watch/arithmetic.hpp"
#include "halo/watch/failure_words.hpp"
#include "halo/watch/surroundings.hpp"
#include "halo/watchdog.hpp"
#include "lattice_io/content/utf8_text.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/program/probe/look_at_hdf5.hpp"
#include "solver/report/provenance.hpp"
#include "solver/search/search_keeper.hpp"

namespace {

using namespace staghorn;

struct Command {
  const char* name;
  const char* purpose;
  int (*run)(const Communicator&, const std::vector<std::string>&, std::ostream&);
};

constexpr Command commands[] = {
    {"solve", "solve the staggered Dirac equation on a gauge configuration and certify the answer", run_solve},
    {"eigen", "find the lowest eigenpairs of -D^2 on a gauge configuration, certified", run_eigen},
    {"coarse", "find vectors for a basis of blocks, for deflated solves and multigrid", run_coarse},
    {"certify", "judge a solution that any code wrote, and find its convention", run_certify},
    {"campaign", "merge the reports of jobs that worked on many configurations, and print the averages",
     run_campaign_command},
    {"inspect", "show what is in a gauge file: header, checksums, plaquette, unitarity, memory it would need",
     run_inspect},
    {"convert", "write a gauge configuration in another format or precision", run_convert},
    {"generate", "make a configuration: cold, hot, or quenched SU(3) by heatbath and over-relaxation", run_generate},
    {"smear", "make the fat and long links of asqtad or HISQ quarks from thin links", run_smear},
    {"smooth", "gradient flow, smearing or gauge fixing of a configuration; topological charge, t0, w0, loops",
     run_smooth},
    {"bench", "time the kernels beside what the memory streams", run_bench},
    {"report", "make one page of HTML of reports, side by side", run_report},
    {"plan", "estimate time and memory of a solve on any machine, without running it", run_plan},
};

void print_usage(std::ostream& out) {
  out << "usage: staghorn COMMAND [options]\n\nStaggered-fermion solver for lattice QCD. Commands:\n";
  for (const Command& command : commands) {
    std::string name = command.name;
    out << "  " << name << std::string(10 - name.size(), ' ') << command.purpose << "\n";
  }
  out << "\n`staghorn COMMAND --help` explains the options of a command, `staghorn --version` says which this is.\n"
         "mpirun -n N in front runs it on N ranks; OMP_NUM_THREADS sets the threads of each.\n"
         "Exit status: 0 done (solve, eigen, certify: certified), 1 error, 2 usage, 3 not converged, 4 stuck and ended "
         "by the "
         "watchdog,\n5 ended by a signal with a checkpoint.\n";
}

// Throws UsageError if there is none. nullptr: the words ask for a text, which is printed.
const Command* find_command(const std::vector<std::string>& words, std::ostream& out) {
  if (words.empty()) throw UsageError("which command? `staghorn --help` lists them.");
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_usage(out);
    return nullptr;
  }
  if (words[0] == "--version") {
    out << "staghorn " << version() << " (" << build_summary() << ")\n";
    return nullptr;
  }
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (words[0] == command.name) return &command;
    names.push_back(command.name);
  }
  throw UsageError("unknown command '" + words[0] + "'." + did_you_mean(words[0], names) +
                   " `staghorn --help` lists the commands.");
}

// While it lives, what a stream prints is UTF-8, whatever the names of files are.
class Utf8Output {
 public:
  explicit Utf8Output(std::ostream& stream) : stream_(stream), as_was_(stream.rdbuf()), utf8_(as_was_) {
    stream_.rdbuf(&utf8_);
  }
  ~Utf8Output() {
    stream_.flush();
    stream_.rdbuf(as_was_);
  }
  Utf8Output(const Utf8Output&) = delete;
  Utf8Output& operator=(const Utf8Output&) = delete;

 private:
  std::ostream& stream_;
  std::streambuf* as_was_;
  Utf8Buffer utf8_;
};

constexpr double patience_with_errors = 5;  // seconds

// Most errors are the same on every rank (Communicator::agree). Then the first rank prints the message for all ranks.
// An error of one rank alone goes on to main.
int run_with_one_message(const Communicator& communicator, const std::vector<std::string>& words) {
  const Communicator farewell(communicator.handle());  // ranks with an error meet here, whatever others wait for
  const auto give_up = [&](const Error& error, const std::string& message, int status) {
    if (!farewell.all_arrive(patience_with_errors)) throw LocalError(error.kind(), error.what());
    if (communicator.is_root()) std::cerr << "staghorn: error: " << in_words_of_the_program(message) << std::endl;
    return status;
  };
  std::ostream nowhere(nullptr);
  std::ostream& out = communicator.is_root() ? std::cout : nowhere;
  try {
    omp_set_num_threads(sensible_thread_count(communicator));
    int status = 0;
    if (const Command* command = find_command(words, out)) {
      if (communicator.size() == 1) require_one_process();
      status = command->run(communicator, {words.begin() + 1, words.end()}, out);
    }
    out.flush();
    if (communicator.any(communicator.is_root() && !out)) throw Error("standard output could not be written");
    return status;
  } catch (const UsageError& error) {
    return give_up(error, with_did_you_mean(error.what()), exit_usage);
  } catch (const LocalError&) {
    throw;
  } catch (const EndedWithCheckpoint& end) {
    std::signal(SIGTERM, SIG_IGN);  // mpirun sends it to ranks that end a moment later than others
    if (communicator.is_root()) std::cerr << "staghorn: " << in_words_of_the_program(end.what()) << std::endl;
    return exit_checkpointed;
  } catch (const Error& error) {
    return give_up(error, error.what(), exit_error);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && argv[1] == std::string_view("--look-at-hdf5")) return look_at_hdf5(argc - 2, argv + 2);
  Surroundings::current().set_probe("/proc/self/exe");
  shorten_spin_of_waiting_threads(argv);
  // A file-size limit and a closed pipe then become errors of write() with a message, and do not end the program.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  set_standard_arithmetic();
  const Utf8Output output(std::cout), errors(std::cerr);
  try {
    MpiSession mpi;
    set_standard_arithmetic();  // a library that MPI has loaded may have changed it
    const Communicator communicator(MPI_COMM_WORLD);
    try {
      return run_with_one_message(communicator, std::vector<std::string>(argv + 1, argv + argc));
    } catch (const Stalled& error) {  // the others give up too, each with words of its own
      std::cerr << "staghorn: " << error.what() << std::endl;
      std::this_thread::sleep_for(std::chrono::seconds(2));
      end_job(communicator, exit_stalled);
    } catch (const std::exception& error) {  // a GPU, MPI, no memory, a bug: others would wait for this rank for ever
      const bool alone = communicator.size() == 1;
      const std::string rank = alone ? "" : "rank " + std::to_string(communicator.rank()) + ": ";
      const std::string message = in_words_of_the_program(words_of_failure(error).text);
      std::cerr << "staghorn: error: " + rank + message + "\n" << std::flush;
      if (!alone) end_job(communicator, exit_error);
      return exit_error;
    }
  } catch (const std::exception& error) {
    std::cerr << "staghorn: error: " << words_of_failure(error).text << std::endl;
    return exit_error;
  }
}
