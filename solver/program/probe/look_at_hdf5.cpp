#include "solver/program/probe/look_at_hdf5.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "halo/child/bounded_child.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/surroundings.hpp"
#include "lattice_io/hdf5/site_reader.hpp"

namespace staghorn {

namespace {

constexpr std::int64_t more_bytes = std::int64_t{4} << 30;

// Of processor time, for a file or for numbers of so many bytes: a walk takes milliseconds.
long seconds_for(std::int64_t bytes, long most) {
  constexpr std::int64_t bytes_per_second = 20'000'000;
  return long(1 + std::min<std::int64_t>(most, bytes / bytes_per_second));
}

void read_numbers(const Hdf5Dataset& dataset) {
  constexpr std::int64_t most_at_once = 1 << 20;
  const Hdf5SiteReader reader(dataset, int(dataset.shape.size()));
  std::vector<std::byte> values;
  for (std::int64_t at = 0; at < dataset.n_values(); at += most_at_once) {
    values.resize(std::size_t(std::min(most_at_once, dataset.n_values() - at) * dataset.value_bytes()));
    reader.read(at, values);
  }
}

std::string catalogue_text(const std::string& path, const std::vector<std::string>& wanted) {
  bound_this_child(seconds_for(PosixFile::open_to_read(path).size(), 20), 0);
  Hdf5Catalogue catalogue = walk_hdf5(path, wanted);
  for (const auto& [name, dataset] : catalogue.datasets()) try {
      if (dataset.data_offset >= 0) continue;
      bound_this_child(seconds_for(dataset.n_values() * dataset.value_bytes(), 3600), 0);
      read_numbers(dataset);
    } catch (const Error& error) {
      catalogue.refuse(name, error.what());
    }
  return catalogue.text();
}

}  // namespace

int look_at_hdf5(int n_words, char** words) {
  if (n_words < 2) return 2;
  bound_this_child(1, more_bytes);
  const char* const fault = environment_variable("STAGHORN_FAIL_PROBE");  // for tests
  if (fault && std::string_view(fault) == "signal") std::raise(SIGSEGV);
  if (fault && std::string_view(fault) == "time")
    for (volatile bool waits = true; waits;) {
    }
  std::string result;
  try {
    result = "C" + catalogue_text(words[0], {words + 1, words + n_words - 1});
  } catch (const std::exception& error) {
    result = std::string("E") + error.what();
  }
  hand_back(std::atoi(words[n_words - 1]), result);
  return 0;
}

}  // namespace staghorn
