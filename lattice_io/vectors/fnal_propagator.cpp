// FNAL's staggered propagators: a header of 36 bytes and three colour vectors a site in fp32, in either byte order.
//
//   int32 magic = 71626434 | int32 time stamp | int32 bytes a real = 4 | int32 reals a site = 18 | int32 X, Y, Z, T |
//   int32 order = 0 | vectors: colour of the source, colour of the sink
//
// The file has no checksum. MILC writes one for each time slice into a text file beside it, PATH.info:
// quark.t[3].checksum  "sum29 sum31", over the words of the slice.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <sstream>

#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/files/site_slabs.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/vectors/vector_format.hpp"

namespace staghorn {

namespace {

constexpr std::int64_t header_bytes = 9 * 4, colors = 3, site_bytes = 4 * colors * reals_per_vector;

std::string name_of(int t, const char* sum) { return std::string(sum) + " of t=" + std::to_string(t); }

// The checksums of PATH.info, by name_of; none where there is no such file.
std::map<std::string, std::string> stored_checksums(const std::string& path) {
  constexpr std::int64_t longest = 1 << 20;
  std::map<std::string, std::string> stored;
  std::optional<PosixFile> file;
  try {
    file.emplace(PosixFile::open_to_read(path + ".info"));
  } catch (const Error&) {
    return stored;
  }
  std::istringstream lines(file->read_text(0, std::min(file->size(), longest)));
  for (std::string line; std::getline(lines, line);) {
    int t = 0;
    char sum29[9], sum31[9];
    if (std::sscanf(line.c_str(), " quark.t[%d].checksum \"%8[0-9a-fA-F] %8[0-9a-fA-F]\"", &t, sum29, sum31) != 3)
      continue;
    stored[name_of(t, "sum29")] = sum29;
    stored[name_of(t, "sum31")] = sum31;
  }
  return stored;
}

// MILC's pair for each time slice; words count from the start of the slice.
class SliceChecksums {
 public:
  SliceChecksums(const Extents& extents, bool big_endian)
      : slice_sites_(volume(extents) / extents[3]), slices_(std::size_t(extents[3])) {
    for (auto& slice : slices_) slice = milc_checksum(site_bytes, big_endian);
  }

  void add(std::int64_t first_site, std::span<const std::byte> sites) {
    while (!sites.empty()) {
      const std::int64_t within = first_site % slice_sites_;
      const auto bytes = std::min(sites.size(), std::size_t((slice_sites_ - within) * site_bytes));
      slices_[std::size_t(first_site / slice_sites_)]->add(within, sites.first(bytes));
      sites = sites.subspan(bytes);
      first_site += std::int64_t(bytes) / site_bytes;
    }
  }

  std::map<std::string, std::string> combine(const Communicator& communicator) const {
    std::map<std::string, std::string> sums;
    for (std::size_t t = 0; t < slices_.size(); ++t)
      for (const auto& [name, value] : slices_[t]->combine(communicator)) sums[name_of(int(t), name.c_str())] = value;
    return sums;
  }

 private:
  std::int64_t slice_sites_;
  std::vector<std::unique_ptr<SiteChecksum>> slices_;
};

}  // namespace

VectorHeader read_fnal_header(const std::string& path) {
  const PosixFile file = PosixFile::open_to_read(path);
  std::array<std::byte, header_bytes> bytes{};
  file.read(0, bytes);
  VectorHeader header;
  header.path = path;
  header.format = VectorFormat::fnal;
  header.precision = Precision::fp32;
  header.n_vectors = colors;
  header.big_endian = load_word<std::uint32_t>(bytes.data(), true) == fnal_magic;
  const auto word = [&](int k) { return load_word<std::uint32_t>(bytes.data() + 4 * k, header.big_endian); };
  if (word(2) != 4 || word(3) != 18)
    throw FileError(path + ": FNAL propagator", "4 bytes a real, 18 reals a site",
                    std::to_string(word(2)) + " bytes, " + std::to_string(word(3)) + " reals");
  for (int mu = 0; mu < 4; ++mu) header.extents[mu] = int(word(4 + mu));
  require_usable_extents(path, header.extents);
  if (word(8) != 0) throw FileError(path + ": order of sites", "0 (natural order)", word(8));
  const std::int64_t expected = header_bytes + volume(header.extents) * site_bytes;
  if (file.size() != expected)
    throw FileError(path + " is truncated or too long (" + to_string(header.extents) + " sites, fp32)",
                    std::to_string(expected) + " bytes", std::to_string(file.size()) + " bytes");
  header.fields = {{"magic", hexadecimal(fnal_magic)}, {"time_stamp", std::to_string(word(1))}, {"order", "0"}};
  return header;
}

VectorContents read_fnal_propagator(const Communicator& communicator, const VectorHeader& header,
                                    const Lattice& lattice) {
  std::optional<PosixFile> file;
  std::map<std::string, std::string> stored;
  communicator.agree([&] {
    file.emplace(PosixFile::open_to_read(header.path));
    stored = stored_checksums(header.path);
  });
  VectorContents contents;
  for (int color = 0; color < colors; ++color) contents.fields.emplace_back(lattice);
  SliceChecksums checksums(header.extents, header.big_endian);
  SiteSlabs(communicator, lattice, site_bytes)
      .read(
          [&](std::int64_t first_site, std::span<std::byte> sites) {
            file->read(header_bytes + first_site * site_bytes, sites);
            checksums.add(first_site, sites);
          },
          [&](std::int64_t site, std::span<const std::byte> sites) {
            for (const std::byte* from = sites.data(); from != sites.data() + sites.size(); ++site)
              for (VectorField& field : contents.fields) {
                decode_reals(from, reals_per_vector, Precision::fp32, header.big_endian, &field[site].c[0].re);
                from += 4 * reals_per_vector;
              }
          });
  contents.checks = {{header.path + " (checksums in " + header.path + ".info)",
                      compare_checksums(stored, checksums.combine(communicator))}};
  return contents;
}

std::string write_fnal_propagator(const Communicator& communicator, const std::string& path,
                                  std::span<const VectorField> fields) {
  const Lattice& lattice = fields.front().lattice();
  std::optional<PosixFile> file;
  communicator.agree([&] {
    file.emplace(PosixFile::open_to_write(path));
    if (!communicator.is_root()) return;
    std::array<std::byte, header_bytes> header{};
    const Extents& e = lattice.global();
    const std::uint32_t extents[] = {std::uint32_t(e[0]), std::uint32_t(e[1]), std::uint32_t(e[2]),
                                     std::uint32_t(e[3])};
    const std::uint32_t words[] = {fnal_magic, 0, 4, 18, extents[0], extents[1], extents[2], extents[3], 0};
    for (std::size_t k = 0; k < std::size(words); ++k) store_word(header.data() + 4 * k, words[k], false);
    file->write(0, header);
  });
  SliceChecksums checksums(lattice.global(), false);
  SiteSlabs(communicator, lattice, site_bytes)
      .write(
          [&](std::int64_t site, std::span<std::byte> sites) {
            for (std::byte* to = sites.data(); to != sites.data() + sites.size(); ++site)
              for (const VectorField& field : fields) {
                encode_reals(&field[site].c[0].re, reals_per_vector, Precision::fp32, false, to);
                to += 4 * reals_per_vector;
              }
          },
          [&](std::int64_t first_site, std::span<std::byte> sites) {
            file->write(header_bytes + first_site * site_bytes, sites);
            checksums.add(first_site, sites);
          });
  communicator.agree([&] { file->flush_and_close(); });
  const std::map<std::string, std::string> sums = checksums.combine(communicator);
  std::string info;
  for (int t = 0; t < lattice.global()[3]; ++t)
    info += "quark.t[" + std::to_string(t) + "].checksum  \"" + sums.at(name_of(t, "sum29")) + " " +
            sums.at(name_of(t, "sum31")) + "\"\n";
  return info;
}

}  // namespace staghorn
