#include "solver/session/campaign/campaign_results.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>

#include "halo/watch/error.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/hdf5/new_file.hpp"
#include "solver/report/propagator_observables.hpp"
#include "solver/session/campaign/observable_table.hpp"

namespace staghorn {

namespace {

using Json = nlohmann::ordered_json;

// The sources that have a correlator (pion_correlator) or a condensate, by number; the same on every configuration.
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

// The averages of a correlator over the configurations.
CorrelatorColumn averaged(const CampaignRecord& record, std::size_t mass, std::size_t source) {
  CorrelatorColumn column{title(record, mass, source), {}, {}};
  std::vector<std::vector<double>> slices;
  for (const Json* part : record.certified()) {
    const Json& correlator = observable_of(record, *part, mass, source, "pion_correlator");
    slices.resize(correlator.size());
    for (std::size_t t = 0; t < correlator.size(); ++t) slices[t].push_back(correlator[t].get<double>());
  }
  for (const std::vector<double>& slice : slices) {
    const CondensateEstimate mean = condensate_of(slice);
    column.values.push_back(mean.value);
    column.errors.push_back(mean.error);
  }
  return column;
}

void print_parts(std::ostream& out, const CampaignRecord& record) {
  int width = 5;
  for (std::size_t k = 0; k < record.size(); ++k)
    width = std::max(width, int(record.parts()[k].at("gauge").get<std::string>().size()));
  const auto line = [&](const std::string& gauge, const char* rest, auto... values) {
    char text[200];
    std::snprintf(text, sizeof text, rest, values...);
    out << "  " << gauge << std::string(std::size_t(width) - gauge.size(), ' ') << text << "\n";
  };
  line("gauge", "  %-17s  %12s  %4s  %10s  %14s  %9s", "outcome", "plaquette", "rhs", "iterations", "worst residual",
       "seconds");
  for (std::size_t k = 0; k < record.size(); ++k) {
    const Json& part = record.parts()[k];
    const Json& report = part.at("report");
    if (report.is_null()) {
      out << "  " << part.at("gauge").get<std::string>() << "  " << record.words(k) << "\n";
      continue;
    }
    const PartWork work = work_of(part);
    line(part.at("gauge"), "  %-17s  %12.9f  %4zu  %10ld  %14.2e  %9s", part.at("outcome").get<std::string>().c_str(),
         report.at("gauge").at("plaquette").get<double>(), report.at("rhs").size(), work.iterations,
         work.worst_residual, part.at("skipped") ? "earlier" : three_digits(part.at("seconds").get<double>()).c_str());
  }
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
  std::vector<CorrelatorColumn> columns;
  for (std::size_t mass = 0; mass < record.masses().size(); ++mass)
    for (const std::size_t source : sources_with(record, "pion_correlator"))
      columns.push_back(averaged(record, mass, source));
  print_correlators(out, columns);
  for (std::size_t mass = 0; mass < record.masses().size(); ++mass)
    for (const std::size_t source : sources_with(record, "condensate")) {
      std::vector<double> values;
      for (const Json* part : record.certified())
        values.push_back(observable_of(record, *part, mass, source, "condensate").at("value").get<double>());
      const CondensateEstimate mean = condensate_of(values);
      char text[96];
      std::snprintf(text, sizeof text, "  Tr M^-1 / V = %.8g +- %.2g  (", mean.value, mean.error);
      out << text << title(record, mass, source) << ")\n";
    }
}

void write_campaign_results(const Communicator& communicator, const std::string& path, const CampaignRecord& record,
                            bool force) {
  const std::vector<const Json*> parts = record.certified();
  const std::vector<std::size_t> pions = sources_with(record, "pion_correlator"),
                                 noises = sources_with(record, "condensate");
  const auto n = std::int64_t(parts.size()), m = std::int64_t(record.masses().size());
  Hdf5Table gauge{"gauge", {n}, {}, {}, {}}, hash{"links_hash", {n}, {}, {}, {}},
      plaquette{"plaquette", {n}, {}, {}, {}}, mass{"mass", {m}, record.masses(), {}, {}};
  Hdf5Table pion_source{"pion_source", {std::int64_t(pions.size())}, {}, {}, {}},
      pion{"pion_correlator",
           {},
           {},
           {},
           {{"definition", "C(t) = sum_x |G(x,t)|^2, shape (configurations, masses, sources, T)"}}};
  Hdf5Table noise_source{"noise_source", {std::int64_t(noises.size())}, {}, {}, {}},
      condensate{"condensate",
                 {},
                 {},
                 {},
                 {{"definition",
                   "Re <eta, M^-1 eta> / V of each noise vector, shape (configurations, masses, sources, "
                   "vectors); their mean estimates Tr M^-1 / V, colours summed"}}};
  for (const std::size_t s : pions) pion_source.words.push_back(record.sources()[s]);
  for (const std::size_t s : noises) noise_source.words.push_back(record.sources()[s]);
  for (const Json* part : parts) {
    gauge.words.push_back(part->at("gauge"));
    hash.words.push_back(part->at("links_hash"));
    plaquette.numbers.push_back(part->at("report").at("gauge").at("plaquette"));
    for (std::size_t k = 0; k < record.masses().size(); ++k) {
      for (const std::size_t s : pions)
        for (const Json& value : observable_of(record, *part, k, s, "pion_correlator")) pion.numbers.push_back(value);
      for (const std::size_t s : noises)
        for (const Json& value : observable_of(record, *part, k, s, "condensate").at("values"))
          condensate.numbers.push_back(value);
    }
  }
  std::vector<Hdf5Table> tables{gauge, hash, plaquette, mass};
  const auto add = [&](Hdf5Table source, Hdf5Table values) {
    const std::int64_t series = n * m * source.shape[0];
    if (series == 0) return;
    values.shape = {n, m, source.shape[0], std::int64_t(values.numbers.size()) / series};
    tables.push_back(std::move(source));
    tables.push_back(std::move(values));
  };
  add(std::move(pion_source), std::move(pion));
  add(std::move(noise_source), std::move(condensate));
  write_whole_file(communicator, path, force, [&](const std::string& temporary) {
    communicator.agree([&] {
      if (communicator.is_root()) write_hdf5_tables(temporary, tables);
    });
  });
}

}  // namespace staghorn
