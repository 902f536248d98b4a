// Which Staghorn this is, what it was built with and where it runs: goes into every report.
#pragma once

#include <map>
#include <string>

namespace staghorn {

std::string version();  // "0.2.0"
// Compiler and libraries; without the MPI for a process that calls no function of MPI, "no MPI" in a build without it.
std::string build_summary(bool with_mpi = true);

// version, build, processor, host, started (UTC now). Local.
std::map<std::string, std::string> run_provenance(bool with_mpi = true);

}  // namespace staghorn
