#include "solver/session/campaign/campaign_files.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "halo/watch/error.hpp"
#include "solver/request/name_pattern.hpp"
#include "solver/session/campaign/gauge_list.hpp"

namespace staghorn {

namespace {

// "file:runs/src.h5" gives "src", "point:0,1,2,3" gives "point-0-1-2-3".
std::string in_file_names(const std::string& source) {
  constexpr std::string_view file = "file:";
  std::string name = source.starts_with(file) ? gauge_stem(source.substr(file.size())) : source;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '.'; }, '-');
  return name;
}

// What the report says of the solutions in one file.
SolveReport part_of(const SolveReport& whole, const SolutionFile& file, const std::vector<std::size_t>& numbers) {
  SolveReport part = whole;
  part.rhs.clear();
  part.outcome = Outcome::certified;
  for (const std::size_t number : numbers) {
    part.rhs.push_back(whole.rhs[number]);
    part.outcome = std::max(part.outcome, whole.rhs[number].outcome);
  }
  if (file.source) part.source = whole.sources[*file.source].name;
  if (!file.mass || whole.request.masses.empty()) return part;
  const double mass = whole.request.masses[*file.mass];
  part.request.masses = {mass};
  if (part.multi_shift->groups.empty()) {  // else the epsilon stands with the list of masses
    part.request.mass = mass;
    part.request.masses.clear();
    part.multi_shift.reset();
  }
  return part;
}

}  // namespace

std::map<std::string, std::string> fields_of_gauge(const std::string& gauge) {
  std::map<std::string, std::string> fields{{"gauge", gauge_stem(gauge)}};
  if (const std::string n = gauge_number(gauge); !n.empty()) fields["n"] = n;
  return fields;
}

std::vector<SolutionFile> solution_files(const std::optional<std::string>& output, const std::string& gauge,
                                         const std::vector<std::string>& masses,
                                         const std::vector<std::string>& sources) {
  std::vector<SolutionFile> files;
  if (!output) return files;
  constexpr std::size_t most_files = 200;  // they are open together
  const std::vector<std::string> fields = pattern_fields(*output);
  const auto has = [&](const char* name) { return std::count(fields.begin(), fields.end(), name) > 0; };
  const std::size_t n_masses = has("mass") ? masses.size() : 1, n_sources = has("source") ? sources.size() : 1;
  if (n_masses * n_sources > most_files)
    throw Error("output", "at most " + std::to_string(most_files) + " files for a configuration", n_masses * n_sources);
  std::set<std::string> names;
  for (std::size_t k = 0; k < n_masses; ++k)
    for (std::size_t s = 0; s < n_sources; ++s) {
      std::map<std::string, std::string> texts = fields_of_gauge(gauge);
      texts["mass"] = masses[k];
      texts["source"] = in_file_names(sources[s]);
      SolutionFile file{fill_pattern(*output, texts), {}, {}};
      if (has("mass")) file.mass = k;
      if (has("source")) file.source = s;
      if (!names.insert(file.path).second)
        throw Error("output", "another name for each file", "'" + file.path + "' twice");
      files.push_back(std::move(file));
    }
  return files;
}

CampaignSolutions::CampaignSolutions(const Communicator& communicator, const Lattice& lattice,
                                     const std::vector<SolutionFile>& files, const SourceList& sources,
                                     std::size_t masses, bool force, WhenUnfinished unfinished)
    : communicator_(communicator), place_(masses * sources.size()) {
  for (const SolutionFile& file : files) {
    Part part{file, {}, {}};
    for (std::size_t number = 0; number < place_.size(); ++number) {
      const std::size_t rhs = number % sources.size(), mass = number / sources.size();
      if (file.mass.value_or(mass) != mass || file.source.value_or(sources.entry_of(rhs)) != sources.entry_of(rhs))
        continue;
      place_[number] = {files_.size(), part.numbers.size()};
      part.numbers.push_back(number);
    }
    part.file =
        std::make_unique<GrowingSolutions>(communicator, lattice, file.path, force, part.numbers.size(), unfinished);
    files_.push_back(std::move(part));
  }
}

void CampaignSolutions::take(std::size_t number, const VectorField& x) {
  const auto [file, in_it] = place_[number];
  files_[file].file->take(in_it, x);
}

void CampaignSolutions::begin_anew() {
  for (Part& part : files_) part.file->begin_anew();
}

void CampaignSolutions::read_back(std::size_t number, VectorField& x) {
  const auto [file, in_it] = place_[number];
  files_[file].file->read_back(in_it, x);
}

void CampaignSolutions::accept(std::size_t number, const VectorField& x) {
  const auto [file, in_it] = place_[number];
  files_[file].file->accept(in_it, x);
}

void CampaignSolutions::flush() {
  for (Part& part : files_) part.file->flush();
}

void CampaignSolutions::finish(const SolveReport& report) {
  FilesTogether together(communicator_);
  for (Part& part : files_) part.file->finish(part_of(report, part.names, part.numbers), together);
  together.publish();
}

bool holds_certified_solutions(const Communicator& communicator, const std::string& path, std::size_t n) {
  try {
    const VectorHeader header = read_stream_header(communicator, path, "solution");
    const auto outcome = header.fields.find("outcome");
    return header.n_vectors == std::int64_t(n) && outcome != header.fields.end() &&
           outcome->second == to_string(Outcome::certified);
  } catch (const LocalError&) {
    throw;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace staghorn
