// The run-time choices a field is made with. Templates exist only in kernels; everything else passes these enums.
#pragma once

#include <string>

namespace staghorn {

// fp16: 16-bit fixed point with one float a site (dirac/algebra/fixed_point.hpp). Storage only: it computes in fp32.
enum class Precision { fp64, fp32, fp16 };

// Reals stored per link: all 18; the first two rows (the third is rebuilt as conj(row0 x row1)); or 8, the dimension of
// SU(3) (link_forms.hpp). These two forms hold matrices of SU(3) only. With one real more for the determinant they hold
// matrices of U(3): 13 and 9, for Naik links.
enum class Reconstruct { none18, row12, su3_8, u3_13, u3_9 };

constexpr Precision arithmetic_of(Precision p) { return p == Precision::fp16 ? Precision::fp32 : p; }
constexpr int bytes_per_real(Precision p) { return p == Precision::fp64 ? 8 : p == Precision::fp32 ? 4 : 2; }
constexpr int bytes_per_vector(Precision p) { return p == Precision::fp16 ? 16 : 6 * bytes_per_real(p); }  // a site
constexpr int reals_per_link(Reconstruct r) {
  constexpr int reals[] = {18, 12, 8, 13, 9};
  return reals[int(r)];
}

// Text of a precision, and back: "fp64", "fp32", "fp16". Throws Error naming the choices. parse_precision takes the
// precisions of files and answers, fp64 and fp32; parse_kernel_precision takes all.
std::string to_string(Precision precision);
Precision parse_precision(const std::string& text);
Precision parse_kernel_precision(const std::string& text);
// Text of a link form, and back: "18", "12", "8"; of a form of Naik links, "18", "13", "9". Throws Error naming the
// choices.
std::string to_string(Reconstruct reconstruct);
Reconstruct parse_reconstruct(const std::string& text);
Reconstruct parse_naik_form(const std::string& text);

}  // namespace staghorn
