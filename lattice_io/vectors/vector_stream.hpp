// Colour vectors of an HDF5 file one after the other, for those that are not all in memory at once. Collective.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/vectors/vector_file.hpp"

namespace staghorn {

// What a new file holds, but for the numbers.
struct NewVectorFile {
  std::string name;  // of the dataset
  Precision precision = Precision::fp64;
  std::map<std::string, std::string> attributes;
  int compress = 0;  // Replacing::compress
};

// The vectors of a new file, in any order and at any time.
class VectorWriter {
 public:
  // For the file `path`, which exists: what an earlier writer left in it may be read back. `job`: the ranks of several
  // groups, each of which writes vectors of its own by a writer of its own; they finish the file together. All
  // references must outlive the writer.
  VectorWriter(const Communicator& communicator, const std::string& path, const Lattice& lattice,
               std::int64_t n_vectors, const std::string& name, Precision precision, const Communicator* job = nullptr);

  // Makes the file one of HDF5, and leaves one as it is that an earlier writer has made so. The first write does it
  // too, where there are no groups. Collective over the job.
  void begin();
  // Takes all out of the file. Collective over the job.
  void empty();

  // Each vector is written once, or, where an earlier writer has written it, read back and accepted. What is read back
  // may be anything; where the file ends before, that throws Error.
  void write(std::int64_t k, const VectorField& vector);
  void read_back(std::int64_t k, VectorField& vector);
  void accept(std::int64_t k, const VectorField& vector);

  void flush();  // puts what was written on the disk
  // Once every vector is there: flushes, writes the rest of the file, and compresses it (Replacing::compress).
  // Collective over the job.
  void finish(std::map<std::string, std::string> attributes, int compress = 0);

 private:
  void move(std::int64_t k, const VectorField& vector, bool stores);

  const Communicator& communicator_;
  const Communicator& job_;
  const Lattice& lattice_;
  std::string path_, name_;
  std::int64_t n_vectors_ = 0;
  std::int64_t data_offset_ = 0;  // 0: the file has not begun
  Precision precision_{};
  std::int64_t site_bytes_{};
  std::optional<PosixFile> file_;
  std::unique_ptr<SiteChecksum> checksum_;
};

// Fills the empty file `path` with n_vectors vectors and closes it, flushed to the disk. `vector(k)` is asked for k =
// 0, 1,
// ... once each, on every rank; what it returns must last until it is asked again.
void fill_with_vectors(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                       std::int64_t n_vectors, const NewVectorFile& described,
                       const std::function<const VectorField&(std::int64_t)>& vector);

// What dataset `name` of an HDF5 file is. Throws Error where it is absent or damaged.
VectorHeader read_stream_header(const Communicator& communicator, const std::string& path, const std::string& name);

// Reads vector k alone, and compares nothing. Throws Error where the extents are not those of the lattice.
void read_one_vector(const Communicator& communicator, const VectorHeader& header, std::int64_t k, VectorField& vector);

// Reads the vectors one after the other: `begin(k)` says where vector k goes, `end(k)` is called once it is there.
// Returns the checksums of the file beside those of what was read; a wrong one does not throw.
ChecksumResults read_each_vector(const Communicator& communicator, const VectorHeader& header, const Lattice& lattice,
                                 const std::function<VectorField&(std::int64_t)>& begin,
                                 const std::function<void(std::int64_t)>& end = {});

}  // namespace staghorn
