// The functions that MILC calls around its solves, and the solves.
#include <quda_milc_interface.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "halo/watch/stopwatch.hpp"
#include "solver/interface/argument_checks.hpp"
#include "solver/interface/milc/milc_call.hpp"
#include "solver/interface/milc/requests.hpp"

namespace staghorn::milc {

namespace {

constexpr int most_together = 64;  // right-hand sides or offsets of one call of staghorn.h

// Memory of the host, from where a page begins.
void* allocate(const char* function, std::size_t bytes) {
  constexpr std::size_t page = 4096;
  void* memory = nullptr;
  run(function, [&] {
    const std::size_t pages = bytes / page + 1;
    memory = pages > SIZE_MAX / page ? nullptr : std::aligned_alloc(page, pages * page);
    if (!memory) throw Error("memory", std::to_string(bytes) + " bytes", "less");
  });
  return memory;
}

// What a solve is told of its right-hand sides or offsets.
std::vector<staghorn_result> results_of(int n) {
  return std::vector<staghorn_result>(std::size_t(n), defaults_of<staghorn_result>(STAGHORN_RESULT));
}

// A line for each call, where the host wants it.
class Line {
 public:
  explicit Line(const char* function) : function_(function) {}

  // `worst` of a solve; nullptr: the call solved nothing.
  void write(const staghorn_result* worst, int status) const {
    if (!host().is_verbose()) return;
    const double seconds = whole_.seconds();
    const Connection::LinkNews& news = host().link_news();
    std::printf("staghorn: %s: links %s in %.4f s", function_, news.read ? "read" : "unchanged", news.seconds);
    if (news.beside && news.read)
      std::printf(", after %.4f s and %lld iterations with the last ones", news.lost,
                  static_cast<long long>(news.iterations_lost));
    if (news.beside && !news.read) std::printf(" beside the solve, which waited %.4f s", news.waited);
    if (worst)
      std::printf("; %s: %lld iterations, |b - A x| / |b| = %.2e, Fermilab's %.2e; %.4f s in all",
                  staghorn_status_text(status), static_cast<long long>(worst->iterations), worst->residual_true,
                  worst->residual_hq, seconds);
    std::printf("\n");
    std::fflush(stdout);
  }

 private:
  const char* function_;
  Stopwatch whole_;
};

// The largest of everything.
void take_worst(staghorn_result& worst, const staghorn_result& one) {
  worst.iterations = std::max(worst.iterations, one.iterations);
  worst.residual_true = std::fmax(worst.residual_true, one.residual_true);
  worst.residual_hq = std::fmax(worst.residual_hq, one.residual_hq);
}

// The numbers that a solve gives back; there are n of each residual.
CallMemory written_numbers(int n, const double* residuals, const double* relative_residuals, const int* iterations) {
  CallMemory memory;
  memory.writes("residual", residuals, n);
  memory.writes("relative_residual", relative_residuals, n);
  memory.writes("iterations", iterations, 1);
  return memory;
}

// Which system a function solves: A x = b on the parity of its arguments, from a guess, or M x = b with M = 2m + D on
// all sites, from zero.
enum class Asked { parity, full };

// What qudaInvert and its like do, which differ in their names, systems, and in how many right-hand sides they have.
void invert(const char* function, Asked asked, int external_precision, int quda_precision, double mass,
            const QudaInvertArgs_t& args, double target_residual, double target_relative_residual, const void* fat,
            const void* lng, void* const* sources, void* const* solutions, double* residual, double* relative_residual,
            int* iterations, int n) {
  run(function, [&] {
    const Line line(function);
    for (const auto& [name, pointer] : {std::pair<const char*, const void*>{"residual", residual},
                                        {"relative_residual", relative_residual},
                                        {"iterations", iterations},
                                        {"sources", sources},
                                        {"solutions", solutions}})
      check_pointer(name, pointer);
    if (n < 1) throw Error("number of right-hand sides", "at least 1", n);
    const staghorn_vectors vectors = vectors_of(external_precision);
    staghorn_request request = request_of(quda_precision, args);
    if (asked == Asked::full) request.system = STAGHORN_FULL;
    CallMemory memory = written_numbers(1, residual, relative_residual, iterations);
    for (int i = 0; i < n; ++i) memory.reads("sources", host().bytes_of(vectors, request.system, sources[i]), i);
    for (int i = 0; i < n; ++i) memory.writes("solutions", host().bytes_of(vectors, request.system, solutions[i]), i);
    memory.require_own();
    request.mass = mass;
    request.guess = asked == Asked::parity;
    set_targets(request, 1, &target_residual, &target_relative_residual);
    staghorn_result worst = results_of(1)[0];
    int status = STAGHORN_OK;
    for (int first = 0; first < n; first += most_together) {
      const int count = std::min(n - first, most_together);
      std::vector<staghorn_result> results = results_of(count);
      const std::vector<const void*> b(sources + first, sources + first + count);
      const auto solve = [&](staghorn_gauge* gauge, const staghorn_request& asked) {
        return staghorn_solve(gauge, &asked, &vectors, count, b.data(), solutions + first, nullptr, results.data());
      };
      status = std::max(status, first == 0 ? host().solve(vectors.precision, fat, lng, request, solve)
                                           : require(solve(host().gauge(), request)));
      for (const staghorn_result& result : results) take_worst(worst, result);
    }
    *residual = worst.residual_true;
    *relative_residual = worst.residual_hq;
    *iterations = int(worst.iterations);
    line.write(&worst, status);
  });
}

}  // namespace

void refuse(const char* function, const char* option) {
  run(function, [&] {
    const std::string cure = *option ? std::string(": build MILC with ") + option + " (nothing behind =)" : "";
    throw Error("not offered by Staghorn" + cure);
  });
}

}  // namespace staghorn::milc

using namespace staghorn;
using namespace staghorn::milc;

QudaGaugeParam newQudaGaugeParam(void) { return {}; }

QudaInvertParam newQudaInvertParam(void) { return {}; }

QudaEigParam newQudaEigParam(void) { return {}; }

void qudaSetMPICommHandle(void* communicator) {
  run("qudaSetMPICommHandle", [&] { host().set_communicator(communicator); });
}

void qudaInit(QudaInitArgs_t args) {
  run("qudaInit", [&] { host().open(args); });
}

void qudaFinalize(void) {
  run("qudaFinalize", [] { host().close(); });
}

void* qudaAllocatePinned(size_t bytes) { return allocate("qudaAllocatePinned", bytes); }

void qudaFreePinned(void* memory) { std::free(memory); }

void* qudaAllocateManaged(size_t bytes) { return allocate("qudaAllocateManaged", bytes); }

void qudaFreeManaged(void* memory) { std::free(memory); }

void qudaDslash(int external_precision, int, QudaInvertArgs_t args, const void* fat, const void* lng, void* source,
                void* destination, int* iterations) {
  run("qudaDslash", [&] {
    const Line line("qudaDslash");
    check_pointer("iterations", iterations);
    const staghorn_vectors vectors = vectors_of(external_precision);
    const int target = sites_of(args);
    staghorn_gauge* gauge = host().gauge(vectors.precision, fat, lng);
    const void* const in[1] = {source};
    void* const out[1] = {destination};
    require(staghorn_hop(gauge, &vectors, target, 1, in, out));
    *iterations = 0;
    line.write(nullptr, STAGHORN_OK);
  });
}

void qudaInvert(int external_precision, int quda_precision, double mass, QudaInvertArgs_t args, double target_residual,
                double target_relative_residual, const void* fat, const void* lng, void* source, void* solution,
                double* residual, double* relative_residual, int* iterations) {
  invert("qudaInvert", Asked::parity, external_precision, quda_precision, mass, args, target_residual,
         target_relative_residual, fat, lng, &source, &solution, residual, relative_residual, iterations, 1);
}

void qudaInvertMsrc(int external_precision, int quda_precision, double mass, QudaInvertArgs_t args,
                    double target_residual, double target_relative_residual, const void* fat, const void* lng,
                    void** sources, void** solutions, double* residual, double* relative_residual, int* iterations,
                    int n) {
  invert("qudaInvertMsrc", Asked::parity, external_precision, quda_precision, mass, args, target_residual,
         target_relative_residual, fat, lng, sources, solutions, residual, relative_residual, iterations, n);
}

// MILC keeps what qudaMultigridCreate returns, and hands it back. There is nothing to set up: CG solves.
void* qudaMultigridCreate(int, int, double, QudaInvertArgs_t, const void*, const void*, const char*) {
  static int multigrid;
  return &multigrid;
}

void qudaMultigridDestroy(void*) {}

void qudaInvertMG(int external_precision, int quda_precision, double mass, QudaInvertArgs_t args,
                  double target_residual, double target_relative_residual, const void* fat, const void* lng, void*, int,
                  void* source, void* solution, double* residual, double* relative_residual, int* iterations) {
  args.evenodd = QUDA_EVEN_PARITY;  // not read
  invert("qudaInvertMG", Asked::full, external_precision, quda_precision, mass, args, target_residual,
         target_relative_residual, fat, lng, &source, &solution, residual, relative_residual, iterations, 1);
}

void qudaInvertMsrcMG(int external_precision, int quda_precision, double mass, QudaInvertArgs_t args,
                      double target_residual, double target_relative_residual, const void* fat, const void* lng, void*,
                      int, void** sources, void** solutions, double* residual, double* relative_residual,
                      int* iterations, int n) {
  args.evenodd = QUDA_EVEN_PARITY;  // not read
  invert("qudaInvertMsrcMG", Asked::full, external_precision, quda_precision, mass, args, target_residual,
         target_relative_residual, fat, lng, sources, solutions, residual, relative_residual, iterations, n);
}

void qudaMultishiftInvert(int external_precision, int quda_precision, int n, double* offsets, QudaInvertArgs_t args,
                          const double* target_residuals, const double* target_relative_residuals, const void* fat,
                          const void* lng, void* source, void** solutions, double* residuals,
                          double* relative_residuals, int* iterations) {
  run("qudaMultishiftInvert", [&] {
    const Line line("qudaMultishiftInvert");
    for (const auto& [name, pointer] : {std::pair<const char*, const void*>{"offsets", offsets},
                                        {"target_residuals", target_residuals},
                                        {"target_relative_residuals", target_relative_residuals},
                                        {"residuals", residuals},
                                        {"relative_residuals", relative_residuals},
                                        {"iterations", iterations},
                                        {"solutions", solutions}})
      check_pointer(name, pointer);
    check_choice("number of offsets", n, 1, most_together);
    const staghorn_vectors vectors = vectors_of(external_precision);
    staghorn_request request = request_of(quda_precision, args);
    CallMemory memory = written_numbers(n, residuals, relative_residuals, iterations);
    memory.reads("source", host().bytes_of(vectors, request.system, source));
    for (int i = 0; i < n; ++i) memory.writes("solutions", host().bytes_of(vectors, request.system, solutions[i]), i);
    memory.require_own();
    const std::vector<double> targets = set_targets(request, n, target_residuals, target_relative_residuals);
    std::vector<staghorn_result> results = results_of(n);
    const auto solve = [&](staghorn_gauge* gauge, const staghorn_request& asked) {
      return staghorn_multishift(gauge, &asked, &vectors, n, offsets, targets.data(), nullptr, source, solutions,
                                 nullptr, results.data());
    };
    const int status = host().solve(vectors.precision, fat, lng, request, solve);
    staghorn_result worst = results[0];
    for (int i = 0; i < n; ++i) {
      residuals[i] = results[std::size_t(i)].residual_true;
      relative_residuals[i] = results[std::size_t(i)].residual_hq;
      take_worst(worst, results[std::size_t(i)]);
    }
    *iterations = int(worst.iterations);
    line.write(&worst, status);
  });
}
