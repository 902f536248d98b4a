#include "solver/session/many/solve_in_groups.hpp"

#include <algorithm>
#include <numeric>

#include "solver/checkpoint/checkpoint_file.hpp"
#include "solver/gauge/gauge.hpp"
#include "solver/search/archive.hpp"
#include "solver/search/search_keeper.hpp"
#include "solver/session/groups/group_report.hpp"
#include "solver/session/job/job_plan.hpp"

namespace staghorn {

namespace {

using Numbers = std::vector<std::size_t>;

std::vector<Numbers> pieces_of(const ManyPieces& asked) {
  const SolveRequest& request = asked.request;
  const std::vector<SourceList::Entry>& entries = asked.sources.entries();
  const std::size_t n = asked.sources.size();
  Pieces pieces(n);
  const auto join_all = [&](std::size_t first, std::size_t count) {
    for (std::size_t i = 1; i < count; ++i) pieces.join(first, first + i);
  };
  if (asked.shares_updates) join_all(0, n);
  if (asked.batch > 0) {
    const SourceGroups batches(n, asked.batch);
    for (std::size_t k = 0; k < batches.count; ++k) join_all(batches.begin(k), batches.size(k));
  }
  if (!request.baryons.empty())
    for (const SourceList::Entry& entry : entries) join_all(entry.first, entry.n);
  for (const auto& [antiquark, quark] : request.pairs) {  // of one colour
    const SourceList::Entry &a = entries[std::size_t(antiquark)], &b = entries[std::size_t(quark)];
    for (std::size_t k = 0; k < std::min(a.n, b.n); ++k) pieces.join(a.first + k, b.first + k);
  }
  return pieces.list();
}

// Why there are no more pieces, and what makes more.
std::string reason(const ManyPieces& asked) {
  if (asked.sources.size() == 1) return "; one source cannot be split";
  if (asked.shares_updates)
    return "; without `batch` right-hand sides share the updates of mixed precision (`batch`, `sources` or `sloppy` "
           "none parts them)";
  if (asked.batch > 0)
    return "; right-hand sides of one batch are iterated together, " + std::to_string(asked.batch) +
           " at most (a smaller `batch` makes more pieces)";
  if (!asked.request.baryons.empty() || !asked.request.pairs.empty())
    return "; the colours and sources that `baryons` and `pairs` put together stay together";
  return "";
}

// How the part of a group ended.
struct Ending {
  bool failed = false, kept = false;  // with an Error; with a checkpoint, as a signal asked
  bool of_files = false;              // the Error
  std::string words{};
  Numbers done{}, written{};
  void visit(const Archive& archive) {
    archive("failed", failed);
    archive("kept", kept);
    archive("of_files", of_files);
    archive("words", words);
    archive("done", done);
    archive("written", written);
  }
};

// Which right-hand sides each group solves: pieces dealt to these groups in order.
using Parts = std::vector<std::vector<bool>>;
Parts parts_of(const std::vector<Numbers>& pieces, const std::vector<std::size_t>& takers, std::size_t n_groups,
               std::size_t n) {
  Parts parts(n_groups, std::vector<bool>(n, false));
  const std::vector<Numbers> dealt = deal(pieces, takers.size());
  for (std::size_t k = 0; k < takers.size(); ++k)
    for (const std::size_t piece : dealt[k])
      for (const std::size_t rhs : pieces[piece]) parts[takers[k]][rhs] = true;
  return parts;
}

// Whole pieces that their groups have not finished.
std::vector<Numbers> unfinished(const std::vector<Numbers>& pieces, const Parts& parts,
                                const std::vector<Ending>& endings, std::size_t n_masses) {
  const std::size_t n = parts[0].size();
  std::vector<Numbers> left;
  for (std::size_t group = 0; group < parts.size(); ++group) {
    const auto is_done = [&](std::size_t rhs) {
      for (std::size_t mass = 0; mass < n_masses; ++mass)
        if (!std::ranges::binary_search(endings[group].done, mass * n + rhs)) return false;
      return true;
    };
    for (const Numbers& piece : pieces)
      if (parts[group][piece[0]] && !std::ranges::all_of(piece, is_done)) left.push_back(piece);
  }
  std::ranges::sort(left);
  return left;
}

// What `work`, which is collective over this group, came to. An Error of this rank alone goes on.
Ending ending_of(const Communicator& farewell, const std::function<void()>& work) {
  constexpr double patience_with_errors = 5;  // seconds, as of the program's last message
  Ending ending{};
  try {
    work();
  } catch (const LocalError&) {
    throw;
  } catch (const EndedWithCheckpoint& end) {
    ending.kept = true;
    ending.words = end.what();
  } catch (const Error& error) {
    if (!farewell.all_arrive(patience_with_errors)) throw LocalError(error.kind(), error.what());
    ending.failed = true;
    ending.of_files = error.kind() == ErrorKind::file;
    ending.words = error.what();
  }
  return ending;
}

std::vector<Ending> tell(const JobGroups& groups, Ending& mine) {
  groups.wait();
  const Archive own;
  own("ending", mine);
  std::vector<Ending> endings;
  for (const std::string& text : groups.tell(own.text()))
    Archive("the end of a group", text)("ending", endings.emplace_back());
  return endings;
}

// What the report of a group that has solved nothing lacks.
void set_up_report(Session& session, const SolveRequest& request, SolveReport& report) {
  if (!report.solver.empty()) return;
  Gauge& gauge = session.resident();
  gauge.bench().prepare(1, request.system, MemorySpace::host);
  fill_setting(report, gauge, gauge.bench().precise());
  report.request = request;
}

void require_enough(const std::vector<Numbers>& pieces, const ManyPieces& asked, int groups) {
  if (pieces.size() >= std::size_t(groups)) return;
  const std::string most = pieces.size() == 1
                               ? "no groups, as there is 1 piece of work"
                               : "at most " + std::to_string(pieces.size()) + " groups, as there are so many pieces";
  throw Error("split", most + reason(asked), groups);
}

std::string name_of(std::size_t group, std::size_t n_groups) {
  return std::to_string(group + 1) + " of " + std::to_string(n_groups);
}

}  // namespace

SolveReport solve_in_groups(const JobGroups& groups, Session& session, const SolveRequest& request,
                            const ManyPieces& asked, std::set<std::size_t>& written,
                            const std::function<SolveReport(const SolveRequest&, PartOfJob&)>& solve) {
  const std::vector<Numbers> pieces = pieces_of(asked);
  require_enough(pieces, asked, groups.count());
  const auto n_groups = std::size_t(groups.count()), me = std::size_t(groups.number());
  const std::size_t n = asked.sources.size(), n_masses = masses_of(request).size();
  const Communicator farewell(groups.ranks().mine().handle());  // ranks with an error meet here

  SolveRequest own = request;
  if (own.checkpoint) own.checkpoint = checkpoint_of_group(*own.checkpoint, groups.number(), groups.count());
  GroupReport mine;
  std::vector<std::string> failures;
  std::vector<std::size_t> takers(n_groups);
  std::iota(takers.begin(), takers.end(), std::size_t(0));
  Parts parts = parts_of(pieces, takers, n_groups, n);
  for (bool is_first = true;; is_first = false) {
    PartOfJob part(parts[me], name_of(me, n_groups));
    Ending ending{};
    if (part.size(n) > 0) ending = ending_of(farewell, [&] { mine.add(solve(own, part)); });
    for (const auto& [number, rhs] : part.done()) {
      mine.numbers.push_back(number);
      mine.rhs.push_back(rhs);
      ending.done.push_back(number);
    }
    ending.written.assign(written.begin(), written.end());
    const std::vector<Ending> endings = tell(groups, ending);

    takers.clear();
    const Ending* failed = nullptr;
    for (std::size_t group = 0; group < n_groups; ++group) {
      const Ending& one = endings[group];
      if (one.kept) throw EndedWithCheckpoint(one.words);
      written.insert(one.written.begin(), one.written.end());
      if (!one.failed) {
        takers.push_back(group);
        continue;
      }
      if (!failed || one.of_files) failed = &one;
      failures.push_back("group " + name_of(group, n_groups) + ": " + one.words);
    }
    if (!failed) break;
    if (takers.empty() || failed->of_files || !is_first) throw Error(failed->words);
    parts = parts_of(unfinished(pieces, parts, endings, n_masses), takers, n_groups, n);
    own.checkpoint.reset();  // that of the first part is complete, or of a group that failed
  }
  groups.ranks().all().agree([&] { set_up_report(session, request, mine.whole); });
  SolveReport report = merged_report(groups, std::move(mine), n_masses * n);
  report.request = request;
  report.split = SplitSummary{groups.count(), groups.ranks().mine().size(), std::move(failures)};
  if (asked.batch == 0)
    for (std::size_t i = 0; i < report.rhs.size(); ++i) report.rhs[i].iterations_more = iterations_more(report, i);
  return report;
}

}  // namespace staghorn
