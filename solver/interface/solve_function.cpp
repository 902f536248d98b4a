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
#include "solver/interface/host_fields.hpp"
#include "solver/interface/operator_conventions.hpp"
#include "solver/interface/progress_call.hpp"
#include "solver/interface/statuses.hpp"
#include "solver/interface/structs.hpp"

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

  staghorn_request request{};
  staghorn_vectors layout{};
  HostVectors host{};
  VectorSigns signs{};
  MemorySpace space = MemorySpace::host;  // of the library's own fields

  // Reads and checks all of them. Vectors of the host go to the GPU as they lie if the residuals are recomputed there.
  // Local.
  void read(const HeldGauge& held) {
    const Context& context = *held.context->context;
    const VectorSigns& of_links = held.signs;
    const int cuda_device = context.cuda_device();
    request = read_struct(request_given, "request");
    layout = read_struct(vectors_given, "vectors");
    check(request);
    check(layout);
    host = vectors_of_host(layout, cuda_device);
    signs = signs_of_host(layout, &of_links);
    check_half(layout, sites());
    check_choice("n", n, 1, max_rhs);
    check_pointer("b", b);
    check_pointer("x", x);
    check_pointer("results", results);
    check_written_size(results[0].struct_size, sizeof(staghorn_result), "results[0]");
    for (int i = 0; i < n; ++i) {
      check_memory("b[i]", b[i], layout.memory, cuda_device);
      check_memory("x[i]", x[i], layout.memory, cuda_device);
      if (dx) check_memory("dx[i]", dx[i], layout.memory, cuda_device);
    }
    if (stops_on_parity() && host.space == MemorySpace::cuda)
      throw Error(ErrorKind::unsupported, "request.stop", "STAGHORN_STOP_ON_SYSTEM for vectors on a GPU",
                  "STAGHORN_STOP_ON_PARITY");
    space = host.space;
    if (held.gauge->options().certificate == CertificatePlace::device && !stops_on_parity() &&
        can_be_staged(host, context.lattice().local(), sites().has_value()))
      space = MemorySpace::cuda;
  }
  System system() const {
    return request.system == STAGHORN_FULL   ? System::full
           : request.system == STAGHORN_EVEN ? System::even
                                             : System::odd;
  }
  std::optional<Parity> sites() const {
    if (request.system == STAGHORN_FULL) return std::nullopt;
    return request.system == STAGHORN_EVEN ? Parity::even : Parity::odd;
  }
  bool stops_on_parity() const { return request.system == STAGHORN_FULL && request.stop == STAGHORN_STOP_ON_PARITY; }
};

void set_numbers(Gauge& gauge, const staghorn_request& request) {
  const Precision precision = request.precision == STAGHORN_FP64 ? Precision::fp64 : Precision::fp32;
  std::optional<Precision> sloppy;
  if (request.sloppy != STAGHORN_NO_SLOPPY) sloppy = Precision(request.sloppy);
  check_reals("request.sloppy_reals", request.sloppy_reals, gauge.improved() ? LinkKind::naik : LinkKind::thin);
  std::optional<Reconstruct> iterated;
  if (sloppy && request.sloppy_reals != 0) iterated = form_of(request.sloppy_reals);
  gauge.set_numbers(precision, sloppy, iterated);
}

SolveRequest request_of(const SolveCall& call) {
  SolveRequest request;
  request.mass = call.request.mass;
  request.chronological = call.request.chronological;
  if (call.request.tolerance_hq > 0)  // residuals of halved operators are halved too
    request.tolerance_hq = call.request.tolerance_hq * source_scale(call.request);
  request.tolerance = call.request.tolerance;
  request.max_iterations = call.request.max_iterations;
  // A full system that stops on its parity system is solved as that system.
  request.system = call.stops_on_parity() ? System::even : call.system();
  return request;
}

// The full system by its even half: b' = 2m b_e - D b_o stands in for b, and x_o follows from x_e.
class EvenHalf {
 public:
  EvenHalf(const Context& context, const Gauge& gauge, double mass)
      : context_(context), gauge_(gauge), two_m_(2 * mass) {}

  // b' on even sites of a field of its own. Collective.
  VectorField source(const VectorField& b) const {
    VectorField made(b.lattice());
    plain_hop(context_.communicator(), gauge_.operator_links(), gauge_.options().boundary, made, b, Parity::even);
    for_sites(
        made, Parity::even,
        [&](ColorVector<double>& to, const ColorVector<double>& of_b) {
          for (int c = 0; c < 3; ++c)
            to.c[c] = {std::fma(two_m_, of_b.c[c].re, -to.c[c].re), std::fma(two_m_, of_b.c[c].im, -to.c[c].im)};
        },
        b);
    return made;
  }

  // x_o = (b_o - D x_e) / 2m. Collective.
  void complete(VectorField& x, const VectorField& b) const {
    plain_hop(context_.communicator(), gauge_.operator_links(), gauge_.options().boundary, x, x, Parity::odd);
    for_sites(
        x, Parity::odd,
        [&](ColorVector<double>& to, const ColorVector<double>& of_b) {
          for (int c = 0; c < 3; ++c)
            to.c[c] = {(of_b.c[c].re - to.c[c].re) / two_m_, (of_b.c[c].im - to.c[c].im) / two_m_};
        },
        b);
  }

 private:
  template <class Work>
  static void for_sites(VectorField& to, Parity parity, const Work& work, const VectorField& b) {
#pragma omp parallel for schedule(static)
    for (std::int64_t site = 0; site < to.size(); ++site)
      if (Lattice::parity_of(to.lattice().site_coordinates(site)) == parity) work(to[site], b[site]);
  }

  const Context& context_;
  const Gauge& gauge_;
  double two_m_;
};

// A call while it runs. Collective throughout.
class RunningSolve {
 public:
  RunningSolve(HeldGauge& held, SolveCall& call) : held_(held), call_(call) {}

  int run() {
    const Stopwatch whole;
    Gauge& gauge = *held_.gauge;
    all().agree([&] {
      require_links(held_);
      call_.read(held_);
      set_numbers(gauge, call_.request);
      take_fields();
    });
    const EvenHalf half(context(), gauge, call_.request.mass);
    const SolveRequest request = request_of(call_);
    std::vector<VectorField> even_sources;
    if (call_.stops_on_parity()) {
      check_request(request);
      for (const VectorField& b : held_.sources) even_sources.push_back(half.source(b));
    }
    ProgressCall progress(all(), call_.request.progress, call_.request.progress_data);
    SolveReport report = gauge.solve(request, call_.stops_on_parity() ? even_sources : held_.sources, held_.solutions,
                                     progress.show(), {true, progress.stopped()});
    for (int i = 0; i < call_.n; ++i) {
      if (call_.stops_on_parity()) half.complete(held_.solutions[i], held_.sources[i]);
      finish(i, report.rhs[std::size_t(i)], *progress.stopped());
    }
    give_fields();
    const double seconds = all().max(whole.seconds());
    int worst = STAGHORN_OK;
    for (int i = 0; i < call_.n; ++i) {
      results_[std::size_t(i)].seconds = seconds;
      give_result(i);
      worst = std::max<int>(worst, results_[std::size_t(i)].status);
    }
    log_warnings(report);
    held_.context->report = std::move(report);
    return worst;
  }

 private:
  const Context& context() const { return *held_.context->context; }
  const Communicator& all() const { return context().communicator(); }

  // 2m + D of a full system that stops on parity is solved as an even one, which allows a mass of 0. Local.
  void check_request(const SolveRequest& request) const {
    if (!(request.mass > 0)) throw Error("mass", "a number above 0 for the full system", request.mass);
  }

  // Each warning once for each context. Local.
  void log_warnings(const SolveReport& report) const {
    const staghorn_options& options = held_.context->options;
    if (!options.log) return;
    for (const std::string& warning : transport_warnings(report.transports))
      if (held_.context->logged.insert(warning).second) options.log(options.log_data, 0, warning.c_str());
  }

  void take_fields() {
    const std::size_t n = std::size_t(call_.n);
    if (call_.host.space == MemorySpace::cuda) held_.await_host();
    held_.make_fields(n, call_.space);
    results_.resize(n);
    const VectorSigns of_sources = signs_of_sources(call_.request, call_.signs),
                      of_solutions = signs_of_solutions(call_.request, call_.signs);
    for (std::size_t i = 0; i < n; ++i) {
      for (const Parity parity : {Parity::even, Parity::odd}) {  // of the last solve
        clear_parity(held_.sources[i], parity);
        clear_parity(held_.solutions[i], parity);
      }
      held_.staged.read(call_.host, of_sources, call_.sites(), call_.b[i], held_.sources[i]);
      if (call_.request.guess)
        held_.staged.read(call_.host, of_solutions, call_.sites(), call_.x[i], held_.solutions[i]);
    }
  }

  // What the host is told of one right-hand side; D x where it is asked for.
  void finish(int i, const RhsReport& rhs, bool stopped) {
    staghorn_result& result = results_[std::size_t(i)];
    const VectorField &b = held_.sources[std::size_t(i)], &x = held_.solutions[std::size_t(i)];
    result = {};
    result.status = status_of(rhs.outcome);
    if (stopped && rhs.outcome == Outcome::out_of_iterations) result.status = STAGHORN_STOPPED;
    result.residual_hq = rhs.residual_hq / source_scale(call_.request);
    result.iterations = rhs.iterations;
    result.updates = std::int64_t(rhs.updates.size());
    result.residual_iterated = rhs.residual_iterated;
    result.residual_true = rhs.residual_true;
    if (call_.request.system != STAGHORN_FULL) result.residual_parity = rhs.residual_true;
    const double b2 = norm2(all(), b, call_.sites());
    if (call_.stops_on_parity()) {
      result.residual_parity = rhs.residual_true;
      result.residual_true = b2 == 0 ? 0 : std::sqrt(full_residual_norm2(x, b) / b2);
    }
    result.source_norm2 = b2;
    result.solution_norm2 = call_.stops_on_parity()          ? norm2(all(), x, call_.sites())
                            : !call_.sites()                 ? rhs.norm2
                            : *call_.sites() == Parity::even ? rhs.norm2_even
                                                             : rhs.norm2_odd;
  }

  double full_residual_norm2(const VectorField& x, const VectorField& b) const {
    VectorField r(context().lattice());
    return full_residual(all(), held_.gauge->operator_links(), held_.gauge->options().boundary, call_.request.mass, x,
                         b, r);
  }

  void give_fields() {
    const auto others = call_.sites() ? std::optional(opposite(*call_.sites())) : std::nullopt;
    const VectorSigns of_solutions = signs_of_solutions(call_.request, call_.signs);
    for (std::size_t i = 0; i < held_.solutions.size(); ++i) {
      VectorField &x = held_.solutions[i], &dx = held_.sources[i];  // the source is not needed any more
      all().agree([&] { held_.staged.write(call_.host, of_solutions, call_.sites(), x, call_.x[i]); });
      if (!call_.dx) continue;
      if (of_solutions.alternating) all().agree([&] { alternate(x); });
      hop(dx, x, others);
      all().agree([&] { held_.staged.write(call_.host, call_.signs, others, dx, call_.dx[i]); });
    }
  }

  // v(x) = (-1)^(x+y+z+t) v(x), in place. Local.
  static void alternate(VectorField& v) {
    HostVectors plain;
    plain.space = v.space();
    VectorSigns signs;
    signs.alternating = true;
    read_vector(plain, signs, std::nullopt, v.data(), v);
  }

  // out = D in on the sites of `target`; by links on the host. Collective.
  void hop(VectorField& out, const VectorField& in, std::optional<Parity> target) {
    const OperatorLinks links = held_.gauge->operator_links();
    const Boundary& boundary = held_.gauge->options().boundary;
    if (in.space() != MemorySpace::cuda) return plain_hop(all(), links, boundary, out, in, target);
    std::optional<VectorField> from, to;
    all().agree([&] {
      from.emplace(in, MemorySpace::host);
      to.emplace(out, MemorySpace::host);
    });
    plain_hop(all(), links, boundary, *to, *from, target);
    all().agree([&] { out = *to; });
  }

  void give_result(int i) {
    staghorn_result& result = results_[std::size_t(i)];
    const double scale = source_scale(call_.request);
    result.source_norm2 /= scale * scale;
    // Results lie as far apart as the host's struct is long.
    auto* to = reinterpret_cast<char*>(call_.results) + std::size_t(i) * call_.results[0].struct_size;
    result.struct_size = call_.results[0].struct_size;
    std::memcpy(to, &result, sizeof result);
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
    const auto held = held_by(gauge);
    const Use use(*held->context);
    SolveCall call{request, vectors, n, b, x, dx, results};
    return RunningSolve(*held, call).run();
  });
}

int staghorn_multishift(staghorn_gauge*, const staghorn_request*, const staghorn_vectors*, int, const double*,
                        const double*, const double*, const void*, void* const*, void* const*, staghorn_result*) {
  return guarded([]() -> int {
    throw Error(ErrorKind::unsupported, "staghorn_multishift: several shifts cannot be solved together yet");
  });
}
