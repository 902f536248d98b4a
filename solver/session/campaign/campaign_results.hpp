// Observables of a campaign: averages for people, and all values in one HDF5 file. Of configurations
// that are certified. Private to this folder.
#pragma once

#include <iosfwd>
#include <string>

#include "halo/communicator.hpp"
#include "solver/session/campaign/campaign_record.hpp"

namespace staghorn {

// A line for each configuration of this call, then averages with standard errors over all that are certified. Local.
void print_campaign(std::ostream& out, const CampaignRecord& record);

// Writes the file, for n configurations and m masses, and for each observable that s sources give:
//   gauge, links_hash        [n]            texts
//   plaquette, mass          [n], [m]
//   ObservableKind::sources  [s]            texts, as pion_source
//   ObservableKind::name     [n, m, s, T]   of a curve; of a mean [n, m, s, vectors]
// Collective.
void write_campaign_results(const Communicator& communicator, const std::string& path, const CampaignRecord& record,
                            bool force);

}  // namespace staghorn
