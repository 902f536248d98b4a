// The links of a context, in fp64 for the certificate and packed for the kernels, with the operators and vectors of its
// solves. Links change in place. Private to the library: front ends hold a Session or the C interface. Collective
// throughout; everything but the constructor wants a Context::Scope.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dirac/fields/placed_links.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "dirac/operators/staggered_operator.hpp"
#include "lattice_io/eigenvectors/eigenvector_file.hpp"
#include "solver/eigen/deflation.hpp"
#include "solver/eigen/eigenpair_identity.hpp"
#include "solver/eigen/low_modes.hpp"
#include "solver/krylov/even_odd.hpp"
#include "solver/machine/memory_check.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/session/certificate/certificate_fields.hpp"
#include "solver/session/context.hpp"
#include "solver/session/earlier_solutions.hpp"
#include "solver/session/improved_gauge.hpp"

namespace staghorn {

struct CertifiedSolve;
struct CertifiedWork;
struct ShiftedPassResult;
class Checkpoints;
struct EigenReport;
struct EigenpairOutput;

// Where links came from, and what reading them found.
struct LinkOrigin {
  std::string file;  // "": the caller
  std::string format = "memory";
  GaugeChecks checks;
  double seconds = 0;
};

// What links must be. `special_unitary`: in SU(3), within the limits of report/gauge_summary.hpp. `finite`: anything
// that is a number, to be used as it stands, with 18 reals.
enum class LinkDemand { special_unitary, finite };

// What links are that a gauge takes, and what becomes of them.
struct LinksTaken {
  Boundary boundary;                                // of D
  Reconstruct reals = Reconstruct::none18;          // in the kernels, of a thin or Naik link
  LinkDemand demand = LinkDemand::special_unitary;  // of thin links
  // asqtad or HISQ: fat and Naik links are made from these thin ones. `in_memory`: they are fat ones, and Naik links
  // with their coefficient stand beside them.
  QuarkAction quarks{};
  int naik_sign = -1;                  // of that coefficient
  std::optional<double> naik_scale{};  // the coefficient, where it is known; else it is measured
  std::string phases_in_links{};       // for the report: what the caller's links held
};

// How a solve differs from one of the program.
struct SolveHabits {
  bool zero_source_is_a_result = false;  // x = 0 and certified; otherwise Error
  const bool* interrupted = nullptr;     // see CgStop
  Checkpoints* checkpoints = nullptr;    // of the job that this solve is a part of, instead of its own
  std::size_t first_solution = 0;        // several masses: the place of theirs among the solutions of that job
};

class Gauge {
 public:
  // A gauge without links, to be taken. `context` must outlive the gauge. Throws Error on every rank alike.
  Gauge(const Context& context, const SessionOptions& options);
  // Checks the links and, where that was asked for or is implied, projects them onto SU(3). `options` may differ from
  // the context's in boundary and numbers. `context` must outlive the gauge. Throws Error on every rank alike.
  Gauge(const Context& context, LinkField links, const SessionOptions& options, LinkOrigin origin,
        LinkDemand demand = LinkDemand::special_unitary);

  const Context& context() const { return context_; }
  // fp64, uncompressed, as used: thin or fat. On the host; the first call after links came to a GPU copies them.
  const LinkField& links() const { return links_.on_host(); }
  const SessionOptions& options() const { return options_; }
  LinkDemand demand() const { return demand_; }
  const UnitarityCheck& unitarity() const { return unitarity_; }  // before any projection
  // With plaquettes and link trace, which the first call computes.
  const GaugeSummary& measured();

  // Links in place: the caller writes into `writable_links`, which are on the host or, only thin ones that no action
  // changes, on the context's GPU; of a pair also into `writable_naik_links`. Then `take`
  // checks and projects them as the constructor does. Operators stay where boundary, reals and kind of quarks do. There
  // are no links in between, nor after an Error of `take`: `has_links` is false until it succeeds.
  LinkField& writable_links(MemorySpace space = MemorySpace::host) {
    has_links_ = false;
    if (space == MemorySpace::cuda) certificate_.drop_links();  // of other links
    return links_.room_in(space);
  }
  LinkField& writable_naik_links();
  // `origin`: where links from a file came from; then nothing of the links before decides how these are treated.
  void take(const LinksTaken& links, std::optional<LinkOrigin> origin = std::nullopt);
  bool has_links() const { return has_links_; }
  // Forgets all that is made from the links, and earlier solutions: after a failure of one rank, which may have come
  // less far than the others. Local.
  void forget_derived();
  // Whether certificates run on a GPU: as the options say, or as the last one did. Local.
  bool certifies_on_gpu() const;
  // Bytes of a GPU that links there take beside what is held already. Local.
  std::int64_t bytes_of_links_there() const { return links_.bytes_on_host() - links_.bytes_on_gpu(); }
  void set_read_seconds(double seconds) { origin_.seconds = seconds; }

  // Makes the links of improved quarks from the thin ones that are here, as the options say.
  void improve();
  // The links that are here are fat ones, and belong to these.
  void add_naik_links(ImprovedGauge improved);
  // What kernels are packed from: links where they came to.
  OperatorLinks operator_links() const { return staghorn::operator_links(links_.as_they_came(), improved_); }
  // What the plain operator reads where its fields lie in `space`. Copies in the other place stay until links change.
  // Throws Error where there is no memory for them. Local.
  OperatorLinks plain_links(MemorySpace space);
  // The links as an operator of the solves packed them, to be shared; nothing before the first solve.
  std::shared_ptr<HopData> packed_links() const { return precise_ ? precise_->hop_data() : nullptr; }
  double read_seconds() const { return origin_.seconds; }
  // Lattice, machine and links, and what `d` works with. Local.
  void fill_setting(RunSetting& setting, const StaggeredOperator& d) const;
  // Of improved quarks; nullptr for naive ones.
  const ImprovedSummary* improved() const { return improved_ ? &improved_->summary : nullptr; }
  const ImprovedGauge* improved_gauge() const { return improved_ ? &*improved_ : nullptr; }

  // What eigenpairs of this operator belong to, with the hashes of the links.
  EigenpairIdentity eigenpair_identity() const;
  // Reads eigenpairs, proves that they are eigenpairs of this operator, and keeps them: solves use them. Throws Error
  // where the file is for other links, another action or boundary, or for nothing that the certificate accepts. They
  // go where the links change. `on_host`: whether they lie there though a GPU computes; absent: the options and the
  // memory that is free decide. Collective.
  void load_eigenpairs(const EigenvectorHeader& header, std::optional<bool> on_host = {});
  // Keeps pairs that were found and certified for these links, as load_eigenpairs does. They lie where the gauge
  // computes. Collective.
  void keep_eigenpairs(Eigenpairs pairs, const EigenReport& found);
  // Writes the pairs that are kept, of which there are some. Collective.
  void write_eigenpairs(const EigenpairOutput& output) const;
  // What is known of them; nullptr where there are none. Local.
  const DeflationSummary* kept_eigenpairs() const { return deflation_ ? &deflation_summary_ : nullptr; }
  const Eigenpairs& eigenpairs() const { return deflation_->pairs(); }
  // Whether solves use them. Local.
  void use_eigenpairs(bool use) { uses_eigenpairs_ = use; }
  bool uses_eigenpairs() const { return deflation_ && uses_eigenpairs_; }
  void forget_eigenpairs();
  // Their part of condensates of noise, and of correlators of points and walls, where the request asks for it to be
  // exact. Throws Error where there are no pairs, or none of these sources. Collective.
  LowModes low_modes(const SolveRequest& request, std::span<const SourceRequest> sources);

  // What solves of one gauge may differ in, from now on: precisions, reals of a link in the iterations of mixed
  // precision, solver. Nothing happens if they are as they were. Throws Error where they do not go together, or ask for
  // fewer reals than these links have. Local.
  void set_numbers(const SessionOptions& asked);

  // Solves for every source; `solutions` come in as initial guesses (zero fields for none) and go out as solutions. Of
  // a parity system the other sites of solutions stay as they are. Sources and solutions are in CPS phases. They lie on
  // the host or, all of them, on the context's GPU, and stay there.
  SolveReport solve(const SolveRequest& request, std::span<const VectorField> sources, std::span<VectorField> solutions,
                    const std::function<void(const CgProgress&)>& progress, const SolveHabits& habits = {});
  // Solves for every mass of request.masses and every source: `solutions` are masses times sources, mass by mass, and
  // what they hold at first does not count. The report has an entry for each of them, in this order.
  SolveReport solve_masses(const SolveRequest& request, std::span<const VectorField> sources,
                           std::span<VectorField> solutions, const std::function<void(const CgProgress&)>& progress,
                           const SolveHabits& habits = {});

  // What many sources that take turns are solved with (many/refilled_batch.hpp), made if it is not there yet: operators
  // for so many right-hand sides, and the fields of the certificate. `columns` 0: 16, or as many as memory holds, but
  // no more than there are sources. Throws Error where that does not fit.
  struct BatchParts {
    StaggeredOperator& precise;
    StaggeredOperator* sloppy;  // nullptr without mixed precision
    CertificateFields& certificate;
    OperatorLinks links, plain;  // that kernels are packed from, and of the certificate
  };
  BatchParts prepare_batch(int columns, std::size_t n_sources, System system, MemorySpace certificate);
  // What a checkpoint belongs to, text by text: version, links, sources, request. Throws Error for a solver without
  // checkpoints.
  std::map<std::string, std::string> identity_of(const SolveRequest& request, const std::string& sources_hash) const;
  // The report of such a solve. Bytes of this rank: vectors of the passes; halo of operators besides; sources and
  // solutions on the host, and beside the certificate on a GPU.
  struct BatchBytes {
    double vectors, halo, fields, fields_on_gpu;
  };
  SolveReport batch_report(const SolveRequest& request, const CertifiedSolve& done, double setup_seconds,
                           const BatchBytes& bytes) const;

 private:
  const Lattice& lattice() const { return links_.lattice(); }
  SolveReport solve_on_parity(const SolveRequest& request, std::span<const VectorField> sources,
                              std::span<VectorField> solutions, const ShowProgress& progress,
                              const SolveHabits& habits);
  // `solve`, or solve_masses, of sources of which some have a |b|^2 that is out of range
  // (certificate/scaled_sources.hpp).
  SolveReport solve_scaled(const SolveRequest& request, std::span<const VectorField> sources, std::vector<double> b2,
                           std::span<VectorField> solutions, const ShowProgress& progress, const SolveHabits& habits);
  void check_links();
  void improve_in_place(const LinksTaken& links);
  // Makes what a solve needs and what is not there yet: operators, vectors, fields of the certificate. Throws Error
  // where that does not fit into memory. Times of hops count from here. `certificate`: where it runs.
  void prepare(int n_rhs, System system, MemorySpace certificate);
  // Operators for so many right-hand sides. The vectors of those before are gone.
  void make_operators(const SolveShape& shape);
  void forget_operators();
  void pack_links();  // into the operators, in place
  // From now on these pairs. Collective.
  void take_eigenpairs(std::unique_ptr<Deflation> pairs, const EigenpairCertificate& certificate, double seconds);
  // What a solve of this request deflates with, if anything.
  Deflation* deflation(const SolveRequest& request) const {
    return uses_eigenpairs() && request.deflate ? deflation_.get() : nullptr;
  }

  // Links of HISQ quarks of this epsilon in place of those that are here, from the thin ones that were kept.
  void set_epsilon(double epsilon);
  // solve_masses of one epsilon after the other (gauge_epsilons.cpp). The links are those of before in the end.
  SolveReport solve_epsilons(const SolveRequest& request, std::span<const VectorField> sources,
                             std::span<VectorField> solutions, const ShowProgress& progress, const SolveHabits& habits);

  // How many right-hand sides go at once, and the solve of more of them, group after group (gauge_groups.cpp).
  std::size_t most_at_once(const SolveRequest& request) const;
  SolveReport solve_in_groups(const SolveRequest& request, std::span<const VectorField> sources,
                              std::span<VectorField> solutions, const ShowProgress& progress,
                              const SolveHabits& habits);

  // Steps of solve_masses (gauge_masses.cpp).
  struct ShiftedBatch;
  // Throws Error where the multi-shift pass does not fit beside what is there. `field_bytes`: the caller's fields.
  void require_memory_of(const SolveShape& shifted, double field_bytes) const;
  void make_shifted_batch(ShiftedBatch& batch, const SolveRequest& request, std::span<const VectorField> sources,
                          MemorySpace certificate);
  ShiftedPassResult run_shifted_pass(ShiftedBatch& batch, const SolveRequest& request,
                                     std::span<const VectorField> sources, std::span<const double> b2,
                                     std::span<VectorField> solutions, const ShowProgress& progress,
                                     const bool* interrupted, Checkpoints* checkpoints);
  SolveShape shape(int n_rhs, System system, MemorySpace certificate) const;
  // Where the certificate of a solve of these fields runs: as the options say. Where they leave it open it goes to the
  // GPU that solves, if there is room for it beside the solve; else fields of the host are certified there. Collective.
  MemorySpace place_certificate(std::span<const VectorField> sources, std::span<const VectorField> solutions,
                                System system);
  // What kernels are packed from where a certificate reads its links in `space`: those of naive quarks travel once.
  OperatorLinks links_to_pack(MemorySpace space);
  double operator_bytes() const;  // of this rank: links, halos and vectors of the solves
  // This rank's memory that the estimate of a solve counts and that is held already; `of_operators`: their links.
  double certificate_bytes(MemorySpace space) const;  // held there beside the host's links, this rank
  MemoryBudget held_memory(const MemoryEstimate& estimate, double of_operators) const;
  MemoryBudget held_by(double of_operators) const;  // by them and by eigenvectors alone

  // The hashes of sources, for `identity_of`.
  std::string hashes_of(std::span<const VectorField> sources) const;
  // Those of `habits`, or where the request has one, a solve's own; nullptr without.
  Checkpoints* checkpoints_of(const SolveRequest& request, std::span<const VectorField> sources,
                              const SolveHabits& habits, std::optional<Checkpoints>& own) const;
  CertifiedWork certified_work(const SolveRequest& request, const SolveHabits& habits, Checkpoints* checkpoints);

  // The report of a solve (filled_report.cpp). `source_bytes`: this rank's sources and solutions.
  SolveReport filled_report(const SolveRequest& request, const CertifiedSolve& done, double setup_seconds,
                            double source_bytes) const;
  void fill_times(SolveReport& report, const CertifiedSolve& done, double setup_seconds) const;
  void fill_memory(SolveReport& report, const SolveShape& shape, double vector_bytes, double source_bytes) const;
  SolveReport filled(const SolveRequest& request, const CertifiedSolve& done, double setup_seconds) const;

  const Context& context_;
  SessionOptions options_;
  PlacedLinks links_;                      // thin ones, or the fat ones of improved quarks
  std::optional<ImprovedGauge> improved_;  // Naik links beside them
  std::optional<LinkField> thin_;          // that these were made from, where options say so
  LinkOrigin origin_;
  LinkDemand demand_;
  bool has_links_ = false;
  UnitarityCheck unitarity_;
  bool projected_ = false;
  GaugeSummary summary_;  // of the links, without observables unless `measured_`
  bool measured_ = false;
  std::uint64_t thin_hash_ = 0;           // of the links that fat ones were made from
  std::unique_ptr<Deflation> deflation_;  // eigenpairs of the links, if they were loaded
  DeflationSummary deflation_summary_;    // of them, without what solves add
  bool uses_eigenpairs_ = true;           // solves do
  std::string eigenvectors_;              // precision and values, for checkpoints
  std::unique_ptr<StaggeredOperator>
      sloppy_;  // iterates in lower precision than `precise_`; empty without mixed precision
  std::unique_ptr<StaggeredOperator> precise_;  // made by the first solve, and again when n_rhs changes
  std::unique_ptr<EvenOddPass> pass_;           // the vectors of CG, made with `precise_`
  EarlierSolutions earlier_;                    // of requests with `chronological`
  CertificateFields certificate_;               // made by the first solve
};

}  // namespace staghorn
