// Names of files, hosts and labels are bytes, which need not be UTF-8; messages, JSON, XML and attributes are UTF-8.
// A byte that is no part of a UTF-8 character is shown as \xNN, as Python's `backslashreplace` shows it. Local.
#pragma once

#include <streambuf>
#include <string>
#include <string_view>

namespace staghorn {

// `text` with every byte that is not UTF-8 as \xNN. UTF-8 stays as it is.
std::string utf8_text(std::string_view text);

// The same for text that is read back: a backslash in front of an x becomes \x5c, so that
// bytes_of(reversible_text(text)) == text for any text.
std::string reversible_text(std::string_view text);
std::string bytes_of(std::string_view reversible);

// Hands on what is written to it as utf8_text does, to a buffer that must outlive it.
class Utf8Buffer : public std::streambuf {
 public:
  explicit Utf8Buffer(std::streambuf* to) : to_(to) {}

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize n) override;
  int sync() override;

 private:
  bool hand_on(std::string_view text, bool is_end);

  std::streambuf* to_;
  std::string begun_;  // of a character whose other bytes are still to come
};

}  // namespace staghorn
