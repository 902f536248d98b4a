// One checkpoint in an HDF5 file: texts, lists of numbers, and vectors one after the other. Collective throughout.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"
#include "solver/krylov/kept_rhs.hpp"

namespace staghorn {

struct CheckpointContents {
  std::map<std::string, std::string> texts;  // what the solve is
  SearchNumbers numbers;                     // kept to the last bit
  std::int64_t n_vectors = 0;
};

// Writes `path`: beside it, flushed to the disk, then renamed. With `keep_previous` a file that was there is kept as
// previous_checkpoint(path). `vector(k)` is asked once for k = 0, 1, ... Returns the bytes of the file. Throws Error
// where it cannot be written; what was there before is then there still.
std::int64_t write_checkpoint(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                              const CheckpointContents& contents,
                              const std::function<const VectorField&(std::int64_t)>& vector, bool keep_previous = true);

std::string previous_checkpoint(const std::string& path);  // "PATH.1", beside the file that a link leads to

// All but the vectors. Throws Error where the file is no whole checkpoint.
CheckpointContents read_checkpoint(const Communicator& communicator, const std::string& path);

// Reads the vectors one after the other into `space`; `take(k)` is called when vector k is there. Throws Error where a
// checksum differs.
void read_checkpoint_vectors(const Communicator& communicator, const std::string& path, VectorField& space,
                             const std::function<void(std::int64_t)>& take);

}  // namespace staghorn
