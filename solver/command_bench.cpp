// `staghorn bench`: how fast the parts of a solve run here, beside what the memory streams.
#include <omp.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <ostream>

#include "dirac/kernels.hpp"
#include "halo/cuda_device.hpp"
#include "lattice_io/vector_file.hpp"
#include "solver/benchmark.hpp"
#include "solver/command_options.hpp"
#include "solver/commands.hpp"
#include "solver/cublas.hpp"
#include "solver/cut_lattice.hpp"
#include "solver/device_choice.hpp"
#include "solver/provenance.hpp"
#include "solver/text_file.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

using Measure = std::vector<BenchmarkResult> (*)(const Communicator&, const Lattice&, const BenchmarkOptions&, double);
constexpr std::pair<const char*, Measure> measurements[] = {
    {"hop", benchmark_hop}, {"cg", benchmark_cg}, {"sums", benchmark_sums}, {"exchange", benchmark_exchange}};

CommandSyntax bench_syntax() {
  CommandSyntax syntax{
      "bench",
      "staghorn bench hop|cg|sums|exchange --lattice X Y Z T [options]",
      "Times the kernels on random links. Every row gives the time of one call, GF/s at 570 flop a site\n"
      "and hop, GB/s by minimal traffic (each link and vector once) and its fraction of the streaming\n"
      "read that is measured first, in the same process.\n",
      po::options_description(),
      {},
      "\nExample:\n  staghorn bench hop --lattice 32 32 32 16 --links 18,12,8\n"};
  po::options_description options("Options");
  // clang-format off
  options.add_options()
      ("what", po::value<std::string>()->value_name("hop|cg|sums|exchange")->required(), "what to measure (first word)")
      ("lattice", po::value<std::vector<std::string>>()->multitoken()->value_name("X Y Z T")->required(), "extents, even")
      ("precision", po::value<std::string>()->value_name("LIST")->default_value("fp64,fp32"), "of fp64, fp32, fp16")
      ("links", po::value<std::string>()->value_name("LIST")->default_value("18,12,8"), "reals per link: 18, 12, 8")
      ("rhs", po::value<int>()->value_name("N")->default_value(1), "right-hand sides side by side, 1 to 64")
      ("seconds", po::value<double>()->value_name("S")->default_value(1), "spent on each figure")
      ("device", po::value<std::string>()->value_name("auto|cpu|cuda[:n]")->default_value("auto"), "where to compute")
      ("blas", po::value<std::string>()->value_name("auto|fused|cublas")->default_value("auto"),
       "cg: vector operations fused into the hops, or by cuBLAS (GPU only); auto times both where both are there")
      ("instruction-set", po::value<std::string>()->value_name("NAME")->default_value("auto"),
       "auto | avx512 | avx2 | baseline")
      ("grid", po::value<std::string>()->value_name("x,y,z,t"), "process grid (default: the one with the least surface)")
      ("loopback", po::value<std::string>()->value_name("xyzt")->default_value(""),
       "directions cut although one process holds them")
      ("transport", po::value<std::string>()->value_name("NAME")->default_value("auto"), "how faces travel between GPUs")
      ("overlap", po::value<std::string>()->value_name("on|off")->default_value("on"), "compute while faces travel")
      ("json", po::value<std::string>()->value_name("F"), "write the figures as JSON too")
      ("force", po::bool_switch(), "replace F if it exists");
  // clang-format on
  syntax.options.add(options);
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

void print_table(std::ostream& out, const std::vector<BenchmarkResult>& results) {
  char line[160];
  std::snprintf(line, sizeof line, "%-24s %-5s %5s %4s %12s %9s %8s %7s %14s\n", "what", "prec", "links", "rhs",
                "microseconds", "GF/s", "GB/s", "stream", "Msite iter/s");
  out << line;
  for (const BenchmarkResult& r : results) {
    std::snprintf(line, sizeof line, "%-24s %-5s %5d %4d %12.1f", r.what.c_str(), to_string(r.precision).c_str(),
                  reals_per_link(r.links), r.rhs, r.microseconds);
    out << line;
    if (r.gflops > 0) {
      std::snprintf(line, sizeof line, " %9.1f", r.gflops);
      out << line;
    }
    if (r.gb_s > 0) {
      std::snprintf(line, sizeof line, " %8.1f %5.0f %%", r.gb_s, 100 * r.fraction_of_stream);
      out << line;
    }
    if (r.site_iterations_per_second > 0) {
      std::snprintf(line, sizeof line, " %14.2f", r.site_iterations_per_second * 1e-6);
      out << line;
    }
    out << "\n";
  }
}

}  // namespace

int run_bench(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> parsed = parse_options(communicator, bench_syntax(), arguments, out);
  if (!parsed) return exit_certified;
  const OptionValues& values = *parsed;
  const auto text = [&](const char* name) { return values[name].as<std::string>(); };

  Measure measure = nullptr;
  for (const auto& [name, function] : measurements)
    if (text("what") == name) measure = function;
  if (!measure) throw UsageError("bench", "hop, cg, sums or exchange", "'" + text("what") + "'");
  BenchmarkOptions options;
  options.precisions = parse_list("precision", text("precision"), parse_kernel_precision);
  options.links = parse_list("links", text("links"), parse_reconstruct);
  options.rhs = values["rhs"].as<int>();
  options.seconds = values["seconds"].as<double>();
  if (options.rhs < 1 || options.rhs > 64)
    throw UsageError("--rhs", "1 to 64 right-hand sides", std::to_string(options.rhs));
  if (!(options.seconds > 0)) throw UsageError("--seconds", "more than 0", std::to_string(options.seconds));
  options.instruction_set = text("instruction-set");
  parse_value("instruction-set", [&] { return cpu_kernels(options.instruction_set).vector_bytes; });
  std::optional<Extents> grid;
  if (values.count("grid")) grid = parse_extents({text("grid")}, "grid");
  const Extents extents = parse_extents(values["lattice"].as<std::vector<std::string>>(), "lattice");
  const auto loopback = parse_value("loopback", [&] { return parse_directions(text("loopback")); });
  const Lattice lattice = cut_lattice(communicator, extents, grid, loopback);

  options.transport = text("transport");
  options.overlap = parse_value("overlap", [&] { return parse_switch(text("overlap")); });
  options.cuda_device = choose_device(text("device"), communicator.rank_on_host());
  if (options.cuda_device >= 0) cuda::select_device(options.cuda_device);
  const bool can_cublas = options.cuda_device >= 0 && Cublas::available();
  if (text("blas") == "auto")
    options.cublas = can_cublas;
  else
    options.cublas = parse_value("blas", [&] { return parse_blas(text("blas")); }) == Blas::cublas;
  options.fused = text("blas") != "cublas";
  if (options.cublas && options.cuda_device < 0)
    throw Error("blas cublas", "a GPU to compute on (device cuda)", "device cpu");
  if (values.count("json")) check_writable(communicator, text("json"), values["force"].as<bool>());
  const double stream_read = measure_stream_read(communicator, options);
  char line[160];
  std::snprintf(line, sizeof line, "%s, lattice %s, grid %s, %d ranks x %d threads, streaming read %.1f GB/s\n",
                describe_device(options.cuda_device).c_str(), to_string(extents).c_str(),
                to_string(lattice.grid()).c_str(), communicator.size(), omp_get_max_threads(), stream_read * 1e-9);
  out << line << std::flush;
  const std::vector<BenchmarkResult> results = measure(communicator, lattice, options, stream_read);
  print_table(out, results);

  if (values.count("json")) {
    nlohmann::ordered_json json;
    for (const auto& [name, value] : run_provenance()) json["provenance"][name] = value;
    json["device"] = describe_device(options.cuda_device);
    json["what"] = text("what");
    json["lattice"] = extents;
    json["grid"] = lattice.grid();
    json["ranks"] = communicator.size();
    json["threads"] = omp_get_max_threads();
    json["stream_read_gb_s"] = stream_read * 1e-9;
    for (const BenchmarkResult& r : results)
      json["results"].push_back({{"what", r.what},
                                 {"precision", to_string(r.precision)},
                                 {"links", reals_per_link(r.links)},
                                 {"rhs", r.rhs},
                                 {"microseconds", r.microseconds},
                                 {"gflops", r.gflops},
                                 {"gb_s", r.gb_s},
                                 {"fraction_of_stream", r.fraction_of_stream},
                                 {"site_iterations_per_second", r.site_iterations_per_second}});
    write_text_file(communicator, text("json"), json.dump(2) + "\n", values["force"].as<bool>());
  }
  return exit_certified;
}

}  // namespace staghorn
