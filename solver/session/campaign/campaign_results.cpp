// Observables of a campaign: averages for people, and all values in one HDF5 file.
#include <algorithm>
#include <cstring>
#include <ostream>

#include "halo/watch/error.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/hdf5/new_file.hpp"
#include "solver/observables/observable_table.hpp"
#include "solver/request/words/formatted.hpp"
#include "solver/session/campaign/campaign_record.hpp"
#include "solver/session/campaign/printed_observables.hpp"

namespace staghorn {

namespace {

using Json = nlohmann::ordered_json;

// The sources that give an observable, by number; the same on every configuration.
std::vector<std::size_t> sources_with(const CampaignRecord& record, const char* observable) {
  std::vector<std::size_t> found;
  const std::vector<const Json*> parts = record.certified();
  if (parts.empty()) return found;
  for (std::size_t s = 0; s < record.sources().size(); ++s)
    if (const Json& value = parts[0]->at("report").at("sources").at(s).at(observable); !value.empty())
      found.push_back(s);
  return found;
}

const Json& observable_of(const CampaignRecord& record, const Json& part, std::size_t mass, std::size_t source,
                          const char* observable) {
  return part.at("report").at("sources").at(mass * record.sources().size() + source).at(observable);
}

std::string title(const CampaignRecord& record, std::size_t mass, std::size_t source) {
  return "m = " + shortest_digits(record.masses()[mass]) + ", " + record.sources()[source];
}

// The averages over the configurations, of a curve[configuration][t].
CurveColumn averaged(const std::string& title, const std::vector<std::vector<double>>& curves) {
  CurveColumn column{title, {}, {}};
  for (std::size_t t = 0; t < curves[0].size(); ++t) {
    std::vector<double> slice;
    for (const std::vector<double>& curve : curves) slice.push_back(curve.at(t));
    const MeanAndError mean = mean_of(slice);
    column.values.push_back(mean.value);
    column.errors.push_back(mean.error);
  }
  return column;
}

CurveColumn averaged(const CampaignRecord& record, std::size_t mass, std::size_t source, const char* observable) {
  std::vector<std::vector<double>> curves;
  for (const Json* part : record.certified())
    curves.push_back(observable_of(record, *part, mass, source, observable).get<std::vector<double>>());
  return averaged(title(record, mass, source), curves);
}

// Real parts of mesons or baryons, which are the same list on every configuration.
std::vector<CurveColumn> averaged_correlators(const CampaignRecord& record, const ObservableKind& kind) {
  std::vector<CurveColumn> columns;
  const std::vector<const Json*> parts = record.certified();
  if (!parts[0]->at("report").contains(kind.name)) return columns;
  const Json& list = parts[0]->at("report").at(kind.name);
  const bool of_one_source =
      std::all_of(list.begin(), list.end(), [&](const Json& one) { return one.at("source") == list[0].at("source"); });
  for (std::size_t k = 0; k < list.size(); ++k) {
    std::vector<std::vector<double>> curves;
    for (const Json* part : parts) {
      curves.emplace_back();
      for (const Json& value : part->at("report").at(kind.name).at(k).at("values"))
        curves.back().push_back(value.at(0).get<double>());
    }
    const auto momentum = list[k].value("momentum", std::array{0, 0, 0});  // baryons are at rest
    const auto masses = list[k].at("masses").get<std::vector<double>>();
    const bool alike = std::count(masses.begin(), masses.end(), masses[0]) == std::ptrdiff_t(masses.size());
    std::string title = list[k].at("name");
    if (momentum != std::array{0, 0, 0}) title += format(" p%d%d%d", momentum[0], momentum[1], momentum[2]);
    for (std::size_t quark = 0; quark < (alike ? 1 : masses.size()); ++quark)
      title += (quark == 0 ? " " : "/") + shortest_digits(masses[quark]);
    if (!of_one_source) title += " " + list[k].at("source").get<std::string>();
    columns.push_back(averaged(title, curves));
  }
  return columns;
}

void print_parts(std::ostream& out, const CampaignRecord& record) {
  int width = 5;
  for (std::size_t k = 0; k < record.size(); ++k)
    width = std::max(width, int(record.parts()[k].at("gauge").get<std::string>().size()));
  const auto line = [&](const std::string& gauge, const char* rest, auto... values) {
    out << "  " << gauge << std::string(std::size_t(width) - gauge.size(), ' ') << format(rest, values...) << "\n";
  };
  line("gauge", "  %-17s  %12s  %4s  %10s  %14s  %9s", "outcome", "plaquette", "rhs", "iterations", "worst residual",
       "seconds");
  for (std::size_t k = 0; k < record.size(); ++k) {
    const Json& part = record.parts()[k];
    const Json& report = part.at("report");
    if (report.is_null()) {
      line(part.at("gauge"), "  %s", record.is_left(k) ? "left to another job" : record.words(k).c_str());
      continue;
    }
    const PartWork work = work_of(part);
    line(part.at("gauge"), "  %-17s  %12.9f  %4zu  %10ld  %14.2e  %9s", part.at("outcome").get<std::string>().c_str(),
         report.at("gauge").at("plaquette").get<double>(), report.at("rhs").size(), work.iterations,
         work.worst_residual, part.at("skipped") ? "earlier" : three_digits(part.at("seconds").get<double>()).c_str());
  }
}

// Of mesons or baryons, which are the same list on every configuration: what each is, and the values of all. No table
// where there is none.
std::vector<Hdf5Table> correlator_tables(const std::vector<const Json*>& parts, const ObservableKind& kind) {
  if (parts.empty() || !parts[0]->at("report").contains(kind.name)) return {};
  const Json& list = parts[0]->at("report").at(kind.name);
  const auto n = std::int64_t(list.size());
  if (n == 0) return {};
  const std::string prefix = std::string(kind.name, std::strlen(kind.name) - 1) + "_";  // "meson_"
  std::vector<Hdf5Table> tables;
  for (const auto& [key, first] : list[0].items()) {
    if (key == "values") continue;
    Hdf5Table& table = tables.emplace_back(Hdf5Table{prefix + key, {n}, {}, {}, {}});
    if (first.is_array()) table.shape.push_back(std::int64_t(first.size()));
    for (const Json& one : list) {
      if (!first.is_array()) table.words.push_back(one.at(key));
      for (std::size_t i = 0; first.is_array() && i < first.size(); ++i) table.numbers.push_back(one.at(key).at(i));
    }
  }
  Hdf5Table values{kind.name, {}, {}, {}, {{"definition", kind.definition}}};
  for (const Json* part : parts)
    for (const Json& one : part->at("report").at(kind.name))
      for (const Json& value : one.at("values"))
        for (const Json& re_or_im : value) values.numbers.push_back(re_or_im);
  values.shape = {std::int64_t(parts.size()), n, std::int64_t(list[0].at("values").size()), 2};
  tables.push_back(std::move(values));
  return tables;
}

}  // namespace

void print_campaign(std::ostream& out, const CampaignRecord& record) {
  out << "\nCAMPAIGN  " << record.size() << " configuration" << (record.size() == 1 ? "" : "s");
  for (const char* outcome : {"certified", "out_of_iterations", "stagnated", "breakdown", "failed", "unfinished"})
    if (const int n = record.count(outcome)) out << ", " << n << " " << outcome;
  out << "\n";
  print_parts(out, record);
  const std::size_t n = record.certified().size();
  if (n < 2) return;
  out << "  averages and standard errors over " << n << " configurations\n";
  for (const ObservableEntry& entry : observable_table()) {
    const ObservableKind& kind = entry.kind;
    if (kind.form == ObservableKind::correlators) {
      print_curves(out, kind, averaged_correlators(record, kind));
      continue;
    }
    std::vector<CurveColumn> columns;
    for (std::size_t mass = 0; mass < record.masses().size(); ++mass)
      for (const std::size_t source : sources_with(record, kind.name)) {
        if (kind.form == ObservableKind::curve) {
          columns.push_back(averaged(record, mass, source, kind.name));
          continue;
        }
        std::vector<double> values;
        for (const Json* part : record.certified())
          values.push_back(observable_of(record, *part, mass, source, kind.name).at("value").get<double>());
        const MeanAndError mean = mean_of(values);
        out << "  " << kind.symbol << format(" = %.8g +- %.2g  (", mean.value, mean.error)
            << title(record, mass, source) << ")\n";
      }
    print_curves(out, kind, columns);
  }
}

void write_campaign_results(const Communicator& communicator, const std::string& path, const CampaignRecord& record,
                            bool force) {
  const std::vector<const Json*> parts = record.certified();
  const auto n = std::int64_t(parts.size()), m = std::int64_t(record.masses().size());
  Hdf5Table gauge{"gauge", {n}, {}, {}, {}}, hash{"links_hash", {n}, {}, {}, {}},
      plaquette{"plaquette", {n}, {}, {}, {}}, mass{"mass", {m}, record.masses(), {}, {}};
  for (const Json* part : parts) {
    gauge.words.push_back(part->at("gauge"));
    hash.words.push_back(part->at("links_hash"));
    plaquette.numbers.push_back(part->at("report").at("gauge").at("plaquette"));
  }
  std::vector<Hdf5Table> tables{gauge, hash, plaquette, mass};
  for (const ObservableEntry& entry : observable_table()) {
    const ObservableKind& kind = entry.kind;
    if (kind.form == ObservableKind::correlators) {
      for (Hdf5Table& table : correlator_tables(parts, kind)) tables.push_back(std::move(table));
      continue;
    }
    const std::vector<std::size_t> given_by = sources_with(record, kind.name);
    const std::int64_t series = n * m * std::int64_t(given_by.size());
    if (series == 0) continue;
    Hdf5Table sources{kind.sources, {std::int64_t(given_by.size())}, {}, {}, {}};
    for (const std::size_t s : given_by) sources.words.push_back(record.sources()[s]);
    Hdf5Table values{kind.name, {}, {}, {}, {{"definition", kind.definition}}};
    for (const Json* part : parts)
      for (std::size_t k = 0; k < record.masses().size(); ++k)
        for (const std::size_t s : given_by) {
          const Json& found = observable_of(record, *part, k, s, kind.name);
          for (const Json& value : kind.form == ObservableKind::curve ? found : found.at("values"))
            values.numbers.push_back(value);
        }
    values.shape = {n, m, sources.shape[0], std::int64_t(values.numbers.size()) / series};
    tables.push_back(std::move(sources));
    tables.push_back(std::move(values));
  }
  write_whole_file(communicator, path, force, [&](const std::string& temporary) {
    communicator.agree([&] {
      if (!communicator.is_root()) return;
      begin_hdf5(temporary, {});
      finish_hdf5(temporary, {}, tables);
    });
  });
}

}  // namespace staghorn
