#include "solver/session/campaign/gauge_list.hpp"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "halo/watch/error.hpp"
#include "solver/request/source_list.hpp"

namespace staghorn {

namespace fs = std::filesystem;

namespace {

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_pattern(const std::string& word) { return word.find_first_of("*?[") != std::string::npos; }

// Names that match, in the order of their bytes.
std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> names;
  if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    names.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  if (names.empty()) throw FileError("gauge", "files that match '" + pattern + "'", "none");
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

bool names_several_gauges(const Communicator& communicator, const std::string& text) {
  if (text.find(';') == std::string::npos && !text.starts_with("@") && !is_pattern(text)) return false;
  return !communicator.any(communicator.is_root() && is_file(text));
}

std::vector<std::string> read_gauge_list(const Communicator& communicator, const std::string& text) {
  std::vector<ListWord> words{{text, ""}};
  if (names_several_gauges(communicator, text)) words = read_list(communicator, text);
  std::string joined;  // one a line
  communicator.agree([&] {
    if (!communicator.is_root()) return;
    std::vector<std::string> paths;
    std::set<std::string> known;
    for (const ListWord& word : words) {
      std::vector<std::string> named{word.text};
      if (!is_file(word.text)) {
        if (!is_pattern(word.text))
          throw FileError((word.where.empty() ? "gauge" : word.where), "a file that is there", "'" + word.text + "'");
        named = matches(word.text);
      }
      for (const std::string& path : named) {
        if (path.find('\n') != std::string::npos) throw Error("gauge", "names of one line", "'" + path + "'");
        if (known.insert(path).second) paths.push_back(path);
      }
    }
    if (paths.empty()) throw Error("gauge", "at least one file", "none in '" + text + "'");
    for (const std::string& path : paths) joined += path + "\n";
  });
  std::istringstream lines(communicator.broadcast(joined));
  std::vector<std::string> paths;
  for (std::string path; std::getline(lines, path);) paths.push_back(path);
  return paths;
}

std::string gauge_stem(const std::string& path) { return fs::path(path).stem().string(); }

std::string gauge_number(const std::string& path) {
  const char* const digits = "0123456789";
  const std::string stem = gauge_stem(path);
  const std::size_t last = stem.find_last_of(digits);
  if (last == std::string::npos) return "";
  const std::size_t before = stem.find_last_not_of(digits, last);
  const std::string number = stem.substr(before == std::string::npos ? 0 : before + 1, last - before);
  return number.substr(std::min(number.find_first_not_of('0'), number.size() - 1));
}

}  // namespace staghorn
