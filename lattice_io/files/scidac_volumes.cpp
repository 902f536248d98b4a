#include "lattice_io/files/scidac_volumes.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/lime.hpp"

namespace staghorn {

namespace {

const std::string first_ending = ".vol0000";

// The files NAME.volNNNN that are there, by number. QIO numbers them by the ranks that wrote them, not all of which
// did.
std::map<std::int64_t, std::string> volumes_of(const std::string& name) {
  const std::filesystem::path stem(name);
  const std::string start = stem.filename().string() + ".vol";
  std::map<std::int64_t, std::string> paths;
  std::error_code failure;
  const std::filesystem::path folder = stem.has_parent_path() ? stem.parent_path() : ".";
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(start)) continue;
    const std::string number = file.substr(start.size());
    const bool is_number = number.find_first_not_of("0123456789") == std::string::npos;
    if (is_number && number.size() >= 4 && number.size() <= 9) paths[std::stoll(number)] = name + ".vol" + number;
  }
  return paths;
}

std::vector<std::uint32_t> read_site_list(const PosixFile& file, const LimeRecord& record, std::int64_t lattice_sites) {
  if (record.bytes % 4 != 0 || record.bytes > 4 * lattice_sites)
    throw FileError(file.path() + ": record scidac-sitelist",
                    "4 bytes for each of at most " + std::to_string(lattice_sites) + " sites", record.bytes);
  std::vector<std::byte> bytes(std::size_t(record.bytes));
  file.read(record.offset, bytes);
  std::vector<std::uint32_t> sites(bytes.size() / 4);
  for (std::size_t i = 0; i < sites.size(); ++i) sites[i] = load_word<std::uint32_t>(bytes.data() + 4 * i, true);
  return sites;
}

}  // namespace

std::string name_of_volumes(const std::string& path) {
  return path.ends_with(first_ending) ? path.substr(0, path.size() - first_ending.size()) : "";
}

ScidacVolumes::ScidacVolumes(const std::string& first, const Extents& extents) {
  const std::string name = name_of_volumes(first);
  if (name.empty())
    throw FileError(first + ": the first of several volumes", "a name that ends in " + first_ending, "another");
  const std::int64_t lattice_sites = volume(extents);
  std::int64_t found = 0;
  const std::map<std::int64_t, std::string> paths = volumes_of(name);
  for (const auto& [number, path] : paths) {
    take(path, lattice_sites);
    found += volumes_.back().n_sites;
  }
  if (found < lattice_sites)
    throw FileError(name + ": sites of " + to_string(extents) + " in " + std::to_string(paths.size()) +
                        " volumes, the last " + (paths.empty() ? "none" : paths.rbegin()->second),
                    std::to_string(lattice_sites), found);
  std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.first_site < b.first_site; });
  std::int64_t next = 0;
  for (const Run& run : runs_) {
    if (run.first_site != next)
      throw FileError(name + ": site lists of the volumes", "site " + std::to_string(next) + " once",
                      run.first_site > next ? "not at all" : "site " + std::to_string(run.first_site) + " twice");
    next += run.n_sites;
  }
  if (next != lattice_sites)
    throw FileError(name + ": sites in the lists of the volumes", std::to_string(lattice_sites), next);
}

void ScidacVolumes::take(const std::string& path, std::int64_t lattice_sites) {
  Volume volume{path, -1, {}, {}};
  const PosixFile file = PosixFile::open_to_read(path);
  const std::size_t number = volumes_.size();
  for (const LimeRecord& record : read_lime_records(file).records) {
    if (record.type == "scidac-sitelist" && volume.n_sites < 0) {
      const std::vector<std::uint32_t> sites = read_site_list(file, record, lattice_sites);
      volume.n_sites = std::int64_t(sites.size());
      for (std::size_t i = 0; i < sites.size(); ++i) {
        if (i == 0 || sites[i] != sites[i - 1] + 1)
          runs_.push_back({std::int64_t(sites[i]), 0, number, std::int64_t(i)});
        ++runs_.back().n_sites;
      }
    } else if (record.type == "scidac-binary-data" || record.type == "ildg-binary-data") {
      volume.data_offsets.push_back(record.offset);
      volume.data_bytes.push_back(record.bytes);
    }
  }
  if (volume.n_sites < 1) throw FileError(path + ": part of a SciDAC file", "a record scidac-sitelist", "none");
  volumes_.push_back(std::move(volume));
}

void ScidacVolumes::require_field(std::size_t field, std::int64_t bytes_per_site) const {
  for (const Volume& volume : volumes_) {
    if (field >= volume.data_bytes.size())
      throw FileError(volume.path + ": fields", "at least " + std::to_string(field + 1), volume.data_bytes.size());
    if (volume.data_bytes[field] != volume.n_sites * bytes_per_site)
      throw FileError(volume.path + ": binary data of " + std::to_string(volume.n_sites) + " sites",
                      std::to_string(volume.n_sites * bytes_per_site) + " bytes", volume.data_bytes[field]);
  }
}

void ScidacVolumes::read(std::size_t field, std::int64_t bytes_per_site, std::int64_t first_site,
                         std::span<std::byte> sites) const {
  auto run = std::upper_bound(runs_.begin(), runs_.end(), first_site,
                              [](std::int64_t site, const Run& r) { return site < r.first_site; }) -
             1;
  std::optional<PosixFile> file;  // of volume `opened`
  std::size_t opened = volumes_.size();
  for (; !sites.empty(); ++run) {
    const std::int64_t within = first_site - run->first_site;
    const auto bytes = std::min(sites.size(), std::size_t((run->n_sites - within) * bytes_per_site));
    const Volume& volume = volumes_[run->volume];
    if (opened != run->volume) file.emplace(PosixFile::open_to_read(volume.path));
    opened = run->volume;
    file->read(volume.data_offsets[field] + (run->place + within) * bytes_per_site, sites.first(bytes));
    sites = sites.subspan(bytes);
    first_site += std::int64_t(bytes) / bytes_per_site;
  }
}

}  // namespace staghorn
