// The sums over sites that mesons are made of. A pair of fields, antiquark and quark, has a density for each term:
// a set of shifts, [Z_A G1]^dagger G2, or a current with links. Its sums with each momentum are over the eight kinds of
// sites of a time slice, by the parities of x, y, z counted from the origin: they give all sixteen operators of a set.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "solver/observables/observable_table.hpp"
#include "solver/request/mesons/meson_list.hpp"

namespace staghorn {

constexpr std::size_t n_kinds = 8;  // of sites of a time slice

struct MesonTerms {
  Coordinates origin{};                 // of parities and momenta: the place of the source
  std::vector<int> sets{};              // of directions along which operators shift
  std::vector<LinkCurrent> currents{};  // terms after the sets
  std::vector<SinkMomentum> momenta{};
  std::size_t size() const { return sets.size() + currents.size(); }
  // What a list of mesons needs, each once. Local.
  static MesonTerms of(std::span<const MesonRequest> mesons, const Coordinates& origin);
  // The number of a meson's term and of its momentum. Local.
  std::size_t term_of(const MesonRequest& meson) const;
  std::size_t momentum_of(const MesonRequest& meson) const;
};

// Real and imaginary part of the sum of each time slice and kind of sites: [t * n_kinds + kind].
using KindSums = std::array<std::vector<double>, 2>;

// [quark][term][momentum], for an antiquark and several quarks in the phases of CPS. All of them and links.thin lie on
// the host, or on a GPU if there are no currents. Exact sums: the same bits there and on every process grid.
// Collective.
std::vector<KindSums> meson_sums(const Communicator& communicator, const MeasuredLinks& links, const MesonTerms& terms,
                                 const VectorField& antiquark, std::span<const VectorField* const> quarks);

}  // namespace staghorn
