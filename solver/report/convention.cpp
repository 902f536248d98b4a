#include "solver/report/convention.hpp"

#include <cmath>

#include "halo/named_choice.hpp"
#include "solver/request/option_text.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

namespace {

std::string ten_digits(double value) { return format("%.10g", value); }

std::string quarks_in_words(const QuarkAction& quarks) {
  if (quarks.stored()) return "stored fat and Naik links";
  if (quarks.action == Action::asqtad) return "asqtad quarks with u0 " + ten_digits(quarks.u0.value_or(1));
  if (quarks.action == Action::hisq) return "HISQ quarks with epsilon " + ten_digits(quarks.naik_epsilon.value_or(0));
  return "naive quarks on thin links";
}

std::string coordinates(const Coordinates& x) { return format("%d,%d,%d,%d", x[0], x[1], x[2], x[3]); }

std::string action_options(const QuarkAction& quarks) {
  std::string text;
  if (quarks.action == Action::asqtad) text = " --action asqtad";
  if (quarks.action == Action::hisq) text = " --action hisq";
  if (quarks.u0) text += " --u0 " + option_text(*quarks.u0);
  if (quarks.naik_epsilon) text += " --naik-epsilon " + option_text(*quarks.naik_epsilon);
  if (quarks.unitarize) text += " --unitarize " + to_string(*quarks.unitarize);
  return text;
}

}  // namespace

std::string to_string(LinkReading reading) {
  constexpr NamedChoice<LinkReading, 4> readings{"links",
                                                 {{{LinkReading::as_stored, "as stored"},
                                                   {LinkReading::daggered, "daggered"},
                                                   {LinkReading::transposed, "transposed"},
                                                   {LinkReading::conjugated, "conjugated"}}}};
  return readings.name(reading);
}

std::string equation(const Convention& convention) {
  const std::string sign = convention.adjoint ? " - " : " + ";
  const double halved = convention.squared ? 0.25 : 0.5, size = std::fabs(convention.factor);
  std::string text = convention.squared ? "(4m^2 - D^2)" : "(2m" + sign + "D)";
  if (size == halved)
    text = convention.squared ? "(m^2 - D^2/4)" : "(m" + sign + "D/2)";
  else if (size != 1)
    text = ten_digits(size) + " " + text;
  if (convention.factor < 0) text = "-" + text;
  text += " x = b";
  if (convention.parity) text += *convention.parity == Parity::even ? " on even sites" : " on odd sites";
  return text;
}

std::string meaning_of_mass(const Convention& convention, std::optional<double> given) {
  if (!given) return "";
  return convention.mass == *given       ? "m"
         : 2 * convention.mass == *given ? "2m"
         : convention.mass == 2 * *given ? "m/2"
                                         : "";
}

std::vector<std::string> differences(const Convention& found, const Convention& asked) {
  std::vector<std::string> texts;
  if (const std::string quarks = quarks_in_words(found.quarks); quarks != quarks_in_words(asked.quarks))
    texts.push_back(quarks);
  if (found.links != asked.links) texts.push_back("links " + to_string(found.links));
  if (found.phases != asked.phases) texts.push_back("staggered phases " + to_string(found.phases));
  if (found.origin != asked.origin) texts.push_back("origin of phases and boundary " + coordinates(found.origin));
  if (!(found.boundary == asked.boundary)) texts.push_back("boundary " + to_string(found.boundary));
  return texts;
}

std::string options_of(const Convention& convention) {
  const bool has_none = convention.links != LinkReading::as_stored || convention.origin != Coordinates{} ||
                        convention.adjoint || convention.factor != 1 ||
                        (convention.phases != LinkPhases::cps && convention.phases != LinkPhases::milc);
  if (has_none) return "";
  std::string text = "--mass " + option_text(convention.mass);
  if (convention.parity) text += *convention.parity == Parity::even ? " --system even" : " --system odd";
  if (convention.phases == LinkPhases::milc) text += " --phases milc";
  if (!(convention.boundary == Boundary{})) text += " --boundary " + to_string(convention.boundary);
  return text + action_options(convention.quarks);
}

}  // namespace staghorn
