#include "solver/smoothing/smooth_links.hpp"

#include "dirac/gauge/gauge_observables.hpp"
#include "halo/cut_lattice.hpp"
#include "solver/report/gauge_summary.hpp"

namespace staghorn {

namespace {

SmoothLinks checked(const Communicator& communicator, LinkField links, const GaugeChecks& checks,
                    const std::string& name, bool project) {
  const UnitarityCheck unitarity = check_unitarity(communicator, links);
  require_su3(name, unitarity, project);
  SmoothLinks result{std::move(links), {}};
  result.summary = summarize_gauge(communicator, result.links, unitarity, checks);
  result.summary.reunitarized = project;
  if (project) reunitarize(result.links);
  return result;
}

}  // namespace

SmoothLinks read_links(const Communicator& communicator, const LinksFile& file, bool reunitarize) {
  const GaugeHeader header = read_gauge_header(communicator, file.path, file.dataset);
  LinkField links(cut_lattice(communicator, header.extents, file.grid));
  const GaugeChecks checks = read_gauge(communicator, header, links, file.verify);
  SmoothLinks result = checked(communicator, std::move(links), checks, file.path, reunitarize);
  result.summary.file = file.path;
  result.summary.format = to_string(header.format);
  return result;
}

SmoothLinks given_links(const Communicator& communicator, LinkField links, bool reunitarize) {
  SmoothLinks result = checked(communicator, std::move(links), {}, "links", reunitarize);
  result.summary.format = "memory";
  return result;
}

}  // namespace staghorn
