// Correlators and condensates of a campaign: averages for people, and all values in one HDF5 file. Of configurations
// that are certified. Private to this folder.
#pragma once

#include <iosfwd>
#include <string>

#include "halo/communicator.hpp"
#include "solver/session/campaign/campaign_record.hpp"

namespace staghorn {

// A line for each configuration of this call, then averages with standard errors over all that are certified. Local.
void print_campaign(std::ostream& out, const CampaignRecord& record);

// Writes the file, for n configurations, m masses, s sources with a correlator, k of noise with v vectors each:
//   gauge, links_hash     [n]            texts
//   plaquette, mass       [n], [m]
//   pion_source           [s]            texts
//   pion_correlator       [n, m, s, T]
//   noise_source          [k]            texts
//   condensate            [n, m, k, v]   Re <eta, M^-1 eta> / V of each noise vector; its mean estimates Tr M^-1 / V
// What has no source is left out. Collective.
void write_campaign_results(const Communicator& communicator, const std::string& path, const CampaignRecord& record,
                            bool force);

}  // namespace staghorn
