// The links of a context: what they are, where they came from, in fp64 as used. They change in place. Only a Gauge
// changes them, for it also has what is made from them. Collective throughout but where it says Local.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dirac/fields/placed_links.hpp"
#include "solver/eigen/eigenpair_identity.hpp"
#include "solver/gauge/context.hpp"
#include "solver/gauge/improved_gauge.hpp"
#include "solver/report/solve_report.hpp"

namespace staghorn {

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

class GaugeLinks {
 public:
  // No links yet. `context` must outlive the object.
  GaugeLinks(const Context& context, const SessionOptions& options);
  GaugeLinks(const Context& context, LinkField links, const SessionOptions& options, LinkOrigin origin,
             LinkDemand demand);

  const Context& context() const { return context_; }
  // Those of the context, with what these links decide: boundary, action, reals. And the numbers of the solves. Local.
  const SessionOptions& options() const { return options_; }
  // False while they are written, and after an Error of `take`. Local.
  bool are_there() const { return are_there_; }
  // Another number each time that links change: who keeps what is made from them compares. Local.
  long generation() const { return generation_; }
  // fp64, uncompressed: thin or fat. The first call after links came to a GPU copies them to the host. Local.
  const LinkField& on_host() const { return links_.on_host(); }
  // All that an operator reads: where links came to, or on the host. Local.
  OperatorLinks as_they_came() const { return operator_links(links_.as_they_came(), improved_); }
  OperatorLinks all_on_host() const { return operator_links(links_.on_host(), improved_); }
  // Whether the thin links are here, and on the host: those that improved ones were made from, if they were kept.
  // Local.
  bool have_thin() const { return !improved_ || thin_; }
  const LinkField& thin_on_host() const { return improved_ ? *thin_ : on_host(); }
  // Of improved quarks; nullptr for naive ones. Local.
  const ImprovedGauge* improved() const { return improved_ ? &*improved_ : nullptr; }
  // This rank's, with the thin links that improved ones were made from, where these are kept. Local.
  std::int64_t bytes(MemorySpace space) const;

  const UnitarityCheck& unitarity() const { return unitarity_; }  // before any projection. Local.
  // For the report; observables are there if `measured` was called. Local.
  const GaugeSummary& summary() const { return summary_; }
  double read_seconds() const { return origin_.seconds; }
  // What eigenpairs of the operator belong to, with the hashes of the links.
  EigenpairIdentity identity() const;

 private:
  friend class Gauge;

  // As the functions of Gauge with these names say.
  const GaugeSummary& measured();
  void forget_measured() { measured_ = false; }
  LinkField& writable(MemorySpace space);
  LinkField& writable_naik();
  void take(const LinksTaken& links, std::optional<LinkOrigin> origin);
  void improve();
  void add_naik(ImprovedGauge improved);
  void set_epsilon(double epsilon);
  void set_numbers(const SessionOptions& numbers) { options_ = numbers; }
  SessionOptions with_numbers(const SolveNumbers& asked) const;
  // Whether links that are taken have boundary, reals and kind of quarks of those that are here. Local.
  bool are_alike(const LinksTaken& links) const;

  void check();
  void make_improved();
  void improve_in_place(const LinksTaken& links);

  const Context& context_;
  SessionOptions options_;
  PlacedLinks links_;                      // thin ones, or the fat ones of improved quarks
  std::optional<ImprovedGauge> improved_;  // Naik links beside them
  std::optional<LinkField> thin_;          // that these were made from, where options say so
  std::uint64_t thin_hash_ = 0;            // of them
  LinkOrigin origin_;
  LinkDemand demand_;
  bool are_there_ = false;
  long generation_ = 0;
  UnitarityCheck unitarity_;
  GaugeSummary summary_;
  bool measured_ = false;
};

}  // namespace staghorn
