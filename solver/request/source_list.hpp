// Many sources, made one vector at a time: what a list in words or in a file asks for.
#pragma once

#include <string>
#include <vector>

#include "lattice_io/vectors/vector_file.hpp"
#include "solver/request/solve_request.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

// A word of a list, and where it stands: "FILE, line 3", or "".
struct ListWord {
  std::string text, where;
};

// The words that `text` lists: separated by `;`, or of "@FILE" the lines of that file without those that are empty or
// begin with #. Collective.
std::vector<ListWord> read_list(const Communicator& communicator, const std::string& text);

// The sources that words name. `alike` says colour and number of noise vectors of each. Throws Error naming the source
// and where it stands. Local.
std::vector<SourceRequest> parse_sources(const std::vector<ListWord>& words, const SourceRequest& alike);

// Both together. Throws Error where there is no source. Collective.
std::vector<SourceRequest> read_source_list(const Communicator& communicator, const std::string& text,
                                            const SourceRequest& alike);

class SourceList {
 public:
  struct Entry {
    SourceRequest request;
    std::string name;                  // "z2:7"
    std::size_t first = 0, n = 0;      // its right-hand sides
    std::optional<VectorHeader> file;  // HDF5, from which one vector after the other is read
    std::vector<VectorField> fields;   // of other files, read whole, and of those that are there already
    std::uint64_t hash = 0;            // of the numbers of files and of vectors that are there already
    bool is_noise() const { return request.spec.is_noise(); }
  };

  // Refuses now what would end the job later: sources off the lattice, files that cannot be read, checksums that are
  // absent or wrong (unless `no_verify`), numbers that are not finite, and vectors that are zero on the sites of
  // `system`. `apply`: operators of sources. `communicator` and `lattice` must outlive the list. Throws Error.
  // Collective.
  SourceList(const Communicator& communicator, const Lattice& lattice, const std::vector<SourceRequest>& sources,
             System system, bool no_verify, ApplyOperators apply = {});

  // Vectors that are there already, called by one name. They are finite, and not zero on the sites of `system`, or this
  // throws Error. Collective.
  SourceList(const Communicator& communicator, const Lattice& lattice, const std::string& name,
             std::vector<VectorField> fields, System system);

  std::size_t size() const { return size_; }  // right-hand sides
  const std::vector<Entry>& entries() const { return entries_; }
  std::size_t entry_of(std::size_t rhs) const;
  int color(std::size_t rhs) const;         // 0, 1, 2, or -1 where the source has none
  VectorField make(std::size_t rhs) const;  // collective
  std::string identity() const;             // 16 digits that tell one list from another. Local.
  const std::vector<std::string>& unverified() const { return unverified_; }  // what no_verify let pass

 private:
  VectorField make(const Entry& entry, std::size_t number) const;
  void check(Entry& entry, const VectorField& vector, std::size_t number, System system) const;
  void add(Entry entry);

  const Communicator& communicator_;
  const Lattice& lattice_;
  ApplyOperators apply_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> entry_of_;  // of each right-hand side
  std::size_t size_ = 0;
  std::vector<std::string> unverified_;
};

}  // namespace staghorn
