#include "solver/session/session.hpp"

#include <algorithm>

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/fields/site_hash.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "halo/cuda/cuda_start.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/machine/memory_check.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/search/archive.hpp"
#include "solver/session/job/solve.hpp"
#include "solver/session/low_modes/coarse_basis.hpp"
#include "solver/session/low_modes/kept_pairs.hpp"

namespace staghorn {

namespace {

LinkField make_links(const Communicator& communicator, const Lattice& lattice) {
  std::optional<LinkField> links;
  communicator.agree([&] { links.emplace(lattice); });  // no memory on one rank is an error on all
  return std::move(*links);
}

// What the first solve will need of this rank's part.
SolveShape expected_shape(const Context& context, const SessionOptions& options, const ExpectedSolve& expected) {
  const Lattice& lattice = context.lattice();
  SolveShape shape{lattice.global(),  lattice.grid(),     options,
                   expected.n_rhs,    expected.system,    context.cuda_device() >= 0,
                   expected.n_masses, expected.n_together};
  shape.low_part = expected.low_part;
  shape.meson_fields = expected.meson_fields;
  shape.widths = lattice.widths();
  shape.rank = lattice.rank();
  shape.unlike_ranks = context.unlike_ranks();
  return shape;
}

struct NamedCheck {
  std::string name{};
  ChecksumResult result{};
  void visit(const Archive& archive) {
    archive("name", name);
    archive("stored", result.stored);
    archive("computed", result.computed);
    archive("match", result.match);
  }
};

void visit(const Archive& archive, LinkOrigin& origin) {
  archive("file", origin.file);
  archive("format", origin.format);
  archive("seconds", origin.seconds);
  std::vector<NamedCheck> checks;
  for (const auto& [name, result] : origin.checks.checksums) checks.push_back({name, result});
  archive("checksums", checks);
  for (const NamedCheck& check : checks) origin.checks.checksums[check.name] = check.result;
  archive("warnings", origin.checks.warnings);
  std::vector<double> observed;  // plaquettes, then the link trace
  if (const auto& found = origin.checks.plaquette) observed = {found->all, found->space, found->time};
  archive("plaquette", observed);
  if (observed.size() == 3) origin.checks.plaquette = Plaquette{observed[0], observed[1], observed[2]};
  observed.clear();
  if (const auto& found = origin.checks.link_trace) observed = {found->real(), found->imag()};
  archive("link_trace", observed);
  if (observed.size() == 2) origin.checks.link_trace = {observed[0], observed[1]};
}

// Links from memory lie as their lattice is cut.
const SessionOptions& cut_already(const SessionOptions& options) {
  if (options.shares.automatic)
    throw Error("shares", "even, or the shares of the lattice of these links, which is cut already", "auto");
  return options;
}

// What is known of the files of a gauge before a context is made.
struct GaugeFiles {
  GaugeFiles(const Communicator& all, const std::string& gauge_file, const SessionOptions& options) : path(gauge_file) {
    completed_options(options);  // what makes no sense is refused before anything is read
    if (options.quarks.stored()) {
      if (!path.empty()) throw Error("gauge", "thin links, or links from files (`fat` and `naik`)", "both");
      pair = read_improved_headers(all, *options.quarks.fat, *options.quarks.naik);
    }
    header = pair ? pair->fat : read_gauge_header(all, path, options.dataset);
    if (options.eigenvectors && eigenvectors_are_there(all, options)) {
      eigenvectors = read_eigenvector_header(all, *options.eigenvectors);
      require_belongs(*eigenvectors, header.extents, identity_of_options(options));
    }
    if (options.coarse) {
      coarse = read_eigenvector_header(all, *options.coarse);
      require_belongs(*coarse, header.extents, identity_of_options(options));
    }
  }

  Stopwatch reading;
  std::string path;  // "" of fat and Naik links
  GaugeHeader header;
  std::optional<ImprovedHeaders> pair;
  std::optional<EigenvectorHeader> eigenvectors, coarse;
};

std::unique_ptr<Gauge> gauge_of_files(const Context& context, const GaugeFiles& files, const SessionOptions& options,
                                      const ExpectedSolve& expected) {
  const auto& [reading, path, header, pair, eigenvectors, coarse] = files;
  // A GPU is made ready beside the reading of thin links. What is free there is known then, and asked for by the first
  // solve; what could never fit is refused here.
  const bool beside = !pair && !options.eigenvectors && !coarse;
  const cuda::StartBeside start(beside ? context.cuda_device() : -1);
  std::optional<Context::Scope> scope;
  if (!beside) scope.emplace(context);
  const Lattice& lattice = context.lattice();
  require_fit(lattice, stencil_of(options));
  SolveShape shape = expected_shape(context, options, expected);
  if (eigenvectors) {
    shape.eigenpairs = eigenvectors->count();
    shape.eigenvector_precision = eigenvectors->precision;
    shape.mass_by_mass = Deflation::damps(eigenvectors->precision, shape.system == System::odd);
    shape.n_rhs = std::min(shape.n_rhs, Deflation::most_rhs);  // the others wait
    shape.eigenvectors_on_host = eigenvectors_go_to_host(context.communicator(), shape, context.cuda_device());
  }
  if (coarse) describe_blocks(shape, *coarse);
  require_memory(context.communicator(), shape, context.cuda_device(), {}, beside ? GpuMemory::all : GpuMemory::free);
  std::unique_ptr<Gauge> gauge;
  if (pair) {
    SessionOptions fitted = options;
    StoredGauge read = read_stored_gauge(context.communicator(), *pair, lattice, fitted);
    gauge = std::make_unique<Gauge>(context, std::move(read.fat), fitted,
                                    LinkOrigin{header.path, to_string(header.format), std::move(read.checks)},
                                    LinkDemand::finite);
    gauge->add_naik_links(std::move(read.improved));
  } else {
    LinkField links = make_links(context.communicator(), lattice);
    GaugeChecks checks = read_gauge(context.communicator(), header, links, !options.no_verify);
    if (beside) scope.emplace(context);
    gauge = std::make_unique<Gauge>(context, std::move(links), options,
                                    LinkOrigin{path, to_string(header.format), std::move(checks)});
    if (options.quarks.improved()) gauge->improve();
  }
  if (eigenvectors)
    load_eigenpairs(*gauge, *eigenvectors, shape.eigenvectors_on_host);
  else if (options.eigenvectors)
    take_eigenpairs(*gauge, *options.eigenvectors, options.eigenpairs);
  if (coarse) load_blocks(*gauge, *coarse);
  gauge->measured();
  gauge->set_read_seconds(reading.seconds());
  return gauge;
}

}  // namespace

std::unique_ptr<Gauge> gauge_of_file(const Context& context, const std::string& gauge_file,
                                     const SessionOptions& options) {
  const GaugeFiles files(context.communicator(), gauge_file, options);
  if (const Extents& found = files.header.extents; found != context.lattice().global())
    throw Error(ErrorKind::layout, files.header.path + ": lattice", to_string(context.lattice().global()),
                to_string(found));
  return gauge_of_files(context, files, options, {});
}

struct Session::State {
  std::shared_ptr<const Context> context;
  std::shared_ptr<Gauge> gauge{};
  const bool* interrupted = nullptr;
  std::optional<LinkOrigin> origin{};  // of links that were read and not yet taken
};

Session::Session(const Communicator& all, const std::string& gauge_file, const SessionOptions& options,
                 const ExpectedSolve& expected) {
  all.agree([&] { choose_probe(options); });
  const GaugeFiles files(all, gauge_file, options);
  state_.reset(new State{std::make_shared<Context>(all, files.header.extents, options, options.mapping)});
  state_->gauge = gauge_of_files(context(), files, context().options(), expected);
}

// Nothing is deleted: both belong to the caller.
Session::Session(const Context& context, Gauge& gauge, const bool* interrupted)
    : state_(new State{{std::shared_ptr<void>(), &context}, {std::shared_ptr<void>(), &gauge}, interrupted}) {}

Session::Session(const Communicator& all, const Extents& global, const SessionOptions& options,
                 const ExpectedSolve& expected) {
  completed_options(options);
  if (options.quarks.stored())
    throw Error("fat", "no links from files beside those of gauge files", *options.quarks.fat);
  if (options.coarse) throw Error("coarse", "a single configuration, to which its vectors belong", "several");
  state_.reset(new State{std::make_shared<Context>(all, global, options, options.mapping)});
  const Context& context = *state_->context;
  const Context::Scope scope(context);
  require_fit(context.lattice(), stencil_of(options));
  const SolveShape shape = expected_shape(context, context.options(), expected);
  require_memory(context.communicator(), shape, context.cuda_device(), {});
  state_->gauge = std::make_shared<Gauge>(context, context.options());
}

std::uint64_t Session::read_links(const std::string& gauge_file) {
  const Stopwatch reading;
  const Context::Scope scope(*state_->context);
  const GaugeHeader header = read_gauge_header(communicator(), gauge_file, options().dataset);
  if (header.extents != lattice().global())
    throw FileError(gauge_file, "a lattice of " + to_string(lattice().global()), to_string(header.extents));
  LinkField& links = state_->gauge->writable_links();
  GaugeChecks checks = read_gauge(communicator(), header, links, !options().no_verify);
  state_->origin = LinkOrigin{gauge_file, to_string(header.format), std::move(checks), reading.seconds()};
  return site_hash(communicator(), links);
}

void Session::copy_links(const Communicator& across) {
  const Context::Scope scope(*state_->context);
  LinkOrigin origin = state_->origin.value_or(LinkOrigin{});
  const Archive own;
  visit(own, origin);
  const std::string text = across.broadcast(own.text());
  LinkField& links = state_->gauge->writable_links();
  across.broadcast(links.data(), std::size_t(links.bytes()));
  if (across.is_root()) return;
  visit(Archive("links of another group", text), origin);
  state_->origin = std::move(origin);
}

void Session::take_links() {
  const Context::Scope scope(*state_->context);
  const SessionOptions& asked = state_->context->options();
  LinksTaken taken;
  taken.boundary = asked.boundary;
  taken.reals = asked.quarks.improved() ? asked.naik_links : asked.links;
  taken.quarks = asked.quarks;
  state_->gauge->take(taken, std::move(state_->origin));
  state_->origin.reset();
  state_->gauge->measured();
}

void Session::take_eigenpairs(const std::string& path) {
  const Context::Scope scope(*state_->context);
  staghorn::take_eigenpairs(*state_->gauge, path, options().eigenpairs);
}

Session::Session(const Communicator& all, LinkField links, const SessionOptions& options)
    : state_(
          new State{std::make_shared<Context>(all, links.lattice().global(), cut_already(options), Mapping::natural)}) {
  const Context& context = *state_->context;
  const Context::Scope scope(context);
  context.communicator().agree([&] {
    const Lattice &expected = context.lattice(), &given = links.lattice();
    if (!(given == expected))
      throw Error("links", "rank " + std::to_string(expected.rank()) + " of grid " + to_string(expected.grid()),
                  "rank " + std::to_string(given.rank()) + " of grid " + to_string(given.grid()));
  });
  if (options.quarks.stored()) throw Error("fat", "no links from files beside links from memory", *options.quarks.fat);
  require_fit(context.lattice(), stencil_of(options));
  state_->gauge = std::make_shared<Gauge>(context, std::move(links), context.options(), LinkOrigin{});
  state_->gauge->measured();
  if (options.quarks.improved()) state_->gauge->improve();
  if (options.eigenvectors) staghorn::take_eigenpairs(*state_->gauge, *options.eigenvectors, options.eigenpairs);
  if (options.coarse) load_blocks(*state_->gauge, read_eigenvector_header(context.communicator(), *options.coarse));
}

Session::~Session() = default;

const Communicator& Session::communicator() const { return state_->context->communicator(); }
const Placement& Session::placement() const { return state_->context->placement(); }
const Lattice& Session::lattice() const { return state_->context->lattice(); }
const ImprovedSummary* Session::improved() const {
  const ImprovedGauge* const improved = state_->gauge->links().improved();
  return improved ? &improved->summary : nullptr;
}
const GaugeSummary& Session::gauge() const { return state_->gauge->measured(); }
const SessionOptions& Session::options() const { return state_->gauge->options(); }
Gauge& Session::resident() { return *state_->gauge; }
std::string Session::device() const { return state_->context->device(); }
const Context& Session::context() const { return *state_->context; }

SolveReport Session::solve(const SolveRequest& request, std::span<const VectorField> sources,
                           std::span<VectorField> solutions, const std::function<void(const CgProgress&)>& progress,
                           Checkpoints* of_job) {
  const Context::Scope scope(*state_->context);
  if (options().sloppy_auto) state_->gauge->set_numbers(options(), request);
  return staghorn::solve(*state_->gauge, request, sources, solutions, progress,
                         {.interrupted = state_->interrupted, .checkpoints = of_job});
}

}  // namespace staghorn
