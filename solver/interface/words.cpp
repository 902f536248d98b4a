#include "solver/interface/words.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "halo/watch/error.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/statuses.hpp"
#include "solver/interface/structs.hpp"

namespace staghorn {

namespace {

using Named = std::pair<const char*, const char*>;

// Options of a solve that a call with fields has another place for, and that place.
constexpr std::array<Named, 11> elsewhere{{{"masses", "the shifts of staghorn_multishift"},
                                           {"rational", "the shifts and alpha of staghorn_multishift"},
                                           {"rational_parts", "the shifts of staghorn_multishift"},
                                           {"source", "the fields b"},
                                           {"color", "the fields b"},
                                           {"noise_vectors", "the fields b"},
                                           {"sources", "the fields b"},
                                           {"batch", "the number n of fields b"},
                                           {"phases", "vectors.phases"},
                                           {"mesons", "staghorn_solve_sources, which has observables"},
                                           {"exact_low_modes", "staghorn_solve_sources, which has observables"}}};

// Where an option belongs that is none of `whose`; nullptr: it is.
const char* place_of(const Option& option, OptionsOf whose) {
  const auto same = [&](const char* name) { return std::string(name) == option.name; };
  if (whose == OptionsOf::context || (whose == OptionsOf::gauge && !option.of_session()))
    return option.of_session() ? nullptr : "the request of a solve";
  if (whose == OptionsOf::gauge)
    return option.of_each_solve || option.group == OptionGroup::lattice_operator ? nullptr
                                                                                 : "the options of the context";
  if (option.of_session() && !option.of_each_solve) return "the structs of context and gauge";
  if (whose == OptionsOf::call)
    for (const auto& [name, place] : elsewhere)
      if (same(name)) return place;
  return nullptr;
}

void check_belongs(const std::string& name, OptionsOf whose) {
  if (const char* place = place_of(find_option(name), whose))
    throw Error(ErrorKind::argument, name, std::string("it in ") + place, "it by name");
}

void set_text(staghorn_words** words, const char* name, const char* value) {
  check_pointer("name", name);
  check_pointer("value", value);
  SolveOptions read;
  set_option(read, name, value);
  const std::string known = find_option(name).name;  // an old name, or that
  if (!*words) *words = make_handle(std::make_shared<HeldWords>());
  held_by(*words)->texts[known] = value;
}

void release(staghorn_words** words) {
  if (*words) drop_handle(*words);
  *words = nullptr;
}

void set_in_request(staghorn_request* request, const char* name, const char* value) {
  read_struct(request, "request");
  if (request->struct_size < offsetof(staghorn_request, words) + sizeof request->words)
    throw Error(ErrorKind::argument, "request.struct_size", "room for `words`", request->struct_size);
  check_pointer("name", name);
  check_belongs(name, OptionsOf::call);
  set_text(&request->words, name, value);
}

}  // namespace

std::map<std::string, std::string> texts_of(const staghorn_words* words) {
  return words ? held_by(words)->texts : std::map<std::string, std::string>();
}

std::string in_one_line(const std::map<std::string, std::string>& texts) {
  std::string line;
  for (const auto& [name, text] : texts) line += (line.empty() ? "" : ", ") + name + " = " + text;
  return line.empty() ? "nothing" : line;
}

void set_texts(SolveOptions& options, const std::map<std::string, std::string>& texts, OptionsOf whose) {
  for (const auto& [name, text] : texts) {
    check_belongs(name, whose);
    set_option(options, name, text);
  }
}

}  // namespace staghorn

using namespace staghorn;

int staghorn_words_set(staghorn_words** words, const char* name, const char* value) {
  return guarded([&] {
    check_pointer("words", words);
    set_text(words, name, value);
  });
}

int staghorn_words_release(staghorn_words** words) {
  return guarded([&] {
    check_pointer("words", words);
    release(words);
  });
}

int staghorn_request_set(staghorn_request* request, const char* name, const char* value) {
  return guarded([&] { set_in_request(request, name, value); });
}

int staghorn_request_release(staghorn_request* request) {
  return guarded([&] {
    if (read_struct(request, "request").words) release(&request->words);
  });
}
