// On what links and on what machine a run worked, and its checkpoints: the part that reports of solves and of
// eigenpairs share. Plain data.
#pragma once

#include <complex>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dirac/kernels/launch_choice.hpp"
#include "halo/transport/transport_choice.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

struct GaugeSummary {
  std::string file, format;                                       // "" and "memory" when the links came from the caller
  double plaquette = 0, plaquette_space = 0, plaquette_time = 0;  // mean Re tr U_P / 3
  std::complex<double> link_trace;                                // mean tr U / 3
  double max_unitarity_deviation = 0;                             // max |U U^dagger - 1|, before any re-unitarisation
  bool reunitarized = false;
  // True of links from memory that are sound.
  bool verified() const { return unverified_checksums(checksums).empty() && fault.empty(); }
  std::map<std::string, ChecksumResult> checksums;
  std::vector<std::string> warnings;  // header numbers that the format defines and the file lacks
  std::string fault;                  // of links that no checksum saves: NaN, infinities, zeros; else empty
};

// Of improved quarks: what their links are.
struct ImprovedSummary {
  std::string action;                  // "asqtad", "hisq", or "stored" where files do not say
  std::optional<double> u0;            // asqtad
  std::optional<double> naik_epsilon;  // HISQ, as is
  std::string unitarize;               // "u3" or "su3"; "" for others
  // Of the first level of HISQ, before its projection; nothing for stored links.
  std::optional<double> smallest_singular_value, smallest_determinant;
  std::string made_on{};  // "host" or "device": where links were made from thin ones; "" for stored ones
  // Of the slowest rank: all of that, and the kernels of a GPU with the messages between ranks.
  double seconds = 0, device_seconds = 0;
  double naik_scale = 0;          // c_N, the coefficient of Naik links
  double naik_unitarity = 0;      // max |N N^dagger - 1| without it, before any projection
  bool naik_projected = false;    // onto U(3), for links of 13 or 9 reals
  std::string phases_in_links{};  // that stored links held: "none", "cps", "milc"; "" for links that were made
  std::string long_file{};        // of stored links
};

struct RunSetting {
  SessionOptions options;
  std::string device, transport;
  std::vector<std::string> devices;  // of every rank
  bool unlike_ranks = false;         // they lay out vectors differently: faces travel in the format of GPUs
  TransportChoice transports;        // faces of the operator in `precision`
  LaunchTuning tuning;               // launches of the operator in `precision`
  Extents lattice{}, grid{}, local{};
  SlabWidths widths;  // of the slabs of each direction
  int ranks = 1, threads = 1;
  int hosts = 1;
  Mapping mapping = Mapping::host;                // in use
  double share_within_hosts = 1;                  // the share of the face area between ranks that stays within hosts
  GaugeSummary gauge;                             // of the thin links, or of stored fat ones
  std::optional<ImprovedSummary> improved;        // absent: naive quarks
  std::map<std::string, std::string> provenance;  // version, build, processor, host, started (UTC)
};

// What checkpoints did.
struct CheckpointSummary {
  std::string file;
  long written = 0;
  double seconds = 0;              // that writing took, all together; of the slowest rank
  double bytes = 0;                // of the last file
  std::string resumed_from;        // "": from the beginning
  long resumed_iterations = 0;     // that were done when the file was written: the most of any right-hand side
  std::vector<std::string> notes;  // files that could not be used, and why
};

}  // namespace staghorn
