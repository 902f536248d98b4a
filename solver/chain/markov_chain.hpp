// A Markov chain of quenched configurations: from a start or a file, some sweeps on, with files on its way. Program and
// Python run the same chain.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>

#include "dirac/gauge/heatbath.hpp"
#include "halo/communicator.hpp"
#include "lattice_io/gauge/gauge_file.hpp"

namespace staghorn {

struct ChainRequest {
  std::optional<Extents> extents;  // even; those of the file where `start` names one
  std::optional<Extents> grid;     // of ranks
  std::string start = "hot";       // cold, hot, or the name of a file, whose sweeps are counted on
  HeatbathParameters heatbath;
  int sweeps = 0, measure_every = 0;   // measure_every: the plaquette is told every so many sweeps; 0: at the end
  int save_every = 0;                  // the links are kept after every so many sweeps of the chain, as save_as says
  std::optional<std::string> save_as;  // a pattern with {n}, the number of sweeps
  std::optional<std::string> output;   // file for the links at the end
  std::string device = "auto";
  GaugeFormat format = GaugeFormat::hdf5;
  Precision precision = Precision::fp64;        // of the files
  std::map<std::string, std::string> metadata;  // of the files, besides what the chain says of itself
  bool force = false;                           // replace files that exist

  bool from_file() const { return start != "cold" && start != "hot"; }
};

// Throws Error naming the option that makes no sense. Local.
void check_chain(const ChainRequest& request);

// Runs the chain and returns its last links. Tells in `out` how far it is (a stream that goes nowhere on every rank but
// the first). Every name of a file is checked before the first sweep. The bits depend neither on the ranks nor on the
// device. `sweep_begins` is called before each sweep, on every rank, with the number of sweeps of this call that are
// done; what it throws ends the chain. Throws Error.
// Collective.
LinkField run_chain(const Communicator& communicator, const ChainRequest& request, std::ostream& out,
                    const std::function<void(int done)>& sweep_begins = {});

}  // namespace staghorn
