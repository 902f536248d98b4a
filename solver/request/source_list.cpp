#include "solver/request/source_list.hpp"

#include <sstream>

#include "dirac/fields/site_hash.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/text_file.hpp"
#include "lattice_io/vectors/vector_stream.hpp"
#include "solver/request/solve_checks.hpp"

namespace staghorn {

namespace {

std::string trimmed(const std::string& text) {
  const char* const blank = " \t\r";
  const std::size_t first = text.find_first_not_of(blank);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(blank) + 1 - first);
}

std::string in_entry(const SourceList::Entry& entry, std::size_t number) {
  return "source " + entry.name + (entry.n > 1 ? ", vector " + std::to_string(number) : "");
}

}  // namespace

std::vector<ListWord> read_list(const Communicator& communicator, const std::string& text) {
  const bool in_file = text.starts_with("@");
  const std::string path = in_file ? text.substr(1) : "";
  std::istringstream parts(in_file ? read_text_file(communicator, path) : text);
  std::vector<ListWord> words;
  std::string part;
  for (int line = 1; std::getline(parts, part, in_file ? '\n' : ';'); ++line) {
    part = trimmed(part);
    if (part.empty() || (in_file && part[0] == '#')) continue;
    words.push_back({part, in_file ? path + ", line " + std::to_string(line) : ""});
  }
  return words;
}

std::vector<SourceRequest> parse_sources(const std::vector<ListWord>& words, const SourceRequest& alike) {
  std::vector<SourceRequest> sources(words.size(), alike);
  for (std::size_t i = 0; i < words.size(); ++i) try {
      sources[i].spec = parse_source(words[i].text);
    } catch (const Error& error) {
      if (!words[i].where.empty()) throw Error(error.kind(), words[i].where + ": " + error.what());
      throw;
    }
  return sources;
}

std::vector<SourceRequest> read_source_list(const Communicator& communicator, const std::string& text,
                                            const SourceRequest& alike) {
  const std::vector<SourceRequest> sources = parse_sources(read_list(communicator, text), alike);
  if (sources.empty())
    throw Error("sources", "at least one source", text.starts_with("@") ? "none in " + text.substr(1) : "none");
  return sources;
}

SourceList::SourceList(const Communicator& communicator, const Lattice& lattice,
                       const std::vector<SourceRequest>& sources, System system, bool no_verify, ApplyOperators apply)
    : communicator_(communicator), lattice_(lattice), apply_(std::move(apply)) {
  for (const SourceRequest& source : sources) {
    check_source_request(source, lattice.global());
    require_applied(source, apply_);
  }
  for (const SourceRequest& source : sources) {
    Entry entry;
    entry.request = source;
    entry.name = to_string(source.spec);
    entry.first = size_;
    entry.n = std::size_t(source.n_rhs());
    if (source.spec.kind == SourceKind::file) {
      const std::optional<VectorHeader> found = find_vectors(communicator, source.spec.path);
      if (found && found->format != VectorFormat::hdf5) {
        entry.fields =
            read_vectors(communicator, source.spec.path, "source", lattice, no_verify ? &unverified_ : nullptr);
        entry.n = entry.fields.size();
        if (!source.spec.is_plain())
          for (VectorField& field : entry.fields) apply_(source, field);
        for (std::size_t number = 0; number < entry.n; ++number) check(entry, entry.fields[number], number, system);
      } else {
        entry.file = read_stream_header(communicator, source.spec.path, "source");
        entry.n = std::size_t(entry.file->n_vectors);
        VectorField vector(lattice);
        const ChecksumResults results = read_each_vector(
            communicator, *entry.file, lattice, [&](std::int64_t) -> VectorField& { return vector; },
            [&](std::int64_t k) {
              if (!source.spec.is_plain()) apply_(source, vector);
              check(entry, vector, std::size_t(k), system);
            });
        const std::string where = source.spec.path + ": dataset " + entry.file->dataset;
        if (!no_verify) require_verified(where, results);
        for (const std::string& text : unverified_checksums(results)) unverified_.push_back(where + ": " + text);
      }
    } else if (source.spec.has_color()) {
      check(entry, make(entry, 0), 0, system);
    }
    add(std::move(entry));
  }
}

SourceList::SourceList(const Communicator& communicator, const Lattice& lattice, const std::string& name,
                       std::vector<VectorField> fields, System system)
    : communicator_(communicator), lattice_(lattice) {
  Entry entry;
  entry.request.spec.kind = SourceKind::file;
  entry.name = name;
  entry.n = fields.size();
  entry.fields = std::move(fields);
  for (std::size_t number = 0; number < entry.n; ++number) check(entry, entry.fields[number], number, system);
  add(std::move(entry));
}

void SourceList::add(Entry entry) {
  entry_of_.insert(entry_of_.end(), entry.n, entries_.size());
  size_ += entry.n;
  entries_.push_back(std::move(entry));
}

// Noise is neither zero nor infinite.
void SourceList::check(Entry& entry, const VectorField& vector, std::size_t number, System system) const {
  require_source(communicator_, in_entry(entry, number), vector, system);
  entry.hash = 31 * entry.hash + site_hash(communicator_, vector);
}

std::string SourceList::identity() const {
  std::string text;
  for (const Entry& entry : entries_) {
    text += (entry.request.spec.kind == SourceKind::file ? "file" : entry.name) + "\n";  // files may be moved
    text += std::to_string(entry.n) + " " + std::to_string(entry.request.color.value_or(-1)) + " " +
            std::to_string(entry.hash) + "\n";
  }
  const std::uint64_t hash = hash_of_text(text);
  return hexadecimal(std::uint32_t(hash >> 32)) + hexadecimal(std::uint32_t(hash));
}

std::size_t SourceList::entry_of(std::size_t rhs) const { return entry_of_[rhs]; }

int SourceList::color(std::size_t rhs) const {
  const Entry& entry = entries_[entry_of_[rhs]];
  if (!entry.request.spec.has_color()) return -1;
  return entry.request.color ? *entry.request.color : int(rhs - entry.first);
}

VectorField SourceList::make(std::size_t rhs) const {
  const Entry& entry = entries_[entry_of_[rhs]];
  return make(entry, rhs - entry.first);
}

VectorField SourceList::make(const Entry& entry, std::size_t number) const {
  if (!entry.fields.empty()) return entry.fields[number];
  const SourceRequest& request = entry.request;
  const int vector_number = int(number) + (entry.is_noise() ? 0 : request.color.value_or(0));
  VectorField vector = entry.file ? VectorField(lattice_) : make_source_vector(lattice_, request.spec, vector_number);
  if (entry.file) read_one_vector(communicator_, *entry.file, std::int64_t(number), vector);
  if (!request.spec.is_plain()) apply_(request, vector);
  return vector;
}

}  // namespace staghorn
