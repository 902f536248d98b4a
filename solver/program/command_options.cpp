#include "solver/program/command_options.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>

#include "halo/watchdog.hpp"
#include "lattice_io/files/text_file.hpp"
#include "solver/request/solve_checks.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

// What check_options says is a matter of usage here. Its messages begin with the name of an option.
void require_fitting(const SessionOptions& options) {
  try {
    check_options(options);
  } catch (const Error& error) {
    throw UsageError(std::string("--") + error.what());
  }
}

// Levenshtein's distance: insertions, deletions and replacements that turn one word into the other.
int edit_distance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = int(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = int(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string without_sections(const std::string& ini) {
  std::istringstream lines(ini);
  std::string kept, line;
  while (std::getline(lines, line)) {
    const std::size_t start = line.find_first_not_of(" \t");
    if (start == std::string::npos || line[start] != '[') kept += line;
    kept += '\n';
  }
  return kept;
}

std::vector<std::string> option_names(const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& option : options.options()) names.push_back(option->long_name());
  return names;
}

std::string strip_dashes(const std::string& word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

}  // namespace

std::string did_you_mean(const std::string& word, const std::vector<std::string>& choices) {
  const auto closest = std::min_element(choices.begin(), choices.end(), [&](const auto& a, const auto& b) {
    return edit_distance(word, a) < edit_distance(word, b);
  });
  if (closest == choices.end() || edit_distance(word, *closest) > std::max<int>(1, int(word.size()) / 3)) return "";
  return " Did you mean '" + *closest + "'?";
}

std::optional<OptionValues> parse_options(const Communicator& communicator, const CommandSyntax& syntax,
                                          const std::vector<std::string>& arguments, std::ostream& out) {
  po::options_description all = syntax.options;
  po::options_description general("General");
  general.add_options()("config", po::value<std::string>()->value_name("FILE.ini"),
                        "read options from this file too, one `name = value` a line; the command line wins")(
      "help", "print this and stop");
  all.add(general);
  using Style = po::command_line_style::style_t;
  const int style = po::command_line_style::unix_style & ~Style::allow_guessing & ~Style::allow_short;
  OptionValues values;
  std::string where;
  try {
    po::store(po::command_line_parser(arguments).options(all).positional(syntax.positional).style(style).run(), values);
    if (values.count("help")) {
      out << "usage: " << syntax.usage << "\n\n" << syntax.purpose << "\n" << all << syntax.examples;
      return std::nullopt;
    }
    if (values.count("config")) {
      where = values["config"].as<std::string>() + ": ";
      std::istringstream file(without_sections(read_text_file(communicator, values["config"].as<std::string>())));
      po::store(po::parse_config_file(file, all), values);
    }
    po::notify(values);
  } catch (const po::unknown_option& error) {
    const std::string name = strip_dashes(error.get_option_name());
    throw UsageError(where + "unknown option '" + name + "' of " + syntax.name + "." +
                     did_you_mean(name, option_names(all)) + " `staghorn " + syntax.name + " --help` lists them.");
  } catch (const po::error& error) {
    throw UsageError(where + error.what() + ". `staghorn " + syntax.name + " --help` explains the options.");
  }
  return values;
}

po::options_description operator_options() {
  po::options_description options("Operator");
  options.add_options()("boundary",
                        po::value<std::string>()->value_name("px,py,pz,pt")->default_value(to_string(Boundary{})),
                        "boundary condition in each direction: periodic, antiperiodic, or a phase in units of pi")(
      "precision", po::value<std::string>()->value_name("fp64|fp32")->default_value("fp64"),
      "of the vectors and links that CG works on; the answer is always checked in fp64")(
      "links", po::value<std::string>()->value_name("18|12|8")->default_value("18"),
      "reals stored per link; 12 keeps two rows, 8 as many as SU(3) has dimensions: faster, most on GPUs; both imply "
      "--reunitarize")("sloppy", po::value<std::string>()->value_name("fp32|fp16"),
                       "mixed precision: iterate in this, update in --precision fp64 (reliable updates)")(
      "sloppy-links", po::value<std::string>()->value_name("18|12|8"),
      "reals per link in the iterations (default: 12)")(
      "reunitarize", po::bool_switch(), "project the links onto SU(3) first (files hold them to 1e-7 only)");
  return options;
}

po::options_description machine_options() {
  po::options_description options("Machine");
  options.add_options()("grid", po::value<std::string>()->value_name("x,y,z,t"),
                        "process grid, its product the number of ranks (default: the one with the least surface)")(
      "mapping", po::value<std::string>()->value_name("host|natural|reversed")->default_value("host"),
      "ranks in the grid: a box on each host, so that large faces stay within; as numbered, x fastest; or t fastest")(
      "loopback", po::value<std::string>()->value_name("xyzt")->default_value(""),
      "directions to cut although one process holds them, so that the halo code runs")(
      "device", po::value<std::string>()->value_name("auto|cpu|cuda[:n]")->default_value("auto"),
      "where to compute; auto and cuda deal the GPUs of a host to its ranks")(
      "transport", po::value<std::string>()->value_name("NAME")->default_value("auto"),
      "how faces travel between GPUs: p2p, nccl, staged, mapped or cuda-aware; auto tests all and takes the fastest")(
      "overlap", po::value<std::string>()->value_name("on|off")->default_value("on"),
      "compute interior sites while faces travel")(
      "tuning", po::value<std::string>()->value_name("on|off|again"),
      "time ways to launch kernels on a GPU, once, and remember the fastest in the user's cache folder; off neither "
      "reads nor writes there; the result never depends on it (default: STAGHORN_TUNING, or on)")(
      "blas", po::value<std::string>()->value_name("fused|cublas")->default_value("fused"),
      "vector operations: fused into the hops, or one call of cuBLAS each, as a baseline to compare with (GPU only; "
      "alone without the promise of the same bits everywhere)");
  return options;
}

po::options_description watchdog_options() {
  po::options_description options("Watchdog");
  options.add_options()("watchdog", po::value<double>()->value_name("SECONDS"),
                        "end a run in which no rank makes progress for so long, with exit status 4; 0 never does "
                        "(default: STAGHORN_WATCHDOG, or 600)");
  return options;
}

double watchdog_limit(const OptionValues& values) {
  if (!values.count("watchdog")) return parse_value("watchdog", patience_seconds);
  const double seconds = values["watchdog"].as<double>();
  if (!(seconds >= 0)) throw UsageError("--watchdog", "seconds, or 0 for no limit", seconds);
  return seconds;
}

Tuning tuning_choice(const OptionValues& values) {
  if (!values.count("tuning")) return default_tuning();
  return parse_value("tuning", [&] { return parse_tuning(values["tuning"].as<std::string>()); });
}

void set_precisions(const OptionValues& values, SessionOptions& options) {
  const auto text = [&](const char* name) { return values[name].as<std::string>(); };
  options.precision = parse_value("precision", [&] { return parse_precision(text("precision")); });
  options.links = parse_value("links", [&] { return parse_reconstruct(text("links")); });
  if (values.count("sloppy")) options.sloppy = parse_value("sloppy", [&] { return parse_sloppy(text("sloppy")); });
  if (values.count("sloppy-links"))
    options.sloppy_links = parse_value("sloppy-links", [&] { return parse_reconstruct(text("sloppy-links")); });
  require_fitting(options);
}

SessionOptions session_options(const OptionValues& values) {
  const auto text = [&](const char* name) { return values[name].as<std::string>(); };
  SessionOptions options;
  options.boundary = parse_value("boundary", [&] { return parse_boundary(text("boundary")); });
  set_precisions(values, options);
  options.reunitarize = values["reunitarize"].as<bool>();
  if (values.count("grid")) options.grid = parse_extents({text("grid")}, "grid");
  options.mapping = parse_value("mapping", [&] { return parse_mapping(text("mapping")); });
  options.loopback = parse_value("loopback", [&] { return parse_directions(text("loopback")); });
  options.device = text("device");
  options.transport = text("transport");
  options.overlap = parse_value("overlap", [&] { return parse_switch(text("overlap")); });
  options.tuning = tuning_choice(values);
  options.blas = parse_value("blas", [&] { return parse_blas(text("blas")); });
  require_fitting(options);
  return options;
}

bool parse_switch(const std::string& text) {
  if (text != "on" && text != "off") throw Error("switch", "on or off", "'" + text + "'");
  return text == "on";
}

std::array<bool, 4> parse_directions(const std::string& text) {
  std::array<bool, 4> directions{};
  for (const char letter : text) {
    const std::size_t mu = std::string("xyzt").find(letter);
    if (mu == std::string::npos) throw Error("directions", "letters among xyzt", "'" + text + "'");
    directions[mu] = true;
  }
  return directions;
}

Extents parse_extents(const std::vector<std::string>& words, const std::string& option) {
  std::string joined;
  for (const std::string& word : words) joined += word + " ";
  std::string spaced = joined;
  std::replace_if(
      spaced.begin(), spaced.end(), [](char c) { return c == 'x' || c == ','; }, ' ');
  std::istringstream numbers(spaced);
  Extents extents{};
  for (int& extent : extents) numbers >> extent;
  std::string rest;
  if (!numbers || (numbers >> rest) || std::any_of(extents.begin(), extents.end(), [](int e) { return e < 1; }))
    throw UsageError("--" + option, "four positive numbers for x, y, z, t",
                     "'" + joined.substr(0, joined.size() - 1) + "'");
  return extents;
}

void set_stored_rows(const OptionValues& values, GaugeFormat format, std::map<std::string, std::string>& metadata) {
  if (!values.count("rows")) return;
  const int rows = values["rows"].as<int>();
  if (rows != 2 && rows != 3) throw UsageError("--rows", "2 or 3", std::to_string(rows));
  if (rows == 2 && format != GaugeFormat::nersc)
    throw UsageError("--rows 2", "--format nersc, the one that can leave a row out", to_string(format));
  if (format == GaugeFormat::nersc) metadata["DATATYPE"] = rows == 2 ? "4D_SU3_GAUGE" : "4D_SU3_GAUGE_3x3";
}

}  // namespace staghorn
