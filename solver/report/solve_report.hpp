// What a solve did: plain data, written as JSON with a versioned schema.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "solver/report/cg_spectrum.hpp"
#include "solver/report/observable.hpp"
#include "solver/report/run_setting.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

class Archive;

// Typed outcome of the whole request: the worst of its right-hand sides.
enum class Outcome { certified, out_of_iterations, stagnated, breakdown };
std::string to_string(Outcome outcome);
void parse(const std::string& text, Outcome& outcome);  // throws Error naming the choices

struct RhsReport {
  std::string source{};                  // of many sources, which; else ""
  int color = -1;                        // source colour; -1 where the source has none (noise, file)
  double mass = 0;                       // of several masses
  std::optional<double> naik_epsilon{};  // of several epsilons
  Outcome outcome = Outcome::breakdown;
  long iterations = 0;
  std::optional<long> iterations_more{};  // where it ended at a limit: about how many more it would have taken
  long shift_iterations = 0;              // of these in multi-shift CG, until this mass was done
  double residual_iterated = 0;           // relative, as CG believed
  double residual_true = 0;               // relative, recomputed in fp64 with uncompressed links by the plain path
  // Of a full system that stops on the residual of its even half: that residual, recomputed likewise. Then
  // residual_iterated and residual_hq are of that half too.
  std::optional<double> residual_parity{};
  double residual_hq = 0;  // Fermilab's, recomputed likewise (dirac/fields/plain_algebra.hpp); 0 of a zero source
  double attainable = 0;   // relative residual that rounding in fp64 leaves: eps (|M| |x| + |b|) / |b|; 0: not known
  double growth2 = -1;     // |x|^2 / |b|^2 on the sites of the system; below 0: b is zero there
  double norm2 = 0, norm2_even = 0, norm2_odd = 0;  // |x|^2 of the solution as it stands
  bool digits_lost = false;        // x has numbers that a double cannot hold with all digits, and is not good enough so
  int earlier_solutions = 0;       // that its guess was made from
  std::vector<long> updates;       // mixed precision: iterations after which the residual was recomputed in `precision`
  std::vector<double> mismatches;  // and how far the residual as iterated was off, relative to it
  std::vector<double> history;     // relative |r| before the first and after each iteration
  void visit(const Archive& archive);
};

// Of a solve for several masses.
struct MultiShiftSummary {
  long iterations = 0;                    // of multi-shift CG: those of the smallest mass
  long sloppy_iterations = 0;             // of these in the sloppy precision
  int columns = 0;                        // right-hand sides of A: sources, or their two halves
  Precision precision = Precision::fp64;  // that these iterations began in
  // Masses of several epsilons: what each did, whose iterations the ones above add up.
  struct Group {
    double naik_epsilon = 0;
    std::vector<double> masses;
    long iterations = 0, sloppy_iterations = 0;
    int columns = 0;
    Precision precision = Precision::fp64;
    void visit(const Archive& archive);
  };
  std::vector<Group> groups{};
};

// The eigenpairs that a solve took out of its residual, and what that took.
struct DeflationSummary {
  std::string file, format;
  long pairs = 0;
  Precision precision = Precision::fp64;  // of the vectors in memory
  MemorySpace space = MemorySpace::host;  // where they lie; pinned: on the host, from where a GPU reads them
  double smallest = 0, largest = 0;       // eigenvalues of -D^2, found from the vectors as loaded
  double largest_residual = 0;            // of |K v - lambda v| in fp64 by the plain path, as loaded
  double largest_change = 0;              // of |lambda - what the file says of it|
  double orthogonality = 0;               // largest |V^+ V - 1|
  double read_seconds = 0;                // reading and certifying them, once a session
  long projections = 0;                   // of this solve: how often the vectors were used
  double seconds = 0;                     // of this solve: the slowest rank, in these
};

// The basis of blocks that a solve worked in, and what that took.
struct CoarseSummary {
  std::string file;                                        // of its vectors; "" where they were found in memory
  int vectors = 0;                                         // columns on each block
  Extents block{};                                         // sites of a block in each direction
  std::int64_t blocks = 0;                                 // of the lattice
  int neighbours = 0;                                      // blocks in a row of the coarse matrix
  long pairs = 0;                                          // of E(0), which precondition coarse solves
  double smallest = 0, largest_of_pairs = 0, largest = 0;  // eigenvalues of E(0): of the pairs, and its largest
  long set_up_products = 0;                                // with E(0), to find them
  double set_up_seconds = 0;        // reading or finding vectors and making the rest, once a gauge
  long solves = 0, iterations = 0;  // of this solve: coarse solves, and their iterations
  long operator_calls = 0;          // of this solve: products with A, of all kinds, for all right-hand sides together
  double seconds = 0;               // of this solve: the slowest rank, in coarse solves
};

// One of many sources: a point or wall with its colours, noise with its vectors, a file.
struct SourceSummary {
  std::string name;
  int first = 0, n_rhs = 0;  // its entries in SolveReport::rhs
};

// Of many sources: how they took turns.
struct BatchSummary {
  int columns = 0;      // right-hand sides at a time
  bool refills = true;  // where one is done the next takes its place; false: batch after batch
  long iterations = 0;  // of the batch
  // Iterations of right-hand sides over columns times iterations of the batch: of all, and while sources were waiting.
  double filled = 1, filled_while_waiting = 1;
};

// Of a job in groups of ranks (`split`).
struct SplitSummary {
  int groups = 0, ranks_of_each = 0;
  std::vector<std::string> failures{};  // of groups whose work others took over: which group, and why
};

// Where the time of hops goes, and how much of it is hidden: the table of Kim & Lee, Lattice 2010.
struct TimeRow {
  std::string part;               // compute, gather, DtoH, MPI, HtoD, scatter, sums, communication
  std::optional<double> seconds;  // mean of the ranks; nothing where it is included in another part
  double slowest = 0;             // of the rank where it took longest
  // The share of the part that was hidden behind computing. For `communication` it is the share of what could be
  // hidden, the lesser of `communication` and `compute`. No value where there is nothing to hide.
  std::optional<double> hidden_share;
  std::string note;  // why there is no figure, or none but zero
};

struct TimeTable {
  std::vector<TimeRow> rows;  // none where no face travels
  long one_hop_in = 1;        // one hop of so many was timed and stands for the others
};

struct SolveReport : RunSetting {
  static constexpr int schema_version = 1;
  Outcome outcome = Outcome::breakdown;
  std::string explanation;              // what was reached and why it may have stalled; "" when certified
  std::vector<std::string> unverified;  // of sources and guesses read with no_verify: what was absent or wrong
  bool verified() const { return gauge.verified() && unverified.empty(); }  // every file that was read
  std::string source, system;
  std::optional<TransportChoice> sloppy_transports;  // faces of the operator in the lower precision
  std::optional<LaunchTuning> sloppy_tuning;         // launches of the operator in the lower precision
  std::string solver;                                // the method's name in solver/krylov/table/solver_table.cpp
  std::string certificate;                           // where the residuals were computed: host or device
  std::string loop;          // what the iterations of CG ran as (krylov/loop_form.hpp); "" where there were none
  std::string precise_loop;  // mixed precision: what iterations in `precision` ran as; "" where there were none
  std::string took_over{};   // block CG: which solver went on in its place, when and why; "" where none did
  SolveRequest request;
  double tolerance = 0;  // on the relative residual of the request's system
  std::vector<RhsReport> rhs;
  // Of a session with `inject`, or a request with `recover`: bits that were changed, passes after which CG believed
  // less than half of what is true, and how often the solve went back.
  struct Faults {
    std::vector<std::string> injected;
    int noticed = 0, recovered = 0;
  };
  std::optional<Faults> faults;
  std::optional<SpectrumEstimate> spectrum;      // of A, from the coefficients of CG; absent where they do not tell
  std::optional<DeflationSummary> deflation;     // of a solve with eigenvectors
  std::optional<CoarseSummary> coarse;           // of a solve in a basis of blocks
  std::optional<CheckpointSummary> checkpoint;   // where the request has one
  std::optional<BatchSummary> batch;             // of many sources
  std::vector<SourceSummary> sources;            // likewise
  std::optional<SplitSummary> split;             // of groups of ranks
  std::optional<MultiShiftSummary> multi_shift;  // request.masses: rhs are masses times sources, mass by mass
  std::optional<RationalFunction> rational;      // whose poles the masses stand for
  // Of each mass, each source and each kind, in this order. Of a solve on which nothing is measured one of each kind.
  std::vector<Observable> observables;
  std::size_t count_kinds() const;  // of observables
  // read, setup, convert (sources into the form of the kernels, solutions back), solve, certify, write, and of `solve`
  // hop_pack, hop_interior, hop_wait, hop_boundary, hop_sums
  std::map<std::string, double> seconds;
  TimeTable times;                             // of hops and sums inside `solve`, by part, and what was hidden
  std::map<std::string, double> memory_bytes;  // per object, summed over ranks, and peak_resident of the hosts
  std::map<std::string, double> predicted_memory_bytes;  // the same objects, by formula before they were made
  double site_iterations_per_second = 0;  // sites of the lattice x right-hand sides x iterations / seconds in CG
};

// The equation that was solved and the definition of D, in words of the report and of solution files.
std::string equation(System system);
inline constexpr const char* hop_definition = "D a(x) = sum_mu eta_mu(x) [U_mu(x) a(x+mu) - U_mu(x-mu)^dagger a(x-mu)]";
inline constexpr const char* improved_hop_definition =
    "D a(x) = sum_mu eta_mu(x) [F_mu(x) a(x+mu) - F_mu(x-mu)^dagger a(x-mu) + c_N (N_mu(x) a(x+3mu) - "
    "N_mu(x-3mu)^dagger a(x-3mu))]";
std::string hop_definition_of(const RunSetting& setting);

// The attributes of a solution file: what was solved, on which configuration, and what came out. They do not depend on
// ranks, grid or threads, so that the whole file does not.
std::map<std::string, std::string> solution_attributes(const SolveReport& report);

// The report's "gauge" object, pretty-printed.
std::string to_json(const GaugeSummary& gauge);
std::string to_json(const SolveReport& report);  // pretty-printed, one trailing newline

// What a right-hand side has to reach: |b - M x| / |b|, and Fermilab's residual where that is asked for.
struct Target {
  const char* option;  // that asked for it
  double asked, found;
  double safe;  // that another solve would reach: above what was found, in the noise of rounding
};

// In this order, with `tolerance` for the first. Local.
std::vector<Target> targets_of(const SolveRequest& request, double tolerance, const RhsReport& rhs);

// What a solve reached, in words (explanation.cpp): "" for a certified report, otherwise a sentence or two about the
// right-hand side that did worst. Local.
std::string explain(const SolveReport& report);

// RhsReport::attainable, from these and what CG saw of A: eps (|M| |x| + |b|) / |b|; 0: not known. Local.
double attainable_residual(const SolveRequest& request, const SpectrumEstimate& spectrum, const RhsReport& rhs);

// Outcome and explanation of a report from those of its right-hand sides. Local.
void conclude(SolveReport& report);

// About how many more iterations a search would have taken that ended at a limit: to the tolerances of right-hand side
// `i`, at the rate of the second half of its iterations, or at that which CG's
// coefficients foresee, if that is faster: |r| of light masses stands for long before it falls. Nothing where it did
// not end at a limit, or where its iterations are too few to tell. Local.
std::optional<long> iterations_more(const SolveReport& report, std::size_t i);

}  // namespace staghorn
