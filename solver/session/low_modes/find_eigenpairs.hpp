// Low eigenpairs of K = -D^2 on even sites of a session's links, found and certified. The program and Python call this.
#pragma once

#include <functional>

#include "solver/eigen/eigenpair_file.hpp"
#include "solver/gauge/gauge.hpp"
#include "solver/report/eigen_report.hpp"

namespace staghorn {

struct FoundEigenpairs {
  Eigenpairs pairs;  // where the session computes; as many as were found
  EigenReport report;
};

// How far a search has come; told after each vector to which the polynomial was applied.
struct EigenProgress {
  long calls = 0;  // applications of K
  int restarts = 0, converged = 0, pairs = 0;
};

// Finds the range of the spectrum, then pairs by Lanczos (solver/eigen/lanczos_search.hpp), and judges them by the
// plain fp64 path with uncompressed links. What is not certified is a result too; bad requests throw Error, also where
// the basis does not fit into memory. The same request gives the same bits on every process grid, number of threads
// and device, whatever the session did before. Collective.
// `interrupted`: see CgStop; the search then ends as if the calls were used up.
FoundEigenpairs find_eigenpairs(Gauge& gauge, const EigenRequest& request,
                                const std::function<void(const EigenProgress&)>& progress = {},
                                const bool* interrupted = nullptr);

// Writes the pairs, with what they belong to: a session of other links, action or boundary refuses them. Where none was
// found nothing is written; returns whether there is a file. The bytes do not depend on the process grid. Collective.
bool write_eigenpairs(Gauge& gauge, FoundEigenpairs& found, const EigenpairOutput& output);

}  // namespace staghorn
