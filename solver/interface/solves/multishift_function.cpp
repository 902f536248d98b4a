// staghorn_multishift: one source, many shifts, by multi-shift CG.
#include <staghorn.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/kernels/vector_kernels.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/interface/solves/progress_call.hpp"
#include "solver/interface/solves/solve_calls.hpp"
#include "solver/interface/statuses.hpp"
#include "solver/interface/structs.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/session/job/solve.hpp"

namespace staghorn {

namespace {

// The arguments of a call. Pointers are the host's.
struct ShiftsCall {
  const staghorn_request* request_given;
  const staghorn_vectors* vectors_given;
  int n;
  const double *shift, *tolerance, *alpha;
  const void* b;
  void* const* x;
  void* const* dx;
  staghorn_result* results;

  SolveArguments arguments{};
  SolveRequest request{};

  int written() const { return alpha ? 1 : n; }  // fields of x

  // Reads and checks all of them. Local.
  void read(Asked& asked, const HeldGauge& held) {
    arguments.read(asked, request_given, vectors_given, held);
    const int cuda_device = held.context->context->cuda_device();
    check_choice("n", n, 1, max_shifts + 1);
    check_pointer("shift", shift);
    asked.add("n", n);
    asked.add("dx", dx ? "given" : nullptr);
    add(asked, "shift", shift);
    add(asked, "tolerance", tolerance);
    add(asked, "alpha", alpha);
    check_pointer("x", x);
    const HostResults checked(results);
    const std::int32_t memory = arguments.layout.memory;
    check_memory("b", b, memory, cuda_device);
    for (int i = 0; i < written(); ++i) check_memory("x[i]", x[i], memory, cuda_device);
    if (alpha && dx) throw Error(ErrorKind::argument, "dx", "NULL where alpha sums the solutions", "a pointer");
    for (int i = 0; dx && i < n; ++i) check_memory("dx[i]", dx[i], memory, cuda_device);
    for (int i = 0; alpha && i < n; ++i) check_finite("alpha[i]", alpha[i]);
    check_choice("request.guess with several shifts", arguments.request.guess, 0, 0);
    check_choice("request.chronological with several shifts", arguments.options.request.chronological, 0, 0);
    if (arguments.stops_on_parity())
      throw Error(ErrorKind::unsupported, "request.stop with several shifts", "STAGHORN_STOP_ON_SYSTEM",
                  "STAGHORN_STOP_ON_PARITY");
    CallMemory numbers;
    for (const auto& [name, given] : {std::pair{"shift", shift}, {"tolerance", tolerance}, {"alpha", alpha}})
      numbers.reads(name, FieldBytes::of_array(given, std::size_t(n) * sizeof *given));
    arguments.require_own_memory(
        held, {request_given, vectors_given, 1, &b, written(), x, dx ? n : 0, dx, checked.bytes(n)}, numbers);
    request = arguments.options.request;
    for (int i = 0; i < n; ++i) request.masses.push_back(mass_of(i));
    if (tolerance) request.tolerances.assign(tolerance, tolerance + n);
  }

  void add(Asked& asked, const std::string& name, const double* values) const {
    if (!values) return asked.add(name, nullptr);
    for (int i = 0; i < n; ++i) asked.add(name + '[' + std::to_string(i) + ']', values[i]);
  }

  // The mass of A + shift. 4m^2 and its root are exact inverses: sqrt(fl(m m)) = m.
  double mass_of(int i) const {
    check_finite("shift[i]", shift[i]);
    const double mass = arguments.options.request.mass, of_a = (arguments.request.halved ? 4 : 1) * shift[i];
    if (mass < 0) throw Error(ErrorKind::argument, "request.mass", "a number of at least 0", mass);
    const double four_m2 = 4 * (mass * mass) + of_a;
    if (!(four_m2 >= 0)) throw Error(ErrorKind::argument, "4 mass^2 + shift[i]", "a number of at least 0", four_m2);
    return of_a == 0 ? mass : std::sqrt(four_m2) / 2;
  }
};

// A call while it runs. Collective throughout.
class RunningShifts {
 public:
  RunningShifts(HeldGauge& held, ShiftsCall& call) : held_(held), call_(call) {}

  int run() {
    const Stopwatch whole;
    agree_alike(all(), "staghorn_multishift", [&](Asked& asked) {
      require_links(held_);
      call_.read(asked, held_);
      take_source();
    });
    held_.gauge->set_numbers(arguments().options.session);  // operators of all ranks go or stay
    ProgressCall progress(all(), arguments().request.progress, arguments().request.progress_data);
    SolveReport report =
        solve(*held_.gauge, call_.request, held_.sources, held_.solutions, progress.show(), {true, progress.stopped()});
    const double b2 = norm2(all(), held_.sources[0], arguments().sites());
    if (is_withheld(all(), arguments().request)) return STAGHORN_WITHHELD;
    if (call_.alpha)
      give_sum();
    else
      give_solutions();
    const double seconds = all().max(whole.seconds());
    int worst = STAGHORN_OK;
    for (int i = 0; i < call_.n; ++i) {
      staghorn_result result = result_of(arguments(), report.rhs[std::size_t(i)], b2, *progress.stopped());
      result.seconds = seconds;
      worst = std::max<int>(worst, result.status);
      HostResults(call_.results).put(i, result);
    }
    conclude(report);
    report.source = "array";
    log_warnings(*held_.context, report);
    held_.context->report = [report = std::move(report)] { return to_json(report); };
    return worst;
  }

 private:
  const Communicator& all() const { return held_.context->context->communicator(); }
  const SolveArguments& arguments() const { return call_.arguments; }

  void take_source() {
    const HostVectors& host = arguments().host;
    if (host.space == MemorySpace::cuda) held_.await_host();
    held_.make_fields(1, std::size_t(call_.n), arguments().space);
    for (const Parity parity : {Parity::even, Parity::odd}) {  // of the last solve
      clear_parity(held_.sources[0], parity);
      for (VectorField& x : held_.solutions) clear_parity(x, parity);
    }
    held_.staged.read(host, arguments().of_sources(), arguments().sites(), call_.b, held_.sources[0]);
  }

  void give_solutions() {
    VectorField& dx = held_.sources[0];  // the source is not needed any more
    for (std::size_t i = 0; i < held_.solutions.size(); ++i) {
      VectorField& x = held_.solutions[i];
      all().agree([&] {
        held_.staged.write(arguments().host, arguments().of_solutions(), arguments().sites(), x, call_.x[i]);
      });
      if (call_.dx) give_hop(held_, arguments(), x, dx, call_.dx[i]);
    }
  }

  // x[0] += sum alpha[i] x[i], in this order.
  void give_sum() {
    all().agree([&] {
      VectorField& sum = held_.sources[0];  // the source is not needed any more
      held_.staged.read(arguments().host, arguments().of_solutions(), arguments().sites(), call_.x[0], sum);
      for (std::size_t i = 0; i < held_.solutions.size(); ++i) add(sum, call_.alpha[i], held_.solutions[i]);
      held_.staged.write(arguments().host, arguments().of_solutions(), arguments().sites(), sum, call_.x[0]);
    });
  }

  HeldGauge& held_;
  ShiftsCall& call_;
};

}  // namespace

}  // namespace staghorn

using namespace staghorn;

int staghorn_multishift(staghorn_gauge* gauge, const staghorn_request* request, const staghorn_vectors* vectors, int n,
                        const double* shift, const double* tolerance, const double* alpha, const void* b,
                        void* const* x, void* const* dx, staghorn_result* results) {
  return guarded([&] {
    const auto held = held_together(gauge);
    ShiftsCall call{request, vectors, n, shift, tolerance, alpha, b, x, dx, results};
    return run_together(*held->context, [&] { return RunningShifts(*held, call).run(); });
  });
}
