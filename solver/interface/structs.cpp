#include "solver/interface/structs.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "dirac/stencil/phase_range.hpp"
#include "solver/interface/statuses.hpp"

namespace staghorn {

namespace {

// Beyond this no version will be, and a larger number is not a struct_size.
constexpr std::size_t largest_struct = 4096;

// Defaults that are not 0.
template <class Struct>
void set_defaults(Struct&) {}
void set_defaults(staghorn_geometry& geometry) {
  std::fill_n(geometry.grid, 4, 1);
  geometry.coord[0] = -1;
}
void set_defaults(staghorn_options& options) { options.device = STAGHORN_DEVICE_CPU; }
void set_defaults(staghorn_links& links) {
  links.theta[3] = 1;
  std::fill_n(links.scale, 4, 1.0);
}
void set_defaults(staghorn_request& request) {
  request.sign = 1;
  request.sloppy = STAGHORN_AUTO_SLOPPY;
  request.tolerance = 1e-10;
  request.max_iterations = STAGHORN_NO_LIMIT;
}
void set_defaults(staghorn_action& action) { action.u0 = 1; }
void set_defaults(staghorn_eigen_request& request) {
  request.tolerance = 1e-10;
  request.max_calls = 1000000;
  request.seed = 1;
  request.checkpoint_every = 600;
}

template <class Struct>
void give(void* to, std::size_t size, const char* name) {
  check_written_size(size, first_size<Struct>, name);
  Struct defaults{};
  std::memset(&defaults, 0, sizeof defaults);  // padding too
  set_defaults(defaults);
  defaults.struct_size = std::uint32_t(size);
  std::memset(to, 0, size);
  std::memcpy(to, &defaults, std::min(size, sizeof defaults));
}

}  // namespace

void give_defaults(void* to, std::size_t size, int which) {
  check_pointer("a_struct", to);
  switch (which) {
    case STAGHORN_GEOMETRY:
      return give<staghorn_geometry>(to, size, "staghorn_geometry");
    case STAGHORN_OPTIONS:
      return give<staghorn_options>(to, size, "staghorn_options");
    case STAGHORN_LINKS:
      return give<staghorn_links>(to, size, "staghorn_links");
    case STAGHORN_VECTORS:
      return give<staghorn_vectors>(to, size, "staghorn_vectors");
    case STAGHORN_REQUEST:
      return give<staghorn_request>(to, size, "staghorn_request");
    case STAGHORN_RESULT:
      return give<staghorn_result>(to, size, "staghorn_result");
    case STAGHORN_GAUGE_INFO:
      return give<staghorn_gauge_info>(to, size, "staghorn_gauge_info");
    case STAGHORN_ACTION:
      return give<staghorn_action>(to, size, "staghorn_action");
    case STAGHORN_EIGEN_REQUEST:
      return give<staghorn_eigen_request>(to, size, "staghorn_eigen_request");
    case STAGHORN_EIGEN_INFO:
      return give<staghorn_eigen_info>(to, size, "staghorn_eigen_info");
    default:
      check_choice("which", which, STAGHORN_GEOMETRY, STAGHORN_EIGEN_INFO);
  }
}

void check_reals(const char* name, int reals, LinkKind kind) {
  const bool of_thin = kind == LinkKind::thin || kind == LinkKind::any;
  const bool of_naik = kind == LinkKind::naik || kind == LinkKind::any;
  if (reals == 0 || reals == 18 || (of_thin && (reals == 12 || reals == 8)) || (of_naik && (reals == 13 || reals == 9)))
    return;
  const char* expected = kind == LinkKind::any    ? "0, 18, 12 or 8, of long links 0, 18, 13 or 9"
                         : kind == LinkKind::thin ? "0, 18, 12 or 8 for thin links"
                         : kind == LinkKind::fat  ? "0 or 18 for fat links, which are not unitary"
                                                  : "0, 18, 13 or 9 for long links";
  throw Error(ErrorKind::argument, name, expected, reals);
}

void read_struct(const void* given, std::size_t first_size, std::size_t size, const char* name, void* copy) {
  check_pointer(name, given);
  std::uint32_t given_size = 0;
  std::memcpy(&given_size, given, sizeof given_size);
  if (given_size < first_size || given_size > largest_struct)
    throw Error(ErrorKind::argument, std::string(name) + ".struct_size",
                "its size, at least " + std::to_string(first_size) + ", as staghorn_defaults sets it", given_size);
  const auto* bytes = static_cast<const unsigned char*>(given);
  for (std::size_t at = size; at < given_size; ++at)
    if (bytes[at] != 0)
      throw Error(ErrorKind::argument, std::string(name) + ": fields that this version does not know", "zeros",
                  "something else");
  std::memset(copy, 0, size);
  std::memcpy(copy, given, std::min<std::size_t>(size, given_size));
}

void check_written_size(std::size_t size, std::size_t first, const char* name) {
  if (size < first || size > largest_struct)
    throw Error(ErrorKind::argument, std::string(name) + ": size", "at least " + std::to_string(first) + " bytes",
                size);
}

Reconstruct form_of(int reals) {
  for (const Reconstruct form : {Reconstruct::u3_13, Reconstruct::row12, Reconstruct::u3_9, Reconstruct::su3_8})
    if (reals_per_link(form) == reals) return form;
  return Reconstruct::none18;
}

// A distance between sites, or from the start of one. No memory is larger than the largest.
void check_distance(const char* name, std::int64_t bytes) {
  constexpr std::int64_t largest = std::int64_t{1} << 32;
  if (bytes < 0 || bytes > largest) throw Error(ErrorKind::layout, name, "bytes, from 0 on", bytes);
}

void check(const staghorn_geometry& geometry) {
  constexpr int largest_extent = 1 << 20;
  const bool grid_is_given = std::any_of(geometry.grid, geometry.grid + 4, [](int ranks) { return ranks != 0; });
  for (int mu = 0; mu < 4; ++mu) {
    check_choice("geometry.global", geometry.global[mu], 2, largest_extent);
    if (grid_is_given) check_choice("geometry.grid", geometry.grid[mu], 1, largest_extent);
    if (grid_is_given && geometry.coord[0] != -1)
      check_choice("geometry.coord", geometry.coord[mu], 0, geometry.grid[mu] - 1);
  }
  if (!grid_is_given && geometry.coord[0] != -1)
    throw Error(ErrorKind::argument, "geometry.coord", "none (-1) where the grid is chosen", geometry.coord[0]);
}

void check(const staghorn_options& options) {
  constexpr int most_devices = 1024, most_threads = 4096;
  check_choice("options.device", options.device, STAGHORN_DEVICE_AUTO, most_devices);
  check_choice("options.threads", options.threads, 0, most_threads);
  check_choice("options.certificate", options.certificate, STAGHORN_CERTIFICATE_AUTO, STAGHORN_CERTIFICATE_WITH_SOLVE);
  check_choice("options.environment", options.environment, 0, 1);
  check_choice("options.eigenvectors_on", options.eigenvectors_on, STAGHORN_EIGENVECTORS_AUTO,
               STAGHORN_EIGENVECTORS_HOST);
}

void check(const staghorn_links& links) {
  check_choice("links.order", links.order, STAGHORN_LEX, STAGHORN_CPS_STAG_BLOCK);
  check_choice("links.precision", links.precision, STAGHORN_FP64, STAGHORN_FP32);
  check_choice("links.memory", links.memory, STAGHORN_HOST, STAGHORN_DEVICE);
  check_choice("links.phases", links.phases, STAGHORN_PHASES_NONE, STAGHORN_PHASES_AS_GIVEN);
  check_choice("links.boundary_in", links.boundary_in, 0, 1);
  check_choice("links.dagger", links.dagger, 0, 1);
  check_reals("links.reals", links.reals, LinkKind::any);
  for (const std::int64_t bytes : {links.site_stride, links.link_offset})
    check_distance("links.site_stride and links.link_offset", bytes);
  for (int mu = 0; mu < 4; ++mu) {
    check_finite("links.theta", links.theta[mu]);
    if (!is_resolved_phase(links.theta[mu]))
      throw Error(ErrorKind::argument, "links.theta", resolved_phases, links.theta[mu]);
    check_finite("links.scale", links.scale[mu]);
    if (links.scale[mu] == 0) throw Error(ErrorKind::argument, "links.scale", "numbers that are not 0", "0");
  }
  check_finite("links.coefficient", links.coefficient);
}

void check(const staghorn_action& action) {
  check_choice("action.quarks", action.quarks, STAGHORN_NAIVE, STAGHORN_HISQ);
  check_choice("action.unitarize", action.unitarize, STAGHORN_U3, STAGHORN_SU3);
  check_finite("action.u0", action.u0);
  check_finite("action.naik_epsilon", action.naik_epsilon);
  if (!(action.u0 > 0)) throw Error(ErrorKind::argument, "action.u0", "a number above 0", action.u0);
  check_reals("action.long_reals", action.long_reals, LinkKind::naik);
}

void check(const staghorn_vectors& vectors) {
  check_choice("vectors.order", vectors.order, STAGHORN_LEX, STAGHORN_CPS_STAG_BLOCK);
  check_choice("vectors.precision", vectors.precision, STAGHORN_FP64, STAGHORN_FP32);
  check_choice("vectors.memory", vectors.memory, STAGHORN_HOST, STAGHORN_DEVICE);
  check_choice("vectors.phases", vectors.phases, STAGHORN_PHASES_NONE, STAGHORN_PHASES_AS_GIVEN);
  check_choice("vectors.half", vectors.half, 0, STAGHORN_ODD);
  check_distance("vectors.site_stride", vectors.site_stride);
}

}  // namespace staghorn

int staghorn_defaults(void* a_struct, std::size_t size, int which) {
  return staghorn::guarded([&] { staghorn::give_defaults(a_struct, size, which); });
}
