// The report of a solve: what was asked, what the passes reached, on what machine, in what time, with what memory.
// Private to session/. Collective.
#pragma once

#include "solver/gauge/gauge.hpp"
#include "solver/session/passes/certified_solve.hpp"

namespace staghorn {

// `source_bytes`: this rank's sources and solutions.
SolveReport filled_report(const Gauge& gauge, const SolveRequest& request, const CertifiedSolve& done,
                          double setup_seconds, double source_bytes);

// The same of sources that took turns. Bytes of this rank: vectors of the passes; halo of operators besides; sources
// and solutions on the host, and beside the certificate on a GPU.
struct BatchBytes {
  double vectors, halo, fields, fields_on_gpu;
};
SolveReport batch_report(const Gauge& gauge, const SolveRequest& request, const CertifiedSolve& done,
                         double setup_seconds, const BatchBytes& bytes);

}  // namespace staghorn
