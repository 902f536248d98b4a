#include "solver/session/many/solve_many.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>

#include "halo/watch/stopwatch.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/job/checkpoint_identity.hpp"
#include "solver/session/job/filled_report.hpp"
#include "solver/session/many/batch_after_batch.hpp"
#include "solver/session/many/many_checkpoint.hpp"
#include "solver/session/many/many_observables.hpp"
#include "solver/session/many/refilled_batch.hpp"

namespace staghorn {

namespace {

// Adds what one source came to.
void merge(CertifiedSolve& whole, CertifiedSolve&& done, std::size_t source) {
  whole.rhs[source] = std::move(done.rhs[0]);
  whole.certify_seconds += done.certify_seconds;
  whole.convert_seconds += done.convert_seconds;
  whole.spectrum.merge(done.spectrum);
}

double share(long part, long columns, long iterations) {
  return iterations > 0 ? double(part) / (double(columns) * double(iterations)) : 1;
}

BatchSummary summary_of(const BatchUse& use) {
  return {use.columns, true, use.iterations, share(use.column_iterations, use.columns, use.iterations),
          share(use.column_iterations_waited, use.columns, use.iterations_waited)};
}

// Sources that take turns. `take` gets each solution, on the host, in the phases of its source; `again` those that were
// done before the job went on.
SolveReport solve_in_turns(Session& session, const SolveRequest& request, int columns, const SourceList& sources,
                           SolutionSink* sink, const TakeSolution& take, const TakeSolution& again,
                           const std::function<void(const CgProgress&)>& progress) {
  Gauge& gauge = session.resident();

  std::optional<ManyCheckpoint> checkpoint;
  if (request.checkpoint) {
    std::map<std::string, std::string> identity = checkpoint_identity(gauge, request, sources.identity());
    identity["phases"] = to_string(request.phases);
    checkpoint.emplace(session.communicator(), session.lattice(), request, std::move(identity), sink);
  }
  const Stopwatch setting_up;
  RefilledBatch batch(gauge, request, columns, sources.size());
  const double setup_seconds = setting_up.seconds();

  CertifiedSolve whole;
  whole.rhs.resize(sources.size());
  std::vector<bool> is_done(sources.size(), false);
  const auto make = [&](std::size_t source) {
    VectorField b = sources.make(source);
    change_phases(request.phases, b);
    return b;
  };
  const auto done = [&](std::size_t source, const VectorField& x, CertifiedSolve&& solved) {
    merge(whole, std::move(solved), source);
    VectorField solution(x, MemorySpace::host);
    change_phases(request.phases, solution);
    take(source, solution);
    is_done[source] = true;
    if (checkpoint) checkpoint->remember(source, solution);
  };
  std::deque<std::size_t> waiting;
  std::vector<std::size_t> in_flight;
  if (checkpoint) in_flight = checkpoint->go_on(whole, is_done, batch, make, again);
  for (std::size_t source = 0; source < sources.size(); ++source)
    if (!is_done[source] && std::count(in_flight.begin(), in_flight.end(), source) == 0) waiting.push_back(source);
  while (!waiting.empty() || !batch.is_empty()) {
    for (; !waiting.empty() && batch.has_free_column(); waiting.pop_front())
      batch.begin(waiting.front(), make(waiting.front()));
    batch.advance(progress, !waiting.empty(), done);
    if (checkpoint && checkpoint->is_due()) checkpoint->keep(whole, is_done, batch);
  }
  if (checkpoint) whole.checkpoint = checkpoint->summary();

  const BatchUse use = batch.use();
  whole.loop = batch.form();
  whole.precise_loop = batch.precise_form();
  whole.cg_iterations = use.iterations;
  whole.cg_seconds = batch.solve_seconds();
  const bool there = gauge.bench().certificate().space() == MemorySpace::cuda;
  const double on_their_way = 2 * double(session.lattice().local_volume()) * sizeof(ColorVector<double>);
  SolveReport report = batch_report(gauge, request, whole, setup_seconds,
                                    {batch.vector_bytes(), batch.halo_bytes(),
                                     there ? on_their_way : batch.field_bytes(), there ? batch.field_bytes() : 0});
  report.batch = summary_of(use);
  if (report.seconds["solve"] > 0)
    report.site_iterations_per_second =
        double(session.lattice().global_volume()) * double(use.column_iterations) / report.seconds["solve"];
  return report;
}

}  // namespace

void check_many(const SolveRequest& request) {
  for (const auto& [name, is_set] :
       {std::pair{"chronological", request.chronological > 0}, std::pair{"recover", request.recover}})
    if (is_set) throw Error(name, "a single batch of right-hand sides", "`sources` or `batch`");
  if (request.rational) throw Error("rational", "a single batch of right-hand sides", "`sources` or `batch`");
}

SolveReport solve_many(Session& session, const SolveRequest& request, const ManySources& many,
                       const SourceList& sources, SolutionSink* sink,
                       const std::function<void(const CgProgress&)>& progress) {
  const Context::Scope scope(session.context());
  check_request(request, session.options().precision);
  check_many(request);
  if (session.options().sloppy_auto) session.resident().set_numbers(session.options(), request);
  // Eigenvectors are taken out of a whole batch.
  const bool deflated = session.resident().eigenpairs().deflation(request) != nullptr;
  const bool in_turns = request.masses.empty() && !deflated && solver_for(session.options()).can.refill;
  ManyObservables observables(session, sources, request);
  double write_seconds = 0;
  const auto done = [&](std::size_t number, const VectorField& x) {
    observables.take(number, x);
    const Stopwatch writing;
    if (sink) sink->take(number, x);
    write_seconds += writing.seconds();
  };
  const auto again = [&](std::size_t number, const VectorField& x) { observables.take(number, x); };
  SolveReport report =
      in_turns ? solve_in_turns(session, request, many.batch.value_or(0), sources, sink, done, again, progress)
               : solve_batch_after_batch(session, request, many.batch.value_or(usual_batch), sources, sink, done, again,
                                         progress);
  report.seconds["write"] = session.communicator().max(write_seconds);
  observables.put_into(report);
  conclude(report);  // of all batches
  report.unverified = sources.unverified();
  return report;
}

GrowingSolutions::GrowingSolutions(const Communicator& communicator, const Lattice& lattice, const std::string& path,
                                   bool force, std::size_t n_solutions, WhenUnfinished unfinished)
    : communicator_(communicator),
      keeps_(unfinished == WhenUnfinished::keep),
      output_(std::make_unique<OutputFile>(communicator, path, force, unfinished)),
      writer_(communicator, output_->temporary_path(), lattice, std::int64_t(n_solutions), "solution",
              Precision::fp64) {}

// What an earlier job left may be longer than the file that comes.
void GrowingSolutions::begin_anew() {
  communicator_.agree([&] {
    if (communicator_.is_root()) std::filesystem::resize_file(output_->temporary_path(), 0);
  });
}

// A checkpoint follows, which says what the file holds.
void GrowingSolutions::flush() {
  writer_.flush();
  output_->stays_even_empty();
}

void GrowingSolutions::finish(const SolveReport& report, FilesTogether& with, int compress) {
  output_->complete([&](const std::string&) { writer_.finish(solution_attributes(report), compress); });
  with.add(std::move(output_));
}

}  // namespace staghorn
