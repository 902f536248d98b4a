// What the commands share in reading their options: one parser for the command line and for .ini files, the options
// of the operator and of the machine, and usage errors with a hint.
#pragma once

#include <array>
#include <boost/program_options.hpp>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// The command line itself is wrong (exit status 2): unknown names, missing or malformed values.
class UsageError : public Error {
 public:
  using Error::Error;
};

struct CommandSyntax {
  std::string name;                                     // "solve"
  std::string usage;                                    // "staghorn solve --gauge FILE --mass M [options]"
  std::string purpose;                                  // one or two sentences
  boost::program_options::options_description options;  // in groups, with units and defaults
  boost::program_options::positional_options_description positional;
  std::string examples;  // below the options in --help
};

using OptionValues = boost::program_options::variables_map;

// Reads `arguments` and, where --config FILE is among them, that file: `name = value` lines whose names are the
// options'; [sections] and # comments are for the reader only; the command line wins. Prints the help to `out` and
// returns nothing where --help is asked for. Throws UsageError. Collective (the file is read by one rank).
std::optional<OptionValues> parse_options(const Communicator& communicator, const CommandSyntax& syntax,
                                          const std::vector<std::string>& arguments, std::ostream& out);

// " Did you mean 'X'?" for the choice closest to `word`, or "" where none is close.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& choices);

// Groups of options and what they say: --boundary --precision --links --reunitarize, and --grid --mapping --loopback
// --device --transport --overlap --tuning --blas.
boost::program_options::options_description operator_options();
boost::program_options::options_description machine_options();
// --watchdog; its default is that of STAGHORN_WATCHDOG.
boost::program_options::options_description watchdog_options();
double watchdog_limit(const OptionValues& values);  // seconds; throws UsageError
Tuning tuning_choice(const OptionValues& values);   // --tuning, else the default; throws UsageError
SessionOptions session_options(const OptionValues& values);
// --precision, --links, --sloppy and --sloppy-links alone.
void set_precisions(const OptionValues& values, SessionOptions& options);

// Four extents "X Y Z T" as words or joined by x or commas; throws UsageError naming the option.
Extents parse_extents(const std::vector<std::string>& words, const std::string& option);

// Directions as letters, "xt"; throws Error.
bool parse_switch(const std::string& text);  // "on" or "off"
std::array<bool, 4> parse_directions(const std::string& text);

// --rows 2|3, how many rows of a link a NERSC file stores: sets `metadata` so that write_gauge does that. Left alone
// where the option is not given. Throws UsageError for another format.
void set_stored_rows(const OptionValues& values, GaugeFormat format, std::map<std::string, std::string>& metadata);

// Runs a parser that throws Error, and turns its Error into a UsageError that names the option.
template <class Parse>
auto parse_value(const std::string& option, Parse&& parse) {
  try {
    return parse();
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    // Parsers begin their message with the name of what they parse.
    const std::string message = error.what();
    throw UsageError("--" + (message.starts_with(option + ":") ? message : option + ": " + message));
  }
}

}  // namespace staghorn
