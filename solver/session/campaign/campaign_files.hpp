// Names of a campaign's files, and the solutions of one configuration in one file or several. Private to this folder.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "solver/session/campaign/campaign.hpp"
#include "solver/session/many/solve_many.hpp"

namespace staghorn {

// {gauge} and {n} of a configuration, for patterns. Local.
std::map<std::string, std::string> fields_of_gauge(const std::string& gauge);

// Where the solutions of one configuration go. A file has all masses, or one where the pattern has {mass}; all sources,
// or one where it has {source}.
struct SolutionFile {
  std::string path;
  std::optional<std::size_t> mass, source;  // which one; absent: all
};

// The files for masses (texts) and sources (names). {source} is the name with letters, digits, dots and dashes alone,
// of a file its stem. Empty without `output`. Throws Error where two would have one name. Local.
std::vector<SolutionFile> solution_files(const std::optional<std::string>& output, const std::string& gauge,
                                         const std::vector<std::string>& masses,
                                         const std::vector<std::string>& sources);

// Solutions on their way into these files.
class CampaignSolutions final : public SolutionSink {
 public:
  // `masses`: how many. Throws Error as GrowingSolutions does. `communicator` and `lattice` must outlive this.
  CampaignSolutions(const Communicator& communicator, const Lattice& lattice, const std::vector<SolutionFile>& files,
                    const SourceList& sources, std::size_t masses, bool force, WhenUnfinished unfinished);
  void take(std::size_t number, const VectorField& x) override;
  bool can_go_on() const override { return !files_.empty() && files_[0].file->can_go_on(); }
  void begin_anew() override;
  void read_back(std::size_t number, VectorField& x) override;
  void accept(std::size_t number, const VectorField& x) override;
  void flush() override;
  void finish(const SolveReport& report);  // once all are there: the files get their names together

 private:
  struct Part {
    SolutionFile names;
    std::vector<std::size_t> numbers;  // of its solutions
    std::unique_ptr<GrowingSolutions> file;
  };

  const Communicator& communicator_;
  std::vector<Part> files_;
  std::vector<std::pair<std::size_t, std::size_t>> place_;  // of each solution: file, and number in it
};

// Whether `path` is a complete file of n certified solutions. Collective.
bool holds_certified_solutions(const Communicator& communicator, const std::string& path, std::size_t n);

}  // namespace staghorn
