#include "lattice_io/hdf5/catalogue.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "halo/child/bounded_child.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/surroundings.hpp"
#include "lattice_io/files/foreign_files.hpp"
#include "lattice_io/hdf5/site_reader.hpp"

namespace staghorn {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Hdf5Dataset, path, name, shape, is_complex, precision, data_offset, attributes)

namespace {

std::string without_slash(const std::string& name) { return name.substr(name.starts_with('/')); }

std::string names_of(const std::vector<std::string>& members, const std::string& group) {
  std::string names;
  for (const std::string& name : members)
    names += (names.empty() ? "" : ", ") + group + (group.empty() ? "" : "/") + name.substr(0, 64);
  return names.empty() ? "none" : names;
}

// By a child, if the surroundings ask for one.
Hdf5Catalogue look(const std::string& path, const std::vector<std::string>& wanted) {
  const std::string program = Surroundings::current().probe();
  if (program.empty()) return walk_hdf5(path, wanted);
  std::vector<std::string> words = {"--look-at-hdf5", path};
  words.insert(words.end(), wanted.begin(), wanted.end());
  const ChildResult found = run_bounded_child(program, words);
  if (found.output.empty())
    throw FileError(path + ": the HDF5 library " + found.end +
                    " on this file: it is damaged. The option `no_probe` reads it in this process");
  if (found.output[0] == 'E') throw FileError(found.output.substr(1));
  return Hdf5Catalogue::from_text(path, found.output.substr(1));
}

}  // namespace

std::int64_t Hdf5Dataset::value_bytes() const { return (is_complex ? 2 : 1) * bytes_per_real(precision); }
std::int64_t Hdf5Dataset::n_values() const { return number_of_values(shape); }

std::int64_t number_of_values(const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

bool Hdf5Catalogue::contains(const std::string& name) const {
  const std::vector<std::string> members = members_of("");
  return std::find(members.begin(), members.end(), name) != members.end();
}

std::vector<std::string> Hdf5Catalogue::members_of(const std::string& name) const {
  const auto group = groups_.find(without_slash(name));
  return group == groups_.end() ? std::vector<std::string>() : group->second;
}

const Hdf5Dataset& Hdf5Catalogue::any_dataset(const std::string& asked, const std::string& advice) const {
  const std::string name = without_slash(asked);
  if (const auto fault = faults_.find(name); fault != faults_.end()) throw FileError(fault->second);
  if (const auto found = datasets_.find(name); found != datasets_.end()) return found->second;
  std::string found = "a group with " + names_of(members_of(name), name), here = name;
  if (!groups_.count(name)) {
    while (!groups_.count(here) && !datasets_.count(here))
      here = here.substr(0, std::max<std::size_t>(here.rfind('/') + 1, 1) - 1);
    found = datasets_.count(here) ? "a dataset " + here : names_of(members_of(here), here);
  } else if (name.empty()) {
    found = names_of(members_of(""), "");
  }
  throw FileError(path_, "an HDF5 dataset " + asked, found + advice);
}

const Hdf5Dataset& Hdf5Catalogue::dataset(const std::string& name, const std::string& advice, bool or_integers) const {
  const Hdf5Dataset& dataset = any_dataset(name, advice);
  if (!dataset.is_complex && !(or_integers && dataset.precision == Precision::fp16))
    throw FileError(path_ + ": dataset " + name,
                    std::string(or_integers ? "16-bit integers, or " : "") +
                        "complex numbers: a compound {r, i} of 32- or 64-bit reals",
                    "another type");
  if (dataset.n_values() == 0)
    throw FileError(path_ + ": dataset " + name, "numbers", "none: no value, or an extent of 0");
  return dataset;
}

std::vector<double> Hdf5Catalogue::reals(const std::string& name) const {
  const Hdf5Dataset& dataset = any_dataset(name, "");
  constexpr std::int64_t most = 1 << 24;
  if (dataset.shape.size() != 1 || dataset.is_complex || dataset.precision != Precision::fp64 ||
      dataset.shape[0] > most)
    throw FileError(path_ + ": dataset " + name, "64-bit reals of one dimension", "something else");
  std::vector<double> values(std::size_t(dataset.shape[0]));
  if (!values.empty()) Hdf5SiteReader(dataset, 1).read(0, std::as_writable_bytes(std::span(values)));
  return values;
}

std::string Hdf5Catalogue::text() const {
  std::string bytes;
  nlohmann::json::to_msgpack({groups_, datasets_, faults_}, bytes);
  return bytes;
}

Hdf5Catalogue Hdf5Catalogue::from_text(const std::string& path, const std::string& text) try {
  Hdf5Catalogue catalogue;
  catalogue.path_ = path;
  if (text.empty()) return catalogue;
  const nlohmann::json json = nlohmann::json::from_msgpack(text);
  json.at(0).get_to(catalogue.groups_);
  json.at(1).get_to(catalogue.datasets_);
  json.at(2).get_to(catalogue.faults_);
  return catalogue;
} catch (const nlohmann::json::exception& error) {
  throw FileError(path + ": what the HDF5 library found there is damaged: " + error.what());
}

Hdf5Catalogue read_hdf5_catalogue(const Communicator& communicator, const std::string& path,
                                  const std::vector<std::string>& wanted) {
  const Activity activity("looking at an HDF5 file");
  Hdf5Catalogue catalogue = Hdf5Catalogue::from_text(path, "");
  communicator.agree([&] {
    if (communicator.is_root() && find_hdf5(PosixFile::open_to_read(path))) catalogue = look(path, wanted);
  });
  if (communicator.size() == 1) return catalogue;
  const std::string text = communicator.broadcast(communicator.is_root() ? catalogue.text() : "");
  return Hdf5Catalogue::from_text(path, text);
}

}  // namespace staghorn
