// Source vectors: what a command line or script asks for in words, and the fields made from it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"
#include "solver/request/mesons/source_operators.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// What `--source` says. The definitions of the walls are those of MILC.
enum class SourceKind {
  point,        // 1 at one site
  corner_wall,  // 1 at the sites of time slice t whose x, y and z are all even
  even_wall,    // 1 at the sites of time slice t of even parity, (x+y+z+t) mod 2 = 0
  wall,         // 1 at every site of time slice t
  // In place of 1 on a wall or a corner wall, a number of its own in each colour of each site: +1 or -1, or of modulus
  // 1 with a uniform phase. Of a propagator the mean over seeds is a sum of point sources.
  z2_wall,
  u1_wall,
  z2_corner_wall,
  u1_corner_wall,
  z2,        // +1 or -1, real, with equal chances in every colour of every site [Dong & Liu 1994]
  gaussian,  // complex normal numbers with <|eta|^2> = 1 in every colour of every site
  file       // dataset `/source` of an HDF5 file, or a SciDAC colour vector
};

struct SourceSpec {
  SourceKind kind = SourceKind::point;
  Coordinates site{};                       // of a point; of walls only the time slice site[3] counts
  std::uint64_t seed = 0;                   // of noise and random walls
  std::string path;                         // of a file
  std::vector<SourceOperator> operators{};  // applied to it one after the other

  bool is_plain() const { return operators.empty(); }
  bool is_noise() const { return kind == SourceKind::z2 || kind == SourceKind::gaussian; }
  bool is_random_wall() const {
    return kind == SourceKind::z2_wall || kind == SourceKind::u1_wall || kind == SourceKind::z2_corner_wall ||
           kind == SourceKind::u1_corner_wall;
  }
  // Point and walls: the colour has to be chosen, and all three colours together give a pion correlator.
  bool has_color() const { return !is_noise() && kind != SourceKind::file; }

  bool operator==(const SourceSpec&) const = default;
};

// "point:x,y,z,t", "corner-wall:t", "even-wall:t", "wall:t", "z2-wall:t,SEED" and the other random walls, "z2:SEED",
// "gaussian:SEED" or "file:PATH", and after it operators, each behind an @: "point:0,0,0,0@G5-G5X@p100". Of a file,
// words after @ that are no operators belong to its name. Throws Error that names the choices or the number that is not
// one. Local.
SourceSpec parse_source(const std::string& text);
std::string to_string(const SourceSpec& spec);

// "0", "1", "2", or "all" (nothing). Throws Error. Local.
std::optional<int> parse_color(const std::string& text);

// A source in words, with what goes with some kinds.
struct SourceRequest {
  SourceSpec spec;
  std::optional<int> color;  // of a point or wall; absent: all three
  int noise_vectors = 1;     // of noise

  // A point or wall with all three colours: its solutions are a propagator, and give a pion correlator.
  bool has_all_colors() const { return spec.has_color() && !color; }
  // Low modes have a part of its condensate or pion correlator.
  bool has_low_part() const {
    return spec.is_plain() && !spec.is_random_wall() && (spec.is_noise() || has_all_colors());
  }
  // Place from which coordinates in operators and momenta are counted: of a point its site, of a wall (0, 0, 0, t), of
  // others (0, 0, 0, 0).
  Coordinates origin() const;
  // Right-hand sides that it makes; a file is taken to hold one.
  int n_rhs() const { return spec.is_noise() ? noise_vectors : has_all_colors() ? 3 : 1; }
};

// "wall:0", "wall:0 of colour 1", and "fields" that are there already. Local.
std::string in_words(const SourceRequest& source);

// Right-hand sides at a time, unless memory or the user says otherwise.
constexpr int usual_batch = 16;

// Many sources, of which a few are solved at a time. Where neither is set, all right-hand sides are one batch.
struct ManySources {
  std::optional<std::string> list;  // sources in words, separated by `;`, or "@FILE" with one a line
  // Right-hand sides that share links; absent: 16, and of sources that take turns no more than memory holds.
  std::optional<int> batch;
  bool asked() const { return list || batch; }
};

// Throws Error naming the lattice unless the source's site or time slice, and those of its operators, lie on it. Local,
// the same on every rank.
void check_source(const SourceSpec& spec, const Extents& global);

// Right-hand sides, with what the report says of them.
struct SourceSet {
  SourceRequest request;                  // of fields that are there already: of kind file, without a path
  std::string name;                       // "point:0,0,0,0"
  std::vector<VectorField> fields;        // at least one
  std::vector<int> colors;                // of each: 0, 1, 2, or -1 where the source has none (noise, file)
  std::vector<std::string> unverified{};  // of a file read with no_verify: checksums that were absent or wrong
};

// The sites of this rank's part where a point or wall stands: places in a field, ascending. Local.
std::vector<std::int64_t> sites_of(const Lattice& lattice, const SourceSpec& spec);

// Applies the operators of a source to a vector of it, in the phases of the request. Collective. They read links, so a
// session makes this (solver/session/source_operators.hpp).
using ApplyOperators = std::function<void(const SourceRequest& source, VectorField& vector)>;

// Whether the operators of a source in words shift, and so read the thin links. Local.
bool source_has_shifts(const std::string& text);

// The vector of a source that is no file, before its operators: of a point or wall for colour `number`, of noise the
// one of that number. Noise depends on (seed, number, global site) alone, so it has the same bits on every process
// grid. Local.
VectorField make_source_vector(const Lattice& lattice, const SourceSpec& spec, int number);

// Between vectors in the phases of a request and in those of CPS, in which solvers work: its own inverse. Local.
void change_phases(PhaseConvention phases, VectorField& v);

// Throws Error unless colour and number of noise vectors make sense, and check_source passes. Local.
void check_source_request(const SourceRequest& source, const Extents& global);

// The fields of `source` on this rank's part of `lattice`: one for its colour, or three (0, 1, 2); as many as asked for
// of noise; as many as the file has. `apply`: their operators; without it a source that has some is refused. Calls
// check_source_request. Collective.
SourceSet make_sources(const Communicator& communicator, const Lattice& lattice, const SourceRequest& source,
                       bool no_verify = false, const ApplyOperators& apply = {});

// Throws Error where a source has operators and there is nothing to apply them. Local.
void require_applied(const SourceRequest& source, const ApplyOperators& apply);

}  // namespace staghorn
