// Texts of any bytes made UTF-8 and back, and what exceptions say to a user.
#include <filesystem>
#include <new>
#include <random>
#include <sstream>
#include <stdexcept>

#include "halo/communicator.hpp"
#include "halo/watch/failure_words.hpp"
#include "lattice_io/content/utf8_text.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

// Pieces that are characters, halves of them, and what looks like an escape, in any order.
std::string random_text(std::mt19937& random) {
  const std::string pieces[] = {"a",        "\\", "\\x", "\\x5c", "\xc3\xa4", "\xc3", "\xa4",     "\xe2\x82\xac",
                                "\xe2\x82", "x",  "e4",  "\xff",  "\xf0",     "\x9f", "\xed\xa0", "\xf0\x9f\x92",
                                "\xc0\xaf", "\n"};
  std::string text;
  for (auto n = random() % 12; n > 0; --n) text += pieces[random() % std::size(pieces)];
  return text;
}

bool texts_of_any_bytes_come_back() {
  std::mt19937 random(1);
  bool holds = true;
  for (int k = 0; k < 20000 && holds; ++k) {
    const std::string text = random_text(random), shown = utf8_text(text);
    holds = CHECK(bytes_of(reversible_text(text)) == text) && CHECK(utf8_text(shown) == shown);
  }
  return holds &&
         CHECK(utf8_text("gr\xf6\xdf"
                         "e \xc3\xa4") ==
               "gr\\xf6\\xdf"
               "e \xc3\xa4") &&
         CHECK(reversible_text("\\xe4\xe4") == "\\x5cxe4\\xe4");
}

bool a_stream_in_pieces_is_the_text_as_a_whole() {
  std::mt19937 random(2);
  bool holds = true;
  for (int k = 0; k < 5000 && holds; ++k) {
    const std::string text = random_text(random);
    std::ostringstream to;
    Utf8Buffer buffer(to.rdbuf());
    std::ostream stream(&buffer);
    for (std::size_t at = 0, n = 0; at < text.size(); at += n) {
      n = 1 + random() % 3;
      stream << text.substr(at, n);
    }
    stream.flush();
    holds = CHECK(to.str() == utf8_text(text));
  }
  return holds;
}

template <class Thrown>
std::string agreed(const Thrown& thrown) {
  try {
    Communicator(MPI_COMM_SELF).agree([&] { throw thrown; });
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool exceptions_of_libraries_say_where_they_come_from() {
  namespace fs = std::filesystem;
  const fs::filesystem_error full("copy", "a.h5", std::make_error_code(std::errc::no_space_on_device));
  const std::string strange = words_of_failure(std::out_of_range("index 7")).text;
  return CHECK(words_of_failure(Error(ErrorKind::file, "as it is")).text == "as it is") &&
         CHECK(words_of_failure(std::bad_alloc()).kind == ErrorKind::memory) &&
         CHECK(words_of_failure(std::length_error("vector")).kind == ErrorKind::memory) &&
         CHECK(words_of_failure(full).kind == ErrorKind::file) &&
         CHECK(words_of_failure(full).text == "a.h5: the file system says: No space left on device") &&
         CHECK(strange ==
               "a fault of Staghorn, not of its input: an exception of type std::out_of_range says: index 7") &&
         CHECK(agreed(std::out_of_range("index 7")) == strange) && CHECK(agreed(std::bad_alloc()) == "out of memory");
}

}  // namespace

std::vector<UnitCheck> text_checks() {
  return {UNIT_CHECK(texts_of_any_bytes_come_back), UNIT_CHECK(a_stream_in_pieces_is_the_text_as_a_whole),
          UNIT_CHECK(exceptions_of_libraries_say_where_they_come_from)};
}

}  // namespace staghorn
