#include "solver/session/groups/group_session.hpp"

#include <exception>
#include <optional>

#include "halo/device_choice.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "solver/gauge/context.hpp"
#include "solver/search/search_keeper.hpp"

namespace staghorn {

void in_each_group(const RankGroups& ranks, const std::function<void()>& work) {
  constexpr double patience_with_errors = 5;  // seconds, as of the program's last message
  const Communicator farewell(ranks.mine().handle());
  std::exception_ptr failure;
  std::string kept;
  try {
    work();
  } catch (const LocalError&) {
    throw;
  } catch (const EndedWithCheckpoint& end) {
    kept = end.what();
  } catch (const Error& error) {
    if (!farewell.all_arrive(patience_with_errors)) throw LocalError(error.kind(), error.what());
    failure = std::current_exception();
  }
  ranks.all().patient_barrier();
  if (ranks.all().any(!kept.empty()))
    throw EndedWithCheckpoint(kept.empty() ? "a group was ended by a signal; `resume` goes on" : kept);
  ranks.all().agree([&] {
    if (failure) std::rethrow_exception(failure);
  });
}

std::unique_ptr<RankGroups> make_groups(const Communicator& all, int count, const SessionOptions& options) {
  int device = -1;
  const int rank_on_host = all.rank_on_host();
  all.agree([&] { device = choose_device(options.device, all, rank_on_host); });
  return std::make_unique<RankGroups>(all, count, device);
}

GroupSession make_group_session(const Communicator& all, int count, const std::string& gauge_file,
                                const SessionOptions& options, const ExpectedSolve& expected) {
  completed_options(options);
  GroupSession made;
  made.ranks = make_groups(all, count, options);
  const bool each_reads = options.quarks.stored() || options.coarse;
  std::optional<Extents> lattice;
  if (!each_reads) lattice = read_gauge_header(all, gauge_file, options.dataset).extents;
  in_each_group(*made.ranks, [&] {
    made.session = each_reads ? std::make_unique<Session>(made.ranks->mine(), gauge_file, options, expected)
                              : std::make_unique<Session>(made.ranks->mine(), *lattice, options, expected);
  });
  Session& session = *made.session;
  made.groups = std::make_unique<JobGroups>(*made.ranks, session.communicator(), session.lattice());
  if (each_reads) return made;
  in_each_group(*made.ranks, [&] {
    if (made.ranks->number() == 0) session.read_links(gauge_file);
  });
  session.copy_links(made.groups->across());
  in_each_group(*made.ranks, [&] { session.take_links(); });
  if (const auto& pairs = options.eigenvectors) {
    const bool are_there = file_exists(all, *pairs);  // else the first group finds them, and writes them
    if (!are_there)
      in_each_group(*made.ranks, [&] {
        if (made.ranks->number() == 0) session.take_eigenpairs(*pairs);
      });
    in_each_group(*made.ranks, [&] {
      if (are_there || made.ranks->number() > 0) session.take_eigenpairs(*pairs);
    });
  }
  return made;
}

}  // namespace staghorn
