// Gauge configurations by name, pattern or list.
#pragma once

#include <string>
#include <vector>

#include "halo/communicator.hpp"

namespace staghorn {

// Whether `text` speaks of several files: a list with `;`, "@FILE", or a pattern with *, ? or [. A file of just that
// name is one file. Collective.
bool names_several_gauges(const Communicator& communicator, const std::string& text);

// The files that `text` names, each once: words as read_list has them, and for a pattern the names that match, sorted.
// Throws Error naming a file that is not there, or a pattern that nothing matches. Collective.
std::vector<std::string> read_gauge_list(const Communicator& communicator, const std::string& text);

// "q_0007" of "runs/q_0007.h5", and 7 of it: the last number in it as it stands there without zeros in front, or "".
// Local.
std::string gauge_stem(const std::string& path);
std::string gauge_number(const std::string& path);

}  // namespace staghorn
