// staghorn_solve_sources: a solve as the program has it, with sources in words, several masses, batches, observables.
#include <staghorn.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include "dirac/fields/vector_shape.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/error_kind.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/solves/host_room.hpp"
#include "solver/interface/solves/solve_calls.hpp"
#include "solver/interface/statuses.hpp"
#include "solver/interface/structs.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/session/many/solve_many.hpp"
#include "solver/session/solve_sources.hpp"

namespace staghorn {

namespace {

// Thrown on all ranks where the progress function of one ends a job of batches.
struct Stopped {};

struct SourcesCall {
  const staghorn_request* request_given;
  const staghorn_vectors* vectors_given;
  int n;
  const void* const* b;
  staghorn_room room;
  void* room_data;

  SolveArguments arguments{};

  // Local.
  void read(Asked& asked, const HeldGauge& held) {
    arguments.read(asked, request_given, vectors_given, held, OptionsOf::sources);
    const staghorn_request& request = arguments.request;
    asked.add("n", n);
    check_choice("n", n, 0, 1L << 20);
    if (!room) throw Error(ErrorKind::argument, "room", "a function", "NULL");
    check_choice("request.sign with sources in words", request.sign, 1, 1);
    check_choice("request.halved with sources in words", request.halved, 0, 0);
    check_choice("request.stop with sources in words", request.stop, STAGHORN_STOP_ON_SYSTEM, STAGHORN_STOP_ON_SYSTEM);
    check_room(arguments.layout);
    const SolveRequest& solve = arguments.options.request;
    if (!solve.masses.empty() || solve.rational || arguments.options.many.asked())
      check_choice("request.guess with several masses or batches, which start from zero", request.guess, 0, 0);
    if (n > 0) check_pointer("b", b);
    const int cuda_device = held.context->context->cuda_device();
    for (int i = 0; i < n; ++i) check_memory("b[i]", b[i], STAGHORN_HOST, cuda_device);
  }
};

// Solutions of batches, each written to the host when it is there.
class HostSolutions final : public SolutionSink {
 public:
  explicit HostSolutions(HostRoom& room) : room_(room) {}
  void take(std::size_t number, const VectorField& x) override { room_.write(number, x); }

 private:
  HostRoom& room_;
};

// A call while it runs. Collective throughout.
class RunningSources {
 public:
  RunningSources(HeldGauge& held, SourcesCall& call) : held_(held), call_(call) {}

  int run() {
    agree_alike(all(), "staghorn_solve_sources", [&](Asked& asked) {
      require_links(held_);
      call_.read(asked, held_);
      take_fields();
    });
    held_.gauge->set_numbers(options().session);  // operators of all ranks go or stay
    ask_every_rank();
    Session session(*held_.context->context, *held_.gauge, &stopped_);
    SolveReport report;
    try {
      report = options().many.asked() ? batches(session) : at_once(session);
    } catch (const Stopped&) {
      return STAGHORN_STOPPED;
    }
    int worst = STAGHORN_OK;
    for (const RhsReport& rhs : report.rhs) worst = std::max(worst, status_of(rhs.outcome));
    if (stopped_ && worst != STAGHORN_OK) worst = STAGHORN_STOPPED;
    log_warnings(*held_.context, report);
    held_.context->report = [report = std::move(report)] { return to_json(report); };
    return worst;
  }

 private:
  const Communicator& all() const { return held_.context->context->communicator(); }
  const Lattice& lattice() const { return held_.context->context->lattice(); }
  SolveOptions& options() { return call_.arguments.options; }

  void take_fields() {
    const SolveArguments& arguments = call_.arguments;
    for (int i = 0; i < call_.n; ++i)
      read_vector(arguments.host, arguments.signs, arguments.sites(), call_.b[i], fields_.emplace_back(lattice()));
  }

  void ask_every_rank() { wanted_ = all().any(call_.arguments.request.progress != nullptr); }
  // Tells the host every 16 iterations. `ends`: what is to be done where it wants no more.
  std::function<void(const CgProgress&)> progress(const std::function<void()>& ends) {
    if (!wanted_) return {};
    return [this, ends](const CgProgress& at) {
      if (at.iteration % 16 != 0 || stopped_) return;
      const staghorn_request& request = call_.arguments.request;
      bool stop = false;
      try {
        const HostArithmetic arithmetic;
        stop = request.progress && request.progress(request.progress_data, at.iteration, at.worst_ratio) != 0;
      } catch (...) {  // nothing passes through the loops of a solve
        stop = true;
      }
      stopped_ = all().any(stop);
      if (stopped_) ends();
    };
  }

  SolveReport at_once(Session& session) {
    SourceSet sources;
    if (call_.n == 0) {
      sources = make_sources(all(), lattice(), options().source, options().session.no_verify);
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
      room.emplace(held_, call_.arguments, vectors, call_.room, call_.room_data);
    };
    if (!request.rational) {  // how many there are depends on its file
      ask(n);
      if (call_.arguments.request.guess) guesses = room->read();
    }
    SolvedSources solved = solve_sources(session, request, sources, std::move(guesses), progress([] {}));
    if (!room) ask(solved.solutions.size());
    for (std::size_t i = 0; i < solved.solutions.size(); ++i) room->write(i, solved.solutions[i]);
    return std::move(solved.report);
  }

  SolveReport batches(Session& session) {
    const SolveOptions& asked = options();
    std::optional<SourceList> sources;
    if (call_.n == 0)
      sources.emplace(
          all(), lattice(),
          asked.many.list ? read_source_list(all(), *asked.many.list, asked.source) : std::vector{asked.source},
          asked.request.system, asked.session.no_verify);
    else
      sources.emplace(all(), lattice(), "array", std::move(fields_), asked.request.system);
    const std::size_t n = std::max<std::size_t>(asked.request.masses.size(), 1) * sources->size();
    HostRoom room(held_, call_.arguments, n, call_.room, call_.room_data);
    HostSolutions solutions(room);
    return solve_many(session, asked.request, asked.many, *sources, &solutions, progress([] { throw Stopped(); }));
  }

  HeldGauge& held_;
  SourcesCall& call_;
  std::vector<VectorField> fields_;  // of the host
  bool wanted_ = false, stopped_ = false;
};

}  // namespace

}  // namespace staghorn

using namespace staghorn;

int staghorn_solve_sources(staghorn_gauge* gauge, const staghorn_request* request, const staghorn_vectors* vectors,
                           int n, const void* const* b, staghorn_room room, void* room_data) {
  return guarded([&] {
    const auto held = held_together(gauge);
    SourcesCall call{request, vectors, n, b, room, room_data};
    return run_together(*held->context, [&] { return RunningSources(*held, call).run(); });
  });
}
