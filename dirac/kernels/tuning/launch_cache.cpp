#include "dirac/kernels/tuning/launch_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>

#include "dirac/kernels/hop_tiles.hpp"
#include "halo/watch/surroundings.hpp"

namespace staghorn {

namespace {

constexpr int most_tile = HopTiles<sizeof(float)>::whole::all.front(), most_waves = 8;
constexpr const char* file_name = "launches-v3.txt";

// Parses "TILE WAVES"; nothing may follow.
std::optional<LaunchChoice> parse_choice(const std::string& text) {
  std::istringstream words(text);
  LaunchChoice choice;
  std::string rest;
  if (!(words >> choice.tile >> choice.waves) || words >> rest) return std::nullopt;
  if (choice.tile < 1 || choice.tile > most_tile || choice.waves < 1 || choice.waves > most_waves) return std::nullopt;
  return choice;
}

}  // namespace

std::string launch_key(const std::string& kernel, const HopView& view, const std::string& device) {
  std::string cut;
  for (int mu = 0; mu < 4; ++mu)
    if (view.geometry.cut[mu]) cut += "xyzt"[mu];
  std::string links = to_string(view.near.reconstruct);
  if (view.stencil == Stencil::improved) links += "+" + to_string(view.naik.reconstruct);
  std::string key = kernel + " " + to_string(view.vectors.precision) + " " + links + " rhs " +
                    std::to_string(view.vectors.n_rhs) + " local " + to_string(view.geometry.extents) + " cut " +
                    (cut.empty() ? "-" : cut) + " " + device;
  std::replace(key.begin(), key.end(), '\n', ' ');
  return key;
}

std::string launch_line(const std::string& key, const LaunchChoice& choice) {
  return key + " = " + std::to_string(choice.tile) + " " + std::to_string(choice.waves) + "\n";
}

KnownLaunches parse_launches(const std::string& text) {
  KnownLaunches known;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (lines.eof()) break;  // a line without its end was not written to the end
    const std::size_t equals = line.rfind(" = ");
    if (equals == std::string::npos) continue;
    if (const auto choice = parse_choice(line.substr(equals + 3))) known[line.substr(0, equals)] = *choice;
  }
  return known;
}

std::filesystem::path launch_file() {
  if (const std::string& named = Surroundings::current().launch_file(); !named.empty()) return named;
  const auto folder = [](const char* variable) {
    const char* value = environment_variable(variable);
    const std::filesystem::path path = value ? value : "";
    return path.is_absolute() ? path : std::filesystem::path();
  };
  if (const auto cache = folder("XDG_CACHE_HOME"); !cache.empty()) return cache / "staghorn" / file_name;
  if (const auto home = folder("HOME"); !home.empty()) return home / ".cache" / "staghorn" / file_name;
  return {};
}

KnownLaunches read_launches(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return parse_launches({std::istreambuf_iterator<char>(stream), {}});
}

std::string append_launches(const std::filesystem::path& file, const std::string& lines) {
  if (file.empty()) return "neither XDG_CACHE_HOME nor HOME names a folder";
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) return file.parent_path().string() + ": " + error.message();
  const int descriptor = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return file.string() + ": " + std::strerror(errno);
  errno = 0;
  const bool whole = write(descriptor, lines.data(), lines.size()) == ssize_t(lines.size());
  const std::string reason = whole ? "" : file.string() + ": " + (errno ? std::strerror(errno) : "written in part");
  return close(descriptor) == 0 || !whole ? reason : file.string() + ": " + std::strerror(errno);
}

}  // namespace staghorn
