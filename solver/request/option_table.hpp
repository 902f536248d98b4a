// One table of all options of a session and of a solve: name, help, default, parser. The command line, .ini files and
// Python, C and Fortran read it. A new option is a field of an options struct and a row of this table
// (docs/development/how-to-add-an-option.md). Local.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "solver/request/solve_request.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

// All that a solve can be asked in words. Who says nothing gets the defaults of the structs, and the precision of the
// iterations that is chosen for each solve.
struct SolveOptions {
  SessionOptions session = [] {
    SessionOptions unsaid;
    unsaid.sloppy_auto = true;
    return unsaid;
  }();
  SolveRequest request;
  SourceRequest source;
  ManySources many;
};

// The first two groups belong to a solve, the others to a session. Experiments are for tests and measurements of
// Staghorn itself: --help does not list them.
enum class OptionGroup { problem, solver, lattice_operator, machine, experiments };

struct Option {
  OptionGroup group;
  const char* name;   // "max_iterations"; the program writes --max-iterations
  const char* value;  // what --help calls the value; "" for a switch, which is "on" or "off"
  std::string help;   // with units; names of other options stand in `backquotes`
  std::function<void(SolveOptions&, const std::string&)> set;  // throws Error
  std::optional<std::string> default_text;                     // nothing: the help says what happens without it
  bool of_each_solve = false;  // a field of SolveNumbers: of a session, but solves of one gauge may differ in it
  const char* old_name = "";   // accepted still; "": none

  bool is_switch() const { return !*value; }
  bool of_session() const { return group != OptionGroup::problem && group != OptionGroup::solver; }
};

// In the order of --help.
const std::vector<Option>& solve_options();

// The row of that name, or that had it once. Throws Error for an unknown name.
const Option& find_option(const std::string& name);

// Sets one option from text. Throws Error that begins with the name of the option.
void set_option(SolveOptions& options, const std::string& name, const std::string& text);

// How options are written where a message is shown: `name` between backquotes, and a name with a colon at the front,
// both become write(name). Names that are no options, here or in `others`, stay.
std::string with_option_names(const std::string& message, const std::vector<std::string>& others,
                              const std::function<std::string(const std::string&)>& write);

}  // namespace staghorn
