#include "dirac/gauge/link_pair.hpp"

#include <cmath>
#include <cstdio>

#include "dirac/gauge/gauge_observables.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

// Both halves of one configuration in one gauge: HISQ and asqtad links have 0.9 and more, other configurations 0.0.
constexpr double least_likeness = 0.5;
// A coefficient that its owner states in 7 digits.
constexpr double coefficient_tolerance = 1e-5;
// Deviation from a common multiple of unitary matrices below which links may be long ones, beyond which they are not.
constexpr double clearly_unitary = 1e-3;

std::string nine_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string words(const FoundPhases& found) {
  return "phases " + to_string(found.phases) + ", boundary " + to_string(found.boundary);
}

// What the links of one half carry.
std::optional<FoundPhases> examine(const Communicator& communicator, const std::string& name, const LinkField& links,
                                   int steps, std::optional<LinkPhases> stated) {
  const std::optional<FoundPhases> found = find_phases(communicator, links, steps);
  if (found && stated && found->phases != *stated)
    throw Error(name + ": staggered phases in the links (`phases_in_links`)", to_string(*stated),
                to_string(found->phases) + ", as the determinants of the links say");
  return found;
}

double unitarity_of(const Communicator& communicator, const LinkField& links) {
  return check_unitarity(communicator, links).max_deviation;
}

// Whether `links` are a multiple of unitary matrices.
bool is_unitary_multiple(const Communicator& communicator, LinkField links) {
  const double c = common_coefficient(communicator, links, 1);
  if (!(c > 0)) return false;
  scale_links(links, 1 / c);
  return unitarity_of(communicator, links) < clearly_unitary;
}

}  // namespace

FoundPhases take_out_pair_phases(const Communicator& communicator, const LinkPair& pair,
                                 std::optional<LinkPhases> stated) {
  const auto in_fat = examine(communicator, pair.fat_name, pair.fat, 1, stated);
  const auto in_naik = examine(communicator, pair.naik_name, pair.naik, 3, stated);
  if (in_fat && in_naik && (in_fat->phases != in_naik->phases || !(in_fat->boundary == in_naik->boundary)))
    throw Error(pair.both() + " are no pair", words(*in_fat) + " in both", words(*in_naik) + " in the long links");
  const std::optional<FoundPhases> found = in_naik ? in_naik : in_fat;
  if (!found && !(stated == LinkPhases::none))
    throw Error(
        pair.both() + ": staggered phases in the links",
        "determinants that tell them; on rough configurations only links without phases (`phases_in_links` none) "
        "can be used",
        "determinants of random sign");
  FoundPhases carried = found ? *found : FoundPhases{};
  carried.sign = in_naik ? in_naik->sign : -1;
  if (in_fat && in_fat->sign < 0)
    throw Error(pair.fat_name, "fat links of positive determinant",
                "a sign -1 in all of them; are fat and long links swapped?");

  // Taking signs out is the same as putting them in. multiply_phases with none would leave boundary signs alone.
  if (carried.phases == LinkPhases::none && !(carried.boundary == Boundary{{0, 0, 0, 0}}))
    throw Error(pair.both(), "boundary signs together with staggered phases, or neither", words(carried));
  multiply_phases(pair.fat, carried.phases, carried.boundary, 1);
  multiply_phases(pair.naik, carried.phases, carried.boundary, 3);
  return carried;
}

PairMeasures take_out_coefficient(const Communicator& communicator, const LinkPair& pair, int sign,
                                  std::optional<double> stated) {
  const double measured = common_coefficient(communicator, pair.naik, sign);
  if (!(std::fabs(measured) > 0)) throw Error(pair.naik_name, "long links other than zero", measured);
  PairMeasures found;
  found.coefficient = stated.value_or(measured);
  if (std::fabs(found.coefficient - measured) > coefficient_tolerance * std::fabs(measured))
    throw Error(pair.naik_name + ": coefficient of the long links", nine_digits(found.coefficient),
                nine_digits(measured) + ", measured from the links");
  scale_links(pair.naik, 1 / found.coefficient);
  found.naik_unitarity = unitarity_of(communicator, pair.naik);
  if (found.naik_unitarity > clearly_unitary && is_unitary_multiple(communicator, pair.fat))
    throw Error(pair.fat_name, "fat links", "a multiple of unitary matrices, as long links are; are both swapped?");
  found.likeness = likeness(communicator, pair.fat, pair.naik);
  if (!(found.likeness > least_likeness))
    throw Error(pair.both() + " are no pair: likeness of F F F and N", "above " + three_digits(least_likeness),
                three_digits(found.likeness));
  return found;
}

}  // namespace staghorn
