// Which Staghorn this is, what it was built with and where it runs: goes into every report.
#pragma once

#include <map>
#include <string>

namespace staghorn {

std::string version();        // "0.1.0"
std::string build_summary();  // compiler and libraries

// version, build, processor, host, started (UTC now). Local.
std::map<std::string, std::string> run_provenance();

}  // namespace staghorn
