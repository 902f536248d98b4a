#include "dirac/kernels/launch_choice.hpp"

#include <cstdio>
#include <cstdlib>

#include "halo/named_choice.hpp"
#include "halo/watch/surroundings.hpp"

namespace staghorn {

namespace {

constexpr NamedChoice<Tuning, 3> tunings{"tuning",
                                         {{{Tuning::on, "on"}, {Tuning::off, "off"}, {Tuning::again, "again"}}}};

}  // namespace

std::string to_string(Tuning tuning) { return tunings.name(tuning); }
Tuning parse_tuning(const std::string& text) { return tunings.parse(text); }

Tuning default_tuning() {
  const char* text = environment_variable("STAGHORN_TUNING");
  if (!text || !*text) return Tuning::on;
  return NamedChoice{"STAGHORN_TUNING", tunings.values}.parse(text);
}

std::string to_string(const LaunchTuning& tuning) {
  if (tuning.tuned == 0) return "";
  char text[80];
  std::snprintf(text, sizeof text, "tuned %d launch%s in %.2f s, ", tuning.tuned, tuning.tuned == 1 ? "" : "es",
                tuning.seconds);
  return text + (tuning.not_kept.empty() ? "kept in " + tuning.file : "not kept: " + tuning.not_kept);
}

}  // namespace staghorn
