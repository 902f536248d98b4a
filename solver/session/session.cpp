#include "solver/session/session.hpp"

#include "halo/cuda/cuda_device.hpp"
#include "halo/cut_lattice.hpp"
#include "halo/device_choice.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/krylov/solver_table.hpp"
#include "solver/machine/memory_check.hpp"
#include "solver/report/gauge_summary.hpp"
#include "solver/request/operator_request.hpp"
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

// Options that go together, with what they leave open filled in from the environment. A session reads the environment
// here and nowhere else. Throws Error. Local.
struct Settings {
  SessionOptions options;
  LoopChoice loop = default_loop_choice();

  explicit Settings(const SessionOptions& asked) : options(asked) {
    check_options(options);
    solver_for(options);  // throws if there is none
    if (!options.tuning) options.tuning = default_tuning();
  }
};

// The library where it is asked for, else nothing. Throws Error where it cannot be used. Local.
std::unique_ptr<Cublas> open_cublas(const SessionOptions& options, int cuda_device) {
  if (options.blas != Blas::cublas) return nullptr;
  if (cuda_device < 0) throw Error("`blas` cublas", "a GPU to compute on (device cuda)", "device cpu");
  cuda::select_device(cuda_device);
  return std::make_unique<Cublas>();
}

}  // namespace

// Where a session computes, and with which options. Links are not there yet.
struct Session::Place {
  PlacedLattice placed;
  SessionOptions options;
  LoopChoice loop;
  int cuda_device = -1;
  std::unique_ptr<Cublas> cublas;

  // `given`: the lattice of links that are there already. They must be cut as the session cuts them. Collective.
  Place(PlacedLattice placed_lattice, const Settings& settings, const Lattice* given = nullptr)
      : placed(std::move(placed_lattice)), options(settings.options), loop(settings.loop) {
    const int rank_on_host = placed.communicator.rank_on_host();
    placed.communicator.agree([&] {
      cuda_device = choose_device(options.device, rank_on_host);
      cublas = open_cublas(options, cuda_device);
      const Lattice& expected = placed.lattice;
      if (given && !(*given == expected))
        throw Error("links", "rank " + std::to_string(expected.rank()) + " of grid " + to_string(expected.grid()),
                    "rank " + std::to_string(given->rank()) + " of grid " + to_string(given->grid()));
    });
  }
};

Session::Session(const Communicator& all, const std::string& gauge_file, const SessionOptions& asked,
                 const ExpectedSolve& expected) {
  const Stopwatch reading;
  const Settings settings(asked);
  const SessionOptions& options = settings.options;
  const GaugeHeader header = read_gauge_header(all, gauge_file);
  Place place(place_lattice(all, header.extents, options.grid, options.loopback, options.mapping), settings);
  const auto& [communicator, lattice, placement] = place.placed;
  require_memory(communicator,
                 {lattice.global(), lattice.grid(), options, expected.n_rhs, expected.system, place.cuda_device >= 0},
                 place.cuda_device, {});
  LinkField links = make_links(communicator, lattice);
  const GaugeChecks checks = read_gauge(communicator, header, links, !options.no_verify);
  state_ = State::make(std::move(place), std::move(links), gauge_file, to_string(header.format), checks);
  state_->read_seconds = reading.seconds();
}

Session::Session(const Communicator& all, LinkField links, const SessionOptions& asked) {
  const Settings settings(asked);
  const SessionOptions& options = settings.options;
  Place place(place_lattice(all, links.lattice().global(), options.grid, options.loopback, Mapping::natural), settings,
              &links.lattice());
  state_ = State::make(std::move(place), std::move(links), "", "memory", {});
}

std::unique_ptr<Session::State> Session::State::make(Place place, LinkField links, const std::string& file,
                                                     const std::string& format, const GaugeChecks& checks) {
  GaugeSummary gauge = take_links(place.placed.communicator, file, links, place.options, checks);
  gauge.format = format;
  return std::make_unique<State>(State{std::move(place.placed.communicator), std::move(place.placed.placement),
                                       std::move(place.options), place.loop, std::move(links), std::move(gauge), 0,
                                       place.cuda_device, nullptr, nullptr, std::move(place.cublas)});
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
  const auto packed = precise ? precise->hop_data() : nullptr;  // links that are there stay
  const auto sloppy_packed = sloppy ? sloppy->hop_data() : nullptr;
  const double held_links = double((precise ? precise->link_bytes() : 0) + (sloppy ? sloppy->link_bytes() : 0));
  pass.reset();  // frees its memory before the next takes its own
  precise.reset();
  sloppy.reset();
  const SolveShape wanted_shape = shape(n_rhs, system);
  const MemoryEstimate estimate = estimate_memory(wanted_shape);
  const double held = estimate.objects.at("certificate_links") + estimate.objects.at("sources_solutions") +
                      (residual ? double(residual->bytes()) : 0);
  require_memory(communicator, wanted_shape, cuda_device, {on_gpu ? held : held + held_links, on_gpu ? held_links : 0});
  auto made =
      std::make_unique<StaggeredOperator>(communicator, links, operator_options(options, n_rhs, cuda_device), packed);
  if (options.sloppy)
    sloppy = std::make_unique<StaggeredOperator>(communicator, links,
                                                 operator_options(iterated_options(options), n_rhs, cuda_device),
                                                 sloppy_packed ? sloppy_packed : made->hop_data());
  precise = std::move(made);  // both are there, or, where one fails, neither
}

void Session::State::prepare(int n_rhs, System system) {
  if (!precise || precise->options().n_rhs != n_rhs) make_operators(n_rhs, system);
  const bool first = !pass;
  // The allocations that are left fail on every rank alike.
  communicator.agree([&] {
    if (!pass)
      pass = std::make_unique<EvenOddPass>(*precise, solver_for(options).make({*precise, sloppy.get(), cublas.get()}),
                                           loop);
    if (!residual) residual.emplace(lattice());
  });
  if (first && cuda_device >= 0) pass->rehearse(system);
}

}  // namespace staghorn
