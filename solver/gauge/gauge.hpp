// A gauge field of a context with all that is made from it: links, the workbench of its solves, eigenpairs, earlier
// solutions. Here is what changes the links, and what follows from that for the others. Private to the library: front
// ends hold a Session or the C interface. Collective throughout; everything but the constructor wants a Context::Scope.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "solver/gauge/earlier_solutions.hpp"
#include "solver/gauge/gauge_links.hpp"
#include "solver/gauge/kept_blocks.hpp"
#include "solver/gauge/kept_eigenpairs.hpp"
#include "solver/gauge/workbench.hpp"
#include "solver/report/run_setting.hpp"

namespace staghorn {

class Gauge {
 public:
  // A gauge without links, to be taken. `context` must outlive the gauge. Throws Error on every rank alike.
  Gauge(const Context& context, const SessionOptions& options);
  // Checks the links and, where that was asked for or is implied, projects them onto SU(3). `options` may differ from
  // the context's in boundary and numbers. `context` must outlive the gauge. Throws Error on every rank alike.
  Gauge(const Context& context, LinkField links, const SessionOptions& options, LinkOrigin origin,
        LinkDemand demand = LinkDemand::special_unitary);
  Gauge(const Gauge&) = delete;
  Gauge& operator=(const Gauge&) = delete;

  const Context& context() const { return links_.context(); }
  const SessionOptions& options() const { return links_.options(); }
  const GaugeLinks& links() const { return links_; }
  Workbench& bench() { return bench_; }
  const Workbench& bench() const { return bench_; }
  KeptEigenpairs& eigenpairs() { return eigenpairs_; }
  const KeptEigenpairs& eigenpairs() const { return eigenpairs_; }
  const KeptBlocks& blocks() const { return blocks_; }
  EarlierSolutions& earlier() { return earlier_; }  // of requests with `chronological`
  const EarlierSolutions& earlier() const { return earlier_; }

  // The summary of the links with plaquettes and link trace, which the first call computes.
  const GaugeSummary& measured() { return links_.measured(); }
  void set_read_seconds(double seconds) { links_.origin_.seconds = seconds; }

  // Links in place: the caller writes into `writable_links`, which are on the host or, only thin ones that no action
  // changes, on the context's GPU; of a pair also into `writable_naik_links`. Then `take` checks and projects them as
  // the constructor does. Operators stay where boundary, reals and kind of quarks do. There are no links in between,
  // nor after an Error of `take`.
  LinkField& writable_links(MemorySpace space = MemorySpace::host);
  LinkField& writable_naik_links() { return links_.writable_naik(); }
  // `origin`: where links from a file came from; then nothing of the links before decides how these are treated.
  void take(const LinksTaken& links, std::optional<LinkOrigin> origin = std::nullopt);
  // Makes the links of improved quarks from the thin ones that are here, as the options say.
  void improve();
  // The links that are here are fat ones, and belong to these.
  void add_naik_links(ImprovedGauge improved);
  // Links of HISQ quarks of this epsilon in place of those that are here, from the thin ones that were kept.
  void set_epsilon(double epsilon);
  // The epsilon of HISQ links, 0 where none is named. Local.
  double epsilon() const { return options().quarks.naik_epsilon.value_or(0); }

  // Keeps pairs of these links, as KeptEigenpairs::keep does. Local.
  void keep_eigenpairs(std::unique_ptr<Deflation> pairs, const EigenpairCertificate& certificate, double seconds,
                       const std::string& file, const std::string& format);

  // Keeps a basis of blocks made from these links, for solves; `seconds` it took. Local.
  void keep_blocks(std::unique_ptr<CoarseSpace> space, double seconds, const std::string& file);

  // What solves of one gauge may differ in, from now on, chosen for such a request. What is made stays where it serves
  // these too. Throws Error where they do not go together, or ask for fewer reals than these links have. Local.
  void set_numbers(const SolveNumbers& asked, const SolveRequest& request);

  // Forgets all that is made from the links, and earlier solutions: after a failure of one rank, which may have come
  // less far than the others. Local.
  void forget_derived();

 private:
  void forget_modes();  // eigenpairs and blocks, which belong to the links of before

  GaugeLinks links_;
  KeptEigenpairs eigenpairs_;
  KeptBlocks blocks_;
  Workbench bench_;
  EarlierSolutions earlier_;
};

// Into a report: lattice, machine and links, and what `d` works with.
void fill_setting(RunSetting& setting, const Gauge& gauge, const StaggeredOperator& d);

}  // namespace staghorn
