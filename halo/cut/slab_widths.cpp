#include "halo/cut/slab_widths.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

constexpr const char* directions = "xyzt";
constexpr const char* form = "even, auto, or numbers above 0 for the slabs of a direction, as t=3:1 or x=1:2,t=3:1";

std::vector<std::string> split(const std::string& text, char between) {
  std::vector<std::string> parts{""};
  for (const char c : text) c == between ? parts.emplace_back() : parts.back() += c;
  return parts;
}

double positive_number(const std::string& text, const std::string& whole) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0) || !std::isfinite(value))
    throw Error("shares", form, "'" + whole + "'");
  return value;
}

std::string number(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return error == std::errc() ? std::string(text, end) : std::to_string(value);
}

template <class Numbers, class Text>
std::string listed(int mu, const Numbers& numbers, const Text& text_of) {
  std::string text = {directions[mu], '='};
  for (std::size_t k = 0; k < numbers.size(); ++k) text += (k ? ":" : "") + text_of(numbers[k]);
  return text;
}

bool equal(const std::vector<int>& widths) {
  return std::adjacent_find(widths.begin(), widths.end(), std::not_equal_to<>()) == widths.end();
}

}  // namespace

Shares parse_shares(const std::string& text) {
  Shares shares;
  if (text == "even") return shares;
  for (const std::string& part : split(text, ',')) {
    int mu = 3;
    std::string numbers = part;
    if (const std::size_t equals = part.find('='); equals != std::string::npos) {
      const std::string letters = directions;
      const std::size_t at = equals == 1 ? letters.find(part[0]) : std::string::npos;
      if (at == std::string::npos) throw Error("shares", form, "'" + text + "'");
      mu = int(at);
      numbers = part.substr(2);
    }
    if (shares.given(mu)) throw Error("shares", std::string("each direction once"), "'" + text + "'");
    for (const std::string& share : split(numbers, ':'))
      shares.of[std::size_t(mu)].push_back(positive_number(share, text));
  }
  return shares;
}

std::string to_string(const Shares& shares) {
  std::string text;
  for (int mu = 0; mu < 4; ++mu)
    if (shares.given(mu)) text += (text.empty() ? "" : ",") + listed(mu, shares.of[std::size_t(mu)], number);
  return text.empty() ? "even" : text;
}

bool can_be_cut(int extent, int slabs, int least) {
  return slabs >= 1 && extent % 2 == 0 && std::int64_t{slabs} * least <= extent;
}

bool can_be_cut(const Extents& global, const Extents& grid, int least) {
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (!can_be_cut(global[mu], grid[mu], grid[mu] > 1 ? least : 2)) return false;
  return true;
}

std::vector<int> slab_widths(int extent, std::span<const double> shares, int least) {
  const int slabs = int(shares.size());
  if (!can_be_cut(extent, slabs, least))
    throw Error(ErrorKind::layout, "slabs",
                "an extent of at least " + std::to_string(std::int64_t{slabs} * least) + " sites for " +
                    std::to_string(slabs) + " slabs of at least " + std::to_string(least),
                extent);
  for (const double share : shares)
    if (!(share > 0) || !std::isfinite(share)) throw Error("shares", "positive numbers", share);
  const int least_pairs = (least + 1) / 2;
  const std::size_t n = shares.size();
  // Slabs whose share is below the least width have that. What they take beyond their share may bring others below it.
  std::vector<bool> has_least(n, false);
  double sum = 0;  // of the shares of the other slabs
  int left = 0;    // pairs of sites for them
  for (bool found = true; found;) {
    found = false;
    sum = 0;
    left = extent / 2;
    for (std::size_t k = 0; k < n; ++k) has_least[k] ? void(left -= least_pairs) : void(sum += shares[k]);
    for (std::size_t k = 0; k < n; ++k)
      if (!has_least[k] && shares[k] / sum * left < least_pairs) has_least[k] = found = true;
  }
  std::vector<int> widths(n, 2 * least_pairs);
  std::vector<std::int64_t> remainders(n, 0);  // in units of 1e-9 pairs: what rounding leaves is none
  std::vector<std::size_t> others;
  for (std::size_t k = 0; k < n; ++k) {
    if (has_least[k]) continue;
    const double exact = shares[k] / sum * left, whole = std::floor(exact + 1e-9);
    widths[k] = 2 * int(whole);
    remainders[k] = std::llround((exact - whole) * 1e9);
    others.push_back(k);
  }
  std::stable_sort(others.begin(), others.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  const int missing = (extent - std::accumulate(widths.begin(), widths.end(), 0)) / 2;
  for (int k = 0; k < missing; ++k) widths[others[std::size_t(k) % others.size()]] += 2;
  return widths;
}

SlabWidths slab_widths(const Extents& global, const Extents& grid, const Shares& shares, int least) {
  SlabWidths widths;
  for (int mu = 0; mu < 4; ++mu) {
    const auto k = std::size_t(mu);
    if (shares.given(mu) && int(shares.of[k].size()) != grid[k])
      throw Error(ErrorKind::layout, "shares " + listed(mu, shares.of[k], number),
                  std::to_string(grid[k]) + (grid[k] == 1 ? " number" : " numbers") + ", one for each slab of the grid",
                  shares.of[k].size());
    const std::vector<double> numbers =
        shares.given(mu) ? shares.of[k] : std::vector<double>(std::size_t(std::max(grid[k], 0)), 1.0);
    widths[k] = slab_widths(global[k], numbers, grid[k] > 1 ? least : 2);
  }
  return widths;
}

Extents grid_of(const SlabWidths& widths) {
  Extents grid{};
  for (std::size_t mu = 0; mu < 4; ++mu) grid[mu] = int(widths[mu].size());
  return grid;
}

bool all_equal(const SlabWidths& widths) {
  return std::all_of(widths.begin(), widths.end(), [](const std::vector<int>& slabs) { return equal(slabs); });
}

std::string to_string(const SlabWidths& widths) {
  std::string text;
  for (int mu = 0; mu < 4; ++mu)
    if (!equal(widths[std::size_t(mu)]))
      text += (text.empty() ? "" : ",") +
              listed(mu, widths[std::size_t(mu)], [](int width) { return std::to_string(width); });
  return text.empty() ? "even" : text;
}

}  // namespace staghorn
