// The files that a solve writes its state to, one after the other: when, and which one it goes on from. Collective
// throughout.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "halo/watch/stopwatch.hpp"
#include "lattice_io/files/output_file.hpp"
#include "solver/checkpoint/checkpoint_file.hpp"
#include "solver/report/run_setting.hpp"
#include "solver/request/asked_checkpoint.hpp"

namespace staghorn {

class CheckpointSeries {
 public:
  // `identity`: what the solve is, text by text. With `asked.resume` the solve
  // goes on from that file, or, where that is damaged or absent, from the one before; where there is none it begins.
  // Throws Error where a checkpoint is of another solve, naming the text that differs; where the file exists and
  // `resume` is not asked for; where another job writes to it or to the one before; and where it cannot be written.
  // `communicator` and `lattice` must outlive this.
  CheckpointSeries(const Communicator& communicator, const Lattice& lattice, const AskedCheckpoint& asked,
                   std::map<std::string, std::string> identity);

  // What the solve goes on from, and its file; nothing where it begins.
  const std::optional<CheckpointContents>& found() const { return found_; }
  const std::string& found_path() const { return summary_.resumed_from; }
  void note(const std::string& text) { summary_.notes.push_back(text); }

  // Every `asked.checkpoint_every` seconds, and when a signal asks for it (halo/watch/signal_watch.hpp).
  bool is_due();
  // Writes a state, which has come so far, and n_vectors vectors, `vector(k)` as write_checkpoint has it. A disk that
  // is full is noted, and the solve goes on. Throws EndedWithCheckpoint where a signal asked for the end.
  void write(const Archive& state, Reached reached, std::int64_t n_vectors,
             const std::function<const VectorField&(std::int64_t)>& vector);

  CheckpointSummary summary() const;

 private:
  enum class Due { no, save, end };
  void find_state();

  const Communicator& communicator_;
  const Lattice& lattice_;
  std::string path_;
  ClaimedNames names_;
  double every_;
  std::map<std::string, std::string> identity_;
  std::optional<CheckpointContents> found_;
  bool newest_is_damaged_ = false;  // then the one before it is not given up for it
  Due due_ = Due::no;
  int saves_seen_ = 0;
  Stopwatch since_last_;
  CheckpointSummary summary_;
};

}  // namespace staghorn
