#include "solver/request/sources.hpp"

#include <array>
#include <charconv>

#include "dirac/algebra/philox.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/vectors/vector_file.hpp"

namespace staghorn {

namespace {

struct KindName {
  SourceKind kind;
  const char* name;
  const char* argument;
};

constexpr std::array<KindName, 11> kind_names{{{SourceKind::point, "point", "x,y,z,t"},
                                               {SourceKind::corner_wall, "corner-wall", "t"},
                                               {SourceKind::even_wall, "even-wall", "t"},
                                               {SourceKind::wall, "wall", "t"},
                                               {SourceKind::z2_wall, "z2-wall", "t,SEED"},
                                               {SourceKind::u1_wall, "u1-wall", "t,SEED"},
                                               {SourceKind::z2_corner_wall, "z2-corner-wall", "t,SEED"},
                                               {SourceKind::u1_corner_wall, "u1-corner-wall", "t,SEED"},
                                               {SourceKind::z2, "z2", "SEED"},
                                               {SourceKind::gaussian, "gaussian", "SEED"},
                                               {SourceKind::file, "file", "PATH"}}};

std::string choices() {
  std::string text;
  for (const KindName& k : kind_names) text += (text.empty() ? "" : " | ") + std::string(k.name) + ":" + k.argument;
  return text;
}

template <class Integer>
Integer parse_integer(const std::string& source, const std::string& word, const char* expected) {
  Integer value{};
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (code != std::errc() || end != word.data() + word.size())
    throw Error("source '" + source + "'", expected, "'" + word + "'");
  return value;
}

constexpr const char* seed_words = "a seed from 0 to 2^64 - 1";

Coordinates parse_site(const std::string& source, const std::string& text) {
  constexpr const char* expected = "four coordinates x,y,z,t";
  Coordinates site{};
  std::size_t begin = 0;
  for (int mu = 0; mu < 4; ++mu) {
    const std::size_t comma = text.find(',', begin);
    if ((comma == std::string::npos) != (mu == 3)) throw Error("source '" + source + "'", expected, "'" + text + "'");
    site[mu] = parse_integer<int>(source, text.substr(begin, comma - begin), expected);
    begin = comma + 1;
  }
  return site;
}

bool in_source(const SourceSpec& spec, const Coordinates& x) {
  switch (spec.kind) {
    case SourceKind::point:
      return x == spec.site;
    case SourceKind::corner_wall:
    case SourceKind::z2_corner_wall:
    case SourceKind::u1_corner_wall:
      return x[3] == spec.site[3] && x[0] % 2 == 0 && x[1] % 2 == 0 && x[2] % 2 == 0;
    case SourceKind::even_wall:
      return x[3] == spec.site[3] && Lattice::parity_of(x) == Parity::even;
    case SourceKind::wall:
    case SourceKind::z2_wall:
    case SourceKind::u1_wall:
      return x[3] == spec.site[3];
    default:
      return false;
  }
}

// What stands in a colour at a site of a random wall.
Complex<double> wall_number(const SourceSpec& spec, int color, std::int64_t global_site) {
  const bool z2 = spec.kind == SourceKind::z2_wall || spec.kind == SourceKind::z2_corner_wall;
  RandomStream random(spec.seed, z2 ? RandomPurpose::z2_wall : RandomPurpose::u1_wall, std::uint32_t(color),
                      std::uint64_t(global_site));
  if (z2) return {random.bits() & 1 ? -1.0 : 1.0, 0};
  return random_phase(random);
}

VectorField make_color_source(const Lattice& lattice, const SourceSpec& spec, int color) {
  VectorField field(lattice);
  for (const std::int64_t site : sites_of(lattice, spec)) {
    const auto global = [&] { return lattice.global_site_index(lattice.to_global(lattice.site_coordinates(site))); };
    field[site].c[color] = spec.is_random_wall() ? wall_number(spec, color, global()) : Complex<double>{1, 0};
  }
  return field;
}

VectorField make_noise(const Lattice& lattice, const SourceSpec& spec, int number) {
  VectorField field(lattice);
#pragma omp parallel for
  for (std::int64_t site = 0; site < field.size(); ++site) {
    const std::int64_t global = lattice.global_site_index(lattice.to_global(lattice.site_coordinates(site)));
    if (spec.kind == SourceKind::z2) {
      RandomStream random(spec.seed, RandomPurpose::z2_noise, std::uint32_t(number), std::uint64_t(global));
      const std::uint64_t bits = random.bits();  // one bit a colour
      for (int c = 0; c < 3; ++c) field[site].c[c].re = bits >> c & 1 ? -1 : 1;
    } else {
      RandomStream random(spec.seed, RandomPurpose::gaussian_noise, std::uint32_t(number), std::uint64_t(global));
      for (int c = 0; c < 3; ++c) field[site].c[c] = complex_gaussian(random);
    }
  }
  return field;
}

}  // namespace

namespace {

// Splits words after @ from `text`, the last first, as long as they are operators; of files what is none stays.
std::vector<SourceOperator> split_operators(std::string& text) {
  std::vector<SourceOperator> operators;
  for (std::size_t at = text.rfind('@'); at != std::string::npos; at = text.rfind('@')) {
    try {
      operators.insert(operators.begin(), parse_source_operator(text.substr(at + 1)));
    } catch (const Error& error) {
      if (text.starts_with("file:")) return operators;
      throw Error(error.kind(), "source '" + text + "': " + error.what());
    }
    text.erase(at);
  }
  return operators;
}

}  // namespace

bool source_has_shifts(const std::string& text) {
  std::string rest = text;
  return have_shifts(split_operators(rest));
}

Coordinates SourceRequest::origin() const {
  if (spec.kind == SourceKind::point) return spec.site;
  return spec.has_color() ? Coordinates{0, 0, 0, spec.site[3]} : Coordinates{};
}

SourceSpec parse_source(const std::string& with_operators) {
  std::string text = with_operators;
  std::vector<SourceOperator> operators = split_operators(text);
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string argument = colon == std::string::npos ? "" : text.substr(colon + 1);
  for (const KindName& k : kind_names) {
    if (name != k.name) continue;
    if (argument.empty()) throw Error("source", name + ":" + k.argument, "'" + text + "'");
    SourceSpec spec;
    spec.kind = k.kind;
    spec.operators = std::move(operators);
    if (k.kind == SourceKind::point)
      spec.site = parse_site(text, argument);
    else if (k.kind == SourceKind::file)
      spec.path = argument;
    else if (spec.is_noise())
      spec.seed = parse_integer<std::uint64_t>(text, argument, seed_words);
    else if (spec.is_random_wall()) {
      const std::size_t comma = argument.find(',');
      if (comma == std::string::npos) throw Error("source", name + ":" + k.argument, "'" + text + "'");
      spec.site[3] = parse_integer<int>(text, argument.substr(0, comma), "a time slice t");
      spec.seed = parse_integer<std::uint64_t>(text, argument.substr(comma + 1), seed_words);
    } else
      spec.site[3] = parse_integer<int>(text, argument, "a time slice t");
    return spec;
  }
  throw Error("source", choices(), "'" + text + "'");
}

std::string to_string(const SourceSpec& spec) {
  std::string text;
  for (const KindName& k : kind_names)
    if (k.kind == spec.kind) text = std::string(k.name) + ":";
  if (spec.kind == SourceKind::file)
    text += spec.path;
  else if (spec.is_noise())
    text += std::to_string(spec.seed);
  else if (spec.kind != SourceKind::point)
    text += std::to_string(spec.site[3]) + (spec.is_random_wall() ? "," + std::to_string(spec.seed) : "");
  else
    for (int mu = 0; mu < 4; ++mu) text += (mu ? "," : "") + std::to_string(spec.site[mu]);
  for (const SourceOperator& applied : spec.operators) text += "@" + to_string(applied);
  return text;
}

std::string in_words(const SourceRequest& source) {
  const auto& [spec, color, noise_vectors] = source;
  if (spec.kind == SourceKind::file && spec.path.empty()) return "fields";
  return to_string(spec) + (spec.has_color() && color ? " of colour " + std::to_string(*color) : "");
}

std::optional<int> parse_color(const std::string& text) {
  if (text == "all") return std::nullopt;
  if (text == "0" || text == "1" || text == "2") return text[0] - '0';
  throw Error("color", "0 | 1 | 2 | all", "'" + text + "'");
}

void check_source(const SourceSpec& spec, const Extents& global) {
  for (const SourceOperator& applied : spec.operators)
    if (applied.time_slice && (*applied.time_slice < 0 || *applied.time_slice >= global[3]))
      throw Error("source " + to_string(spec),
                  "a time slice from 0 to " + std::to_string(global[3] - 1) + " on the lattice " + to_string(global),
                  *applied.time_slice);
  if (!spec.has_color()) return;
  for (int mu = spec.kind == SourceKind::point ? 0 : 3; mu < 4; ++mu)
    if (spec.site[mu] < 0 || spec.site[mu] >= global[mu])
      throw Error("source " + to_string(spec),
                  std::string(1, "xyzt"[mu]) + " from 0 to " + std::to_string(global[mu] - 1) + " on the lattice " +
                      to_string(global),
                  spec.site[mu]);
}

std::vector<std::int64_t> sites_of(const Lattice& lattice, const SourceSpec& spec) {
  const int t = spec.site[3] - lattice.origin()[3];
  if (t < 0 || t >= lattice.local()[3]) return {};
  const std::int64_t slice = lattice.local_volume() / lattice.local()[3];
  std::vector<std::int64_t> sites;
  for (std::int64_t site = t * slice; site < (t + 1) * slice; ++site)
    if (in_source(spec, lattice.to_global(lattice.site_coordinates(site)))) sites.push_back(site);
  return sites;
}

void change_phases(PhaseConvention phases, VectorField& v) {
  if (phases == PhaseConvention::milc) apply_milc_signs(v);
}

VectorField make_source_vector(const Lattice& lattice, const SourceSpec& spec, int number) {
  return spec.is_noise() ? make_noise(lattice, spec, number) : make_color_source(lattice, spec, number);
}

void check_source_request(const SourceRequest& source, const Extents& global) {
  const auto& [spec, color, noise_vectors] = source;
  check_source(spec, global);
  if (color && (*color < 0 || *color > 2)) throw Error("color", "0, 1 or 2", *color);
  if (noise_vectors < 1) throw Error("noise_vectors", "a number of at least 1", noise_vectors);
}

void require_applied(const SourceRequest& source, const ApplyOperators& apply) {
  if (source.spec.operators.empty() || apply) return;
  throw Error("source", "no operators at the source here", "'" + to_string(source.spec) + "'");
}

SourceSet make_sources(const Communicator& communicator, const Lattice& lattice, const SourceRequest& source,
                       bool no_verify, const ApplyOperators& apply) {
  const auto& [spec, color, noise_vectors] = source;
  check_source_request(source, lattice.global());
  require_applied(source, apply);
  SourceSet set;
  set.request = source;
  set.name = to_string(spec);
  if (spec.kind == SourceKind::file)
    set.fields = read_vectors(communicator, spec.path, "source", lattice, no_verify ? &set.unverified : nullptr);
  if (spec.is_noise())
    for (int number = 0; number < noise_vectors; ++number)
      set.fields.push_back(make_source_vector(lattice, spec, number));
  set.colors.assign(set.fields.size(), -1);
  if (spec.has_color())
    for (int c = color.value_or(0); c <= color.value_or(2); ++c) {
      set.fields.push_back(make_source_vector(lattice, spec, c));
      set.colors.push_back(c);
    }
  if (!spec.operators.empty())
    for (VectorField& field : set.fields) apply(source, field);
  return set;
}

}  // namespace staghorn
