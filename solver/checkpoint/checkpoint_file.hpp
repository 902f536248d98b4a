// One checkpoint in an HDF5 file: texts, the values of a state, and vectors one after the other. Collective throughout.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"
#include "solver/search/archive.hpp"
#include "solver/search/search_keeper.hpp"

namespace staghorn {

// How far the search of a state has come, in all.
struct Reached {
  long count = 0;
  std::string counted;  // "iterations"
  void visit(const Archive& archive);
};
inline std::string to_string(const Reached& reached) { return std::to_string(reached.count) + " " + reached.counted; }

struct CheckpointContents {
  std::map<std::string, std::string> texts;  // what the solve is
  Archive state;
  std::int64_t n_vectors = 0;
  Reached reached{};
};

// The file is of a version of Staghorn that keeps states in another way.
class OtherCheckpointVersion : public FileError {
 public:
  using FileError::FileError;
};

// Vectors of one parity share fields of a checkpoint by twos: one lives on even sites, the next on odd ones. Local.
class SharedFields {
 public:
  void add(const std::vector<ColumnVector>& of_one_rhs) {
    vectors_.insert(vectors_.end(), of_one_rhs.begin(), of_one_rhs.end());
    vectors_.resize(2 * ((vectors_.size() + 1) / 2));  // where their number is odd, the last has a field of its own
  }
  std::size_t size() const { return vectors_.size() / 2; }
  // Field k from its vectors, and back.
  const VectorField& unpack(std::size_t k, VectorField& field) const;
  void pack(std::size_t k, const VectorField& field) const;

 private:
  std::vector<ColumnVector> vectors_;
};

// Writes `path`: beside it, flushed to the disk, then renamed. With `keep_previous` a file that was there is kept as
// previous_checkpoint(path). `vector(k)` is asked once for k = 0, 1, ... Returns the bytes of the file. Throws Error
// where it cannot be written; what was there before is then there still.
std::int64_t write_checkpoint(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                              const CheckpointContents& contents,
                              const std::function<const VectorField&(std::int64_t)>& vector, bool keep_previous = true);

std::string previous_checkpoint(const std::string& path);  // "PATH.1", beside the file that a link leads to
// "PATH.1of2": that of group `number`, from 0, of a job in `count` groups. Local.
std::string checkpoint_of_group(const std::string& path, int number, int count);
// Throws Error where there is a checkpoint of this name by a job in another number of groups; 1: in none. Collective.
void require_same_groups(const Communicator& communicator, const std::string& path, int count);
// Removes both, of a job whose results are certified and written. What cannot be removed stays. Collective.
void remove_checkpoints(const Communicator& communicator, const std::string& path);

// All but the vectors. Throws Error where the file is no whole checkpoint, OtherCheckpointVersion where it is of
// another version.
CheckpointContents read_checkpoint(const Communicator& communicator, const std::string& path);

// Reads the vectors one after the other into `space`; `take(k)` is called when vector k is there. Throws Error where a
// checksum differs.
void read_checkpoint_vectors(const Communicator& communicator, const std::string& path, VectorField& space,
                             const std::function<void(std::int64_t)>& take);

}  // namespace staghorn
