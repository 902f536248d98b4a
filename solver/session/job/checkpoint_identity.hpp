// What the checkpoints of a job belong to, text by text: version, links, sources, request. CheckpointSeries
// (solver/checkpoint/) compares them. Private to session/. Collective.
#pragma once

#include <map>
#include <span>
#include <string>

#include "solver/gauge/gauge.hpp"

namespace staghorn {

// Throws Error for a solver without checkpoints.
std::map<std::string, std::string> checkpoint_identity(const Gauge& gauge, const SolveRequest& request,
                                                       const std::string& sources_hash);
std::string hashes_of(const Communicator& communicator, std::span<const VectorField> sources);

}  // namespace staghorn
