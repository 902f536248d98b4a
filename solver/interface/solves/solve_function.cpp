// staghorn_solve: vectors of the host in, the certified solve of the library, vectors and results out.
#include <staghorn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/fields/vector_shape.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/solves/progress_call.hpp"
#include "solver/interface/solves/solve_calls.hpp"
#include "solver/interface/statuses.hpp"
#include "solver/interface/structs.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/session/job/solve.hpp"

namespace staghorn {

namespace {

// The arguments of a call. Pointers are the host's.
struct SolveCall {
  const staghorn_request* request_given;
  const staghorn_vectors* vectors_given;
  int n;
  const void* const* b;
  void* const* x;
  void* const* dx;
  staghorn_result* results;

  SolveArguments arguments{};

  // Reads and checks all of them. Local.
  void read(Asked& asked, const HeldGauge& held) {
    arguments.read(asked, request_given, vectors_given, held);
    const int cuda_device = held.context->context->cuda_device();
    asked.add("n", n);
    asked.add("dx", dx ? "given" : nullptr);
    check_choice("n", n, 1, max_rhs);
    check_pointer("b", b);
    check_pointer("x", x);
    const HostResults checked(results);
    const std::int32_t memory = arguments.layout.memory;
    for (int i = 0; i < n; ++i) {
      check_memory("b[i]", b[i], memory, cuda_device);
      check_memory("x[i]", x[i], memory, cuda_device);
      if (dx) check_memory("dx[i]", dx[i], memory, cuda_device);
    }
    arguments.require_own_memory(held, {request_given, vectors_given, n, b, n, x, dx ? n : 0, dx, checked.bytes(n)});
  }
};

// A call while it runs. Collective throughout.
class RunningSolve {
 public:
  RunningSolve(HeldGauge& held, SolveCall& call) : held_(held), call_(call) {}

  int run() {
    const Stopwatch whole;
    Gauge& gauge = *held_.gauge;
    agree_alike(all(), "staghorn_solve", [&](Asked& asked) {
      require_links(held_);
      call_.read(asked, held_);
      take_fields();
    });
    gauge.set_numbers(arguments().options.session);  // operators of all ranks go or stay
    ProgressCall progress(all(), arguments().request.progress, arguments().request.progress_data);
    SolveReport report = solve(gauge, arguments().options.request, held_.sources, held_.solutions, progress.show(),
                               {true, progress.stopped()});
    for (int i = 0; i < call_.n; ++i) finish(i, report.rhs[std::size_t(i)], *progress.stopped());
    conclude(report);
    if (is_withheld(all(), arguments().request)) return STAGHORN_WITHHELD;
    give_fields();
    const double seconds = all().max(whole.seconds());
    int worst = STAGHORN_OK;
    for (int i = 0; i < call_.n; ++i) {
      results_[std::size_t(i)].seconds = seconds;
      HostResults(call_.results).put(i, results_[std::size_t(i)]);
      worst = std::max<int>(worst, results_[std::size_t(i)].status);
    }
    report.source = "array";
    log_warnings(*held_.context, report);
    held_.context->report = [report = std::move(report)] { return to_json(report); };
    return worst;
  }

 private:
  const Context& context() const { return *held_.context->context; }
  const Communicator& all() const { return context().communicator(); }
  const SolveArguments& arguments() const { return call_.arguments; }

  void take_fields() {
    const std::size_t n = std::size_t(call_.n);
    const HostVectors& host = arguments().host;
    if (host.space == MemorySpace::cuda) held_.await_host();
    held_.make_fields(n, n, arguments().space);
    results_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (const Parity parity : {Parity::even, Parity::odd}) {  // of the last solve
        clear_parity(held_.sources[i], parity);
        clear_parity(held_.solutions[i], parity);
      }
      held_.staged.read(host, arguments().of_sources(), arguments().sites(), call_.b[i], held_.sources[i]);
      if (arguments().request.guess)
        held_.staged.read(host, arguments().of_solutions(), arguments().sites(), call_.x[i], held_.solutions[i]);
    }
  }

  // What the host is told of one right-hand side.
  void finish(int i, RhsReport& rhs, bool stopped) {
    const double b2 = norm2(all(), held_.sources[std::size_t(i)], arguments().sites());
    results_[std::size_t(i)] = result_of(arguments(), rhs, b2, stopped);
  }

  void give_fields() {
    for (std::size_t i = 0; i < held_.solutions.size(); ++i) {
      VectorField &x = held_.solutions[i], &dx = held_.sources[i];  // the source is not needed any more
      all().agree([&] {
        held_.staged.write(arguments().host, arguments().of_solutions(), arguments().sites(), x, call_.x[i]);
      });
      if (call_.dx) give_hop(held_, arguments(), x, dx, call_.dx[i]);
    }
  }

  HeldGauge& held_;
  SolveCall& call_;
  std::vector<staghorn_result> results_;
};

}  // namespace

}  // namespace staghorn

using namespace staghorn;

int staghorn_solve(staghorn_gauge* gauge, const staghorn_request* request, const staghorn_vectors* vectors, int n,
                   const void* const* b, void* const* x, void* const* dx, staghorn_result* results) {
  return guarded([&] {
    const auto held = held_together(gauge);
    SolveCall call{request, vectors, n, b, x, dx, results};
    return run_together(*held->context, [&] { return RunningSolve(*held, call).run(); });
  });
}
