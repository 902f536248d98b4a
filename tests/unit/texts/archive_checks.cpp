// The state of a search as text, and back: every type with all its bits, and what is said of a state that does not fit.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "solver/krylov/running_rhs.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/search/archive.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

constexpr double quiet = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();

// One of each type.
struct Everything {
  bool flag = true;
  int small = std::numeric_limits<int>::min();
  long large = std::numeric_limits<long>::max();
  std::uint64_t hash = std::numeric_limits<std::uint64_t>::max();
  std::string text = "a\n\\x41\xff \"\xc3\xa4\"";
  LoopForm form = LoopForm::wide_kernel;
  Precision precision = Precision::fp16;
  std::optional<CgOutcome> outcome = CgOutcome::stagnated, none{};
  double tiny = 5e-324;
  std::vector<double> reals{0.1,
                            -0.0,
                            infinite,
                            -infinite,
                            -5e-324,
                            1.7976931348623157e308,
                            std::bit_cast<double>(0x7ff8000000abcdefULL),
                            std::bit_cast<double>(0xfff0000000000001ULL)};
  std::vector<bool> flags{true, false, true};
  std::vector<long> numbers{-1, 0, 1L << 62};
  std::vector<std::vector<int>> nested{{}, {1, -2}};
  std::vector<Running> rhs{Running()};

  void visit(const Archive& archive) {
    archive("flag", flag);
    archive("small", small);
    archive.count("large", large);
    archive("hash", hash);
    archive("text", text);
    archive("form", form);
    archive("precision", precision);
    archive("outcome", outcome);
    archive("none", none);
    archive("tiny", tiny);
    archive("reals", reals, 8);
    archive("flags", flags);
    archive("numbers", numbers);
    archive("nested", nested);
    archive("rhs", rhs, 1);
  }
};

bool equal_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double one, double other) {
    return std::bit_cast<std::uint64_t>(one) == std::bit_cast<std::uint64_t>(other);
  });
}

bool all_types_come_back_with_all_bits() {
  Everything written;
  written.rhs[0].done.history = {quiet, 1e-300};
  written.rhs[0].done.updates = {16, 32};
  const Archive archive;
  archive("state", written);
  const std::string text = archive.text();
  bool holds = CHECK(archive.counted() == written.large);
  for (const Archive& reader : {archive.reader(), Archive("here", text)}) {
    Everything read{false, 1,  1,  1,  "", LoopForm::host, Precision::fp64, {}, CgOutcome::converged, 1,
                    {1},   {}, {}, {}, {}};
    reader("state", read);
    holds = holds && CHECK(read.flag) && CHECK(read.small == written.small) && CHECK(read.large == written.large) &&
            CHECK(read.hash == written.hash) && CHECK(read.text == written.text) && CHECK(read.form == written.form) &&
            CHECK(read.precision == written.precision) && CHECK(read.outcome == written.outcome) && CHECK(!read.none) &&
            CHECK(equal_bits({read.tiny}, {written.tiny})) && CHECK(equal_bits(read.reals, written.reals)) &&
            CHECK(read.flags == written.flags) && CHECK(read.numbers == written.numbers) &&
            CHECK(read.nested == written.nested) && CHECK(read.rhs.size() == 1) &&
            CHECK(equal_bits(read.rhs[0].done.history, written.rhs[0].done.history)) &&
            CHECK(read.rhs[0].done.updates == written.rhs[0].done.updates) && CHECK(read.rhs[0].smallest == infinite);
    const Archive again;
    again("state", read);
    holds = holds && CHECK(again.text() == text);
  }
  return holds;
}

// What is said where a value of this type is read from `text`.
template <class T>
std::string refusal(const std::string& text, T value = {}) {
  try {
    Archive("state.h5", text)("passes", [&](const Archive& archive) { archive("value", value); });
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool what_does_not_fit_is_named() {
  const std::string where = "state.h5: passes: value: expected ";
  const auto says = [&](const std::string& found, const std::string& expected) {
    return CHECK(found == where + expected);
  };
  std::string short_list;
  try {
    std::vector<double> list;
    Archive("state.h5", R"({"r2":"3ff0000000000000"})")("r2", list, 2);
  } catch (const Error& error) {
    short_list = error.what();
  }
  std::string twice;
  try {
    const Archive archive;
    double value = 1;
    archive("value", value);
    archive("value", value);
  } catch (const Error& error) {
    twice = error.what();
  }
  return CHECK(refusal<long>("{}") == "state.h5: expected a value named passes, found none") &&
         CHECK(refusal<long>(R"({"passes":{}})") == "state.h5: passes: expected a value named value, found none") &&
         CHECK(refusal<long>(R"({"passes":7})") == "state.h5: passes: expected a value named value, found none") &&
         CHECK(refusal<long>("[1]") == "state.h5: expected the state of a search, found something else") &&
         CHECK(
             refusal<long>(R"({"passes":{)").starts_with("state.h5: expected the state of a search, found no JSON")) &&
         CHECK(refusal<CgOutcome>(R"({"passes":{"value":"lost"}})") ==
               "state.h5: passes: value: outcome of CG: expected converged, out_of_iterations, stagnated or breakdown, "
               "found 'lost'") &&
         says(refusal<long>(R"({"passes":{"value":"x"}})"), "a whole number, found string") &&
         says(refusal<long>(R"({"passes":{"value":18446744073709551615}})"),
              "a whole number, found 18446744073709551615") &&
         says(refusal<int>(R"({"passes":{"value":4294967296}})"), "a smaller number, found 4294967296") &&
         says(refusal<std::uint64_t>(R"({"passes":{"value":-1}})"),
              "a whole number that is not negative, found number") &&
         says(refusal<bool>(R"({"passes":{"value":1}})"), "true or false, found number") &&
         says(refusal<std::string>(R"({"passes":{"value":1}})"), "a text, found number") &&
         says(refusal<double>(R"({"passes":{"value":"3ff00000000000zz"}})"),
              "16 hexadecimal digits for each number, found '3ff00000000000zz'") &&
         says(refusal<double>(R"({"passes":{"value":"3ff00000000000001"}})"),
              "16 hexadecimal digits for each number, found '1'") &&
         says(refusal<double>(R"({"passes":{"value":""}})"), "one number, found 0") &&
         says(refusal<std::vector<long>>(R"({"passes":{"value":1}})"), "a list, found number") &&
         CHECK(short_list == "state.h5: r2: expected 2 values, found 1") &&
         CHECK(twice == "state: value: expected one value of this name, found two");
}

}  // namespace

std::vector<UnitCheck> archive_checks() {
  return {UNIT_CHECK(all_types_come_back_with_all_bits), UNIT_CHECK(what_does_not_fit_is_named)};
}

}  // namespace staghorn
