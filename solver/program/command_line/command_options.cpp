#include "solver/program/command_line/command_options.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>

#include "halo/watch/surroundings.hpp"
#include "halo/watchdog.hpp"
#include "lattice_io/files/text_file.hpp"
#include "solver/request/solve_checks.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

// Whether `line` is the name of a switch and nothing else, but for blanks and a # comment.
bool names_a_switch(std::string line, const po::options_description& options) {
  line.resize(std::min(line.find('#'), line.size()));
  const std::size_t begin = line.find_first_not_of(" \t\r"), end = line.find_last_not_of(" \t\r");
  if (begin == std::string::npos) return false;
  const po::option_description* const option = options.find_nothrow(line.substr(begin, end + 1 - begin), false);
  return option && option->semantic()->max_tokens() == 0;
}

// The lines of a configuration file that are not [sections]. A switch may stand without a value. A mark of UTF-8 in
// front is skipped.
std::string lines_with_options(const std::string& file, const std::string& ini,
                               const po::options_description& options) {
  constexpr std::string_view utf8_mark = "\xef\xbb\xbf";
  if (ini.find('\0') != std::string::npos) throw UsageError(file, "lines `name = value`", "zero bytes");
  std::istringstream lines(ini.starts_with(utf8_mark) ? ini.substr(utf8_mark.size()) : ini);
  std::string kept, line;
  while (std::getline(lines, line)) {
    const std::size_t start = line.find_first_not_of(" \t");
    if (names_a_switch(line, options))
      kept += line.substr(0, line.find_first_of("#\r")) + " = true";
    else if (start == std::string::npos || line[start] != '[')
      kept += line;
    kept += '\n';
  }
  return kept;
}

// `text` as a terminal can show it, and not too much of it.
std::string printable(const std::string& text) {
  constexpr std::size_t most = 200;
  std::string shown = text.substr(0, most) + (text.size() > most ? "..." : "");
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  return shown;
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

std::optional<OptionValues> parse_options(const Communicator& communicator, const CommandSyntax& syntax,
                                          const std::vector<std::string>& arguments, std::ostream& out) {
  const po::options_description general = options_of(
      "General",
      {{"config", "FILE.ini", "read options from this file too, one `name = value` a line; the command line wins"},
       {"help", "", "print this and stop"}});
  po::options_description shown = syntax.options, of_files = syntax.options;
  shown.add(general);
  of_files.add(syntax.experiments);
  po::options_description all = of_files;
  all.add(general);
  using Style = po::command_line_style::style_t;
  const int style = po::command_line_style::unix_style & ~Style::allow_guessing & ~Style::allow_short;
  OptionValues values;
  std::string& where = values.file;
  try {
    const bool asks_for_help = std::find(arguments.begin(), arguments.end(), "-h") != arguments.end();
    if (!asks_for_help)
      po::store(po::command_line_parser(arguments).options(all).positional(syntax.positional).style(style).run(),
                values);
    if (asks_for_help || values.is_on("help")) {
      out << "usage: " << syntax.usage << "\n\n" << syntax.purpose << "\n" << shown << syntax.examples;
      return std::nullopt;
    }
    if (values.count("config")) {
      const std::string name = values.text("config");
      where = name + ": ";
      std::istringstream file(lines_with_options(name, read_text_file(communicator, name), of_files));
      const auto lines = po::parse_config_file(file, of_files);  // neither `config` nor `help` stands there
      for (const auto& line : lines.options)
        if (!values.count(line.string_key) || values[line.string_key].defaulted())
          values.of_file.insert(line.string_key);
      po::store(lines, values);
    }
    po::notify(values);
    if (values.count("no-probe") && values.is_on("no-probe")) Surroundings::current().set_probe("");
  } catch (const po::unknown_option& error) {
    const std::string name = strip_dashes(error.get_option_name());
    throw UsageError(where + "unknown option '" + printable(name) + "' of " + syntax.name + "." +
                     did_you_mean(name, option_names(where.empty() ? shown : syntax.options)) + " `staghorn " +
                     syntax.name + " --help` lists them.");
  } catch (const po::too_many_positional_options_error&) {
    const auto parsed = po::command_line_parser(arguments).options(all).style(style).allow_unregistered().run();
    const std::string stray =
        po::collect_unrecognized(parsed.options, po::include_positional).at(syntax.positional.max_total_count());
    throw UsageError("'" + printable(stray) + "' is no option of " + syntax.name +
                     (stray.starts_with('-') ? ": options begin with two dashes." : " and belongs to none.") +
                     did_you_mean(strip_dashes(stray), option_names(all)) + " `staghorn " + syntax.name +
                     " --help` lists them.");
  } catch (const po::error& error) {
    throw UsageError(where + printable(error.what()) + ". `staghorn " + syntax.name + " --help` explains the options.");
  }
  return values;
}

std::string with_dashes(const std::string& name) {
  std::string dashed = "--" + name;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return dashed;
}

std::string in_words_of_the_program(const std::string& message) {
  return with_option_names(
      message, {"force",      "format",        "gauge",   "guess",   "lattice",       "loops",          "max_calls",
                "max_sweeps", "measure_every", "method",  "output",  "output_format", "overrelaxation", "pairs",
                "relaxation", "report",        "results", "save_as", "save_every",    "seed",           "space_only",
                "split",      "step",          "steps",   "sweeps",  "time",          "weights"},
      with_dashes);  // options of the program alone
}

void add_options(po::options_description& to, const std::vector<OptionRow>& rows) {
  const auto add = [&](const OptionRow& row, auto* value) {
    value->value_name(row.value);
    if (row.form == OptionRow::required || row.form == OptionRow::several_required) value->required();
    to.add_options()(row.name.c_str(), value, row.help.c_str());
    return value;
  };
  for (const OptionRow& row : rows)
    if (row.value.empty())
      to.add_options()(row.name.c_str(), po::bool_switch(), row.help.c_str());
    else if (row.form == OptionRow::several || row.form == OptionRow::several_required)
      add(row, po::value<std::vector<std::string>>())->multitoken();
    else if (auto* const value = add(row, po::value<std::string>()); row.default_text)
      value->default_value(*row.default_text);
}

po::options_description options_of(const std::string& title, const std::vector<OptionRow>& rows) {
  po::options_description options(title);
  add_options(options, rows);
  return options;
}

void add_options(po::options_description& to, OptionGroup group, const std::vector<std::string>& without) {
  for (const Option& option : solve_options()) {
    if (option.group != group || std::find(without.begin(), without.end(), option.name) != without.end()) continue;
    std::string name = with_dashes(option.name).substr(2);
    if (*option.old_name) name += ',' + with_dashes(option.old_name).substr(2);
    add_options(to, {{name, option.is_switch() ? "" : option.value, in_words_of_the_program(option.help),
                      option.default_text}});
  }
}

void set_options(const OptionValues& values, SolveOptions& options, const std::vector<std::string>& names) {
  with_usage_errors([&] {
    for (const std::string& name : names) {
      const std::string dashed = with_dashes(name).substr(2);
      if (!values.count(dashed)) continue;
      const char* const given = dashed.c_str();
      set_option(options, name, find_option(name).is_switch() ? option_text(values.is_on(given)) : values.text(given));
    }
    check_options(options.session);  // what does not go together is a matter of usage
  });
}

void set_options(const OptionValues& values, SolveOptions& options) {
  std::vector<std::string> names;
  for (const Option& option : solve_options()) names.push_back(option.name);
  set_options(values, options, names);
}

po::options_description watchdog_options() {
  return options_of("Watchdog", {{"watchdog", "SECONDS",
                                  "end a run in which no rank makes progress for so long, with exit status 4; 0 never "
                                  "does (default: STAGHORN_WATCHDOG, or 600)"}});
}

double watchdog_limit(const OptionValues& values) {
  if (!values.count("watchdog")) return parse_value("watchdog", patience_seconds);
  const double seconds = values.number<double>("watchdog");
  if (!(seconds >= 0)) throw UsageError("--watchdog", "seconds, or 0 for no limit", seconds);
  return seconds;
}

OptionRow compress_option() {
  return {"compress", "LEVEL", "of a file in HDF5: compress its fields by gzip, 1 (fast) to 9 (default: not at all)"};
}

int compression(const OptionValues& values, bool is_hdf5) {
  if (!values.count("compress")) return 0;
  const int level = values.number<int>("compress");
  if (level < 1 || level > 9) throw UsageError("--compress", "a level from 1 to 9", level);
  if (!is_hdf5) throw UsageError("--compress", "a file in HDF5 to write", "none, or one of another format");
  return level;
}

Extents extents_of(const OptionValues& values, const std::string& option) {
  const boost::any& value = values[option].value();
  std::string joined;
  if (const auto* words = boost::any_cast<std::vector<std::string>>(&value))
    for (const std::string& word : *words) joined += (joined.empty() ? "" : " ") + word;
  else
    joined = values[option].as<std::string>();
  return parse_value(option, [&] { return parse_extents(joined); });
}

const std::vector<std::string> options_of_solves{
    "sloppy",       "sloppy_links",    "sloppy_naik_links", "solver",     "preconditioner",  "blas",
    "certificate",  "eigenvectors",    "eigenvectors_on",   "eigenpairs", "keep_thin_links", "coarse",
    "coarse_block", "coarse_tolerance"};

void set_session_options(const OptionValues& values, SolveOptions& options) {
  std::vector<std::string> of_session;
  for (const Option& option : solve_options())
    if (option.of_session()) of_session.push_back(option.name);
  set_options(values, options, of_session);
}

OptionRow gauge_option(const std::string& more) {
  return {"gauge", "FILE",
          "gauge configuration: MILC, NERSC, ILDG, SciDAC, HDF5, npy or openQCD, found from its content; required, "
          "unless --fat and --naik are given" +
              more};
}

std::string gauge_of(const OptionValues& values, const QuarkAction& quarks, const std::string& command) {
  const std::string gauge = values.optional_text("gauge").value_or("");
  if (gauge.empty() && !quarks.stored())
    throw UsageError("--gauge is required, or --fat and --naik. `staghorn " + command +
                     " --help` explains the options.");
  if (!gauge.empty() && quarks.stored())
    throw UsageError("--gauge", "thin links, or links from --fat and --naik", "all three");
  return gauge;
}

void require_not_read(const FileNames& written, const FileNames& read) {
  for (const auto& name : written)
    if (name && std::find(read.begin(), read.end(), name) != read.end())
      throw UsageError("'" + *name + "' would be read and replaced: choose another name to write to");
}

GaugeHeader stored_header(const Communicator& communicator, const OptionValues& values, const std::string& path) {
  const std::optional<std::string> dataset = values.optional_text("dataset");
  std::optional<Extents> lattice;
  if (values.count("lattice")) lattice = extents_of(values, "lattice");
  if (!values.count("kyu")) return read_gauge_header(communicator, path, dataset, lattice);
  if (lattice) throw UsageError("--lattice", "another format", "--kyu, which says the lattice");
  if (dataset) throw UsageError("--dataset", "HDF5", "--kyu");
  return read_kyu_header(communicator, path, extents_of(values, "kyu"));
}

GaugeFormat gauge_format_of(const OptionValues& values, const std::string& file, std::optional<GaugeFormat> otherwise) {
  if (const auto given = values.optional_text("format"))
    return parse_value("format", [&] { return parse_gauge_format(*given); });
  std::optional<GaugeFormat> format = with_usage_errors([&] { return gauge_format_by_name(file); });
  if (!format) format = otherwise;
  if (!format)
    throw UsageError("--format is required, as the name '" + printable(file) +
                     "' does not end in .milc, .nersc, .ildg, .scidac, .h5, .npy, .openqcd, .kyu or .pyquda");
  return *format;
}

void set_stored_rows(const OptionValues& values, GaugeFormat format, std::map<std::string, std::string>& metadata) {
  if (!values.count("rows")) return;
  const int rows = values.number<int>("rows");
  if (rows != 2 && rows != 3) throw UsageError("--rows", "2 or 3", std::to_string(rows));
  if (rows == 2 && format != GaugeFormat::nersc)
    throw UsageError("--rows 2", "--format nersc, the one that can leave a row out", to_string(format));
  if (format == GaugeFormat::nersc) metadata["DATATYPE"] = rows == 2 ? "4D_SU3_GAUGE" : "4D_SU3_GAUGE_3x3";
}

}  // namespace staghorn
