// Plain fields on a GPU against the same fields on the host, on any process grid, for test_certificate.py:
//
//   device_certificate X Y Z T  PX PY PZ PT  BOUNDARY
//
// Compares every function of the plain path bit by bit, and solves with vectors in either place: naive quarks, and HISQ
// where local extents allow. Prints a line for each thing that differs. Exit status: 0 all the same, 1 something
// differs, 77 no GPU.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "dirac/fields/color_vector_field.hpp"
#include "dirac/fields/cuda_plain_vectors.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "dirac/gauge/heatbath.hpp"
#include "dirac/gauge/improved_links.hpp"
#include "dirac/kernels/kernel_table.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/watchdog.hpp"
#include "solver/request/option_text.hpp"
#include "solver/session/job/solve.hpp"
#include "solver/session/session.hpp"
#include "tests/unit/unit_checks.hpp"

using namespace staghorn;

namespace {

constexpr int no_gpu = 77;
constexpr MemorySpace gpu = MemorySpace::cuda;

class Comparison {
 public:
  explicit Comparison(const Communicator& communicator) : communicator_(communicator) {}

  void check(bool same, const std::string& what) {
    if (!communicator_.any(!same)) return;
    differs_ = true;
    if (communicator_.is_root()) std::printf("differs: %s\n", what.c_str());
  }
  void bits(double a, double b, const std::string& what) { check(std::memcmp(&a, &b, sizeof a) == 0, what); }
  void bits(const Norms2& a, const Norms2& b, const std::string& what) {
    bits(a.all, b.all, what + ", all sites");
    bits(a.even, b.even, what + ", even sites");
    bits(a.odd, b.odd, what + ", odd sites");
  }
  void fields(const VectorField& host, const VectorField& device, const std::string& what) {
    const VectorField copy(device, MemorySpace::host);
    check(std::memcmp(host.data(), copy.data(), std::size_t(host.bytes())) == 0, what);
  }
  bool differs() const { return differs_; }

 private:
  const Communicator& communicator_;
  bool differs_ = false;
};

VectorField random_field(const Lattice& lattice, int which) {
  VectorField field(lattice);
  for (std::int64_t site = 0; site < field.size(); ++site) {
    RandomStream random =
        test_stream(which * 10000000 + lattice.global_site_index(lattice.to_global(lattice.site_coordinates(site))));
    for (Complex<double>& c : field[site].c) c = complex_gaussian(random);
  }
  return field;
}

void compare_vectors(Comparison& comparison, const Communicator& communicator, const Lattice& lattice) {
  const VectorField v = random_field(lattice, 1), zero(lattice);
  const VectorField on_gpu(v, gpu), zero_on_gpu(zero, gpu);
  const auto norms = [&](const VectorField& host, const char* what) {
    comparison.bits(norms2(communicator, host), norms2(communicator, VectorField(host, gpu)), what);
  };
  norms(v, "norms");
  norms(zero, "norms of zero");
  VectorField uneven = v;
  for (std::int64_t site = 0; site < v.size(); ++site)
    for (Complex<double>& c : uneven[site].c) c.re = std::ldexp(c.re, int(site % 90) - 45);
  norms(uneven, "norms of numbers of many sizes");
  VectorField bad = v;
  bad[bad.size() / 2].c[1].im = std::numeric_limits<double>::quiet_NaN();
  norms(bad, "norms with NaN");
  comparison.check(cuda_first_not_finite(VectorField(bad, gpu).data(), lattice.local(), -1) == bad.size() / 2,
                   "the first number that is not finite");
  comparison.check(cuda_first_not_finite(on_gpu.data(), lattice.local(), -1) == v.size(), "that all is finite");
  comparison.check(is_zero(communicator, zero_on_gpu), "zero");
  comparison.check(!is_zero(communicator, on_gpu), "not zero");
  for (const Parity parity : {Parity::even, Parity::odd}) {
    VectorField cleared(on_gpu, gpu);
    cuda_clear_parity(cleared.data(), lattice.local(), parity);
    comparison.check(is_zero_on(parity, cleared) && !is_zero_on(opposite(parity), cleared), "one parity cleared");
  }

  const KernelTable& kernels = cuda_kernels();
  PinnedPieces pieces;
  for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16}) {
    const std::string name = to_string(precision);
    const SiteLayout layout = kernels.layout(lattice, precision);
    ColorVectorField from_host(layout, precision, 3, gpu, &pieces), from_gpu(layout, precision, 3, gpu, &pieces);
    for (const Parity parity : {Parity::even, Parity::odd}) {
      from_host.pack(parity, 1, v, 0.375), from_gpu.pack(parity, 1, on_gpu, 0.375);
      VectorField packed(lattice), packed_on_gpu(lattice);
      from_host.unpack(parity, 1, packed), from_gpu.unpack(parity, 1, packed_on_gpu);
      comparison.check(std::memcmp(packed.data(), packed_on_gpu.data(), std::size_t(packed.bytes())) == 0,
                       name + ": pack");
      VectorField host = uneven, device(uneven, gpu);
      from_host.unpack(parity, 1, host), from_gpu.unpack(parity, 1, device);
      comparison.fields(host, device, name + ": unpack");
      from_host.add_to(parity, 1, 0.3, host), from_gpu.add_to(parity, 1, 0.3, device);
      comparison.fields(host, device, name + ": add_to");
    }
  }
}

// `links` on the host, and the same on the GPU.
void compare_operator(Comparison& comparison, const Communicator& communicator, const OperatorLinks& links,
                      const OperatorLinks& links_on_gpu, const Boundary& boundary) {
  const Lattice& lattice = links.lattice();
  const VectorField x = random_field(lattice, 2), b = random_field(lattice, 3), x_on_gpu(x, gpu), b_on_gpu(b, gpu);
  VectorField out = b, out_on_gpu(b, gpu);
  plain_hop(communicator, links, boundary, out, x);
  plain_hop(communicator, links_on_gpu, boundary, out_on_gpu, x_on_gpu);
  comparison.fields(out, out_on_gpu, "hop");
  for (const Parity parity : {Parity::even, Parity::odd}) {
    plain_hop(communicator, links, boundary, out, out, parity);
    plain_hop(communicator, links_on_gpu, boundary, out_on_gpu, out_on_gpu, parity);
    comparison.fields(out, out_on_gpu, "hop to one parity, in place");
    const double host = parity_residual(communicator, links, boundary, 0.37, parity, x, b, out);
    const double device =
        parity_residual(communicator, links_on_gpu, boundary, 0.37, parity, x_on_gpu, b_on_gpu, out_on_gpu);
    comparison.bits(host, device, "norm of the residual of a parity system");
    comparison.fields(out, out_on_gpu, "residual of a parity system");
  }
  const double host = full_residual(communicator, links, boundary, 0.37, x, b, out);
  const double device = full_residual(communicator, links_on_gpu, boundary, 0.37, x_on_gpu, b_on_gpu, out_on_gpu);
  comparison.bits(host, device, "norm of the residual of the full system");
  comparison.fields(out, out_on_gpu, "residual of the full system");
}

// Solves with vectors on the host and on the GPU, certified in either place: one answer, one residual.
void compare_solves(Comparison& comparison, const Communicator& communicator, const LinkField& links,
                    const Boundary& boundary, const Extents& grid, Action action) {
  const Lattice& lattice = links.lattice();
  for (const System system : {System::full, System::even, System::odd})
    for (const PhaseConvention phases : {PhaseConvention::cps, PhaseConvention::milc}) {
      SolveRequest request;
      request.mass = 0.6;
      request.system = system;
      request.phases = phases;
      std::vector<VectorField> sources, first;
      for (const int which : {4, 5}) sources.push_back(random_field(lattice, which));
      std::vector<RhsReport> rhs;
      for (const bool there : {false, true})
        for (const CertificatePlace place :
             {CertificatePlace::host, CertificatePlace::device, CertificatePlace::automatic}) {
          SessionOptions options;
          options.grid = grid;
          options.boundary = boundary;
          options.sloppy = Precision::fp16;
          options.quarks.action = action;
          options.certificate = place;
          options.device = "cuda";
          options.tuning = Tuning::off;
          Session session(communicator, links, options);
          std::vector<VectorField> given, solutions;
          for (const VectorField& source : sources) {
            given.emplace_back(source, there ? gpu : MemorySpace::host);
            solutions.emplace_back(random_field(lattice, 6), there ? gpu : MemorySpace::host);  // a guess
          }
          const SolveReport report = session.solve(request, given, solutions);
          const std::string what = to_string(action) + ", " + to_string(system) + ", " + to_string(phases) +
                                   ", vectors on the " + (there ? "GPU" : "host") + ", certificate " + to_string(place);
          const bool device = place != CertificatePlace::host;
          comparison.check(report.certificate == (device ? "device" : "host"), what + ": where it was certified");
          comparison.check(report.outcome == Outcome::certified, what + ": outcome");
          if (first.empty()) {
            for (const VectorField& solution : solutions) first.emplace_back(solution, MemorySpace::host);
            rhs = report.rhs;
          }
          for (std::size_t i = 0; i < solutions.size(); ++i) {
            comparison.check((solutions[i].space() == gpu) == there, what + ": where the solution is");
            comparison.fields(first[i], solutions[i], what + ": solution");
            comparison.bits(rhs[i].residual_true, report.rhs[i].residual_true, what + ": residual");
            comparison.bits(rhs[i].norm2, report.rhs[i].norm2, what + ": norm");
            comparison.bits(rhs[i].norm2_odd, report.rhs[i].norm2_odd, what + ": norm of odd sites");
            comparison.fields(sources[i], given[i], what + ": source after the solve");
          }
        }
    }
}

// Links that change in place are those of the next certificate.
void compare_changed_links(Comparison& comparison, const Communicator& communicator, const LinkField& links,
                           const Boundary& boundary, const Extents& grid) {
  const Lattice& lattice = links.lattice();
  SolveRequest request;
  request.mass = 0.6;
  const std::vector<VectorField> sources = {random_field(lattice, 4)};
  std::vector<VectorField> found;
  for (const CertificatePlace place : {CertificatePlace::host, CertificatePlace::device}) {
    SessionOptions options;
    options.grid = grid;
    options.boundary = boundary;
    options.certificate = place;
    options.device = "cuda";
    options.tuning = Tuning::off;
    const Context context(communicator, lattice.global(), options, Mapping::natural);
    const Context::Scope scope(context);
    Gauge gauge(context, links, context.options(), LinkOrigin{});
    for (const std::uint64_t seed : {8, 9}) {
      std::vector<VectorField> solutions = {VectorField(lattice)};
      const SolveReport report = solve(gauge, request, sources, solutions);
      comparison.check(report.outcome == Outcome::certified, "changed links, " + to_string(place) + ": outcome");
      found.push_back(solutions[0]);
      set_hot(gauge.writable_links(), seed);
      gauge.take({.boundary = boundary});
    }
  }
  comparison.fields(found[0], VectorField(found[2], gpu), "solution before links changed");
  comparison.fields(found[1], VectorField(found[3], gpu), "solution after links changed");
}

// Where a GPU has no room for the certificate beside the solve, vectors of the host are certified there.
void compare_without_room(Comparison& comparison, const Communicator& communicator) {
  const Lattice lattice({16, 16, 16, 32}, {1, 1, 1, 1}, communicator.rank());
  LinkField links(lattice);
  set_hot(links, 7);
  SolveRequest request;
  request.mass = 0.6;
  request.tolerance = 1e-5;
  const std::vector<VectorField> sources = {random_field(lattice, 4)};
  SessionOptions options;
  options.precision = Precision::fp32;
  options.links = Reconstruct::su3_8;
  options.device = "cuda";
  options.tuning = Tuning::off;
  std::vector<VectorField> found;
  for (const bool room : {true, false}) {
    // Links alone take 75 MB in the certificate.
    room ? unsetenv("STAGHORN_GPU_MEMORY") : setenv("STAGHORN_GPU_MEMORY", "70e6", 1);
    Session session(communicator, links, options);
    std::vector<VectorField> solutions = {VectorField(lattice)};
    const SolveReport report = session.solve(request, sources, solutions);
    const std::string what = room ? "a GPU with room" : "a GPU without room";
    comparison.check(report.certificate == (room ? "device" : "host"), what + ": where it was certified");
    comparison.check(report.outcome == Outcome::certified, what + ": outcome");
    found.push_back(solutions[0]);
  }
  unsetenv("STAGHORN_GPU_MEMORY");
  comparison.fields(found[0], VectorField(found[1], gpu), "solution without room");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 10) return 2;
  if (cuda::device_count() == 0) return no_gpu;
  const MpiSession mpi;
  const Communicator communicator(MPI_COMM_WORLD);
  try {
    Extents extents, grid;
    for (int mu = 0; mu < 4; ++mu) {
      extents[mu] = parse_number<int>(argv[1 + mu]);
      grid[mu] = parse_number<int>(argv[5 + mu]);
    }
    const Boundary boundary = parse_boundary(argv[9]);
    cuda::select_device(communicator.rank_on_host() % cuda::device_count());
    const Lattice lattice(extents, grid, communicator.rank());
    LinkField links(lattice);
    set_hot(links, 7);
    Comparison comparison(communicator);
    compare_vectors(comparison, communicator, lattice);
    compare_operator(comparison, communicator, links, LinkField(links, gpu), boundary);
    compare_solves(comparison, communicator, links, boundary, grid, Action::naive);
    compare_changed_links(comparison, communicator, links, boundary, grid);
    if (communicator.size() == 1) compare_without_room(comparison, communicator);
    const Extents& local = lattice.local();
    const bool improved = *std::min_element(local.begin(), local.end()) >= smallest_extent(Stencil::improved);
    if (improved) {
      const ImprovedLinks made = hisq_links(communicator, links, -0.1, Unitarize::u3);
      const LinkField fat(made.fat, gpu), naik(made.naik, gpu);
      compare_operator(comparison, communicator, {made.fat, made.naik, made.naik_weight}, {fat, naik, made.naik_weight},
                       boundary);
      compare_solves(comparison, communicator, links, boundary, grid, Action::hisq);
    }
    if (communicator.is_root()) std::printf("improved quarks: %s\n", improved ? "compared" : "do not fit");
    if (communicator.is_root() && !comparison.differs()) std::printf("all the same\n");
    return comparison.differs() ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", communicator.rank(), error.what());
    end_job(communicator, 1);
  }
  return 0;
}
