#include "solver/checkpoint/checkpoint_series.hpp"

#include "halo/watch/activity.hpp"
#include "halo/watch/signal_watch.hpp"
#include "lattice_io/files/header_text.hpp"
#include "solver/search/search_keeper.hpp"

namespace staghorn {

CheckpointSeries::CheckpointSeries(const Communicator& communicator, const Lattice& lattice,
                                   const AskedCheckpoint& asked, std::map<std::string, std::string> identity)
    : communicator_(communicator),
      lattice_(lattice),
      path_(*asked.checkpoint),
      names_(communicator),
      every_(asked.checkpoint_every),
      identity_(std::move(identity)),
      saves_seen_(times_asked_to_save()) {
  summary_.file = path_;
  for (const std::string& path : {path_, previous_checkpoint(path_)}) names_.claim(path, true);
  if (asked.resume)
    find_state();
  else if (file_exists(communicator, path_))
    throw FileError(path_ + " exists already; `resume` goes on from it");
}

void CheckpointSeries::find_state() {
  for (const std::string& path : {path_, previous_checkpoint(path_)}) {
    if (!file_exists(communicator_, path)) continue;
    CheckpointContents contents;
    try {
      contents = read_checkpoint(communicator_, path);
      VectorField space(lattice_);
      read_checkpoint_vectors(communicator_, path, space, {});
    } catch (const LocalError&) {
      throw;
    } catch (const OtherCheckpointVersion&) {
      throw;
    } catch (const Error& error) {
      summary_.notes.push_back(error.what());
      newest_is_damaged_ = newest_is_damaged_ || path == path_;
      continue;
    }
    for (const auto& [name, expected] : identity_)
      if (const std::string& found = contents.texts[name]; found != printable(expected))  // as attributes are read
        throw FileError("checkpoint " + path + ": " + name, expected, found.empty() ? "none" : found);
    summary_.resumed_iterations = contents.reached.count;
    found_ = std::move(contents);
    summary_.resumed_from = path;
    return;
  }
  if (!summary_.notes.empty()) throw FileError("no checkpoint can be used: " + summary_.notes.front());
}

bool CheckpointSeries::is_due() {
  const bool save = times_asked_to_save() != saves_seen_ || since_last_.seconds() >= every_;
  const Due here = signal_asked_to_end() ? Due::end : save ? Due::save : Due::no;
  due_ = Due(int(communicator_.max(double(here))));
  return due_ != Due::no;
}

void CheckpointSeries::write(const Archive& state, Reached reached, std::int64_t n_vectors,
                             const std::function<const VectorField&(std::int64_t)>& vector) {
  const Activity activity("checkpoint");
  const Stopwatch writing;
  saves_seen_ = times_asked_to_save();
  state("reached", reached);
  try {
    summary_.bytes = double(
        write_checkpoint(communicator_, path_, lattice_, {identity_, state, n_vectors}, vector, !newest_is_damaged_));
    newest_is_damaged_ = false;
    ++summary_.written;
  } catch (const LocalError&) {
    throw;
  } catch (const Error& error) {  // a full disk is no reason to lose the solve
    if (due_ == Due::end) throw;
    summary_.notes.push_back(error.what());
  }
  summary_.seconds += writing.seconds();
  since_last_ = Stopwatch();
  if (due_ == Due::end)
    throw EndedWithCheckpoint("ended by a signal after " + to_string(reached) + "; `resume` goes on from " + path_);
}

CheckpointSummary CheckpointSeries::summary() const {
  CheckpointSummary summary = summary_;
  summary.seconds = communicator_.max(summary.seconds);
  return summary;
}

}  // namespace staghorn
