// What a hop costs at one target site: floating-point operations, and bytes by minimal traffic. Each link and each
// vector is counted once. The one place of these counts; benchmark, plan and memory estimate read them.
#pragma once

#include "dirac/algebra/precision.hpp"
#include "dirac/stencil/legs.hpp"

namespace staghorn {

// The legs of a hop, and the forms of the links that lead there: of thin or fat links, and of Naik links (improved).
struct HopForm {
  Stencil stencil = Stencil::naive;
  Reconstruct near = Reconstruct::none18, naik = Reconstruct::none18;

  constexpr Reconstruct of(LinkSet set) const { return set == LinkSet::naik ? naik : near; }
};

struct HopCost {
  double flops;     // of a hop, all right-hand sides
  double links;     // bytes of the links of all legs
  double vector;    // bytes of one vector of all right-hand sides
  double solution;  // the same for x, which fp16 keeps in fp32

  // Bytes of the kernels of CG. With beta: p or tmp follows its recurrence in the same kernel.
  constexpr double hop() const { return links + 2 * vector; }                 // in -> tmp
  constexpr double hop_with_beta() const { return links + 3 * vector; }       // r, tmp -> tmp
  constexpr double residual() const { return links + 4 * vector; }            // tmp, p, r -> r
  constexpr double residual_with_beta() const { return links + 5 * vector; }  // tmp, p, r -> p, r
  constexpr double growth() const { return 2 * solution; }                    // x -> x, where x grows as well
  constexpr double direction() const { return 3 * vector; }                   // p, r -> p
};

// Bytes of one link.
constexpr double link_bytes(Precision precision, Reconstruct reconstruct) {
  return double(reals_per_link(reconstruct)) * bytes_per_real(precision);
}

// A product of a link with a vector takes 66 flop, the sum of two vectors 6: 8 * 66 + 7 * 6 = 570 for naive staggered
// quarks, 16 * 66 + 15 * 6 = 1146 for improved ones. (Rebuilding links is not counted.)
constexpr HopCost hop_cost(Precision precision, const HopForm& form, int n_rhs) {
  constexpr int product = 66, sum = 6;
  const int legs = legs_of(form.stencil);
  double links = 0;
  for (int leg = 0; leg < legs; ++leg) links += link_bytes(precision, form.of(leg_of(form.stencil, leg).set));
  return {.flops = double(n_rhs) * (legs * product + (legs - 1) * sum),
          .links = links,
          .vector = double(n_rhs) * bytes_per_vector(precision),
          .solution = double(n_rhs) * bytes_per_vector(arithmetic_of(precision))};
}
constexpr HopCost hop_cost(Precision precision, Reconstruct reconstruct, int n_rhs) {
  return hop_cost(precision, HopForm{.near = reconstruct}, n_rhs);
}

}  // namespace staghorn
