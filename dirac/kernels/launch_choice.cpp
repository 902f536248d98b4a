#include "dirac/kernels/launch_choice.hpp"

#include <cstdio>
#include <cstdlib>

#include "halo/watch/error.hpp"

namespace staghorn {

std::string to_string(Tuning tuning) { return tuning == Tuning::off ? "off" : tuning == Tuning::on ? "on" : "again"; }

Tuning parse_tuning(const std::string& text) {
  for (const Tuning tuning : {Tuning::off, Tuning::on, Tuning::again})
    if (text == to_string(tuning)) return tuning;
  throw Error("tuning", "on, off or again", "'" + text + "'");
}

Tuning default_tuning() {
  const char* text = std::getenv("STAGHORN_TUNING");
  if (!text || !*text) return Tuning::on;
  try {
    return parse_tuning(text);
  } catch (const Error&) {
    throw Error("STAGHORN_TUNING", "on, off or again", "'" + std::string(text) + "'");
  }
}

std::string to_string(const LaunchTuning& tuning) {
  if (tuning.tuned == 0) return "";
  char text[80];
  std::snprintf(text, sizeof text, "tuned %d launch%s in %.2f s, ", tuning.tuned, tuning.tuned == 1 ? "" : "es",
                tuning.seconds);
  return text + (tuning.not_kept.empty() ? "kept in " + tuning.file : "not kept: " + tuning.not_kept);
}

}  // namespace staghorn
