// The state of a search as typed values by name: all that a checkpoint holds beside vectors. Local.
//
// A struct names its members in one function, which serves to write them and to read them:
//
//   void GainWatch::visit(const Archive& archive) {
//     archive("begin", begin_);
//     archive("falls", falls_);
//   }
//
// Numbers come back with all their bits, NaN and infinities too. An enum is kept by its name: beside it stand
// `to_string(value)` and `parse(text, value)`. Reading throws Error, which says where, what was expected and what was
// found: a name that is missing, a list of another length, a value of another type, an unknown name of an enum.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dirac/algebra/precision.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

class Archive {
 public:
  Archive();  // holds nothing yet; visits write to it
  // Of a text that an archive became; visits read from it. `where` begins all errors. Throws FileError where the text
  // is none.
  Archive(const std::string& where, const std::string& text);
  Archive reader() const;  // the same values, which visits read
  std::string text() const;

  bool reads() const { return reads_; }
  bool has(const std::string& name) const;
  std::size_t size(const std::string& name) const;  // of a list; 0 where there is none

  // Writes or reads the value of this name: a number, text, enum, struct with `visit`, optional, list of these; or what
  // a function of the archive visits. Each name is written once.
  template <class T>
  void operator()(const std::string& name, T&& value) const {
    entry(name).visit(value);
  }
  // A list that must have this length when it is read.
  template <class T>
  void operator()(const std::string& name, std::vector<T>& list, std::size_t length) const {
    const Archive here = entry(name);
    here.visit(list);
    if (list.size() != length) here.fail(std::to_string(length) + " values", std::to_string(list.size()));
  }
  // The same for a number of iterations, which are summed over all that is written.
  void count(const std::string& name, long& iterations) const;
  long counted() const;

 private:
  struct Tree;
  Archive(const Archive& above, void* at, const std::string& name);
  Archive entry(const std::string& name) const;
  Archive element(std::size_t i) const;
  std::size_t elements(std::size_t n) const;  // writes n elements, of no value yet; reading: how many there are
  bool is_there(bool there) const;            // of an optional value
  [[noreturn]] void fail(const std::string& expected, const std::string& found) const;

  void keep(bool& value) const;
  void keep(double& value) const;
  void keep(std::int64_t& value) const;
  void keep(std::uint64_t& value) const;
  void keep(std::string& value) const;
  void keep(std::vector<double>& list) const;

  template <class T>
  void visit(T& value) const {
    if constexpr (std::invocable<T&, const Archive&>)
      value(*this);
    else if constexpr (std::same_as<T, bool> || std::same_as<T, double> || std::same_as<T, std::string>)
      keep(value);
    else if constexpr (std::integral<T>)
      visit_integer(value);
    else if constexpr (std::is_enum_v<T>)
      visit_enum(value);
    else if constexpr (requires { value.visit(*this); })
      value.visit(*this);
    else
      visit_members(*this, value);  // of a struct that knows no archive
  }
  template <class T>
  void visit(std::optional<T>& value) const {
    if (!is_there(value.has_value())) return value.reset();
    if (!value) value.emplace();
    visit(*value);
  }
  template <class T>
  void visit(std::vector<T>& list) const {
    list.resize(elements(list.size()));
    for (std::size_t i = 0; i < list.size(); ++i) {
      T value = std::move(list[i]);
      element(i).visit(value);
      list[i] = std::move(value);
    }
  }
  void visit(std::vector<double>& list) const { keep(list); }
  template <class T>
  void visit_integer(T& value) const {
    std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t> wide = value;
    keep(wide);
    if (!std::in_range<T>(wide)) fail("a smaller number", std::to_string(wide));
    value = T(wide);
  }
  template <class T>
  void visit_enum(T& value) const {
    std::string name = reads_ ? "" : to_string(value);
    keep(name);
    if (!reads_) return;
    try {
      parse(name, value);
    } catch (const Error& error) {
      throw Error(where_ + ": " + error.what());
    }
  }

  std::shared_ptr<Tree> tree_;
  void* at_;  // in the tree
  bool reads_ = false;
  std::string where_;
};

// What writes a state, or reads it.
using VisitState = std::function<void(const Archive&)>;

inline void parse(const std::string& text, Precision& precision) { precision = parse_kernel_precision(text); }

}  // namespace staghorn
