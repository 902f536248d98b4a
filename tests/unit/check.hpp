// CHECK: a condition that says what it found where it does not hold.
//
//   return CHECK(grid.bound == 1) && CHECK(worst < 1e-13);
//
// prints, where the second condition is false,
//
//   exact_sum_checks.cpp:140: worst < 1e-13 does not hold: 2.5e-13 < 1e-13
#pragma once

#include <array>
#include <concepts>
#include <cstdio>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace staghorn {

// The text of a value: all digits of a number, all elements of an array. "?" for a type that has no text.
template <class T>
std::string text_of(const T& value) {
  std::ostringstream text;
  text.precision(17);
  if constexpr (std::is_same_v<T, bool>)
    text << (value ? "true" : "false");
  else if constexpr (std::is_enum_v<T>)
    text << static_cast<long>(value);
  else if constexpr (requires { text << value; })
    text << value;
  else
    text << "?";
  return text.str();
}

template <class T>
std::string text_of_elements(const T& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + text_of(value);
  return "{" + text + "}";
}
template <class T>
std::string text_of(const std::vector<T>& values) {
  return text_of_elements(values);
}
template <class T, std::size_t n>
std::string text_of(const std::array<T, n>& values) {
  return text_of_elements(values);
}

// Whether a condition holds. Where it does not: its text, with values in the place of names.
struct Checked {
  bool holds;
  std::string found;
};

// Integers as one signed type that holds all of them, so that sizes compare with signed numbers; other values as they
// are.
__extension__ typedef __int128 AnyInteger;
template <class T>
decltype(auto) comparable(const T& value) {
  if constexpr (std::integral<T> && !std::same_as<T, bool>)
    return AnyInteger(value);
  else
    return (value);
}

// The left side of a comparison.
template <class T>
struct LeftSide {
  const T& left;

  template <class U>
  Checked operator==(const U& right) const {
    return compared(comparable(left) == comparable(right), " == ", right);
  }
  template <class U>
  Checked operator!=(const U& right) const {
    return compared(comparable(left) != comparable(right), " != ", right);
  }
  template <class U>
  Checked operator<(const U& right) const {
    return compared(comparable(left) < comparable(right), " < ", right);
  }
  template <class U>
  Checked operator>(const U& right) const {
    return compared(comparable(left) > comparable(right), " > ", right);
  }
  template <class U>
  Checked operator<=(const U& right) const {
    return compared(comparable(left) <= comparable(right), " <= ", right);
  }
  template <class U>
  Checked operator>=(const U& right) const {
    return compared(comparable(left) >= comparable(right), " >= ", right);
  }
  operator Checked() const {
    const bool holds(left);
    return {holds, holds ? "" : text_of(left)};
  }

  // One CHECK holds one condition: the values of `a && b` would be lost.
  template <class U>
  void operator&&(const U&) const = delete;
  template <class U>
  void operator||(const U&) const = delete;

 private:
  template <class U>
  Checked compared(bool holds, const char* sign, const U& right) const {
    return {holds, holds ? "" : text_of(left) + sign + text_of(right)};
  }
};

// Takes the left side of the comparison that follows: << binds more tightly than a comparison does.
struct ConditionStart {
  template <class T>
  LeftSide<T> operator<<(const T& left) const {
    return {left};
  }
};

// Prints what was found unless `checked` holds; returns whether it holds.
inline bool report_check(const char* file, int line, const char* condition, const Checked& checked) {
  if (checked.holds) return true;
  const std::string path = file;
  std::printf("%s:%d: %s does not hold: %s\n", path.substr(path.find_last_of('/') + 1).c_str(), line, condition,
              checked.found.c_str());
  return false;
}

}  // namespace staghorn

#define CHECK(...) \
  ::staghorn::report_check(__FILE__, __LINE__, #__VA_ARGS__, ::staghorn::ConditionStart{} << __VA_ARGS__)
