#include "solver/bench/benchmark.hpp"

#include <omp.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "dirac/gauge/heatbath.hpp"
#include "dirac/gauge/improved_links.hpp"
#include "dirac/kernels/kernel_table.hpp"
#include "dirac/stencil/hop_cost.hpp"
#include "halo/buffer.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/cuda/cuda_graph.hpp"
#include "halo/watch/activity.hpp"
#include "solver/krylov/block_conjugate_gradient.hpp"
#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/conjugate_gradient.hpp"
#include "solver/krylov/cublas/cublas.hpp"
#include "solver/krylov/cublas_conjugate_gradient.hpp"
#include "solver/krylov/iteration_cost.hpp"
#include "solver/machine/shares/iteration_time.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

namespace {

constexpr double mass = 0.05;

// Flop besides the hops: the sum of a hop with a norm, and an iteration's 7 vector operations of 6 fma.
constexpr double flops_of_sum = 12, flops_of_vector_operations = 84;
// Of block CG, for each right-hand side: two Gram matrices (18 flop a pair, half of them), and combinations of so many
// blocks (24).
constexpr double flops_of_block(int n_rhs, int combined) { return n_rhs * (2 * 9 + combined * 24); }

// Vectors that block CG moves besides two hops, and blocks that it combines (krylov/block/README.md).
struct BlockWork {
  int vectors, combined;
};
constexpr BlockWork block_work(Precision precision) {
  return precision == Precision::fp64 ? BlockWork{9, 7} : BlockWork{11, 6};
}

OperatorOptions measured_operator(const BenchmarkOptions& options, Precision precision, Reconstruct reconstruct,
                                  bool overlap) {
  SessionOptions session = options.session;
  session.precision = precision;
  (session.quarks.improved() ? session.naik_links : session.links) = reconstruct;
  session.overlap = overlap && session.overlap;
  OperatorOptions result = operator_options(session, options.rhs, options.cuda_device);
  result.instruction_set = options.instruction_set;
  return result;
}

// Where random links are made: those of large lattices, which take a host long, on the GPU, if they leave two thirds of
// its free memory to what is measured. Beside small ones the memory of the GPU is as empty as in a solve. Local.
MemorySpace space_of_links(std::int64_t bytes, int cuda_device) {
  constexpr std::int64_t most_on_host = std::int64_t{1} << 30;
  if (cuda_device < 0 || bytes <= most_on_host) return MemorySpace::host;
  cuda::select_device(cuda_device);
  return std::size_t(3 * bytes) > cuda::free_bytes() ? MemorySpace::host : MemorySpace::cuda;
}

LinkField hot_links(const Lattice& lattice, MemorySpace space, std::uint64_t seed) {
  LinkField links(lattice, space);
  set_hot(links, seed);
  return links;
}

// What all measurements of a call read: the same links and noise on any device. Local.
struct RandomFields {
  RandomFields(const Lattice& lattice, bool improved, int cuda_device)
      : space(space_of_links((improved ? 2 : 1) * lattice.local_volume() * std::int64_t(sizeof(Links)), cuda_device)),
        near(hot_links(lattice, space, 1)),
        naik(improved ? std::optional(hot_links(lattice, space, 2)) : std::nullopt),
        noise(make_source_vector(lattice, parse_source("gaussian:1"), 0)) {}

  OperatorLinks links() const { return naik ? OperatorLinks(near, *naik, hisq_naik_weight(0)) : OperatorLinks(near); }

  MemorySpace space;
  LinkField near;
  std::optional<LinkField> naik;
  VectorField noise;
};

// The operator and vectors that every measurement needs.
struct Bench {
  Bench(const Communicator& communicator, const RandomFields& fields, const BenchmarkOptions& options,
        Precision precision, Reconstruct reconstruct, bool overlap, double stream_read)
      : d(communicator, fields.links(), measured_operator(options, precision, reconstruct, overlap)),
        even(d.make_vector()),
        odd(d.make_vector()),
        sums(std::size_t(options.rhs), ExactSum(double(fields.near.lattice().global_volume()))),
        sites_per_parity(double(fields.near.lattice().global_volume()) / 2),
        stream_read(stream_read),
        overlap(overlap) {
    for (int r = 0; r < options.rhs; ++r) {
      even.pack(Parity::even, r, fields.noise);
      odd.pack(Parity::odd, r, fields.noise);
    }
  }

  HopCost cost() const { return hop_cost(d.options().precision, d.options().form(), d.options().n_rhs); }

  // What is queued on a GPU has to be done, too.
  void wait() const {
    if (d.options().cuda_device >= 0) cuda::synchronize();
  }
  double best_time(double seconds, const std::function<void()>& work) const {
    return staghorn::best_time(d.communicator(), seconds, work);
  }

  // flops and bytes_per_site: of all right-hand sides, at a site of one parity.
  BenchmarkResult result(const std::string& what, double seconds, double flops, double bytes_per_site) const {
    const OperatorOptions& o = d.options();
    const double bytes = bytes_per_site * sites_per_parity;
    const double per_second = seconds > 0 ? 1 / seconds : 0;  // differences of times may be 0
    BenchmarkResult r{what, o.precision, o.reconstruct, o.n_rhs, seconds * 1e6, 0, bytes * per_second * 1e-9, 0};
    if (o.stencil == Stencil::improved) r.naik_links = o.naik_reconstruct;
    r.gflops = flops * sites_per_parity * per_second * 1e-9;
    r.fraction_of_stream = bytes * per_second / stream_read;
    r.transport = d.transport();
    r.transports = d.transport_choice();
    r.tuning = d.tuning();
    return r;
  }

  StaggeredOperator d;
  ColorVectorField even, odd;
  std::vector<ExactSum> sums;
  double sites_per_parity, stream_read;
  bool overlap;  // asked for
};

// A Bench for every precision and link form that was asked for: of thin links, or of Naik links beside fat ones.
std::vector<BenchmarkResult> for_each_choice(
    const Communicator& communicator, const Lattice& lattice, const BenchmarkOptions& options, double stream_read,
    std::initializer_list<bool> overlaps, const std::function<void(Bench&, std::vector<BenchmarkResult>&)>& measure) {
  const bool improved = options.session.quarks.improved();
  require_fit(lattice, improved ? Stencil::improved : Stencil::naive);
  const RandomFields fields(lattice, improved, options.cuda_device);
  std::vector<BenchmarkResult> results;
  for (const Precision precision : options.precisions)
    for (const Reconstruct reconstruct : improved ? options.naik_links : options.links)
      for (const bool overlap : overlaps) {
        Bench bench(communicator, fields, options, precision, reconstruct, overlap, stream_read);
        measure(bench, results);
      }
  return results;
}

struct CgTime {
  double seconds;  // of an iteration
  LoopForm form;
};

CgTime time_cg_iteration(Bench& bench, double seconds, const Cublas* cublas = nullptr) {
  std::unique_ptr<KrylovSolver> baseline;
  std::optional<CgVectors> fused;
  if (cublas)
    baseline = make_cublas_solver(*cublas, bench.d);
  else
    fused.emplace(bench.d);
  const ParitySystem system = parity_system(bench.d, Parity::even, mass);
  ColorVectorField x = bench.d.make_solution();
  const std::vector<double> b2 = bench.d.norm2(bench.even, bench.sums);
  LoopForm form = LoopForm::host;
  const auto run = [&](long iterations) {
    if (cublas) {
      x.set_zero();
      form = baseline->solve(system, x, bench.even, just_iterations(b2.size(), iterations), {}).form;
      bench.wait();
    } else {
      form = iterate(system, *fused, x, bench.even, b2, iterations, {});
    }
  };
  // Set-up is part of each call, and amortised, but a call need not take longer than asked for.
  // (A call on a CPU sets up little, and best_time makes thirteen.)
  const bool on_gpu = bench.d.options().cuda_device >= 0;
  const long fewest = on_gpu ? 50 : cg_refresh_interval, most = on_gpu ? 500 : 3 * cg_refresh_interval;
  run(fewest);
  const double start = omp_get_wtime();
  run(fewest);
  const double once = bench.d.communicator().max(omp_get_wtime() - start) / double(fewest);
  const long iterations = std::clamp(long(seconds / (on_gpu ? 2 : 12) / once), fewest, most);
  return {bench.best_time(seconds, [&] { run(iterations); }) / double(iterations), form};
}

// An iteration of block CG, from independent sources. Throws Error where the batch takes over before the time is up.
CgTime time_block_iteration(Bench& bench, double seconds) {
  const std::unique_ptr<KrylovSolver> solver = make_block_solver(bench.d, nullptr);
  ColorVectorField x = bench.d.make_solution(), b = bench.d.make_vector();
  const int n_rhs = bench.d.options().n_rhs;
  const SourceSpec noise = parse_source("gaussian:1");
  for (int rhs = 0; rhs < n_rhs; ++rhs) b.pack(Parity::even, rhs, make_source_vector(bench.d.lattice(), noise, rhs));
  // Set-up is part of each call, as above.
  const long iterations = (bench.d.options().cuda_device >= 0 ? 6 : 2) * cg_refresh_interval;
  CgStop stop = just_iterations(std::size_t(n_rhs), iterations);
  stop.choice = LoopChoice::automatic;
  LoopForm form = LoopForm::host;
  const auto run = [&] {
    x.set_zero();
    const CgResult result = solver->solve(parity_system(bench.d, Parity::even, mass), x, b, stop, {});
    bench.wait();
    if (!result.took_over.empty() || result.rhs[0].iterations != iterations)
      throw Error("bench of block CG", std::to_string(iterations) + " iterations",
                  std::to_string(result.rhs[0].iterations) + " " + result.took_over);
    form = result.form;
  };
  return {bench.best_time(seconds, run) / double(iterations), form};
}

// Queues hops to odd sites and back on a GPU by itself, so that they can be recorded in a graph. Between the kernels
// of small lattices the host's launches would be seen (16x16x16x32 in fp32: 7.1 us a hop, in a graph 6.1).
void queue_pairs(Bench& bench, int pairs, void* stream) {
  for (int k = 0; k < 2 * pairs; ++k) {
    const bool to_odd = k % 2 == 0;
    HopView view = bench.d.view(to_odd ? Parity::odd : Parity::even);
    view.launch.stream = stream;
    HopCall call;
    call.in = (to_odd ? bench.even : bench.odd).data();
    call.out = (to_odd ? bench.odd : bench.even).data();
    cuda_kernels().hop(view, call);
  }
}

// The share of one rank; of more than 64 ranks no less than of 64.
std::size_t streamed_by_rank(const Communicator& communicator, const BenchmarkOptions& options) {
  return streamed_bytes(options) / std::size_t(std::min(communicator.size(), 64));
}

}  // namespace

std::size_t streamed_bytes(const BenchmarkOptions& options) {
  return options.stream_bytes > 0 ? options.stream_bytes : std::size_t{options.cuda_device < 0 ? 1u : 4u} << 30;
}

double best_time(const Communicator& communicator, double seconds, const std::function<void()>& work) {
  const auto time_batch = [&](long calls) {
    communicator.barrier();
    const double start = omp_get_wtime();
    for (long k = 0; k < calls; ++k, made_progress()) work();
    return communicator.max(omp_get_wtime() - start) / double(calls);
  };
  time_batch(1);  // first touch, warm caches
  const double once = time_batch(2);
  const int batches = int(std::clamp(seconds / once, 3.0, 10.0));  // of long calls few: a figure takes about its time
  const long calls = std::max(1L, long(seconds / batches / once));
  double best = once;
  for (int k = 0; k < batches; ++k) best = std::min(best, time_batch(calls));
  return best;
}

double measure_stream_read(const Communicator& communicator, const BenchmarkOptions& options) {
  const KernelTable& kernels = options.cuda_device < 0 ? cpu_kernels(options.instruction_set) : cuda_kernels();
  const Buffer buffer(streamed_by_rank(communicator, options), kernels.space);
  Buffer sum(sizeof(std::int64_t), kernels.space);
  const double seconds = best_time(communicator, std::min(1.0, options.seconds), [&] {
    kernels.read_stream(buffer.data(), std::int64_t(buffer.bytes()), reinterpret_cast<std::int64_t*>(sum.data()));
  });
  return double(buffer.bytes()) * communicator.size() / seconds;
}

double measure_copy(const Communicator& communicator, const BenchmarkOptions& options) {
  const MemorySpace space = options.cuda_device < 0 ? MemorySpace::host : MemorySpace::cuda;
  const std::size_t half = streamed_by_rank(communicator, options) / 2;
  const Buffer from(half, space);
  Buffer to(half, space);
  const double seconds = best_time(communicator, std::min(1.0, options.seconds), [&] {
    to.copy_from(from);
    if (space == MemorySpace::cuda) cuda::synchronize();
  });
  return 2.0 * double(half) * communicator.size() / seconds;
}

std::vector<BenchmarkResult> benchmark_hop(const Communicator& communicator, const Lattice& lattice,
                                           const BenchmarkOptions& options, double stream_read) {
  const auto measure = [&](Bench& bench, auto& results) {
    const int pairs = options.cuda_device >= 0 ? 20 : 1;  // launches of one batch overlap
    std::function<void()> hops = [&] {
      for (int k = 0; k < pairs; ++k) {
        bench.d.hop(bench.odd, bench.even, Parity::odd);
        bench.d.hop(bench.even, bench.odd, Parity::even);
      }
    };
    std::optional<cuda::RecordedWork> recorded;
    if (options.cuda_device >= 0 && bench.d.view(Parity::even).geometry.boundary_sites == 0) {  // no faces
      hops();  // what CUDA loads for the first use cannot be recorded
      recorded.emplace([&](void* stream) { queue_pairs(bench, pairs, stream); });
      hops = [&] { recorded->start(); };
    }
    const double seconds = bench.best_time(options.seconds, [&] {
      hops();
      bench.wait();
    });
    results.push_back(bench.result("hop", seconds / (2 * pairs), bench.cost().flops, bench.cost().hop()));
  };
  return for_each_choice(communicator, lattice, options, stream_read, {true}, measure);
}

std::vector<BenchmarkResult> benchmark_cg(const Communicator& communicator, const Lattice& lattice,
                                          const BenchmarkOptions& options, double stream_read) {
  const std::unique_ptr<Cublas> cublas = options.cublas ? std::make_unique<Cublas>() : nullptr;
  const auto measure = [&](Bench& bench, auto& results) {
    const Precision precision = bench.d.options().precision;
    const auto time = [&](const char* name, const Cublas* blas, double bytes) {
      const auto [seconds, form] = options.block ? time_block_iteration(bench, options.seconds)
                                                 : time_cg_iteration(bench, options.seconds, blas);
      const double of_vectors =
          options.block ? flops_of_block(options.rhs, block_work(precision).combined) : flops_of_vector_operations;
      const double flops = 2 * bench.cost().flops + options.rhs * of_vectors;
      results.push_back(bench.result(name, seconds, flops, bytes));
      results.back().loop = to_string(form);
      results.back().site_iterations_per_second = 2 * bench.sites_per_parity * options.rhs / seconds;
    };
    if (options.block) {
      if (precision != Precision::fp16)
        time("cg iteration, block", nullptr,
             2 * bench.cost().hop() + block_work(precision).vectors * bench.cost().vector);
      return;
    }
    if (options.fused) time("cg iteration", nullptr, bytes_per_iteration(bench.cost()));
    if (cublas && precision != Precision::fp16)
      time("cg iteration, cublas", cublas.get(), 2 * bench.cost().links + 21 * bench.cost().vector);
  };
  return for_each_choice(communicator, lattice, options, stream_read, {true}, measure);
}

std::vector<BenchmarkResult> benchmark_sums(const Communicator& communicator, const Lattice& lattice,
                                            const BenchmarkOptions& options, double stream_read) {
  const auto measure = [&](Bench& bench, auto& results) {
    const double plain = bench.best_time(options.seconds, [&] {
      bench.d.hop(bench.odd, bench.even, Parity::odd);
      bench.wait();
    });
    const double summed = bench.best_time(
        options.seconds, [&] { bench.d.hop_and_norm2(bench.odd, bench.even, Parity::odd, bench.sums); });
    const auto [iteration, form] = time_cg_iteration(bench, options.seconds);
    const HopCost cost = bench.cost();
    const double sum = options.rhs * flops_of_sum, vector_operations = options.rhs * flops_of_vector_operations;
    results.push_back(bench.result("hop", plain, cost.flops, cost.hop()));
    results.push_back(bench.result("hop and norm", summed, cost.flops + sum, cost.hop()));
    results.push_back(bench.result("two sums", 2 * std::max(0.0, summed - plain), 2 * sum, 0));
    results.push_back(
        bench.result("cg iteration", iteration, 2 * cost.flops + vector_operations, bytes_per_iteration(cost)));
    results.back().loop = to_string(form);
  };
  std::vector<BenchmarkResult> results = for_each_choice(communicator, lattice, options, stream_read, {true}, measure);
  for (BenchmarkResult& result : benchmark_vectors(communicator, lattice, options, stream_read))
    results.push_back(std::move(result));
  return results;
}

std::vector<BenchmarkResult> benchmark_exchange(const Communicator& communicator, const Lattice& lattice,
                                                const BenchmarkOptions& options, double stream_read) {
  const auto measure = [&](Bench& bench, auto& results) {
    const bool overlap = bench.overlap, queued = options.cuda_device >= 0;
    const int batch = queued ? 40 : 1;
    long hops = 0;
    const double seconds = bench.best_time(options.seconds, [&] {
      for (int k = 0; k < batch; ++k) bench.d.hop(bench.odd, bench.even, Parity::odd);
      bench.wait();
      hops += batch;
    });
    const std::string suffix = overlap ? "" : ", no overlap";
    results.push_back(bench.result("hop" + suffix, seconds / batch, bench.cost().flops, bench.cost().hop()));
    results.back().times = time_table(bench.d, bench.d.communication_times() * (1 / double(hops)), seconds / batch);
    const HopTimes t = bench.d.times();
    if (overlap) results.back().faces = measure_faces(bench.d, bench.even, Parity::odd, options.seconds / 2);
    if (queued) return;
    for (const auto& [name, total] : {std::pair{"pack", t.pack + t.start}, std::pair{"interior", t.interior},
                                      std::pair{"wait", t.wait}, std::pair{"boundary", t.boundary}})
      results.push_back(bench.result(std::string("  ") + name + suffix, communicator.max(total) / double(hops), 0, 0));
  };
  return for_each_choice(communicator, lattice, options, stream_read, {true, false}, measure);
}

}  // namespace staghorn
