#include "solver/machine/read_model.hpp"

#include <algorithm>
#include <cmath>

#include "lattice_io/files/site_slabs.hpp"

namespace staghorn {

ReadTime read_time(const Machine& machine, const Lattice& part, double bytes_per_site, const FileSystem& files) {
  const double ranks = double(volume(part.grid())), file = double(part.global_volume()) * bytes_per_site;
  const double of_rank = file / ranks, row = bytes_per_site * part.global()[0];
  const double by_stripes = file / (files.stripes * files.stripe_rate), by_rank = of_rank / files.rank_rate;
  ReadTime time;
  time.request = std::min(of_rank, std::max(1.0, std::floor(double(SiteSlabs::slab_bytes(part)) / row)) * row);
  time.by_stripes = by_stripes > by_rank;
  time.bytes = std::max(by_stripes, by_rank);
  time.latency = std::ceil(of_rank / time.request) * files.request_latency;
  const double owners = ranks / part.grid()[3];  // among which the sites of a part are shared
  const double rate = ranks > machine.ranks_per_host ? machine.network_bandwidth : machine.host_bandwidth;
  time.travel = (1 - 1 / owners) * of_rank / rate;
  return time;
}

}  // namespace staghorn
