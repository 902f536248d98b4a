// staghorn_solve_sources: a solve as the program has it, with sources in words, several masses, batches, observables.
#include <staghorn.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "dirac/fields/vector_shape.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/solves/host_calls.hpp"
#include "solver/interface/solves/host_room.hpp"
#include "solver/interface/solves/solve_calls.hpp"
#include "solver/interface/structs.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/session/many/solve_many.hpp"
#include "solver/session/solve_sources.hpp"
#include "solver/session/source_operators.hpp"

namespace staghorn {

namespace {

// Thrown on all ranks where the progress function of one ends a job of batches.
struct Stopped {};

struct SourcesCall {
  const staghorn_request* request;
  const staghorn_vectors* vectors;
  int n;
  const void* const* b;
  staghorn_room room;
  void* room_data;
};

// Solutions of batches, each written to the host when it is there.
class HostSolutions final : public SolutionSink {
 public:
  HostSolutions(const Communicator& communicator, const SolveArguments& arguments, HostRoom& room)
      : communicator_(communicator), arguments_(arguments), room_(room) {}

  void take(std::size_t number, const VectorField& x) override {
    room_.write(number, x);
    std::optional<VectorField> held;
    const auto back = [&]() -> VectorField& { return held.emplace(room_.read(number)); };
    if (!is_held(communicator_, arguments_.vectors.host.real, arguments_.sites, x, back)) not_held_.insert(number);
  }
  // Of solutions that were taken.
  void judge(SolveReport& report) const {
    for (const std::size_t number : not_held_) tell_not_held(report.rhs[number]);
    if (!not_held_.empty()) conclude(report);
  }

 private:
  const Communicator& communicator_;
  const SolveArguments& arguments_;
  HostRoom& room_;
  std::set<std::size_t> not_held_;
};

// A call while it runs. Collective throughout.
class RunningSources {
 public:
  RunningSources(HeldGauge& held, const SourcesCall& call) : held_(held), call_(call) {}

  int run() {
    agree_on(held_, "staghorn_solve_sources", [&](Asked& asked) { read(asked); });
    held_.gauge->set_numbers(options().session, options().request);  // operators of all ranks go or stay
    ProgressCall progress(held_.ranks(), arguments_.request.progress, arguments_.request.progress_data);
    Session session(*held_.context->context, *held_.gauge, progress.stopped());
    SolveReport report;
    try {
      report = options().many.asked() ? batches(session, progress.show_each([] { throw Stopped(); }))
                                      : at_once(session, progress.show_each([] {}));
    } catch (const Stopped&) {
      return STAGHORN_STOPPED;
    }
    int worst = STAGHORN_OK;
    for (const RhsReport& rhs : report.rhs) worst = std::max(worst, status_of(rhs.outcome));
    if (*progress.stopped() && worst != STAGHORN_OK) worst = STAGHORN_STOPPED;
    keep_report(*held_.context, std::move(report));
    return worst;
  }

 private:
  const SolveOptions& options() const { return arguments_.options; }

  // Local.
  void read(Asked& asked) {
    arguments_.read(asked, call_.request, call_.vectors, held_, OptionsOf::sources);
    const staghorn_request& request = arguments_.request;
    asked.add("n", call_.n);
    check_choice("n", call_.n, 0, 1L << 20);
    if (!call_.room) throw Error(ErrorKind::argument, "room", "a function", "NULL");
    check_choice("request.sign with sources in words", request.sign, 1, 1);
    check_choice("request.halved with sources in words", request.halved, 0, 0);
    check_choice("request.stop with sources in words", request.stop, STAGHORN_STOP_ON_SYSTEM, STAGHORN_STOP_ON_SYSTEM);
    check_room(arguments_.vectors.given);
    const SolveRequest& solve = options().request;
    if (!solve.masses.empty() || solve.rational || options().many.asked())
      check_choice("request.guess with several masses or batches, which start from zero", request.guess, 0, 0);
    if (call_.n > 0) check_pointer("b", call_.b);
    const int cuda_device = held_.context->context->cuda_device();
    for (int i = 0; i < call_.n; ++i) check_memory("b[i]", call_.b[i], STAGHORN_HOST, cuda_device);
    for (int i = 0; i < call_.n; ++i)
      read_vector(arguments_.vectors.host, arguments_.vectors.signs, arguments_.sites, call_.b[i],
                  fields_.emplace_back(held_.lattice()));
  }

  SolveReport at_once(Session& session, const ProgressCall::Show& progress) {
    SourceSet sources;
    if (call_.n == 0) {
      sources = make_sources(held_.ranks(), held_.lattice(), options().source, options().session.no_verify,
                             source_operators(session, options().request.phases));
    } else {
      sources.request.spec.kind = SourceKind::file;
      sources.name = "array";
      sources.fields = std::move(fields_);
      sources.colors.assign(sources.fields.size(), -1);
    }
    const SolveRequest& request = options().request;
    const std::size_t n = std::max<std::size_t>(request.masses.size(), 1) * sources.fields.size();
    std::optional<HostRoom> room;
    std::vector<VectorField> guesses;
    const auto ask = [&](std::size_t vectors) {
      room.emplace(held_, arguments_.vectors, arguments_.sites, vectors, call_.room, call_.room_data);
    };
    if (!request.rational) {  // how many there are depends on its file
      ask(n);
      for (std::size_t i = 0; arguments_.request.guess && i < n; ++i) guesses.push_back(room->read(i));
    }
    SolvedSources solved = solve_sources(session, request, sources, std::move(guesses), progress);
    if (!room) ask(solved.solutions.size());
    HostSolutions solutions(held_.ranks(), arguments_, *room);
    for (std::size_t i = 0; i < solved.solutions.size(); ++i) solutions.take(i, solved.solutions[i]);
    solutions.judge(solved.report);
    return std::move(solved.report);
  }

  SolveReport batches(Session& session, const ProgressCall::Show& progress) {
    const SolveOptions& asked = options();
    std::optional<SourceList> sources;
    if (call_.n == 0)
      sources.emplace(
          held_.ranks(), held_.lattice(),
          asked.many.list ? read_source_list(held_.ranks(), *asked.many.list, asked.source) : std::vector{asked.source},
          asked.request.system, asked.session.no_verify, source_operators(session, asked.request.phases));
    else
      sources.emplace(held_.ranks(), held_.lattice(), "array", std::move(fields_), asked.request.system);
    const std::size_t n = std::max<std::size_t>(asked.request.masses.size(), 1) * sources->size();
    HostRoom room(held_, arguments_.vectors, arguments_.sites, n, call_.room, call_.room_data);
    HostSolutions solutions(held_.ranks(), arguments_, room);
    SolveReport report = solve_many(session, asked.request, asked.many, *sources, &solutions, progress);
    solutions.judge(report);
    return report;
  }

  HeldGauge& held_;
  const SourcesCall& call_;
  SolveArguments arguments_;
  std::vector<VectorField> fields_;  // of the host
};

}  // namespace

}  // namespace staghorn

using namespace staghorn;

int staghorn_solve_sources(staghorn_gauge* gauge, const staghorn_request* request, const staghorn_vectors* vectors,
                           int n, const void* const* b, staghorn_room room, void* room_data) {
  const SourcesCall call{request, vectors, n, b, room, room_data};
  return collectively(gauge, [&](HeldGauge& held) { return RunningSources(held, call).run(); });
}
