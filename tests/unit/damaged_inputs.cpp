// Reads thousands of damaged copies of one file in one process:
//
//   damaged_inputs [unverified-]gauge|source|solution FILE FOLDER FIRST_FLIP LAST_FLIP RANDOM SEED [X Y Z T]
//
// Bits FIRST_FLIP to LAST_FLIP - 1 of the file are flipped one by one. RANDOM further copies are damaged in a way drawn
// from SEED: flipped bits, other bytes, blocks zeroed, moved, repeated or cut out, ends cut off, and pairs of flips
// that cancel in a sum of 32-bit words. Each copy is written into FOLDER and read as `staghorn solve` would, with
// --no-verify where "unverified-" is in front. The lattice X Y Z T is that of vectors. Prints how many copies were
// refused, and how many were read with the same values; of the refused, how many ended the child that meets HDF5 first,
// which is forked here in place of a start of the program. Exit status 0: no copy was read with other values; 1: some
// were. A copy that takes 10 seconds of processor time ends the process.
#include <hdf5.h>
#include <omp.h>
#include <spawn.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "halo/cut_lattice.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/surroundings.hpp"
#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "lattice_io/vectors/vector_file.hpp"
#include "solver/program/probe/look_at_hdf5.hpp"

using namespace staghorn;

// In the place of that of the C library: a program need not start a million times.
extern "C" int posix_spawn(pid_t* child, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                           char* const words[], char* const*) noexcept {
  *child = ::fork();
  if (*child != 0) return *child < 0;
  int n_words = 0;
  while (words[n_words]) ++n_words;
  ::_exit(look_at_hdf5(n_words - 2, const_cast<char**>(words) + 2));
}

namespace {

constexpr long longest_seconds = 10;

using Values = std::vector<double>;

template <class Site>
void append(const SiteField<Site>& field, Values& values) {
  const auto* first = reinterpret_cast<const double*>(field.data());
  values.insert(values.end(), first, first + field.bytes() / std::int64_t(sizeof(double)));
}

struct Reader {
  const Communicator& communicator;
  std::string kind;
  bool verify;
  Extents extents;

  Values read(const std::string& path) const {
    Values values;
    if (kind == "gauge") {
      const GaugeHeader header = read_gauge_header(communicator, path);
      LinkField links(cut_lattice(communicator, header.extents));
      read_gauge(communicator, header, links, verify);
      append(links, values);
    } else {
      std::vector<std::string> unverified;
      const Lattice lattice = cut_lattice(communicator, extents);
      for (const VectorField& field : read_vectors(communicator, path, kind, lattice, verify ? nullptr : &unverified))
        append(field, values);
    }
    return values;
  }
};

class Damage {
 public:
  explicit Damage(std::uint64_t seed) : generator_(seed) {}

  std::string damaged(const std::string& content) {
    std::string copy = content;
    switch (below(8)) {
      case 0:
        flip(copy);
        break;
      case 1:
        for (std::size_t n = 2 + below(4); n > 0; --n) flip(copy);
        break;
      case 2:
        for (std::size_t n = 1 + below(8); n > 0; --n) copy[place(copy)] = char(below(256));
        break;
      case 3: {
        const std::size_t at = place(copy), n = std::min(copy.size() - at, 1 + below(64));
        std::memset(copy.data() + at, int(below(2) * 255), n);
        break;
      }
      case 4: {
        const std::size_t from = place(copy), to = place(copy);
        const std::size_t n = std::min(copy.size() - std::max(from, to), 1 + below(64));
        std::memmove(copy.data() + to, copy.data() + from, n);
        break;
      }
      case 5:
        copy.erase(place(copy), 1 + below(16));
        break;
      case 6:
        copy.resize(place(copy));
        break;
      default:
        cancel(copy);
    }
    return copy;
  }

 private:
  std::size_t below(std::size_t n) { return std::size_t(generator_() % n); }
  // Half of the places lie in the first or last 2 KiB, where headers are.
  std::size_t place(const std::string& copy) {
    const std::size_t header = std::min<std::size_t>(copy.size(), 2048);
    switch (below(4)) {
      case 0:
        return below(header);
      case 1:
        return copy.size() - 1 - below(header);
      default:
        return below(copy.size());
    }
  }
  void flip(std::string& copy) { copy[place(copy)] ^= char(1 << below(8)); }
  // One bit of two words, set in one and not in the other. Words count from the end, where the numbers are.
  void cancel(std::string& copy) {
    const std::size_t words = copy.size() / 4, bit = below(32);
    const auto byte = [&](std::size_t word) { return copy.size() - 4 * (word + 1) + bit / 8; };
    const std::size_t a = byte(below(words));
    for (int attempts = 0; attempts < 100; ++attempts) {
      const std::size_t b = byte(below(words));
      // MILC's sums rotate words by their place modulo 29 and 31: pairs 899 words apart are beyond that format.
      if ((a > b ? a - b : b - a) / 4 % (29 * 31) == 0) continue;
      if (((copy[a] ^ copy[b]) >> (bit % 8) & 1) == 0) continue;
      copy[a] ^= char(1 << bit % 8);
      copy[b] ^= char(1 << bit % 8);
      return;
    }
  }

  std::mt19937_64 generator_;
};

void put(const std::string& path, const std::string& content) {
  if (::access(path.c_str(), F_OK) != 0) PosixFile::create(path);
  if (::truncate(path.c_str(), off_t(content.size())) != 0) throw Error(path, "a file of that size", content.size());
  PosixFile::open_to_write(path).write_text(0, content);
}

// So many seconds of processor time from now on end the process; 0: as much as it takes.
void limit_processor_time(long seconds) {
  const itimerval limit{{}, {seconds, 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

struct Counts {
  long copies = 0, refused = 0, same = 0, changed = 0, ended_by_signal = 0, out_of_time = 0;
};

void try_copy(const Reader& reader, const std::string& path, const std::string& copy, const Values& intact,
              Counts& counts) {
  put(path, copy);
  ++counts.copies;
  limit_processor_time(longest_seconds);
  try {
    const Values found = reader.read(path);
    const bool same = found.size() == intact.size() && std::memcmp(found.data(), intact.data(), 8 * intact.size()) == 0;
    ++(same ? counts.same : counts.changed);
    if (!same && counts.changed == 1) put(path + ".changed", copy);
  } catch (const Error& error) {
    ++counts.refused;
    const std::string words = error.what();
    counts.ended_by_signal += words.find("library ended by signal") != std::string::npos;
    counts.out_of_time += words.find("library did not end in time") != std::string::npos;
  }
  limit_processor_time(0);
}

int run(const Communicator& communicator, char** words, int n_words) {
  const auto number = [&](int k) { return std::strtoul(words[k], nullptr, 10); };
  const std::string kind = words[0], prefix = "unverified-";
  const bool verify = kind.rfind(prefix, 0) != 0;
  Reader reader{communicator, verify ? kind : kind.substr(prefix.size()), verify, {}};
  for (int mu = 0; mu < 4 && 7 + mu < n_words; ++mu) reader.extents[std::size_t(mu)] = int(number(7 + mu));
  const PosixFile file = PosixFile::open_to_read(words[1]);
  const std::string content = file.read_text(0, file.size()), path = std::string(words[2]) + "/damaged";
  const Values intact = reader.read(words[1]);
  Counts counts;
  for (std::size_t bit = number(3); bit < std::min(number(4), 8 * content.size()); ++bit) {
    std::string copy = content;
    copy[bit / 8] ^= char(1 << bit % 8);
    try_copy(reader, path, copy, intact, counts);
  }
  Damage damage(number(6));
  for (std::size_t k = 0; k < number(5); ++k) try_copy(reader, path, damage.damaged(content), intact, counts);
  std::printf("copies %ld refused %ld same %ld changed %ld ended_by_signal %ld out_of_time %ld\n", counts.copies,
              counts.refused, counts.same, counts.changed, counts.ended_by_signal, counts.out_of_time);
  return counts.changed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8 && argc != 12) {
    std::fprintf(stderr, "damaged_inputs gauge|source|solution FILE FOLDER FIRST LAST RANDOM SEED [X Y Z T]\n");
    return 2;
  }
  const MpiSession mpi;
  const Communicator communicator(MPI_COMM_WORLD);
  Surroundings::current().set_probe("forked");
  H5open();                // the library starts here once, not in each child
  omp_set_num_threads(1);  // a small file leaves several threads nothing but waiting
  try {
    return run(communicator, argv + 1, argc - 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "damaged_inputs: %s\n", error.what());
    return 3;
  }
}
