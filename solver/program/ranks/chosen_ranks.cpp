#include "solver/program/ranks/chosen_ranks.hpp"

#include <array>
#include <exception>
#include <optional>
#include <string>

#include "halo/watch/error.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "lattice_io/gauge/improved_files.hpp"
#include "solver/machine/shares/share_choice.hpp"
#include "solver/request/words/usage_error.hpp"
#include "solver/search/search_keeper.hpp"

namespace staghorn {

namespace {

enum class Ending : std::int64_t { status, usage, error, checkpoint };
constexpr double patience_with_errors = 5;  // seconds, as of the program's last message

Extents lattice_of_links(const Communicator& all, const std::string& gauge, const SessionOptions& options) {
  const QuarkAction& quarks = options.quarks;
  if (quarks.stored()) return read_improved_headers(all, *quarks.fat, *quarks.naik).fat.extents;
  return read_gauge_header(all, gauge, options.dataset).extents;
}

}  // namespace

int on_chosen_ranks(const Communicator& all, const std::string& gauge, SessionOptions& options,
                    const std::function<void(ClaimedNames&)>& claim,
                    const std::function<int(const Communicator&)>& work) {
  all.agree([&] { options.slowness = slowness_of(options, all); });  // ranks are numbered as in the whole job
  std::optional<ClaimedNames> names(all);
  claim(*names);
  if (!options.shares.automatic) return work(all);
  const ShareChoice choice = choose_shares(all, lattice_of_links(all, gauge, options), options, options.mapping, true);
  options = choice.options;
  if (choice.summary->left_out.empty()) return work(all);

  names.reset();  // they belong to the process that writes
  const Communicator group = all.split(choice.works ? 0 : 1, all.rank());
  Ending ending = Ending::status;
  int status = 0;
  std::string words;
  std::exception_ptr failure;
  if (choice.works) {
    const Communicator farewell(group.handle());  // as in the program: an error of some ranks alone ends the job
    try {
      ClaimedNames of_group(group);
      claim(of_group);
      status = work(group);
    } catch (const LocalError&) {
      throw;
    } catch (const Error& error) {
      const bool kept = dynamic_cast<const EndedWithCheckpoint*>(&error) != nullptr;
      if (!kept && !farewell.all_arrive(patience_with_errors)) throw LocalError(error.what());
      const bool usage = dynamic_cast<const UsageError*>(&error) != nullptr;
      ending = kept ? Ending::checkpoint : usage ? Ending::usage : Ending::error;
      words = error.what();
      failure = std::current_exception();
    }
  }
  all.patient_barrier();
  std::array<std::int64_t, 2> told{std::int64_t(ending), status};
  all.broadcast(told.data(), sizeof told);
  words = all.broadcast(words);
  if (failure) std::rethrow_exception(failure);
  if (told[0] == std::int64_t(Ending::checkpoint)) throw EndedWithCheckpoint(words);
  if (told[0] == std::int64_t(Ending::usage)) throw UsageError(words);
  if (told[0] == std::int64_t(Ending::error)) throw Error(words);
  return int(told[1]);
}

}  // namespace staghorn
