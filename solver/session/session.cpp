#include "solver/session/session.hpp"

#include "halo/cuda/cuda_device.hpp"
#include "halo/cut_lattice.hpp"
#include "halo/device_choice.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/krylov/solver_table.hpp"
#include "solver/machine/memory_check.hpp"
#include "solver/report/gauge_summary.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/session_state.hpp"

namespace staghorn {

namespace {

LinkField make_links(const Communicator& communicator, const Lattice& lattice) {
  std::optional<LinkField> links;
  communicator.agree([&] { links.emplace(lattice); });  // no memory on one rank is an error on all
  return std::move(*links);
}

// Checks the links, projects them onto SU(3) where that was asked for or is implied, and says what they are. `checks`:
// what reading them found.
GaugeSummary take_links(const Communicator& communicator, const std::string& file, LinkField& links,
                        const SessionOptions& options, GaugeChecks checks) {
  // A compressed link is rebuilt as if it were exactly in SU(3): only such links keep the operator the same.
  const bool project = options.reunitarize || options.links != Reconstruct::none18;
  const UnitarityCheck check = check_unitarity(communicator, links);
  require_su3(file.empty() ? "links" : file, check, project);
  if (project) {
    reunitarize(links);
    checks.plaquette.reset();  // those were of other links
    checks.link_trace.reset();
  }
  GaugeSummary summary = summarize_gauge(communicator, links, check, checks);  // the deviation before any projection
  summary.file = file;
  summary.reunitarized = project;
  return summary;
}

// The library where it is asked for, else nothing. Throws Error where it cannot be used. Local.
std::unique_ptr<Cublas> open_cublas(const SessionOptions& options, int cuda_device) {
  if (options.blas != Blas::cublas) return nullptr;
  if (cuda_device < 0) throw Error("blas cublas", "a GPU to compute on (device cuda)", "device cpu");
  cuda::select_device(cuda_device);
  return std::make_unique<Cublas>();
}

}  // namespace

Session::Session(const Communicator& all, const std::string& gauge_file, const SessionOptions& options) {
  const Stopwatch reading;
  check_options(options);
  const GaugeHeader header = read_gauge_header(all, gauge_file);
  PlacedLattice placed = place_lattice(all, header.extents, options.grid, options.loopback, options.mapping);
  const Communicator& communicator = placed.communicator;
  const Lattice& lattice = placed.lattice;
  int cuda_device = -1;
  const int rank_on_host = communicator.rank_on_host();
  std::unique_ptr<Cublas> cublas;
  communicator.agree([&] {
    cuda_device = choose_device(options.device, rank_on_host);
    cublas = open_cublas(options, cuda_device);
  });
  require_memory(
      communicator,
      {lattice.global(), lattice.grid(), options, options.expected_rhs, options.expected_system, cuda_device >= 0},
      cuda_device, {});
  LinkField links = make_links(communicator, lattice);
  const GaugeChecks checks = read_gauge(communicator, header, links);
  GaugeSummary summary = take_links(communicator, gauge_file, links, options, checks);
  summary.format = to_string(header.format);
  state_ = std::make_unique<State>(State{std::move(placed.communicator), std::move(placed.placement), options,
                                         std::move(links), summary, reading.seconds(), cuda_device, nullptr, nullptr,
                                         std::move(cublas)});
}

Session::Session(const Communicator& communicator, LinkField links, const SessionOptions& options) {
  check_options(options);
  const Lattice expected = cut_lattice(communicator, links.lattice().global(), options.grid, options.loopback);
  int cuda_device = -1;
  const int rank_on_host = communicator.rank_on_host();
  std::unique_ptr<Cublas> cublas;
  communicator.agree([&] {
    cuda_device = choose_device(options.device, rank_on_host);
    cublas = open_cublas(options, cuda_device);
    if (!(links.lattice() == expected))
      throw Error("links", "rank " + std::to_string(expected.rank()) + " of grid " + to_string(expected.grid()),
                  "rank " + std::to_string(links.lattice().rank()) + " of grid " + to_string(links.lattice().grid()));
  });
  GaugeSummary summary = take_links(communicator, "", links, options, {});
  summary.format = "memory";
  state_ = std::make_unique<State>(
      State{communicator.split(0, communicator.rank()),
            place_ranks(expected.global(), expected.grid(), communicator.hosts(), Mapping::natural), options,
            std::move(links), summary, 0, cuda_device, nullptr, nullptr, std::move(cublas)});
}

Session::~Session() = default;

const Communicator& Session::communicator() const { return state_->communicator; }
const Placement& Session::placement() const { return state_->placement; }
const Lattice& Session::lattice() const { return state_->lattice(); }
const LinkField& Session::links() const { return state_->links; }
const GaugeSummary& Session::gauge() const { return state_->gauge; }
const SessionOptions& Session::options() const { return state_->options; }
std::string Session::device() const { return describe_device(state_->cuda_device); }

SolveShape Session::State::shape(int n_rhs, System system) const {
  return {lattice().global(), lattice().grid(), options, n_rhs, system, cuda_device >= 0};
}

void Session::State::make_operators(int n_rhs, System system) {
  const bool on_gpu = cuda_device >= 0;
  const auto packed = fast ? fast->hop_data() : nullptr;  // links that are there stay
  const auto sloppy_packed = sloppy ? sloppy->hop_data() : nullptr;
  const double held_links = double((fast ? fast->link_bytes() : 0) + (sloppy ? sloppy->link_bytes() : 0));
  pass.reset();  // frees its memory before the next takes its own
  fast.reset();
  sloppy.reset();
  const SolveShape wanted_shape = shape(n_rhs, system);
  const MemoryEstimate estimate = estimate_memory(wanted_shape);
  const double held = estimate.objects.at("certificate_links") + estimate.objects.at("sources_solutions") +
                      (residual ? double(residual->bytes()) : 0);
  require_memory(communicator, wanted_shape, cuda_device, {on_gpu ? held : held + held_links, on_gpu ? held_links : 0});
  OperatorOptions wanted;
  wanted.boundary = options.boundary;
  wanted.precision = options.precision;
  wanted.reconstruct = options.links;
  wanted.n_rhs = n_rhs;
  wanted.cuda_device = cuda_device;
  wanted.transport = options.transport;
  wanted.overlap = options.overlap;
  wanted.tuning = options.tuning;
  auto made = std::make_unique<StaggeredOperator>(communicator, links, wanted, packed);
  if (options.sloppy) {
    wanted.precision = *options.sloppy;
    wanted.reconstruct = iterated_links(options);
    sloppy = std::make_unique<StaggeredOperator>(communicator, links, wanted,
                                                 sloppy_packed ? sloppy_packed : made->hop_data());
  }
  fast = std::move(made);  // both are there, or, where one fails, neither
}

void Session::State::prepare(int n_rhs, System system) {
  if (!fast || fast->options().n_rhs != n_rhs) make_operators(n_rhs, system);
  const bool first = !pass;
  // The allocations that are left fail on every rank alike.
  communicator.agree([&] {
    if (!pass)
      pass = std::make_unique<EvenOddPass>(*fast, solver_for(options).make({*fast, sloppy.get(), cublas.get()}),
                                           default_loop_choice());
    if (!residual) residual.emplace(lattice());
  });
  if (first && cuda_device >= 0) pass->rehearse(system);
}

}  // namespace staghorn
