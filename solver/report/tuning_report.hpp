// What tuning the launches of an operator did, in the JSON of solves and benchmarks. Local.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "dirac/kernels/launch_choice.hpp"

namespace staghorn {

// {"mode": "on", "tuned": 3, "remembered": 0, "seconds": 0.2, "file": ..., "not_kept": null, "launches": {"hop": ...}}
nlohmann::ordered_json to_json(const LaunchTuning& tuning);

}  // namespace staghorn
