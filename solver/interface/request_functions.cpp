// Options of a request by name: kept as texts, which the table of options reads.
#include <staghorn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "halo/watch/error.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/statuses.hpp"
#include "solver/interface/structs.hpp"
#include "solver/request/option_table.hpp"

namespace staghorn {

namespace {

using Named = std::pair<const char*, const char*>;

// Options of a solve that a call has another place for, and that place.
constexpr std::array<Named, 10> elsewhere{{{"masses", "the shifts of staghorn_multishift"},
                                           {"rational", "the shifts and alpha of staghorn_multishift"},
                                           {"rational_parts", "the shifts of staghorn_multishift"},
                                           {"source", "the fields b"},
                                           {"color", "the fields b"},
                                           {"noise_vectors", "the fields b"},
                                           {"sources", "the fields b"},
                                           {"batch", "the number n of fields b"},
                                           {"phases", "vectors.phases"},
                                           {"exact_low_modes", "the program, which has observables"}}};
// Options of a session that solves of one gauge may differ in (Gauge::set_numbers).
constexpr std::array of_each_solve{"precision",         "sloppy", "sloppy_links",
                                   "sloppy_naik_links", "solver", "preconditioner"};

void check_belongs(const Option& option) {
  const auto same = [&](const char* name) { return std::string(name) == option.name; };
  const char* place = nullptr;
  if (option.of_session() && std::none_of(of_each_solve.begin(), of_each_solve.end(), same))
    place = "the structs of context and gauge";
  for (const auto& [name, other] : elsewhere)
    if (same(name)) place = other;
  if (place) throw Error(ErrorKind::argument, option.name, std::string("it in ") + place, "it by name");
}

void set(staghorn_request* request, const char* name, const char* value) {
  const staghorn_request known = read_struct(request, "request");
  if (request->struct_size < offsetof(staghorn_request, words) + sizeof request->words)
    throw Error(ErrorKind::argument, "request.struct_size", "room for `words`", request->struct_size);
  check_pointer("name", name);
  check_pointer("value", value);
  check_belongs(find_option(name));
  SolveOptions read;
  set_option(read, name, value);
  if (!known.words) request->words = make_handle(std::make_shared<HeldWords>());
  held_by(request->words)->texts[name] = value;
}

}  // namespace

}  // namespace staghorn

using namespace staghorn;

int staghorn_request_set(staghorn_request* request, const char* name, const char* value) {
  return guarded([&] {
    set(request, name, value);
    return int(STAGHORN_OK);
  });
}

int staghorn_request_release(staghorn_request* request) {
  return guarded([&] {
    if (const staghorn_request known = read_struct(request, "request"); known.words) {
      drop_handle(known.words);
      request->words = nullptr;
    }
    return int(STAGHORN_OK);
  });
}
