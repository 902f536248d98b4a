#include "solver/report/tuning_report.hpp"

#include "solver/report/setting_json.hpp"

namespace staghorn {

Json to_json(const LaunchTuning& tuning) {
  const auto text = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  const auto hop = [](const LaunchChoice& choice) -> Json { return {{"tile", choice.tile}, {"waves", choice.waves}}; };
  return {{"mode", to_string(tuning.mode)},
          {"tuned", tuning.tuned},
          {"remembered", tuning.remembered},
          {"seconds", seconds_json(tuning.seconds)},
          {"file", text(tuning.file)},
          {"not_kept", text(tuning.not_kept)},
          {"launches",
           {{"hop", hop(tuning.choices.hop)},
            {"residual", hop(tuning.choices.residual)},
            {"direction", {{"waves", tuning.choices.direction.waves}}}}}};
}

}  // namespace staghorn
