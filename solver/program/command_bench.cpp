// `staghorn bench`: how fast the parts of a solve run here, beside what the memory streams.
#include <omp.h>

#include <algorithm>
#include <ostream>

#include "dirac/fields/vector_shape.hpp"
#include "dirac/kernels/kernel_table.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/cut_lattice.hpp"
#include "halo/device_choice.hpp"
#include "halo/thread_count.hpp"
#include "halo/watchdog.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/text_file.hpp"
#include "lattice_io/vectors/vector_file.hpp"
#include "solver/bench/bench_report.hpp"
#include "solver/bench/benchmark.hpp"
#include "solver/bench/benchmark_scaling.hpp"
#include "solver/bench/benchmark_shares.hpp"
#include "solver/bench/this_machine.hpp"
#include "solver/json/json_text.hpp"
#include "solver/krylov/block_conjugate_gradient.hpp"
#include "solver/krylov/cublas/cublas.hpp"
#include "solver/machine/shares/share_choice.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/report/provenance.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

using Measure = std::vector<BenchmarkResult> (*)(const Communicator&, const Lattice&, const BenchmarkOptions&, double);
constexpr std::pair<const char*, Measure> measurements[] = {
    {"hop", benchmark_hop}, {"cg", benchmark_cg}, {"sums", benchmark_sums}, {"exchange", benchmark_exchange}};

CommandSyntax bench_syntax() {
  CommandSyntax syntax{
      "bench", "staghorn bench hop|cg|sums|exchange|scaling|mapping|shares --lattice X Y Z T [options]",
      "Times the kernels on random links. Every row gives the time of one call, GF/s at 570 flop a site\n"
      "and hop (1146 of improved quarks), GB/s by minimal traffic (each link and vector once) and its fraction of the "
      "streaming\n"
      "read that is measured first, as is a plain copy (bytes read and written), in the same process.\n\n"
      "  hop, cg     one hop, one iteration of Conjugate Gradient\n"
      "  sums        what exact sums cost; then dot products, Gram matrices and linear combinations of 16 vectors,\n"
      "              and products of 64 with one\n"
      "  exchange    hops with and without overlap, and where their time goes: phases, and how much of each was\n"
      "              hidden behind computing; then faces and a global sum on their own: by p2p beside plain copies\n"
      "              of the same bytes to the same GPUs, and beside sums that pass through the host\n"
      "  scaling     CG on 1, 2, 4, ... ranks in this one call: a lattice that they share (--lattice), one\n"
      "              that each holds (--local), or both; beside the floor of the machine model on GPUs\n"
      "  mapping     CG with ranks in natural order (x fastest), reversed (t fastest) and a box on each host,\n"
      "              and how much faster than the natural order each is\n"
      "  shares      CG against the share of the slower ranks, its minimum, and what `--shares auto` of a solve "
      "takes;\n"
      "              in the first precision and links of the lists\n",
      "\nExamples:\n  staghorn bench hop --lattice 32 32 32 16 --links 18,12,8\n"
      "  mpirun -n 8 staghorn bench scaling --lattice 32 32 32 64 --local 32 32 32 32\n"
      "  mpirun -n 2 staghorn bench shares --lattice 16 16 16 32 --slow-device 1:3\n"};
  syntax.options
      .add(options_of(
          "Options",
          {{"what",
            "hop|cg|sums|exchange|scaling|mapping|shares",
            "what to measure (first word)",
            {},
            OptionRow::required},
           {"lattice", "X Y Z T", "extents, even", {}, OptionRow::several},
           {"local", "X Y Z T", "scaling: extents that each rank holds, even", {}, OptionRow::several},
           {"along", "xyzt",
            "scaling, --local: directions in which these are put together, the shortest first; one direction has the\n"
            "fewest faces",
            "xyzt"},
           {"precision", "LIST", "of fp64, fp32, fp16", "fp64,fp32"},
           {"links", "LIST", "reals per link: 18, 12, 8", "18,12,8"},
           {"action", "naive|asqtad|hisq", "which staggered quarks (asqtad and hisq hop alike)", "naive"},
           {"naik-links", "LIST", "asqtad, hisq: reals per Naik link, beside fat links of 18", "18,13,9"},
           {"rhs", "N", "right-hand sides side by side, " + rhs_range(), "1"},
           {"seconds", "S", "spent on each figure", "1"},
           {"stream-mib", "N",
            "MiB that the streaming read passes, which figures are compared with; less than the caches hold is no\n"
            "figure of the memory",
            "1024, on a GPU 4096"},
           {"device", "auto|cpu|cuda[:n]", "where to compute", "auto"},
           {"blas", "auto|fused|cublas",
            "cg: vector operations fused into the hops, or by cuBLAS (GPU only); auto times both where both are there",
            "auto"},
           {"solver", "cg|block", "cg: which iteration; block CG takes 2 to 16 right-hand sides, in fp64 and fp32",
            "cg"},
           {"instruction-set", "NAME", "auto | avx512 | avx2 | baseline; on Arm sve512 | sve256 | baseline", "auto"},
           {"grid", "x,y,z,t", "process grid (default: the one with the least surface)"},
           {"mapping", "host|natural|reversed",
            "ranks in the grid: a box on each host; as numbered, x fastest; or t fastest", "host"},
           {"machine", "h200|h100|a100|b200|FILE.json",
            "scaling, mapping: links and latencies of the floor on GPUs, as of `staghorn plan`", "h200"},
           {"loopback", "xyzt", "directions cut although one process holds them", ""},
           {"transport", "NAME", "how faces travel between GPUs", "auto"},
           {"overlap", "on|off", "compute while faces travel", "on"},
           {"tuning", "on|off|again",
            "time ways to launch kernels on a GPU, once, and remember the fastest in the user's cache folder; off "
            "neither\nreads nor writes there (default: STAGHORN_TUNING, or on)"},
           {"json", "F", "write the figures as JSON too"},
           {"force", "", "replace F if it exists"}}))
      .add(watchdog_options());
  add_options(syntax.experiments, OptionGroup::experiments, {"inject"});
  syntax.positional.add("what", 1);
  return syntax;
}

template <class Parse>
auto parse_list(const std::string& option, const std::string& text, const Parse& parse) {
  std::vector<decltype(parse(text))> values;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');)
    values.push_back(parse_value(option, [&] { return parse(word); }));
  if (values.empty()) throw UsageError("--" + option + " needs at least one value");
  return values;
}

BenchmarkOptions read_options(const OptionValues& values) {
  const auto text = [&](const char* name) { return values.text(name); };
  BenchmarkOptions options;
  options.precisions = parse_list("precision", text("precision"), parse_kernel_precision);
  options.links = parse_list("links", text("links"), parse_reconstruct);
  options.naik_links = parse_list("naik-links", text("naik-links"), parse_naik_form);
  options.rhs = values.number<int>("rhs");
  options.seconds = values.number<double>("seconds");
  if (options.rhs < 1 || options.rhs > max_rhs)
    throw UsageError("--rhs", rhs_range() + " right-hand sides", std::to_string(options.rhs));
  if (!(options.seconds > 0)) throw UsageError("--seconds", "more than 0", std::to_string(options.seconds));
  if (!values.is_default("stream-mib")) {
    const long stream_mib = values.number<long>("stream-mib");
    if (stream_mib < 1 || stream_mib > 1 << 20)
      throw UsageError("--stream-mib", "1 to 1048576", std::to_string(stream_mib));
    options.stream_bytes = std::size_t(stream_mib) << 20;
  }
  options.instruction_set = text("instruction-set");
  parse_value("instruction-set", [&] { return cpu_kernels(options.instruction_set).vector_bytes; });
  SolveOptions of_session;
  set_options(values, of_session,
              {"action", "transport", "overlap", "tuning", "mapping", "loopback", "grid", "slow_device"});
  options.session = of_session.session;
  if (!options.session.tuning) options.session.tuning = default_tuning();
  options.fused = text("blas") != "cublas";
  options.block = text("solver") == "block";
  if (text("solver") != "cg" && !options.block) throw UsageError("--solver", "cg or block", "'" + text("solver") + "'");
  if (options.block && values.text("what") != "cg") throw UsageError("--solver block is an option of bench cg");
  if (options.block && (options.rhs < 2 || options.rhs > max_block_rhs))
    throw UsageError("--rhs", "2 to " + std::to_string(max_block_rhs) + " right-hand sides of block CG", options.rhs);
  options.cublas =
      text("blas") != "auto" && parse_value("blas", [&] { return parse_blas(text("blas")); }) == Blas::cublas;
  return options;
}

// Which GPU, and whether cuBLAS is timed there.
void choose_machine(const Communicator& communicator, const OptionValues& values, BenchmarkOptions& options) {
  const int rank_on_host = communicator.rank_on_host();
  communicator.agree([&] { options.cuda_device = choose_device(values.text("device"), communicator, rank_on_host); });
  if (values.text("what") != "shares") require_one_kind(devices_of_ranks(communicator, options.cuda_device));
  if (options.cuda_device >= 0) cuda::select_device(options.cuda_device);
  if (values.text("blas") == "auto") options.cublas = options.cuda_device >= 0 && Cublas::available();
  if (options.cublas && options.cuda_device < 0)
    throw Error("`blas` cublas", "a GPU to compute on (device cuda)", "device cpu");
}

// What is measured, and on which lattices.
struct BenchJob {
  std::string what;
  Measure measure = nullptr;  // nullptr: of several cuts
  BenchmarkOptions options;
  ScalingCase cut;
  bool scaling() const { return what == "scaling"; }
  bool shares() const { return what == "shares"; }
};

BenchJob read_job(const OptionValues& values) {
  BenchJob job;
  const std::string& what = job.what = values.text("what");
  for (const auto& [name, function] : measurements)
    if (what == name) job.measure = function;
  if (!job.measure && !job.scaling() && !job.shares() && what != "mapping")
    throw UsageError("bench", "hop, cg, sums, exchange, scaling, mapping or shares", "'" + what + "'");
  const BenchmarkOptions& options = job.options = read_options(values);
  ScalingCase& cut = job.cut;
  if (values.count("lattice")) cut.strong = extents_of(values, "lattice");
  if (values.count("local")) cut.weak = extents_of(values, "local");
  cut.grid = options.session.grid;
  cut.mapping = options.session.mapping;
  cut.along = parse_value("along", [&] { return parse_directions(values.text("along")); });
  if (std::none_of(cut.along.begin(), cut.along.end(), [](bool mu) { return mu; }))
    throw UsageError("--along", "some of x, y, z, t", "none");
  if (!job.scaling() && cut.weak) throw UsageError("--local is an option of bench scaling");
  if (!cut.weak && !values.is_default("along")) throw UsageError("--along goes with --local");
  if (!cut.strong && !cut.weak)
    throw UsageError(std::string("--lattice") + (job.scaling() ? " or --local" : "") + " is required");
  if (job.measure) return job;
  if (!values.text("loopback").empty()) throw UsageError("--loopback is no option of bench " + what);
  if (job.scaling() && cut.grid)
    throw UsageError("--grid is no option of bench scaling, where grids change with the ranks");
  if (job.shares() && options.rhs != 1) throw UsageError("--rhs", "1 right-hand side of bench shares", options.rhs);
  if (!options.fused) throw UsageError("--blas cublas is no option of bench " + what);
  return job;
}

// Where it is measured, and how fast memory is there.
struct BenchPlace {
  std::optional<PlacedLattice> placed;  // of one cut alone
  std::string devices;
  double stream_read = 0, copy = 0, cache = 0;  // bytes a second, bytes
};

void print_place(std::ostream& out, const Communicator& communicator, const BenchJob& job, const BenchPlace& place) {
  out << place.devices << ", ";
  if (place.placed) {
    out << "lattice " << to_string(*job.cut.strong) << ", grid " << to_string(place.placed->lattice.grid()) << ", ";
    if (place.placed->placement.hosts > 1) out << describe(place.placed->placement) << ", ";
  }
  out << format("%d ranks x %d threads, streaming read %.1f GB/s, copy %.1f GB/s\n", communicator.size(),
                omp_get_max_threads(), place.stream_read * 1e-9, place.copy * 1e-9)
      << std::flush;
  if (communicator.any(job.options.cuda_device >= 0)) return;
  const Communicator& workers = place.placed ? place.placed->communicator : communicator;
  const std::string advice = advice_on_binding(workers, omp_get_max_threads());
  if (!advice.empty()) out << "note: " << advice << "\n";
}

struct BenchFigures {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  std::optional<ShareBenchmark> of_shares;
};

// Measures, and prints the tables. Collective.
BenchFigures measure_job(const Communicator& communicator, const BenchJob& job, const BenchPlace& place,
                         const Machine& machine, std::ostream& out) {
  const Communicator& workers = place.placed ? place.placed->communicator : communicator;
  BenchFigures figures;
  const auto mark = [&](BenchmarkResult& r, int ranks) {
    r.in_cache = fits_into_cache(r.gb_s, r.microseconds, place.cache * ranks / workers.size());
  };
  const auto present = [&](const auto& measured, auto... ratio) {
    print_table(out, measured, ratio...);
    print_transports(out, measured);
    print_tuning(out, measured);
    for (const auto& result : measured) figures.results.push_back(to_json(result));
  };
  if (job.shares()) {
    figures.of_shares = benchmark_shares(communicator, *job.cut.strong, job.options);
    print_table(out, *figures.of_shares);
  } else if (job.measure) {
    std::vector<BenchmarkResult> measured = job.measure(workers, place.placed->lattice, job.options, place.stream_read);
    for (BenchmarkResult& r : measured) mark(r, workers.size());
    present(measured);
  } else {
    std::vector<CutResult> measured =
        job.scaling() ? benchmark_scaling(communicator, job.cut, job.options, machine, place.stream_read, out)
                      : benchmark_mapping(communicator, job.cut, job.options, machine, place.stream_read);
    for (CutResult& r : measured) mark(r.cg, r.ranks);
    present(measured, job.scaling() ? "efficiency" : "speed-up");
  }
  return figures;
}

nlohmann::ordered_json bench_json(const Communicator& communicator, const BenchJob& job, const BenchPlace& place,
                                  const BenchFigures& figures) {
  nlohmann::ordered_json json{{"schema_version", SolveReport::schema_version},
                              {"provenance", run_provenance()},
                              {"device", place.devices},
                              {"what", job.what}};
  if (job.cut.strong) json["lattice"] = *job.cut.strong;
  if (job.cut.weak) json["local_lattice"] = *job.cut.weak;
  if (place.placed) {
    json["grid"] = place.placed->lattice.grid();
    json["hosts"] = place.placed->placement.hosts;
    json["mapping"] = to_string(place.placed->placement.mapping);
    json["face_share_within_hosts"] = place.placed->placement.share_within_hosts;
  }
  json["ranks"] = communicator.size();
  json["threads"] = omp_get_max_threads();
  json["stream_read_gb_s"] = place.stream_read * 1e-9;
  json["copy_gb_s"] = place.copy * 1e-9;
  json["stream_bytes"] = streamed_bytes(job.options);
  json["cache_bytes"] = std::int64_t(place.cache);
  json["results"] = figures.results;
  if (figures.of_shares) json["shares"] = to_json(*figures.of_shares);
  return json;
}

}  // namespace

int run_bench(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> parsed = parse_options(communicator, bench_syntax(), arguments, out);
  if (!parsed) return exit_certified;
  const OptionValues& values = *parsed;
  const Watchdog watchdog(communicator, watchdog_limit(values), exit_stalled);

  BenchJob job = read_job(values);
  SessionOptions& session = job.options.session;
  BenchPlace place;
  if (job.measure)
    place.placed.emplace(place_lattice(communicator, *job.cut.strong, job.cut.grid, session.shares, session.loopback,
                                       job.cut.mapping, smallest_extent(stencil_of(session))));
  const Communicator& workers = place.placed ? place.placed->communicator : communicator;
  choose_machine(workers, values, job.options);
  session.device = values.text("device");
  communicator.agree([&] { session.slowness = slowness_of(session, communicator); });
  if (!job.measure) job.options.cublas = false;
  const Machine machine = find_machine(communicator, values.text("machine"));
  ClaimedNames names(communicator);
  const std::optional<std::string> file = values.optional_text("json");
  if (file) names.claim(*file, values.is_on("force"));

  place.stream_read = measure_stream_read(communicator, job.options);
  place.copy = measure_copy(communicator, job.options);
  place.devices = describe_devices(devices_of_ranks(communicator, job.options.cuda_device));
  print_place(out, communicator, job, place);
  place.cache = last_level_cache(workers, job.options.cuda_device);
  const BenchFigures figures = measure_job(communicator, job, place, machine, out);
  if (file)
    write_text_file(communicator, *file, text_of_json(bench_json(communicator, job, place, figures)) + "\n",
                    values.is_on("force"));
  return exit_certified;
}

}  // namespace staghorn
