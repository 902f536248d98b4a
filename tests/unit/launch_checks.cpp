// How the fastest launch of a kernel is chosen, and how the file remembers it.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "dirac/kernels/hop_tiles.hpp"
#include "dirac/kernels/tuning/launch_cache.hpp"
#include "dirac/kernels/tuning/launch_tuning.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

namespace fs = std::filesystem;

struct TemporaryFolder {
  fs::path path;
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "launch_checks_XXXXXX").string();
    path = mkdtemp(name.data()) ? name : "";
  }
  ~TemporaryFolder() { fs::remove_all(path); }
};

HopView some_view() {
  HopView view;
  view.vectors.precision = Precision::fp32;
  view.near.reconstruct = Reconstruct::row12;
  view.vectors.n_rhs = 6;
  view.geometry.extents = {4, 6, 8, 10};
  return view;
}

bool a_key_tells_all_that_a_choice_depends_on() {
  const HopView view = some_view();
  std::map<std::string, int> keys;
  const auto count = [&](auto change) {
    HopView other = view;
    change(other);
    ++keys[launch_key("hop", other, "GPU A")];
  };
  count([](HopView&) {});
  count([](HopView& v) { v.vectors.precision = Precision::fp64; });
  count([](HopView& v) { v.near.reconstruct = Reconstruct::su3_8; });
  count([](HopView& v) { v.vectors.n_rhs = 3; });
  count([](HopView& v) { v.geometry.extents = {6, 4, 8, 10}; });
  count([](HopView& v) { v.geometry.cut[3] = true; });
  count([](HopView& v) { v.geometry.cut[0] = true; });
  ++keys[launch_key("residual", view, "GPU A")];
  ++keys[launch_key("hop", view, "GPU B")];
  return CHECK(keys.size() == 9);
}

bool known_launches_survive_what_cannot_be_read() {
  const std::string key = launch_key("hop", some_view(), "a GPU = of 2 1"), line = launch_line(key, {3, 2});
  const std::string good = launch_line("other", {4, 4});
  const auto finds = [&](const std::string& text, LaunchChoice expected) {
    const KnownLaunches known = parse_launches(text);
    return CHECK(known.count(key)) && CHECK(known.at(key) == expected) && CHECK(known.count("other")) &&
           CHECK((known.at("other") == LaunchChoice{4, 4}));
  };
  for (const char* damage : {"", "\n", "no choice\n", "key = \n", "key = 3\n", "key = 3 2 1\n", "key = 99 1\n",
                             "key = 2 0\n", "key = -1 1\n", "key = a b\n", "\xff\xfe = \x01\n"}) {
    if (finds(good + damage + line, {3, 2}) && CHECK(parse_launches(good + damage + line).size() == 2) &&
        finds(line + damage + good, {3, 2}))
      continue;
    std::printf("damage: '%s'\n", damage);
    return false;
  }
  return finds(line + good + launch_line(key, {1, 4}), {1, 4})                               // the last counts
         && finds(good + line + launch_line(key, {1, 4}).substr(0, key.size() + 6), {3, 2})  // no end of line
         && CHECK(parse_launches("").empty());
}

bool every_choice_can_be_remembered() {
  std::vector<LaunchChoice> choices{LaunchChoice()};
  for (const LaunchChoice& tile : tile_candidates(Stencil::naive, Precision::fp32, 48, false))
    for (const LaunchChoice& choice : wave_candidates(tile)) choices.push_back(choice);
  for (const LaunchChoice& choice : choices) {
    const KnownLaunches known = parse_launches(launch_line("key", choice));
    if (!CHECK(known.size() == 1) || !CHECK(known.at("key") == choice)) return false;
  }
  return true;
}

bool launches_are_added_to_the_file() {
  const TemporaryFolder folder;
  const fs::path file = folder.path / "new" / "staghorn" / "launches-v3.txt";
  if (!CHECK(read_launches(file).empty())) return false;
  const std::string first = launch_line("a", {8, 1}) + launch_line("b", {4, 2}), second = launch_line("a", {2, 1});
  if (!CHECK(append_launches(file, first) == "") || !CHECK(append_launches(file, second) == "")) return false;
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return CHECK(text == first + second) && CHECK((read_launches(file).at("a") == LaunchChoice{2, 1}));
}

bool a_file_that_cannot_be_written_is_reported() {
  const TemporaryFolder folder;
  std::ofstream(folder.path / "plain") << "no folder";
  return CHECK(append_launches({}, "x = 1 1\n") != "") &&
         CHECK(append_launches(folder.path / "plain" / "file", "x = 1 1\n") != "") &&
         CHECK(append_launches(folder.path, "x = 1 1\n") != "");  // a folder itself
}

bool the_file_is_in_the_cache_folder() {
  const auto file = [](const char* cache, const char* home) {
    cache ? setenv("XDG_CACHE_HOME", cache, 1) : unsetenv("XDG_CACHE_HOME");
    home ? setenv("HOME", home, 1) : unsetenv("HOME");
    return launch_file().string();
  };
  return CHECK(file("/cache", "/home/me") == "/cache/staghorn/launches-v3.txt") &&
         CHECK(file(nullptr, "/home/me") == "/home/me/.cache/staghorn/launches-v3.txt") &&
         CHECK(file("relative", "/home/me") == "/home/me/.cache/staghorn/launches-v3.txt") &&
         CHECK(file("", nullptr) == "");
}

bool candidates_divide_the_right_hand_sides() {
  for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16})
    for (const auto& [stencil, cut] : {std::pair(Stencil::naive, false), std::pair(Stencil::naive, true),
                                       std::pair(Stencil::improved, false), std::pair(Stencil::improved, true)})
      for (int n_rhs = 1; n_rhs <= max_rhs; ++n_rhs) {
        const std::vector<LaunchChoice> candidates = tile_candidates(stencil, precision, n_rhs, cut);
        if (!CHECK(!candidates.empty()) || !CHECK(candidates.back().tile == 1)) return false;
        for (std::size_t k = 0; k < candidates.size(); ++k) {
          if (!CHECK(n_rhs % candidates[k].tile == 0) || !CHECK(candidates[k].waves == 1)) return false;
          if (k > 0 && !CHECK(candidates[k].tile < candidates[k - 1].tile)) return false;
        }
      }
  const auto count = [](Precision precision, bool cut) {
    return tile_candidates(Stencil::naive, precision, 24, cut).size();
  };
  return CHECK(count(Precision::fp64, false) == 5) && CHECK(count(Precision::fp64, true) == 3) &&
         CHECK(count(Precision::fp32, false) == 5) && CHECK(count(Precision::fp32, true) == 3) &&
         CHECK(count(Precision::fp16, false) == 3) && CHECK(count(Precision::fp16, true) == 1);
}

bool a_launch_takes_the_largest_tile_that_it_may() {
  const auto taken = [](auto tiles, int n_rhs, int most) {
    int found = 0;
    decltype(tiles)::with_largest(n_rhs, most, [&](auto tile) { found = 10 * found + tile; });  // once
    return found;
  };
  const HopTiles<4>::whole whole;
  const HopTiles<4>::cut cut;
  return CHECK(taken(whole, 16, 16) == 16) && CHECK(taken(whole, 16, 8) == 8) && CHECK(taken(whole, 16, 7) == 4) &&
         CHECK(taken(whole, 6, 16) == 3) && CHECK(taken(whole, 10, 16) == 2) && CHECK(taken(whole, 7, 16) == 1) &&
         CHECK(taken(cut, 16, 16) == 16) && CHECK(taken(cut, 16, 8) == 4) && CHECK(taken(cut, 10, 16) == 1) &&
         CHECK(taken(HopTiles<2>::cut(), 3, 8) == 1);
}

bool a_choice_must_gain_two_per_cent() {
  const std::vector<LaunchChoice> candidates{{8, 1}, {4, 1}, {2, 1}};
  const auto chosen = [&](double eight, double four, double two) {
    int call = 0;  // of each candidate one time in five is disturbed
    return fastest(candidates,
                   [&](const LaunchChoice& c) {
                     return (call++ % 4 == 0 ? 10 : 1) * (c.tile == 8 ? eight : c.tile == 4 ? four : two);
                   })
        .tile;
  };
  return CHECK(chosen(1, 1.5, 2) == 8) && CHECK(chosen(1, 0.99, 0.985) == 8) && CHECK(chosen(1, 0.97, 1.5) == 4) &&
         CHECK(chosen(1, 0.97, 0.96) == 2) && CHECK(chosen(1, 0.96, 0.97) == 4);
}

}  // namespace

std::vector<UnitCheck> launch_checks() {
  return {UNIT_CHECK(a_key_tells_all_that_a_choice_depends_on),
          UNIT_CHECK(known_launches_survive_what_cannot_be_read),
          UNIT_CHECK(every_choice_can_be_remembered),
          UNIT_CHECK(launches_are_added_to_the_file),
          UNIT_CHECK(a_file_that_cannot_be_written_is_reported),
          UNIT_CHECK(the_file_is_in_the_cache_folder),
          UNIT_CHECK(candidates_divide_the_right_hand_sides),
          UNIT_CHECK(a_launch_takes_the_largest_tile_that_it_may),
          UNIT_CHECK(a_choice_must_gain_two_per_cent)};
}

}  // namespace staghorn
