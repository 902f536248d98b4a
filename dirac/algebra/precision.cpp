#include "dirac/algebra/precision.hpp"

#include "halo/named_choice.hpp"

namespace staghorn {

namespace {

constexpr NamedChoice<Precision, 3> precisions{
    "precision", {{{Precision::fp64, "fp64"}, {Precision::fp32, "fp32"}, {Precision::fp16, "fp16"}}}};
constexpr NamedChoice<Precision, 2> file_precisions{"precision",
                                                    {{{Precision::fp64, "fp64"}, {Precision::fp32, "fp32"}}}};
constexpr NamedChoice<Reconstruct, 3> link_forms{
    "value", {{{Reconstruct::none18, "18"}, {Reconstruct::row12, "12"}, {Reconstruct::su3_8, "8"}}}};
constexpr NamedChoice<Reconstruct, 3> naik_forms{
    "value", {{{Reconstruct::none18, "18"}, {Reconstruct::u3_13, "13"}, {Reconstruct::u3_9, "9"}}}};

}  // namespace

std::string to_string(Precision precision) { return precisions.name(precision); }

Precision parse_precision(const std::string& text) {
  if (text == "fp16") throw Error("precision", "fp64 or fp32 (fp16 only iterates: `sloppy` fp16)", "'" + text + "'");
  return file_precisions.parse(text);
}

Precision parse_kernel_precision(const std::string& text) { return precisions.parse(text); }

std::string to_string(Reconstruct reconstruct) { return std::to_string(reals_per_link(reconstruct)); }
Reconstruct parse_reconstruct(const std::string& text) { return link_forms.parse(text); }
Reconstruct parse_naik_form(const std::string& text) { return naik_forms.parse(text); }

}  // namespace staghorn
