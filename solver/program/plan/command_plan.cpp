// `staghorn plan`: how fast and how large a solve would be on a machine that need not be here.
#include <algorithm>
#include <cmath>
#include <ostream>
#include <sstream>

#include "dirac/fields/vector_shape.hpp"
#include "halo/cut/share_summary.hpp"
#include "solver/bench/this_machine.hpp"
#include "solver/eigen/deflation.hpp"
#include "solver/krylov/coarse/block_grid.hpp"
#include "solver/krylov/shifts/shifted_precision.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/machine/shares/share_model.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/program/plan/plan.hpp"
#include "solver/request/coarse/coarse_request.hpp"
#include "solver/request/eigen_request.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/solve_checks.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

CommandSyntax plan_syntax() {
  CommandSyntax syntax{
      "plan", "staghorn plan --lattice X Y Z T [--gpus LIST | --machine here [--ranks LIST]] [options]",
      "Estimates time per CG iteration and memory, without allocating anything. The time is a floor: bytes over the\n"
      "streaming read, faces that the interior does not hide, and latencies, in the form of the loop that a solve\n"
      "takes; a real iteration comes within some 15 per cent of it where bytes dominate.\n",
      "\nA machine file is what --json prints under \"machine\": bandwidths in GB/s and memory in GB (of one GPU, or\n"
      "of the share of one rank), latencies in us. With threads_per_rank it is one of CPUs.\n"
      "Examples:\n  staghorn plan --lattice 96 96 96 192 --links 12 --gpus 64,128,...,4096\n"
      "  staghorn plan --lattice 32 32 32 64 --machine here\n"
      "  staghorn plan --lattice 32 32 32 64 --machine h200,here --shares auto\n"};
  syntax.options.add(options_of(
      "Options",
      {{"lattice", "X Y Z T", "extents, even", {}, OptionRow::several_required},
       {"gpus", "LIST", "numbers of GPUs, one rank each; a,b,...,z goes on in the ratio of a to b", "1"},
       {"ranks", "LIST", "the same for CPUs: numbers of ranks (default: those of one host)"},
       {"grid", "x,y,z,t", "process grid, instead of --gpus or --ranks (default: the one with the least surface)"},
       {"shares", "even|SHARES|auto",
        "slabs, as of `staghorn solve`; auto: those whose slowest rank is foreseen to be fastest", "even"},
       {"machine", "h200|h100|a100|b200|here|FILE.json",
        "what to run on; here: the CPUs of this host, whose memory is looked up and whose streaming read is measured. "
        "A list with commas: the ranks of one host take its entries in turn",
        "h200"},
       {"stream", "GB/S", "streaming read, in place of the machine's: of one GPU, or of one host of CPUs"},
       {"iterations", "N", "adds the seconds of so many iterations"},
       {"stripes", "LIST", "adds the seconds of reading the links from so many stripes of a parallel file system"},
       {"stripe-rate", "GB/S", "of one stripe", "1.5"},
       {"rank-rate", "GB/S", "that a rank reads, checks and unpacks", "1"},
       {"request-latency", "MS", "of a request beside its bytes", "2"},
       {"file-precision", "fp32|fp64", "of the links in the file, 18 reals each", "fp32"},
       {"precision", "fp64|fp32", "of vectors and links", "fp64"},
       {"links", "18|12|8", "reals stored per link", "18"},
       {"action", "naive|asqtad|hisq", "which staggered quarks", "naive"},
       {"naik-links", "18|13|9", "asqtad, hisq: reals stored per Naik link", "18"},
       {"sloppy-naik-links", "18|13|9", "the same in the iterations (default: 13)"},
       {"sloppy", "auto|fp32|fp16|none",
        "precision of the iterations, below --precision; auto: fp32, and none below fp32", "auto"},
       {"sloppy-links", "18|12|8", "reals per link in the iterations (default: 12)"},
       {"rhs", "N", "right-hand sides side by side, " + rhs_range(), "1"},
       {"certificate", "auto|host|device",
        "where answers are certified; auto: on the GPU where it has room for that beside the solve", "auto"},
       {"masses", "M[:E],M[:E],...",
        "several masses at once: adds the memory of their vectors; the time stays that of one mass for each epsilon E"},
       {"eigenpairs", "K", "eigenvectors that solves are deflated with: adds their memory", "0"},
       {"eigenvector-precision", "fp64|fp32|fp16", "of these, in memory", "fp16"},
       {"eigenvectors-on", "auto|device|host",
        "where a GPU has them; auto: in its memory where they fit beside the solve", "auto"},
       {"exact-low-modes", "", "adds the memory of pion correlators whose part of these is exact"},
       {"coarse-vectors", "N", "solves in a basis of blocks of N vectors (`solve --coarse`): adds their memory", "0"},
       {"find-eigenpairs", "K", "the memory of `staghorn eigen --pairs K`, instead of a solve's"},
       {"system", "full|even|odd", "as of `staghorn solve`", "full"},
       {"json", "", "print JSON instead of a table"}}));
  return syntax;
}

int parse_count(const std::string& word, const char* option) {
  std::istringstream text(word);
  int number = 0;
  std::string rest;
  if (!(text >> number) || (text >> rest) || number < 1 || number > 65536)
    throw UsageError(option, "numbers from 1 to 65536", "'" + word + "'");
  return number;
}

// "1,2,8" or "64,128,...,4096".
std::vector<int> parse_counts(const std::string& list, const char* option) {
  std::vector<int> counts;
  std::istringstream words(list);
  bool fill = false;
  for (std::string word; std::getline(words, word, ',');) {
    if (word == "...") {
      fill = true;
      continue;
    }
    const int number = parse_count(word, option);
    const std::size_t n = counts.size();
    if (fill && (n < 2 || counts[n - 1] <= counts[n - 2] || counts[n - 1] % counts[n - 2] != 0))
      throw UsageError(option, "two numbers in front of ..., the second a multiple of the first", "'" + list + "'");
    if (fill)
      for (const int ratio = counts[n - 1] / counts[n - 2]; counts.back() < number / ratio;)
        counts.push_back(counts.back() * ratio);
    fill = false;
    counts.push_back(number);
  }
  if (counts.empty() || fill) throw UsageError(option, "numbers", "'" + list + "'");
  return counts;
}

SolveShape read_shape(const OptionValues& values) {
  SolveShape shape;
  shape.lattice = extents_of(values, "lattice");
  SolveOptions options;
  set_options(values, options,
              {"precision", "action", "links", "naik_links", "sloppy", "sloppy_links", "sloppy_naik_links", "masses",
               "system", "shares", "exact_low_modes", "eigenvectors_on", "certificate"});
  shape.n_masses = std::max(1, int(options.request.masses.size()));
  shape.n_together = most_masses_together(options.request, options.session.quarks.naik_epsilon.value_or(0));
  options.session.keep_thin_links = !options.request.naik_epsilons.empty();
  check_epsilons(options.request, options.session);
  shape.block_vectors = values.number<int>("coarse-vectors");
  if (shape.block_vectors < 0 || shape.block_vectors > CoarseRequest::most_vectors)
    throw UsageError("--coarse-vectors", "a number from 0 to " + std::to_string(CoarseRequest::most_vectors),
                     std::to_string(shape.block_vectors));
  if (shape.block_vectors > 0) shape.block = chosen_block(shape.lattice);
  options.session.blocks = shape.block_vectors > 0;
  shape.options = options.session;
  static_cast<SolveNumbers&>(shape.options) = chosen_numbers(options.session, options.session);
  if (const std::vector<double>& masses = options.request.masses; !masses.empty())
    shape.shifts_in = shifted_precision(shape.options, shape.lattice, masses, 0,
                                        tolerance_in_force(options.request, shape.options.precision));
  shape.system = options.request.system;
  shape.n_rhs = values.number<int>("rhs");
  if (shape.n_rhs < 1 || shape.n_rhs > max_rhs)
    throw UsageError("--rhs", rhs_range() + " right-hand sides", std::to_string(shape.n_rhs));
  shape.eigenpairs = values.number<std::int64_t>("eigenpairs");
  if (shape.eigenpairs < 0)
    throw UsageError("--eigenpairs", "a number of at least 0", std::to_string(shape.eigenpairs));
  if (options.request.exact_low_modes) {
    if (shape.eigenpairs == 0) throw UsageError("--exact-low-modes", "--eigenpairs, which hold them", "none");
    check_low_modes(options.request, true, {});
    shape.low_part = LowPart::of_correlators;
  }
  shape.eigenvector_precision = parse_kernel_precision(values.text("eigenvector-precision"));
  shape.mass_by_mass =
      shape.block_vectors > 0 ||
      (shape.eigenpairs > 0 && Deflation::damps(shape.eigenvector_precision, shape.system == System::odd));
  return shape;
}

// The kinds of ranks, in the order of the list.
std::vector<Machine> read_machines(const Communicator& communicator, const OptionValues& values) {
  std::optional<double> stream;
  if (values.count("stream")) stream = values.number<double>("stream") * 1e9;
  if (stream && !(*stream > 0 && std::isfinite(*stream)))
    throw UsageError("--stream", "GB/s above 0", values.number<double>("stream"));
  std::vector<Machine> machines;
  const std::string list = values.text("machine");
  std::istringstream names(list + ",");
  for (std::string name; std::getline(names, name, ',');) {
    if (name.empty())
      throw UsageError("--machine", "h200, h100, a100, b200, here, or a file, with commas between several",
                       "'" + list + "'");
    if (name == "here") {
      machines.push_back(this_machine(communicator, stream));
      continue;
    }
    machines.push_back(find_machine(communicator, name));
    Machine& machine = machines.back();
    if (stream) machine.stream = machine.has_gpus() ? *stream : *stream / machine.ranks_per_host;
  }
  if (machines.size() > 1 && stream) throw UsageError("--stream", "one machine in --machine", "several");
  return machines;
}

// The process grids that are asked for. `shares`: a grid that is chosen cuts directions as often as they have numbers.
std::vector<Extents> read_grids(const OptionValues& values, const std::vector<Machine>& kinds, const SolveShape& shape,
                                const Shares& shares) {
  const bool of_gpus = kinds.size() == 1 && kinds.front().has_gpus();
  const char* const option = of_gpus ? "--gpus" : "--ranks";
  const bool gpus = !values.is_default("gpus"), ranks = values.count("ranks");
  if (gpus && !of_gpus)
    throw UsageError("--gpus", kinds.size() > 1 ? "--ranks for several machines" : "--ranks for a machine of CPUs",
                     "--gpus");
  if (ranks && of_gpus) throw UsageError("--ranks", "--gpus for a machine of GPUs", "--ranks");
  if (values.count("grid")) {
    if (gpus || ranks) throw UsageError(std::string("--grid says how many there are: leave ") + option + " out");
    return {extents_of(values, "grid")};
  }
  int one_host = kinds.size() > 1 ? int(kinds.size()) : kinds.front().ranks_per_host;
  Extents wanted{};
  for (std::size_t mu = 0; mu < 4; ++mu) wanted[mu] = int(shares.of[mu].size());
  if (shares.any()) {
    one_host = 1;
    for (const int n : wanted) one_host *= std::max(1, n);
  }
  const std::string list = ranks                                ? values.text("ranks")
                           : gpus || (of_gpus && !shares.any()) ? values.text("gpus")
                                                                : std::to_string(one_host);
  std::vector<Extents> grids;
  for (const int n : parse_counts(list, option))
    grids.push_back(choose_process_grid(shape.lattice, n, kinds.size() > 1 ? 0 : kinds.front().ranks_per_host,
                                        smallest_extent(stencil_of(shape.options)), wanted));
  return grids;
}

// Ranks of several kinds are on one host.
void check_kinds(const std::vector<Machine>& kinds, const std::vector<Extents>& grids) {
  if (kinds.size() == 1) return;
  int most = 0;
  for (const Machine& kind : kinds) most += kind.ranks_per_host;
  for (const Extents& grid : grids)
    if (volume(grid) < std::int64_t(kinds.size()) || volume(grid) > most)
      throw UsageError("--machine", std::to_string(kinds.size()) + " to " + std::to_string(most) + " ranks of one host",
                       std::to_string(volume(grid)) + " ranks");
}

// The widths of the slabs of `shape.grid` for which the slowest rank ends an iteration first, by its bytes and the
// latencies of its phases.
SlabWidths foreseen_widths(std::span<const Machine> kinds, const SolveShape& shape) {
  std::vector<RankSpeed> speeds;
  const std::vector<IterationTime> times = iteration_times(kinds, shape, default_loop_choice());
  for (int rank = 0; rank < int(times.size()); ++rank) {
    const IterationTime& time = times[std::size_t(rank)];
    speeds.push_back({time.latency, time.memory / double(part_of(shape, rank).local_volume()), 0});
  }
  return balanced_widths(shape.lattice, shape.grid, smallest_extent(stencil_of(shape.options)), speeds);
}

// Plans for ranks of several kinds on one host: on the slabs asked for or foreseen to be the fastest, on even slabs,
// and for the ranks of each kind alone.
std::vector<Plan> plans_of_kinds(const std::vector<Machine>& kinds, const SolveShape& shape, const std::string& cut) {
  std::vector<Plan> plans{make_plan(kinds, shape)};
  plans.back().cut = cut;
  SolveShape other = shape;
  other.widths = {};
  if (!all_equal(part_of(shape).widths())) {
    plans.push_back(make_plan(kinds, other));
    plans.back().cut = "even";
  }
  for (const PlannedKind& kind : std::vector<PlannedKind>(plans.front().kinds)) {
    other.grid = choose_process_grid(shape.lattice, kind.ranks, kind.machine.ranks_per_host,
                                     smallest_extent(stencil_of(shape.options)));
    plans.push_back(make_plan({&kind.machine, 1}, other));
    plans.back().cut = kind.machine.name + " alone";
  }
  return plans;
}

// `--stripes`, with which all of these go.
std::vector<FileSystem> read_file_systems(const OptionValues& values) {
  const auto positive = [&](const char* name, bool may_be_zero) {
    const double value = values.number<double>(name);
    if (!std::isfinite(value) || !(value > 0 || (may_be_zero && value == 0)))
      throw UsageError(std::string("--") + name, may_be_zero ? "a number of at least 0" : "a number above 0", value);
    return value;
  };
  std::vector<FileSystem> found;
  if (!values.count("stripes")) {
    for (const char* name : {"stripe-rate", "rank-rate", "request-latency", "file-precision"})
      if (!values.is_default(name)) throw UsageError(std::string("--") + name, "--stripes beside it", "none");
    return found;
  }
  for (const int stripes : parse_counts(values.text("stripes"), "--stripes"))
    found.push_back({stripes, positive("stripe-rate", false) * 1e9, positive("rank-rate", false) * 1e9,
                     positive("request-latency", true) * 1e-3});
  return found;
}

}  // namespace

int run_plan(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> parsed = parse_options(communicator, plan_syntax(), arguments, out);
  if (!parsed) return exit_certified;
  const OptionValues& values = *parsed;
  SolveShape shape = read_shape(values);
  std::optional<long> iterations;
  if (values.count("iterations")) iterations = values.number<long>("iterations");
  if (iterations && *iterations < 1) throw UsageError("--iterations", "a number of at least 1", *iterations);
  const std::vector<Machine> kinds = read_machines(communicator, values);
  const AskedShares shares = shape.options.shares;
  shape.on_gpu = kinds.front().has_gpus();
  const std::vector<Extents> grids = read_grids(values, kinds, shape, shares);
  check_kinds(kinds, grids);
  if (values.count("find-eigenpairs")) {
    if (kinds.size() > 1) throw UsageError("--find-eigenpairs", "one machine in --machine", "several");
    EigenRequest search;
    search.pairs = values.number<int>("find-eigenpairs");
    search.tolerance = 1e-6;  // no memory depends on it
    const auto check = [&] {
      check_eigen_request(search, shape.options);
      check_eigen_request(search, shape.lattice);
    };
    with_usage_errors(check, [](auto words) { return "--find-eigenpairs: " + in_words_of_the_program(words); });
    print_search_plan(out, kinds.front(), shape.lattice, shape.options, search.pairs, grids, values.is_on("json"));
    return exit_certified;
  }
  const std::vector<FileSystem> file_systems = read_file_systems(values);
  const double file_bytes_per_site = 4 * 18 * double(bytes_per_real(parse_precision(values.text("file-precision"))));
  std::vector<Plan> plans;
  for (const Extents& grid : grids) {
    shape.grid = grid;
    shape.widths = {};
    if (shares.automatic)
      shape.widths = foreseen_widths(kinds, shape);
    else if (shares.any())
      shape.widths = slab_widths(shape.lattice, grid, shares, smallest_extent(stencil_of(shape.options)));
    if (kinds.size() == 1) {
      plans.push_back(make_plan(kinds, shape));
      continue;
    }
    for (Plan& plan : plans_of_kinds(kinds, shape, values.text("shares"))) plans.push_back(std::move(plan));
  }
  for (Plan& plan : plans) {
    plan.file_bytes_per_site = file_bytes_per_site;
    for (const FileSystem& from : file_systems)
      plan.reading.emplace_back(from, read_time(kinds.front(), part_of(plan.shape), file_bytes_per_site, from));
  }
  if (values.is_on("json"))
    print_json(out, kinds, plans, iterations);
  else
    print_table(out, kinds, plans, iterations);
  return exit_certified;
}

}  // namespace staghorn
