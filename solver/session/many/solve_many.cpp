#include "solver/session/many/solve_many.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "halo/watch/injected_faults.hpp"
#include "halo/watch/stopwatch.hpp"
#include "halo/watch/surroundings.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/job/checkpoint_identity.hpp"
#include "solver/session/job/filled_report.hpp"
#include "solver/session/many/batch_after_batch.hpp"
#include "solver/session/many/many_checkpoint.hpp"
#include "solver/session/many/many_observables.hpp"
#include "solver/session/many/refilled_batch.hpp"
#include "solver/session/many/solve_in_groups.hpp"

namespace staghorn {

namespace {

// Adds what one source came to.
void merge(CertifiedSolve& whole, CertifiedSolve&& done, std::size_t source) {
  whole.rhs[source] = std::move(done.rhs[0]);
  whole.certify_seconds += done.certify_seconds;
  whole.convert_seconds += done.convert_seconds;
  whole.spectrum.merge(done.spectrum);
}

InjectedFault fault_of(const JobGroups* groups) {
  const char* const name = "STAGHORN_FAIL_GROUP";
  const char* const text = groups ? environment_variable(name) : nullptr;
  return text ? InjectedFault(name, text, groups->number() + 1) : InjectedFault();
}

// What a file could not take in counts as an Error of files, whatever was said.
void hand_on(SolutionSink& sink, std::size_t number, const VectorField& x) {
  try {
    sink.take(number, x);
  } catch (const LocalError&) {
    throw;
  } catch (const Error& error) {
    throw FileError(error.what());
  }
}

double share(long part, long columns, long iterations) {
  return iterations > 0 ? double(part) / (double(columns) * double(iterations)) : 1;
}

BatchSummary summary_of(const BatchUse& use) {
  return {use.columns, true, use.iterations, share(use.column_iterations, use.columns, use.iterations),
          share(use.column_iterations_waited, use.columns, use.iterations_waited)};
}

// Sources that take turns. `take` gets each solution, on the host, in the phases of its source; `again` those that were
// done before the job went on. Of the sources of `part` alone.
SolveReport solve_in_turns(Session& session, const SolveRequest& request, int columns, const SourceList& sources,
                           SolutionSink* sink, const TakeSolution& take, const TakeSolution& again,
                           const std::function<void(const CgProgress&)>& progress, PartOfJob& part) {
  Gauge& gauge = session.resident();

  std::optional<ManyCheckpoint> checkpoint;
  if (request.checkpoint) {
    std::map<std::string, std::string> identity = checkpoint_identity(gauge, request, sources.identity());
    identity["phases"] = to_string(request.phases);
    part.add_to(identity);
    checkpoint.emplace(session.communicator(), session.lattice(), request, std::move(identity), sink);
  }
  const Stopwatch setting_up;
  RefilledBatch batch(gauge, request, columns, std::max<std::size_t>(part.size(sources.size()), 1));
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
    part.done(source, whole.rhs[source]);
    if (checkpoint) checkpoint->remember(source, solution);
  };
  std::deque<std::size_t> waiting;
  std::vector<std::size_t> in_flight;
  if (checkpoint) in_flight = checkpoint->go_on(whole, is_done, batch, make, again);
  for (std::size_t source = 0; source < sources.size(); ++source)
    if (is_done[source]) part.done(source, whole.rhs[source]);
  for (std::size_t source = 0; source < sources.size(); ++source)
    if (part.is_mine(source) && !is_done[source] && std::count(in_flight.begin(), in_flight.end(), source) == 0)
      waiting.push_back(source);
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
                       const std::function<void(const CgProgress&)>& progress, const JobGroups* groups) {
  const Context::Scope scope(session.context());
  check_request(request, session.options().precision);
  check_many(request);
  if (session.options().sloppy_auto) session.resident().set_numbers(session.options(), request);
  // Eigenvectors are taken out of a whole batch.
  const bool deflated = session.resident().eigenpairs().deflation(request) != nullptr;
  const bool in_turns = request.masses.empty() && !deflated && solver_for(session.options()).can.refill;
  const int batch = many.batch.value_or(usual_batch);
  ManyObservables observables(session, sources, request);
  double write_seconds = 0;
  std::set<std::size_t> written;
  InjectedFault fault = fault_of(groups);
  const auto done = [&](std::size_t number, const VectorField& x) {
    if (fault.is_due()) throw Error("STAGHORN_FAIL_GROUP asks for this failure");
    observables.take(number, x);
    const Stopwatch writing;
    if (sink && written.insert(number).second) hand_on(*sink, number, x);
    write_seconds += writing.seconds();
  };
  const auto again = [&](std::size_t number, const VectorField& x) {
    observables.take(number, x);
    written.insert(number);
  };
  const auto solve = [&](const SolveRequest& asked, PartOfJob& part) {
    return in_turns ? solve_in_turns(session, asked, many.batch.value_or(0), sources, sink, done, again, progress, part)
                    : solve_batch_after_batch(session, asked, batch, sources, sink, done, again, progress, part);
  };
  SolveReport report;
  if (groups) {
    const ManyPieces pieces{request, sources,
                            in_turns       ? 0
                            : many.asked() ? std::size_t(batch)
                                           : sources.size(),
                            !many.asked() && in_turns && session.options().sloppy.has_value()};
    report = solve_in_groups(*groups, session, request, pieces, written, solve);
    observables.complete([&](std::vector<double>& numbers) { groups->complete(numbers); });
    write_seconds = groups->across().max(write_seconds);
  } else {
    PartOfJob all;
    report = solve(request, all);
  }
  report.seconds["write"] = session.communicator().max(write_seconds);
  observables.put_into(report);
  conclude(report);  // of all batches
  report.unverified = sources.unverified();
  if (groups && !many.asked()) {  // as it is where all are solved at once
    report.batch.reset();
    report.sources.clear();
    for (RhsReport& rhs : report.rhs) rhs.source.clear();
    if (report.spectrum && in_turns)  // which all of them have seen
      for (RhsReport& rhs : report.rhs) rhs.attainable = attainable_residual(request, *report.spectrum, rhs);
  }
  return report;
}

GrowingSolutions::GrowingSolutions(const Communicator& communicator, const Lattice& lattice, const std::string& path,
                                   bool force, std::size_t n_solutions, WhenUnfinished unfinished,
                                   const RankGroups* groups)
    : job_(groups ? groups->all() : communicator),
      keeps_(unfinished == WhenUnfinished::keep),
      in_groups_(groups != nullptr),
      output_(std::make_unique<OutputFile>(job_, path, force, unfinished)),
      writer_(communicator, output_->temporary_path(), lattice, std::int64_t(n_solutions), "solution", Precision::fp64,
              &job_) {
  if (in_groups_) writer_.begin();
}

void GrowingSolutions::begin_anew() {
  if (!in_groups_) empty();
}

void GrowingSolutions::empty() {
  writer_.empty();
  if (in_groups_) writer_.begin();
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
