// Source vectors: what a command line or script asks for in words, and the fields made from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// What `--source` says. The definitions of the walls are those of MILC.
enum class SourceKind {
  point,        // 1 at one site
  corner_wall,  // 1 at the sites of time slice t whose x, y and z are all even
  even_wall,    // 1 at the sites of time slice t of even parity, (x+y+z+t) mod 2 = 0
  wall,         // 1 at every site of time slice t
  z2,           // +1 or -1, real, with equal chances in every colour of every site [Dong & Liu 1994]
  gaussian,     // complex normal numbers with <|eta|^2> = 1 in every colour of every site
  file          // dataset `/source` of an HDF5 file, or a SciDAC colour vector
};

struct SourceSpec {
  SourceKind kind = SourceKind::point;
  Coordinates site{};      // of a point; of walls only the time slice site[3] counts
  std::uint64_t seed = 0;  // of noise
  std::string path;        // of a file

  bool is_noise() const { return kind == SourceKind::z2 || kind == SourceKind::gaussian; }
  // Point and walls: the colour has to be chosen, and all three colours together give a pion correlator.
  bool has_color() const { return !is_noise() && kind != SourceKind::file; }
};

// "point:x,y,z,t", "corner-wall:t", "even-wall:t", "wall:t", "z2:SEED", "gaussian:SEED" or "file:PATH". Throws Error
// that names the choices or the number that is not one. Local.
SourceSpec parse_source(const std::string& text);
std::string to_string(const SourceSpec& spec);

// "0", "1", "2", or "all" (nothing). Throws Error. Local.
std::optional<int> parse_color(const std::string& text);

// Throws Error naming the lattice unless the source's site or time slice lies on it. Local, the same on every rank.
void check_source(const SourceSpec& spec, const Extents& global);

// Right-hand sides with the colour each was made for: 0, 1, 2, or -1 where the source has none (noise, file).
struct SourceSet {
  std::vector<VectorField> fields;
  std::vector<int> colors;
};

// The fields of `spec` on this rank's part of `lattice`: one for `color`, three (0, 1, 2) without it; `noise_vectors`
// of them for noise, where colour does not matter; as many as the file has. Noise depends on (seed, number of the
// vector, global site) alone, so it has the same bits on every process grid. Calls check_source. Collective.
SourceSet make_sources(const Communicator& communicator, const Lattice& lattice, const SourceSpec& spec,
                       std::optional<int> color = std::nullopt, int noise_vectors = 1);

}  // namespace staghorn
