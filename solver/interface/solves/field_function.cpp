// staghorn_solve and staghorn_multishift: fields of the host in, the certified solve of the library, fields and results
// out.
#include <staghorn.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/fields/vector_shape.hpp"
#include "dirac/kernels/vector_kernels.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/interface/solves/host_calls.hpp"
#include "solver/interface/solves/solve_calls.hpp"
#include "solver/interface/structs.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/session/job/solve.hpp"
#include "solver/session/passes/scaled_sources.hpp"

namespace staghorn {

namespace {

// The arguments of a call. Pointers are the host's.
struct FieldsCall {
  const char* function;
  const staghorn_request* request;
  const staghorn_vectors* vectors;
  int n_b;  // sources
  const void* const* b;
  int n;  // solutions, one for each result
  void* const* x;
  void* const* dx;
  staghorn_result* results;
  // Of staghorn_multishift, which has one source for all shifts.
  bool several_shifts = false;
  const double *shift = nullptr, *tolerance = nullptr, *alpha = nullptr;
};

// v(x) = (-1)^(x+y+z+t) v(x), in place.
void alternate(VectorField& v) {
  HostVectors plain;
  plain.space = v.space();
  VectorSigns signs;
  signs.alternating = true;
  read_vector(plain, signs, std::nullopt, v.data(), v);
}

// A call while it runs. Collective but where it says Local.
class RunningSolve {
 public:
  RunningSolve(HeldGauge& held, const FieldsCall& call) : held_(held), call_(call) {}

  int run() {
    const Stopwatch whole;
    agree_on(held_, call_.function, [&](Asked& asked) {
      read(asked);
      take_fields();
    });
    held_.gauge->set_numbers(arguments_.options.session,
                             arguments_.options.request);  // operators of all ranks go or stay
    ProgressCall progress(all(), arguments_.request.progress, arguments_.request.progress_data);
    SolveReport report = solve(*held_.gauge, arguments_.options.request, held_.sources, held_.solutions,
                               progress.show(), {true, progress.stopped()});
    const std::vector<double> b2 = norms_of_sources();
    if (is_withheld()) return STAGHORN_WITHHELD;
    call_.alpha ? give_sum() : give_solutions(report);
    conclude(report);
    std::vector<staghorn_result> results;
    for (std::size_t i = 0; i < std::size_t(call_.n); ++i)
      results.push_back(result_of(arguments_, report.rhs[i], b2[call_.several_shifts ? 0 : i], *progress.stopped()));
    const double seconds = all().max(whole.seconds());
    int worst = STAGHORN_OK;
    const std::size_t size = call_.results->struct_size;
    for (std::size_t i = 0; i < results.size(); ++i) {
      results[i].seconds = seconds;
      write_struct(reinterpret_cast<char*>(call_.results) + i * size, size, results[i]);
      worst = std::max<int>(worst, results[i].status);
    }
    report.source = "array";
    keep_report(*held_.context, std::move(report));
    return worst;
  }

 private:
  const Communicator& all() const { return held_.ranks(); }
  int n_x() const { return call_.alpha ? 1 : call_.n; }
  int n_dx() const { return call_.dx ? call_.n : 0; }

  // Reads and checks all arguments. Local.
  void read(Asked& asked) {
    arguments_.read(asked, call_.request, call_.vectors, held_);
    asked.add("n", call_.n);
    asked.add("dx", call_.dx ? "given" : nullptr);
    check_choice("n", call_.n, 1, call_.several_shifts ? max_shifts + 1 : max_rhs);
    check_pointer("b", call_.b);
    if (call_.several_shifts) read_shifts(asked);
    check_pointer("x", call_.x);
    check_pointer("results", call_.results);
    check_written(call_.results, "results[0]");
    const auto check_fields = [&](const char* name, const auto* fields, int n) {
      for (int i = 0; i < n; ++i)
        check_memory(name, fields[i], arguments_.vectors.given.memory, held_.context->context->cuda_device());
    };
    check_fields(call_.several_shifts ? "b" : "b[i]", call_.b, call_.n_b);
    check_fields("x[i]", call_.x, n_x());
    check_fields("dx[i]", call_.dx, n_dx());
    require_own_memory();
  }

  // Local.
  void read_shifts(Asked& asked) {
    SolveRequest& request = arguments_.options.request;
    check_pointer("shift", call_.shift);
    const auto add = [&](const char* name, const double* values) {
      if (!values) asked.add(name, nullptr);
      if (values) asked.add(name, std::span(values, std::size_t(call_.n)));
    };
    add("shift", call_.shift);
    add("tolerance", call_.tolerance);
    add("alpha", call_.alpha);
    if (call_.alpha && call_.dx)
      throw Error(ErrorKind::argument, "dx", "NULL where alpha sums the solutions", "a pointer");
    for (int i = 0; call_.alpha && i < call_.n; ++i) check_finite("alpha[i]", call_.alpha[i]);
    check_choice("request.guess with several shifts", arguments_.request.guess, 0, 0);
    check_choice("request.chronological with several shifts", request.chronological, 0, 0);
    if (arguments_.stops_on_parity())
      throw Error(ErrorKind::unsupported, "request.stop with several shifts", "STAGHORN_STOP_ON_SYSTEM",
                  "STAGHORN_STOP_ON_PARITY");
    for (int i = 0; i < call_.n; ++i) request.masses.push_back(mass_of(call_.shift[i]));
    if (call_.tolerance) request.tolerances.assign(call_.tolerance, call_.tolerance + call_.n);
  }

  // The mass of A + shift. 4m^2 and its root are exact inverses: sqrt(fl(m m)) = m. Local.
  double mass_of(double shift) const {
    check_finite("shift[i]", shift);
    const double mass = arguments_.options.request.mass, of_a = (arguments_.request.halved ? 4 : 1) * shift;
    if (mass < 0) throw Error(ErrorKind::argument, "request.mass", "a number of at least 0", mass);
    const double four_m2 = 4 * (mass * mass) + of_a;
    if (!(four_m2 >= 0)) throw Error(ErrorKind::argument, "4 mass^2 + shift[i]", "a number of at least 0", four_m2);
    return of_a == 0 ? mass : std::sqrt(four_m2) / 2;
  }

  // Throws Error where the call would write what belongs to another argument. Local.
  void require_own_memory() const {
    CallMemory memory;
    memory.reads("shift", call_.shift, call_.n);
    memory.reads("tolerance", call_.tolerance, call_.n);
    memory.reads("alpha", call_.alpha, call_.n);
    memory.reads("request", FieldBytes::of_array(call_.request, call_.request->struct_size));
    memory.reads("vectors", FieldBytes::of_array(call_.vectors, call_.vectors->struct_size));
    memory.reads("b", call_.b, call_.n_b);
    memory.reads("x", call_.x, n_x());
    memory.reads("dx", call_.dx, n_dx());
    const auto bytes = [&](std::optional<Parity> sites, const void* at) {
      return bytes_of(arguments_.vectors.host, held_.lattice().local(), sites, at);
    };
    for (int i = 0; i < call_.n_b; ++i) memory.reads("b", bytes(arguments_.sites, call_.b[i]), i);
    for (int i = 0; i < n_x(); ++i) memory.writes("x", bytes(arguments_.sites, call_.x[i]), i);
    for (int i = 0; i < n_dx(); ++i) memory.writes("dx", bytes(arguments_.others, call_.dx[i]), i);
    const std::size_t bytes_of_results = std::size_t(call_.n) * call_.results->struct_size;
    memory.writes("results", FieldBytes::of_array(call_.results, bytes_of_results));
    memory.require_own();
  }

  // Local.
  void take_fields() {
    const HostVectors& host = arguments_.vectors.host;
    if (host.space == MemorySpace::cuda) held_.await_host();
    held_.make_fields(std::size_t(call_.n_b), std::size_t(call_.n), arguments_.space);
    for (std::vector<VectorField>* fields : {&held_.sources, &held_.solutions})  // of the last solve
      for (VectorField& field : *fields)
        for (const Parity parity : {Parity::even, Parity::odd}) clear_parity(field, parity);
    for (std::size_t i = 0; i < held_.sources.size(); ++i)
      held_.staged.read(host, arguments_.of_sources, arguments_.sites, call_.b[i], held_.sources[i]);
    for (std::size_t i = 0; arguments_.request.guess && i < held_.solutions.size(); ++i)
      held_.staged.read(host, arguments_.of_solutions, arguments_.sites, call_.x[i], held_.solutions[i]);
  }

  std::vector<double> norms_of_sources() const {
    std::vector<double> b2;
    for (const VectorField& b : held_.sources)
      b2.push_back(norm2_of_any_size(all(), arguments_.options.request.system, b));
    return b2;
  }

  // Whether the host wants nothing written, on any rank.
  bool is_withheld() const {
    const staghorn_request& request = arguments_.request;
    const auto call = [&] { return request.withhold && request.withhold(request.withhold_data) != 0; };
    return all().any(of_host(call, true));
  }

  void give_solutions(SolveReport& report) {
    const HostVectors& host = arguments_.vectors.host;
    for (std::size_t i = 0; i < held_.solutions.size(); ++i) {
      VectorField& x = held_.solutions[i];
      all().agree([&] { held_.staged.write(host, arguments_.of_solutions, arguments_.sites, x, call_.x[i]); });
      const auto back = [&]() -> VectorField& {
        VectorField& held = held_.sources[0];  // sources are not needed any more
        all().agree([&] { held_.staged.read(host, arguments_.of_solutions, arguments_.sites, call_.x[i], held); });
        return held;
      };
      if (!is_held(all(), host.real, arguments_.sites, x, back)) tell_not_held(report.rhs[i]);
      if (call_.dx) give_hop(x, call_.dx[i]);
    }
  }

  // D x of a solution, which may change, to the host. It fits where x fits: |D x| is at most the larger of |x| and |b|.
  void give_hop(VectorField& x, void* to) {
    VectorField& dx = held_.sources[0];
    if (arguments_.of_solutions.alternating) all().agree([&] { alternate(x); });
    std::optional<OperatorLinks> links;
    all().agree([&] { links.emplace(held_.gauge->bench().plain_links(x.space())); });
    plain_hop(all(), *links, held_.gauge->options().boundary, dx, x, arguments_.others);
    all().agree(
        [&] { held_.staged.write(arguments_.vectors.host, arguments_.vectors.signs, arguments_.others, dx, to); });
  }

  // x[0] += sum alpha[i] x[i], in this order.
  void give_sum() {
    all().agree([&] {
      VectorField& sum = held_.sources[0];  // the source is not needed any more
      held_.staged.read(arguments_.vectors.host, arguments_.of_solutions, arguments_.sites, call_.x[0], sum);
      for (std::size_t i = 0; i < held_.solutions.size(); ++i) add(sum, call_.alpha[i], held_.solutions[i]);
      held_.staged.write(arguments_.vectors.host, arguments_.of_solutions, arguments_.sites, sum, call_.x[0]);
    });
  }

  HeldGauge& held_;
  const FieldsCall& call_;
  SolveArguments arguments_;
};

}  // namespace

}  // namespace staghorn

using namespace staghorn;

int staghorn_solve(staghorn_gauge* gauge, const staghorn_request* request, const staghorn_vectors* vectors, int n,
                   const void* const* b, void* const* x, void* const* dx, staghorn_result* results) {
  const FieldsCall call{"staghorn_solve", request, vectors, n, b, n, x, dx, results};
  return collectively(gauge, [&](HeldGauge& held) { return RunningSolve(held, call).run(); });
}

int staghorn_multishift(staghorn_gauge* gauge, const staghorn_request* request, const staghorn_vectors* vectors, int n,
                        const double* shift, const double* tolerance, const double* alpha, const void* b,
                        void* const* x, void* const* dx, staghorn_result* results) {
  const FieldsCall call{
      "staghorn_multishift", request, vectors, 1, &b, n, x, dx, results, true, shift, tolerance, alpha};
  return collectively(gauge, [&](HeldGauge& held) { return RunningSolve(held, call).run(); });
}
