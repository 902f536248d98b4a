// The checkpoints of one solve: when one is written, which one the solve goes on from, and what is refused. Collective
// throughout.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "halo/watch/stopwatch.hpp"
#include "solver/checkpoint/checkpoint_file.hpp"
#include "solver/report/checkpoint_summary.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

class Checkpoints final : public SearchKeeper {
 public:
  // `request.checkpoint` names the file. `identity`: what the solve is, text by text. With `request.resume` the solve
  // goes on from that file, or, where that is damaged or absent, from the one before; where there is none it begins.
  // Throws Error where a checkpoint is of another solve, naming the text that differs; where the file exists and
  // `resume` is not asked for; and where it cannot be written. `communicator` and `lattice` must outlive this.
  Checkpoints(const Communicator& communicator, const Lattice& lattice, const SolveRequest& request,
              std::map<std::string, std::string> identity);

  // What surrounds the search: numbers, and solutions so far, which are kept if one of them is not zero. Both are asked
  // for whenever a checkpoint is written.
  void surround(std::function<SearchNumbers()> numbers, std::span<VectorField> solutions);
  // The numbers to go on from, where there are any; fills the solutions.
  const SearchNumbers* restore_surroundings();

  // Every `request.checkpoint_every` seconds, and when a signal asks for it (halo/watch/signal_watch.hpp).
  bool is_due() override;
  void keep(const SearchState& state) override;
  const SearchNumbers* kept_numbers() override;
  void restore(const std::vector<ColorVectorField*>& vectors) override;

  CheckpointSummary summary() const;

 private:
  enum class Due { no, save, end };
  void find_state();
  void write(const SearchState& state);

  const Communicator& communicator_;
  const Lattice& lattice_;
  std::string path_;
  double every_;
  std::map<std::string, std::string> identity_;
  std::function<SearchNumbers()> numbers_around_;
  std::span<VectorField> solutions_;
  std::optional<CheckpointContents> found_;
  std::string found_path_;
  bool handed_over_ = false;
  Due due_ = Due::no;
  int saves_seen_ = 0;
  Stopwatch since_last_;
  CheckpointSummary summary_;
};

}  // namespace staghorn
