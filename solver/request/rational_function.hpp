// Rational functions f(K) = constant + sum_k residue_k / (K + pole_k) of K = -D^2, as RHMC uses them, read from MILC's
// files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "halo/communicator.hpp"

namespace staghorn {

// "FILE", "FILE:NAME" or "FILE:NAME:N": the N-th function (1, 2, ...; one for each pseudofermion) of that name (MD, GR
// or FA in MILC). Without them the first function of the file.
struct RationalSpec {
  std::string path, name;
  int number = 1;
};
// Throws Error. Local.
RationalSpec parse_rational(const std::string& text);
std::string to_string(const RationalSpec& spec);

struct RationalFunction {
  std::string name;
  double constant = 0;
  std::vector<double> residues, poles;      // poles are above 0, in lattice units of K
  std::optional<double> naik_epsilon = {};  // of the HISQ links of K, where the file names it

  std::vector<double> masses() const;  // m_k = sqrt(pole_k) / 2: K + pole_k is A of this mass
};

// Lines `order_NAME n`, then n + 1 lines `res_NAME` (the constant first) and n + 1 lines `pole_NAME` (the first does
// not count); # begins a comment. A line `naik_term_epsilon E` holds for the functions below it. Other lines are not
// needed. Throws Error naming file, line and what was expected.
// Collective.
RationalFunction read_rational(const Communicator& communicator, const RationalSpec& spec);

}  // namespace staghorn
