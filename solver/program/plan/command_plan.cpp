// `staghorn plan`: how fast and how large a solve would be on a machine that need not be here.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "dirac/fields/vector_shape.hpp"
#include "solver/krylov/shifts/shifted_precision.hpp"
#include "solver/machine/machine_model.hpp"
#include "solver/machine/memory_check.hpp"
#include "solver/program/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/solve_checks.hpp"

namespace staghorn {

namespace po = boost::program_options;
using Json = nlohmann::ordered_json;

namespace {

CommandSyntax plan_syntax() {
  CommandSyntax syntax{
      "plan",
      "staghorn plan --lattice X Y Z T [--gpus LIST] [options]",
      "Estimates time per CG iteration and memory, without allocating anything. The time is a floor: bytes over the\n"
      "streaming read, faces that the interior does not hide, and latencies, in the form of the loop that a solve\n"
      "takes; a real iteration comes within some 15 per cent of it where bytes dominate.\n",
      po::options_description(),
      {},
      "\nA machine file is what --json prints under \"machine\": bandwidths in GB/s (of one GPU), latencies in us.\n"
      "Example:\n  staghorn plan --lattice 96 96 96 192 --links 12 --gpus 64,128,...,4096\n"};
  po::options_description options("Options");
  options.add_options()("lattice",
                        po::value<std::vector<std::string>>()->multitoken()->value_name("X Y Z T")->required(),
                        "extents, even")("gpus", po::value<std::string>()->value_name("LIST")->default_value("1"),
                                         "numbers of GPUs, one rank each; a,b,...,z goes on in the ratio of a to b")(
      "grid", po::value<std::string>()->value_name("x,y,z,t"),
      "process grid, instead of --gpus (default: the one with the least surface)")(
      "machine", po::value<std::string>()->value_name("h200|FILE.json")->default_value("h200"), "what to run on")(
      "precision", po::value<std::string>()->value_name("fp64|fp32")->default_value("fp64"), "of vectors and links")(
      "links", po::value<std::string>()->value_name("18|12|8")->default_value("18"), "reals stored per link")(
      "action", po::value<std::string>()->value_name("naive|asqtad|hisq")->default_value("naive"),
      "which staggered quarks")("naik-links", po::value<std::string>()->value_name("18|13|9")->default_value("18"),
                                "asqtad, hisq: reals stored per Naik link")(
      "sloppy-naik-links", po::value<std::string>()->value_name("18|13|9"), "the same in the iterations (default: 13)")(
      "sloppy", po::value<std::string>()->value_name("fp32|fp16"), "precision of the iterations, below --precision")(
      "sloppy-links", po::value<std::string>()->value_name("18|12|8"),
      "reals per link in the iterations (default: 12)")("rhs", po::value<int>()->value_name("N")->default_value(1),
                                                        ("right-hand sides side by side, " + rhs_range()).c_str())(
      "masses", po::value<std::string>()->value_name("M,M,..."),
      "several masses at once: adds the memory of their vectors; the time stays that of one mass")(
      "eigenpairs", po::value<std::int64_t>()->value_name("K")->default_value(0),
      "eigenvectors that solves are deflated with: adds their memory")(
      "eigenvector-precision", po::value<std::string>()->value_name("fp64|fp32|fp16")->default_value("fp16"),
      "of these, in memory")("system", po::value<std::string>()->value_name("full|even|odd")->default_value("full"),
                             "as of `staghorn solve`")("json", po::bool_switch(), "print JSON instead of a table");
  syntax.options.add(options);
  return syntax;
}

int parse_count(const std::string& word) {
  std::istringstream text(word);
  int number = 0;
  std::string rest;
  if (!(text >> number) || (text >> rest) || number < 1 || number > 65536)
    throw UsageError("--gpus", "numbers from 1 to 65536", "'" + word + "'");
  return number;
}

// "1,2,8" or "64,128,...,4096".
std::vector<int> parse_counts(const std::string& list) {
  std::vector<int> counts;
  std::istringstream words(list);
  bool fill = false;
  for (std::string word; std::getline(words, word, ',');) {
    if (word == "...") {
      fill = true;
      continue;
    }
    const int number = parse_count(word);
    const std::size_t n = counts.size();
    if (fill && (n < 2 || counts[n - 1] <= counts[n - 2] || counts[n - 1] % counts[n - 2] != 0))
      throw UsageError("--gpus", "two numbers in front of ..., the second a multiple of the first", "'" + list + "'");
    if (fill)
      for (const int ratio = counts[n - 1] / counts[n - 2]; counts.back() < number / ratio;)
        counts.push_back(counts.back() * ratio);
    fill = false;
    counts.push_back(number);
  }
  if (counts.empty() || fill) throw UsageError("--gpus", "numbers of GPUs", "'" + list + "'");
  return counts;
}

SolveShape read_shape(const OptionValues& values) {
  SolveShape shape;
  shape.lattice = extents_of(values, "lattice");
  SolveOptions options;
  set_options(values, options,
              {"precision", "action", "links", "naik_links", "sloppy", "sloppy_links", "sloppy_naik_links", "masses",
               "system"});
  shape.n_masses = std::max(1, int(options.request.masses.size()));
  options.session.keep_thin_links = !options.request.naik_epsilons.empty();
  check_epsilons(options.request, options.session);
  shape.options = options.session;
  if (const std::vector<double>& masses = options.request.masses; !masses.empty())
    shape.shifts_in_sloppy = shifts_run_in_sloppy(shape.options, shape.lattice, masses, 0,
                                                  tolerance_in_force(options.request, shape.options.precision));
  shape.system = options.request.system;
  shape.n_rhs = values["rhs"].as<int>();
  if (shape.n_rhs < 1 || shape.n_rhs > max_rhs)
    throw UsageError("--rhs", rhs_range() + " right-hand sides", std::to_string(shape.n_rhs));
  shape.eigenpairs = values["eigenpairs"].as<std::int64_t>();
  if (shape.eigenpairs < 0)
    throw UsageError("--eigenpairs", "a number of at least 0", std::to_string(shape.eigenpairs));
  shape.eigenvector_precision = parse_kernel_precision(values["eigenvector-precision"].as<std::string>());
  shape.on_gpu = true;
  return shape;
}

struct Plan {
  SolveShape shape;
  IterationTime time;
  MemoryEstimate memory;  // of one rank
  double efficiency;      // of the memory of all GPUs: bytes alone, equally shared, over the time
  bool fits;
  std::string fitting;  // what would fit, where this does not

  std::int64_t gpus() const { return volume(shape.grid); }
  const char* kernels() const { return time.one_kernel ? "one" : "two"; }
  double site_iterations() const { return double(volume(shape.lattice)) * shape.n_rhs / time.total(); }
};

Plan make_plan(const Machine& machine, const SolveShape& shape) {
  const MemoryBudget budget{std::numeric_limits<double>::infinity(), machine.memory};
  Plan plan{shape, iteration_time(machine, shape, default_loop_choice()), estimate_memory(shape), 0, true, ""};
  plan.efficiency = plan.time.memory / plan.time.total();
  plan.fits = fits(plan.memory, budget);
  if (!plan.fits) plan.fitting = in_words_of_the_program(what_would_fit(shape, budget));
  return plan;
}

void print_table(std::ostream& out, const Machine& machine, const std::vector<Plan>& plans) {
  const SolveShape& first = plans.front().shape;
  char line[200];
  out << "machine " << machine.name << ", lattice " << to_string(first.lattice) << ", "
      << describe_numbers(first.options) << ", " << first.n_rhs << " right-hand side" << (first.n_rhs == 1 ? "" : "s")
      << "\n";
  std::snprintf(line, sizeof line, "%6s %-12s %-14s %7s %12s %9s %9s %9s %7s %14s %12s %12s\n", "GPUs", "grid", "local",
                "kernels", "us/iteration", "memory", "faces", "latency", "bytes", "Msite iter/s", "GPU memory",
                "host memory");
  out << line;
  for (const Plan& p : plans) {
    const Lattice lattice = part_of(p.shape);
    std::snprintf(line, sizeof line, "%6lld %-12s %-14s %7s %12.1f %9.1f %9.1f %9.1f %5.0f %% %14.0f %12s %12s%s\n",
                  static_cast<long long>(p.gpus()), to_string(p.shape.grid).c_str(), to_string(lattice.local()).c_str(),
                  p.kernels(), p.time.total() * 1e6, p.time.memory * 1e6, p.time.communication * 1e6,
                  p.time.latency * 1e6, 100 * p.efficiency, p.site_iterations() * 1e-6,
                  gigabytes(p.memory.device()).c_str(), gigabytes(p.memory.host()).c_str(),
                  p.fits ? "" : "  does not fit");
    out << line;
  }
  out << "kernels: the form of the loop, one kernel, or two kernels an iteration.\n"
         "bytes: the share of the time that is spent on streaming memory; the rest is waiting.\nmemory of one rank:\n";
  for (const Plan& p : plans) {
    out << "  " << p.gpus() << (p.gpus() == 1 ? " GPU: " : " GPUs: ");
    const char* separator = "";
    for (const auto& [object, bytes] : p.memory.objects) {
      if (bytes == 0) continue;
      out << separator << object << " " << gigabytes(bytes) << (p.memory.on_device(object) ? "" : " (host)");
      separator = ", ";
    }
    out << "\n";
    if (!p.fits)
      out << "    does not fit into " << gigabytes(machine.memory) << "; "
          << (p.fitting.empty() ? "nothing near would" : "would fit: " + p.fitting) << "\n";
  }
}

void print_json(std::ostream& out, const Machine& machine, const std::vector<Plan>& plans) {
  const SolveShape& first = plans.front().shape;
  Json json{{"machine", Json::parse(to_json(machine))},
            {"lattice", first.lattice},
            {"precision", to_string(first.options.precision)},
            {"action", to_string(first.options.quarks.action)},
            {"links", reals_per_link(first.options.links)},
            {"rhs", first.n_rhs},
            {"masses", first.n_masses},
            {"eigenpairs", first.eigenpairs},
            {"system", to_string(first.system)}};
  if (first.options.quarks.improved()) json["naik_links"] = reals_per_link(first.options.naik_links);
  if (first.options.sloppy) json["sloppy"] = to_string(*first.options.sloppy);
  for (const Plan& p : plans)
    json["plans"].push_back({{"gpus", p.gpus()},
                             {"grid", p.shape.grid},
                             {"local_lattice", part_of(p.shape).local()},
                             {"kernels", p.kernels()},
                             {"microseconds", p.time.total() * 1e6},
                             {"memory_microseconds", p.time.memory * 1e6},
                             {"face_microseconds", p.time.communication * 1e6},
                             {"latency_microseconds", p.time.latency * 1e6},
                             {"efficiency", p.efficiency},
                             {"site_iterations_per_second", p.site_iterations()},
                             {"gpu_bytes", p.memory.device()},
                             {"host_bytes", p.memory.host()},
                             {"objects", p.memory.objects},
                             {"fits", p.fits},
                             {"would_fit", p.fitting}});
  out << json.dump(2) << "\n";
}

}  // namespace

int run_plan(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> parsed = parse_options(communicator, plan_syntax(), arguments, out);
  if (!parsed) return exit_certified;
  const OptionValues& values = *parsed;
  SolveShape shape = read_shape(values);
  const Machine machine = find_machine(communicator, values["machine"].as<std::string>());
  std::vector<Extents> grids;
  if (values.count("grid")) {
    if (!values["gpus"].defaulted()) throw UsageError("--grid says how many GPUs there are: leave --gpus out");
    grids.push_back(extents_of(values, "grid"));
  } else {
    for (const int gpus : parse_counts(values["gpus"].as<std::string>()))
      grids.push_back(
          choose_process_grid(shape.lattice, gpus, machine.gpus_per_host, smallest_extent(stencil_of(shape.options))));
  }
  std::vector<Plan> plans;
  for (const Extents& grid : grids) {
    shape.grid = grid;
    plans.push_back(make_plan(machine, shape));
  }
  if (values["json"].as<bool>())
    print_json(out, machine, plans);
  else
    print_table(out, machine, plans);
  return exit_certified;
}

}  // namespace staghorn
