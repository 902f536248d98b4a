// What the commands share in reading their options: one parser for the command line and for .ini files, the options of
// the table, and usage errors with a hint.
#pragma once

#include <boost/program_options.hpp>
#include <iosfwd>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "solver/request/option_table.hpp"
#include "solver/request/option_text.hpp"
#include "solver/request/words/did_you_mean.hpp"
#include "solver/request/words/usage_error.hpp"

namespace staghorn {

struct CommandSyntax {
  std::string name;                                       // "solve"
  std::string usage;                                      // "staghorn solve --gauge FILE --mass M [options]"
  std::string purpose;                                    // one or two sentences
  std::string examples{};                                 // below the options in --help
  boost::program_options::options_description options{};  // in groups, with units and defaults
  boost::program_options::positional_options_description positional{};
  boost::program_options::options_description experiments{};  // options that --help does not list
};

// An option of one command alone.
struct OptionRow {
  enum Form { one, several, required, several_required };  // words that it takes
  std::string name, value, help;                           // `value` as --help shows it; "": the option is a switch
  std::optional<std::string> default_text{};
  Form form = one;
};

// What a command was given, option by option: texts, lists of words where it takes several, and switches.
struct OptionValues : boost::program_options::variables_map {
  std::string text(const char* name) const { return (*this)[name].as<std::string>(); }
  std::optional<std::string> optional_text(const char* name) const {
    return count(name) ? std::optional(text(name)) : std::nullopt;
  }
  const std::vector<std::string>& words(const char* name) const { return (*this)[name].as<std::vector<std::string>>(); }
  bool is_on(const char* name) const { return (*this)[name].as<bool>(); }
  bool is_default(const char* name) const { return (*this)[name].defaulted(); }
  template <class Number>
  Number number(const char* name) const;  // throws UsageError

  std::string file{};               // "FILE.ini: ", in front of messages about
  std::set<std::string> of_file{};  // options that stand there alone
};

// Reads `arguments` and, where --config FILE is among them, that file: `name = value` lines whose names are the
// options'; a switch may stand without a value; [sections] and # comments are for the reader only; the command line
// wins. Prints the help to `out` and returns nothing where --help is asked for. Throws UsageError. Collective (the file
// is read by one rank).
std::optional<OptionValues> parse_options(const Communicator& communicator, const CommandSyntax& syntax,
                                          const std::vector<std::string>& arguments, std::ostream& out);

void add_options(boost::program_options::options_description& to, const std::vector<OptionRow>& rows);
boost::program_options::options_description options_of(const std::string& title, const std::vector<OptionRow>& rows);
// The options of a group of the table (solver/request/option_table.hpp), with dashes, but for those in `without`.
void add_options(boost::program_options::options_description& to, OptionGroup group,
                 const std::vector<std::string>& without = {});
// What `values` say of the options that are named, or of all that a command took from the table. Throws UsageError.
void set_options(const OptionValues& values, SolveOptions& options, const std::vector<std::string>& names);
void set_options(const OptionValues& values, SolveOptions& options);

// "max_iterations" -> "--max-iterations".
std::string with_dashes(const std::string& name);
// A message of the library for users of the program: names of options become --options.
std::string in_words_of_the_program(const std::string& message);

// --watchdog; its default is that of STAGHORN_WATCHDOG.
boost::program_options::options_description watchdog_options();
double watchdog_limit(const OptionValues& values);  // seconds; throws UsageError

// Four extents "X Y Z T" as words or joined by x or commas; throws UsageError naming the option.
Extents extents_of(const OptionValues& values, const std::string& option);

// Options of a session that a search for vectors does not read.
extern const std::vector<std::string> options_of_solves;
// The options of a session that such a search was given. Throws UsageError.
void set_session_options(const OptionValues& values, SolveOptions& options);

// The row of --gauge. `more`: what the help says besides.
OptionRow gauge_option(const std::string& more = "");
// --gauge; "" where --fat and --naik name the links. Throws UsageError where neither or both do.
std::string gauge_of(const OptionValues& values, const QuarkAction& quarks, const std::string& command);
// Throws UsageError where a file that is read has the name of one that is written.
using FileNames = std::vector<std::optional<std::string>>;
void require_not_read(const FileNames& written, const FileNames& read);

// The header of a file of links, by --dataset, and --lattice or --kyu for a file that says no extents. Collective.
GaugeHeader stored_header(const Communicator& communicator, const OptionValues& values, const std::string& path);

// --format of links: what it says, else what the name of `file` asks for, else `otherwise`. Throws UsageError.
GaugeFormat gauge_format_of(const OptionValues& values, const std::string& file,
                            std::optional<GaugeFormat> otherwise = std::nullopt);

// --compress LEVEL of a file that is written, and what it says; 0: nothing. Throws UsageError where that is not HDF5.
OptionRow compress_option();
int compression(const OptionValues& values, bool is_hdf5);

// --rows 2|3, how many rows of a link a NERSC file stores: sets `metadata` so that write_gauge does that. Left alone
// where the option is not given. Throws UsageError for another format.
void set_stored_rows(const OptionValues& values, GaugeFormat format, std::map<std::string, std::string>& metadata);

// Runs what throws Error, which becomes a UsageError with these words.
template <class Work, class Words>
auto with_usage_errors(const Work& work, const Words& words_of) {
  try {
    return work();
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    throw UsageError(words_of(std::string(error.what())));
  }
}
template <class Work>
auto with_usage_errors(const Work& work) {
  return with_usage_errors(work, [](const std::string& words) { return words; });
}
// The same for a parser, whose message then begins with the option.
template <class Parse>
auto parse_value(const std::string& option, const Parse& parse) {
  return with_usage_errors(parse, [&](const std::string& words) { return "--" + about_option(option, words); });
}

template <class Number>
Number OptionValues::number(const char* name) const {
  const std::string where = (of_file.count(name) ? file : "") + "--";
  return with_usage_errors([&] { return parse_number<Number>(text(name)); },
                           [&](const std::string& words) { return where + about_option(name, words); });
}

}  // namespace staghorn
