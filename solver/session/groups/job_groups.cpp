#include "solver/session/groups/job_groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "halo/watch/error.hpp"

namespace staghorn {

Pieces::Pieces(std::size_t n_rhs) : first_(n_rhs) { std::iota(first_.begin(), first_.end(), std::size_t(0)); }

std::size_t Pieces::first_of(std::size_t rhs) const {
  while (first_[rhs] != rhs) rhs = first_[rhs];
  return rhs;
}

void Pieces::join(std::size_t a, std::size_t b) {
  const std::size_t first = first_of(a), second = first_of(b);
  first_[std::max(first, second)] = std::min(first, second);
}

std::vector<std::vector<std::size_t>> Pieces::list() const {
  std::map<std::size_t, std::vector<std::size_t>> pieces;
  for (std::size_t rhs = 0; rhs < first_.size(); ++rhs) pieces[first_of(rhs)].push_back(rhs);
  std::vector<std::vector<std::size_t>> list;
  for (auto& [first, piece] : pieces) list.push_back(std::move(piece));
  return list;
}

std::vector<std::vector<std::size_t>> deal(const std::vector<std::vector<std::size_t>>& pieces, std::size_t takers) {
  std::size_t all = 0, before = 0;
  for (const auto& piece : pieces) all += piece.size();
  std::vector<std::vector<std::size_t>> dealt(takers);
  if (pieces.empty()) return dealt;
  std::size_t taker = 0;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const std::size_t middle = 2 * before + pieces[k].size();  // of the piece, in half right-hand sides
    const std::size_t next = std::min(dealt[taker].empty() ? taker : taker + 1, takers - 1);
    const std::size_t pieces_left = pieces.size() - k, even = middle * takers / (2 * all);
    const bool others_need_them = next + pieces_left <= takers;  // a piece for each of the others
    if (even > taker || others_need_them) taker = next;
    dealt[taker].push_back(k);
    before += pieces[k].size();
  }
  return dealt;
}

JobGroups::JobGroups(const RankGroups& ranks, const Communicator& placed, const Lattice& lattice)
    : ranks_(ranks), across_(ranks.all().split(placed.rank(), ranks.number())) {
  std::string cut = to_string(lattice.grid());
  for (const std::string& other : tell(cut))
    if (other != cut) throw Error("split", "groups with one process grid: choose it by `grid`", cut + " and " + other);
}

std::vector<std::string> JobGroups::tell(const std::string& mine) const {
  std::vector<std::string> told;
  for (int group = 0; group < count(); ++group) told.push_back(across_.broadcast(mine, group));
  return told;
}

void JobGroups::complete(std::vector<double>& numbers) const {
  const int from = count() - int(across_.max(numbers.empty() ? 0.0 : double(count() - number())));
  if (from == count()) return;
  std::uint64_t size = numbers.size();
  across_.broadcast(&size, sizeof size, from);
  numbers.resize(size);
  across_.broadcast(numbers.data(), size * sizeof(double), from);
}

}  // namespace staghorn
