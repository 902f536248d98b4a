// The structs of staghorn.h as callers of any version hold them: sizes checked, values checked, defaults. Local.
#pragma once

#include <staghorn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "dirac/algebra/precision.hpp"
#include "solver/interface/argument_checks.hpp"

namespace staghorn {

static_assert(int(Precision::fp64) == STAGHORN_FP64 && int(Precision::fp32) == STAGHORN_FP32 &&
              int(Precision::fp16) == STAGHORN_FP16);

// Structs grow at their end. The size of the first version, which hosts may have been compiled with.
template <class Struct>
constexpr std::size_t first_size = sizeof(Struct);
template <>
inline constexpr std::size_t first_size<staghorn_options> = offsetof(staghorn_options, devices);
template <>
inline constexpr std::size_t first_size<staghorn_links> = offsetof(staghorn_links, coefficient);
template <>
inline constexpr std::size_t first_size<staghorn_request> = offsetof(staghorn_request, withhold);
template <>
inline constexpr std::size_t first_size<staghorn_result> = offsetof(staghorn_result, iterations_more);
template <>
inline constexpr std::size_t first_size<staghorn_gauge_info> = offsetof(staghorn_gauge_info, coefficient);

// What is asked of every struct, by `name` in texts of errors. Copies it into the `size` bytes of `copy`, a struct of
// this library; fields that an older host does not know are 0. Throws Error of kind `argument` for NULL, for a size
// that no version has, and for a newer struct with fields that are not 0.
void read_struct(const void* given, std::size_t first_size, std::size_t size, const char* name, void* copy);

template <class Struct>
Struct read_struct(const Struct* given, const char* name) {
  Struct copy{};
  read_struct(given, first_size<Struct>, sizeof copy, name, &copy);
  return copy;
}

// Throws unless `size`, the struct_size of a struct that is written to, is that of some version: at least `first`.
void check_written_size(std::size_t size, std::size_t first, const char* name);

template <class Struct>
void check_written(const Struct* to, const char* name) {
  check_pointer(name, to);
  check_written_size(to->struct_size, first_size<Struct>, name);
}

// Writes what the host's version of a struct, of `size` bytes, knows of `made`. Local.
template <class Struct>
void write_struct(void* to, std::size_t size, Struct made) {
  made.struct_size = std::uint32_t(size);
  std::memcpy(to, &made, std::min(size, sizeof made));
}

// Fills `size` bytes at `to` as staghorn_defaults says.
void give_defaults(void* to, std::size_t size, int which);
// A struct of this library with its defaults.
template <class Struct>
Struct defaults_of(int which) {
  Struct made{};
  give_defaults(&made, sizeof made, which);
  return made;
}

// Checks of all fields that stand alone; names of fields are those of staghorn.h.
void check(const staghorn_geometry& geometry);
void check(const staghorn_options& options);
void check(const staghorn_links& links);
void check(const staghorn_action& action);
void check(const staghorn_vectors& vectors);

// What a link of a kind may be stored with, beside 0 and 18. Throws Error otherwise.
enum class LinkKind { any, thin, fat, naik };
void check_reals(const char* name, int reals, LinkKind kind);
// How such a link is stored; 0: uncompressed.
Reconstruct form_of(int reals);

}  // namespace staghorn
