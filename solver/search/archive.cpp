#include "solver/search/archive.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>

#include "solver/json/json_text.hpp"

namespace staghorn {

using Json = nlohmann::ordered_json;

// An object for a struct, an array for a list, null for an optional value that is absent. A double is a text of the 16
// hexadecimal digits of its bits, a list of n doubles a text of 16 n digits.
struct Archive::Tree {
  Json root = Json::object();
  long counted = 0;
};

namespace {

Json& json(void* at) { return *static_cast<Json*>(at); }

constexpr std::size_t digits_of_double = 16;

std::string digits(double number) {
  char text[digits_of_double + 1];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(number)));
  return text;
}

}  // namespace

Archive::Archive() : tree_(std::make_shared<Tree>()), at_(&tree_->root) {}

Archive::Archive(const std::string& where, const std::string& text) : Archive() {
  reads_ = true;
  where_ = where;
  tree_->root = json_of_text(where, text, "the state of a search");
  if (!tree_->root.is_object()) throw FileError(where, "the state of a search", "something else");
}

Archive::Archive(const Archive& above, void* at, const std::string& name)
    : tree_(above.tree_), at_(at), reads_(above.reads_), where_(reads_ ? above.where_ + ": " + name : "") {}

Archive Archive::reader() const {
  Archive copy = *this;
  copy.reads_ = true;
  copy.where_ = "state";
  return copy;
}

std::string Archive::text() const { return text_of_json(json(at_), -1); }

bool Archive::has(const std::string& name) const { return json(at_).is_object() && json(at_).contains(name); }

std::size_t Archive::size(const std::string& name) const { return has(name) ? json(at_)[name].size() : 0; }

Archive Archive::entry(const std::string& name) const {
  Json& here = json(at_);
  if (reads_) {
    if (!has(name)) fail("a value named " + name, "none");
  } else if (has(name)) {
    throw Error(ErrorKind::internal, "state: " + name, "one value of this name", "two");
  }
  return {*this, &here[name], name};
}

Archive Archive::element(std::size_t i) const { return {*this, &json(at_)[i], std::to_string(i)}; }

std::size_t Archive::elements(std::size_t n) const {
  if (!reads_) json(at_) = Json::array_t(n);
  if (!json(at_).is_array()) fail("a list", json(at_).type_name());
  return json(at_).size();
}

bool Archive::is_there(bool there) const { return reads_ ? !json(at_).is_null() : there; }

void Archive::fail(const std::string& expected, const std::string& found) const {
  throw Error(where_, expected, found);
}

void Archive::count(const std::string& name, long& iterations) const {
  (*this)(name, iterations);
  if (!reads_) tree_->counted += iterations;
}

long Archive::counted() const { return tree_->counted; }

void Archive::keep(bool& value) const {
  if (!reads_) return void(json(at_) = value);
  if (!json(at_).is_boolean()) fail("true or false", json(at_).type_name());
  value = json(at_).get<bool>();
}

void Archive::keep(std::int64_t& value) const {
  if (!reads_) return void(json(at_) = value);
  const Json& found = json(at_);
  if (!found.is_number_integer() ||
      (found.is_number_unsigned() && !std::in_range<std::int64_t>(found.get<std::uint64_t>())))
    fail("a whole number", found.is_number_integer() ? found.dump() : found.type_name());
  value = found.get<std::int64_t>();
}

void Archive::keep(std::uint64_t& value) const {
  if (!reads_) return void(json(at_) = value);
  if (!json(at_).is_number_unsigned()) fail("a whole number that is not negative", json(at_).type_name());
  value = json(at_).get<std::uint64_t>();
}

void Archive::keep(std::string& value) const {
  if (!reads_) return void(json(at_) = value);
  if (!json(at_).is_string()) fail("a text", json(at_).type_name());
  value = json(at_).get<std::string>();
}

void Archive::keep(double& value) const {
  std::vector<double> list{value};
  keep(list);
  if (list.size() != 1) fail("one number", std::to_string(list.size()));
  value = list[0];
}

void Archive::keep(std::vector<double>& list) const {
  std::string text;
  if (!reads_)
    for (const double number : list) text += digits(number);
  keep(text);
  if (!reads_) return;
  list.clear();
  for (std::size_t at = 0; at < text.size(); at += digits_of_double) {
    std::uint64_t bits = 0;
    const char* const begin = text.data() + at;
    const char* const end = begin + std::min(digits_of_double, text.size() - at);
    if (std::from_chars(begin, end, bits, 16).ptr != begin + digits_of_double)
      fail("16 hexadecimal digits for each number", "'" + std::string(begin, end) + "'");
    list.push_back(std::bit_cast<double>(bits));
  }
}

}  // namespace staghorn
