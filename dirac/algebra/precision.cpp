#include "dirac/algebra/precision.hpp"

#include "halo/watch/error.hpp"

namespace staghorn {

std::string to_string(Precision precision) {
  return precision == Precision::fp64 ? "fp64" : precision == Precision::fp32 ? "fp32" : "fp16";
}

Precision parse_precision(const std::string& text) {
  if (text == "fp64") return Precision::fp64;
  if (text == "fp32") return Precision::fp32;
  throw Error("precision", text == "fp16" ? "fp64 or fp32 (fp16 only iterates: --sloppy fp16)" : "fp64 or fp32",
              "'" + text + "'");
}

Precision parse_kernel_precision(const std::string& text) {
  if (text == "fp64") return Precision::fp64;
  if (text == "fp32") return Precision::fp32;
  if (text == "fp16") return Precision::fp16;
  throw Error("precision", "fp64, fp32 or fp16", "'" + text + "'");
}

std::string to_string(Reconstruct reconstruct) { return std::to_string(reals_per_link(reconstruct)); }

Reconstruct parse_reconstruct(const std::string& text) {
  if (text == "18") return Reconstruct::none18;
  if (text == "12") return Reconstruct::row12;
  if (text == "8") return Reconstruct::su3_8;
  throw Error("links", "18, 12 or 8 reals per link", "'" + text + "'");
}

}  // namespace staghorn
