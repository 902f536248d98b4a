// What a solve is asked to do: plain data with defaults and units. The command line, Python and C fill the same struct.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dirac/algebra/precision.hpp"
#include "dirac/kernels/launch_choice.hpp"
#include "dirac/stencil/boundary.hpp"
#include "halo/cut/share_summary.hpp"
#include "halo/host_mapping.hpp"
#include "halo/lattice.hpp"
#include "halo/watch/slow_down.hpp"
#include "solver/request/asked_checkpoint.hpp"
#include "solver/request/mesons/baryon_list.hpp"
#include "solver/request/mesons/meson_list.hpp"
#include "solver/request/quark_action.hpp"
#include "solver/request/rational_function.hpp"
#include "solver/request/targets.hpp"

namespace staghorn {

class BitFlips;  // dirac/kernels/experiments/bit_flips.hpp

enum class System { full, even, odd };  // M x = b, M = 2m + D;   A x = b, A = 4m^2 - D^2 on one parity

// Which residual the tolerance of a full system is on: its own, or that of its even half, A x_e = 2m b_e - D b_o.
enum class StopOn { system, parity };

// Staggered phases of the sources that come in and of the solutions that go out; the solve itself uses CPS phases.
enum class PhaseConvention { cps, milc };

// How Conjugate Gradient treats its vectors: updates and sums fused into the hops, or one call of cuBLAS each, the
// baseline to compare with (GPU only; the one path without the promise of the same bits everywhere).
enum class Blas { fused, cublas };

// Where the true residual of an answer is computed: on the host, on the GPU that solves, or where the sources are.
enum class CertificatePlace { automatic, host, device };
// Where the eigenvectors of a GPU lie; automatic: there if they fit, else on the host, from where they are read.
enum class EigenvectorPlace { automatic, device, host };

// "full", "even", "odd"; "cps", "milc"; "fused", "cublas"; "auto", "host", "device"; and back. Parsing throws Error
// naming the choices.
std::string to_string(System system);
System parse_system(const std::string& text);
std::string to_string(PhaseConvention phases);
PhaseConvention parse_phase_convention(const std::string& text);
std::string to_string(Blas blas);
Blas parse_blas(const std::string& text);
std::string to_string(CertificatePlace place);
CertificatePlace parse_certificate_place(const std::string& text);
std::string to_string(EigenvectorPlace place);
EigenvectorPlace parse_eigenvector_place(const std::string& text);

// Precisions of a solve, and how links are stored that its iterations read.
struct Precisions {
  Precision precision = Precision::fp64;         // of the CG vectors and the links it reads
  std::optional<Precision> sloppy;               // of the iterations, below `precision`: by reliable updates
  bool sloppy_auto = false;                      // `sloppy` is chosen for each solve (solver_table.hpp)
  std::optional<Reconstruct> sloppy_links;       // reals per link in the iterations; default 12
  std::optional<Reconstruct> sloppy_naik_links;  // in the iterations; default 13 where Naik links are unitary
  const Precisions& precisions() const { return *this; }
  bool operator==(const Precisions&) const = default;
};

// All that solves of one gauge may differ in, without new set-up of its links (Gauge::set_numbers).
struct SolveNumbers : Precisions {
  std::string solver = "auto";          // auto, or a name of solver/krylov/table/solver_table.cpp
  std::string preconditioner = "none";  // or one of solver/krylov/preconditioned/preconditioner.hpp, as "chebyshev:8"
  bool is_preconditioned() const { return preconditioner != "none"; }
  bool blocks = false;            // there is a basis of blocks for these links
  double coarse_tolerance = 0.1;  // of each coarse solve in it, on its relative residual
  const SolveNumbers& numbers() const { return *this; }
  bool operator==(const SolveNumbers&) const = default;
};

// How a Session lays out the lattice and which operator it keeps resident.
struct SessionOptions : SolveNumbers {
  std::optional<Extents> grid;              // process grid x,y,z,t; least surface when absent
  AskedShares shares;                       // of the slabs of the grid; equal when absent (docs/guide/unlike-ranks.md)
  Mapping mapping = Mapping::host;          // which rank holds which part of the grid
  std::array<bool, 4> loopback{};           // directions cut although one process holds them
  Boundary boundary;                        // antiperiodic in t
  Reconstruct links = Reconstruct::none18;  // reals per link in memory
  QuarkAction quarks;                       // naive, or improved with fat and Naik links
  Reconstruct fat_links = Reconstruct::none18;   // of improved quarks: not unitary, so all 18 reals
  Reconstruct naik_links = Reconstruct::none18;  // none18 | u3_13 | u3_9
  std::optional<std::string> dataset;            // of HDF5 gauge files: the name of the links; default "links"
  bool keep_thin_links = false;                  // HISQ: so that masses may have other epsilons; 576 bytes a site
  bool no_verify = false;                        // read files whose checksums are absent or wrong; the report says so
  std::optional<bool> no_probe;                  // HDF5 is read without a child that meets a file first; absent: as set
  bool reunitarize = false;                      // project the links onto SU(3) first; implied by compressed links
  std::string device = "auto";                   // auto | cpu | cuda | cuda:n, or a list of these (device_choice.hpp)
  bool overlap = true;                           // faces travel while interior sites are computed
  std::string transport = "auto";  // of faces between ranks: auto, or a name (halo/transport/face_exchange.hpp)
  Blas blas = Blas::fused;
  CertificatePlace certificate = CertificatePlace::automatic;
  // Low eigenpairs of these quarks on this configuration, a file; solves use them (docs/deflation.md).
  std::optional<std::string> eigenvectors;
  std::optional<int> eigenpairs;  // so many are found and written there where that file does not exist
  EigenvectorPlace eigenvectors_on = EigenvectorPlace::automatic;
  // Vectors near the null space of K, a file; solves use the basis of blocks that they are cut into (docs/coarse.md).
  std::optional<std::string> coarse;
  std::optional<Extents> coarse_block;  // the extents of a block; absent: those of the file, or chosen by the program
  bool host_loop = false;  // the host runs every loop (operator_options.hpp); shares that are measured ask so
  // Experiments (dirac/kernels/experiments).
  SlowRanks slow_device;             // ranks that wait on purpose
  std::optional<double> slowness;    // of this rank; a context fills it in where `slow_device` names any
  std::shared_ptr<BitFlips> inject;  // bits that change on the way; operators of all copies of the options share them
  std::optional<Tuning> tuning;      // of launches on a GPU; absent: STAGHORN_TUNING decides. No result depends on it.
};

// How links are stored that the iterations read, thin or fat ones and Naik ones.
Reconstruct iterated_links(const SessionOptions& options);
Reconstruct iterated_naik_links(const SessionOptions& options);
// "fp64, 18 reals a link", "fp64/fp32, 18/12 reals a link"; "..., 18/13 reals a Naik link"
std::string describe_numbers(const SessionOptions& options);

// Whose low part a solve makes exact. Both: that of correlators counts, which takes more memory.
enum class LowPart { none, of_condensates, of_correlators };

// What the first solve will be. A session that knows it can refuse what does not fit before it reads anything.
struct ExpectedSolve {
  int n_rhs = 1;
  System system = System::full;
  int n_masses = 1;
  int n_together = 0;  // of these masses by one multi-shift solve; 0: all
  LowPart low_part = LowPart::none;
  int meson_fields = 0;  // that mesons and baryons keep (n_meson_fields, n_baryon_fields)
};

struct SolveRequest : Targets, AskedCheckpoint {
  double mass = 0;             // lattice mass a m; > 0 for the full system, >= 0 for a parity system
  std::vector<double> masses;  // if not empty: these instead of `mass`, all by the iterations of the smallest
  // HISQ: Naik epsilon of each mass, nothing: that of the links; empty: of all. Masses of one epsilon go together.
  std::vector<std::optional<double>> naik_epsilons;
  // Of each mass, instead of `tolerance`; empty: that. 0: its shift goes on as long as that of the smallest mass, and
  // the certificate asks for `tolerance`.
  std::vector<double> tolerances;
  std::optional<RationalSpec> rational;  // f(-D^2) b instead of a solution, one parity system for each pole
  bool rational_parts = false;           // the solutions for the poles themselves instead of their sum
  System system = System::full;
  StopOn stop = StopOn::system;                   // where the system is full; not with several masses
  std::optional<long> max_iterations{};           // of CG, per right-hand side; nothing: stagnation alone ends it
  PhaseConvention phases = PhaseConvention::cps;  // of sources, guesses and solutions (dirac/stencil/boundary.hpp)
  int chronological = 0;                          // earlier solutions to guess from, and to keep; 0: none
  bool deflate = true;                            // with the eigenvectors of the session, if it has any
  bool exact_low_modes = false;                   // of condensates and pion correlators, by these (docs/deflation.md)
  std::vector<MesonRequest> mesons;               // measured on each point or wall with all three colours
  std::vector<Baryon> baryons;                    // likewise
  std::vector<SourcePair> pairs;                  // of sources of mesons; empty: each source with itself
  bool recover = false;                           // after a pass that gained nothing, go back and on
};

// max_iterations, or more than any search takes. Local.
inline long most_iterations(const SolveRequest& request) {
  return request.max_iterations.value_or(std::numeric_limits<long>::max());
}
std::string limit_text(const SolveRequest& request);  // "10000", or "none"

// Whether the mesons that are asked for have operators with shifts or currents that read the thin links. Local.
bool need_thin_links(const SolveRequest& request);

// `masses`, or else the one `mass`. Local.
std::vector<double> masses_of(const SolveRequest& request);

// Masses of one Naik epsilon, by their places in the request. They are solved together.
struct EpsilonGroup {
  double epsilon;
  std::vector<std::size_t> masses;
};
// In the order of the request, but those of the links as they are, with the epsilon `own`, first. Local.
std::vector<EpsilonGroup> epsilon_groups(const SolveRequest& request, double own);
// The size of the largest group; 1 without several masses. Local.
int most_masses_together(const SolveRequest& request, double own);

// The tolerance in force: the request's own, or the default of the precision.
double tolerance_in_force(const SolveRequest& request, Precision precision);

}  // namespace staghorn
