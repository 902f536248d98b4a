#include "solver/interface/milc/connection.hpp"

#include <omp.h>
#include <staghorn_mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "halo/watch/stopwatch.hpp"
#include "solver/interface/argument_checks.hpp"
#include "solver/interface/milc/milc_call.hpp"

namespace staghorn::milc {

namespace {

bool mpi_runs() {
  int started = 0, finished = 0;
  MPI_Initialized(&started);
  if (started) MPI_Finalized(&finished);
  return started && !finished;
}

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  if (communicator != MPI_COMM_NULL) MPI_Comm_rank(communicator, &rank);
  return rank;
}

// Messages of a context, where the host wants any.
void write_message(void*, int, const char* text) { std::fprintf(stderr, "staghorn: %s\n", text); }

// What a solve with the links of the last call asks of those of this call. The hash begins with the iterations: before,
// and after them, threads copy vectors. A hash that fails is thrown on where it is asked for next.
struct LinkWatch {
  HashBeside& hash;
  const LinkHash& in_gauge;
  double waited = 0;
  std::int64_t iterations = 0;  // as last told

  static int look(void* data, std::int64_t iteration, double) {
    auto& self = *static_cast<LinkWatch*>(data);
    self.iterations = iteration;
    self.hash.begin();
    return self.hash.is_made() && self.hash.get() != self.in_gauge;
  }
  static int withhold(void* data) {
    auto& self = *static_cast<LinkWatch*>(data);
    const Stopwatch waiting;
    const bool changed = self.hash.get() != self.in_gauge;
    self.waited = waiting.seconds();
    return changed;
  }
};

}  // namespace

MPI_Comm Connection::communicator() const {
  if (!mpi_runs()) return MPI_COMM_NULL;
  return given_.value_or(MPI_COMM_WORLD);
}

void Connection::set_communicator(const void* handle) {
  MPI_Comm given = MPI_COMM_NULL;
  if (handle) std::memcpy(&given, handle, sizeof given);
  given_ = given;
}

void Connection::open(const QudaInitArgs_t& args) {
  check_choice("verbosity", args.verbosity, QUDA_SILENT, QUDA_DEBUG_VERBOSE);
  check_pointer("latsize", args.layout.latsize);
  check_pointer("machsize", args.layout.machsize);
  verbosity_ = args.verbosity;
  auto geometry = defaults_of<staghorn_geometry>(STAGHORN_GEOMETRY);
  std::copy_n(args.layout.latsize, 4, geometry.global);
  std::copy_n(args.layout.machsize, 4, geometry.grid);
  if (context_ && std::memcmp(&geometry, &geometry_, sizeof geometry) == 0) return;
  close();
  make_context(geometry, args.layout.device);
  geometry_ = geometry;
}

void Connection::make_context(const staghorn_geometry& geometry, int device) {
  const bool alone = std::all_of(geometry.grid, geometry.grid + 4, [](int n) { return n == 1; });
  auto options = defaults_of<staghorn_options>(STAGHORN_OPTIONS);
  options.environment = 1;  // programs of MILC have no other place for settings of ours
  options.device = alone && device > 0 ? device : STAGHORN_DEVICE_AUTO;
  options.certificate = STAGHORN_CERTIFICATE_WITH_SOLVE;
  all_ = alone ? MPI_COMM_NULL : communicator();
  if (verbosity_ > QUDA_SILENT && rank_in(all_) == 0) options.log = write_message;
  require(alone ? staghorn_context_create(&context_, &geometry, &options)
                : staghorn_context_create_mpi(&context_, all_, &geometry, &options));
  beside_ = !any(!wants_hash_beside());
}

// Cores are free while a GPU solves. The environment overrules.
bool Connection::wants_hash_beside() const {
  if (const char* told = std::getenv("STAGHORN_MILC_HASH")) {
    if (told == std::string_view("beside")) return true;
    if (told != std::string_view("first")) throw Error("STAGHORN_MILC_HASH", "first or beside", told);
    return false;
  }
  std::int32_t device = STAGHORN_DEVICE_CPU;
  require(staghorn_context_device(context_, &device));
  return device != STAGHORN_DEVICE_CPU;
}

void Connection::close() {
  links_.reset();
  require(staghorn_gauge_destroy(&gauge_));
  require(staghorn_context_destroy(&context_));
  all_ = MPI_COMM_NULL;
}

Connection& host() {
  static auto* connection = new Connection;
  return *connection;
}

staghorn_context* Connection::context() const {
  if (!context_) throw Error("lattice", "qudaInit before", "none");
  return context_;
}

std::array<int, 4> Connection::extents() const {
  context();
  return std::to_array(geometry_.global);
}

std::array<int, 4> Connection::local_extents() const {
  std::array<int, 4> extents{}, first{};
  require(staghorn_context_local(context(), extents.data(), first.data()));
  return extents;
}

std::array<int, 4> Connection::first_site() const {
  std::array<int, 4> extents{}, first{};
  require(staghorn_context_local(context(), extents.data(), first.data()));
  return first;
}

std::size_t Connection::local_sites() const {
  std::size_t sites = 1;
  for (const int n : local_extents()) sites *= std::size_t(n);
  return sites;
}

FieldBytes Connection::bytes_of(const staghorn_vectors& vectors, int sites, const void* at) const {
  const std::size_t half =
      local_sites() / 2 * 6 * (vectors.precision == STAGHORN_FP32 ? sizeof(float) : sizeof(double));
  if (!at) return {};
  return FieldBytes::of_array(static_cast<const char*>(at) + (sites == STAGHORN_ODD ? half : 0),
                              sites == STAGHORN_FULL ? 2 * half : half);
}

GivenLinks Connection::given_links(int precision, const void* fat, const void* lng) const {
  const std::size_t sites = local_sites();
  check_pointer("fat links", fat);
  check_pointer("long links", lng);
  return {precision, fat, lng, sites};
}

staghorn_gauge* Connection::gauge(int precision, const void* fat, const void* lng) {
  const GivenLinks links = given_links(precision, fat, lng);
  const Stopwatch reading;
  const LinkHash hash = hash_links(links, omp_get_max_threads());
  news_ = {};
  news_.read = any(links_ != hash);
  if (news_.read) read_links(links, hash);
  news_.seconds = reading.seconds();
  return gauge_;
}

int Connection::solve(int precision, const void* fat, const void* lng, staghorn_request request, const Solve& solve) {
  if (!beside_ || !links_) return require(solve(gauge(precision, fat, lng), request));
  const GivenLinks links = given_links(precision, fat, lng);
  HashBeside hash(links);
  LinkWatch watch{hash, *links_};
  request.progress = LinkWatch::look;
  request.withhold = LinkWatch::withhold;
  request.progress_data = request.withhold_data = &watch;
  const Stopwatch solving;
  const int status = require(solve(gauge_, request));
  news_ = {false, true, hash.seconds(), watch.waited, 0, 0};
  if (status != STAGHORN_WITHHELD) return status;

  news_.read = true;
  news_.lost = solving.seconds();
  news_.iterations_lost = watch.iterations;
  const Stopwatch reading;
  read_links(links, hash.get());
  news_.seconds += reading.seconds();
  request.progress = nullptr;
  request.withhold = nullptr;
  return require(solve(gauge_, request));
}

void Connection::read_links(const GivenLinks& links, const LinkHash& hash) {
  links_.reset();
  auto layout = defaults_of<staghorn_links>(STAGHORN_LINKS);
  layout.order = STAGHORN_EVEN_ODD_X;
  layout.precision = links.precision;
  layout.phases = STAGHORN_PHASES_AS_GIVEN;  // they follow an origin that no call tells
  const void* const near[4] = {links.fat, nullptr, nullptr, nullptr};
  const void* const far[4] = {links.lng, nullptr, nullptr, nullptr};
  if (any(!hash.lng.zero))  // the library takes zeros for naive quarks too, but has to read them for that
    require(gauge_ ? staghorn_gauge_update_improved(gauge_, &layout, near, &layout, far)
                   : staghorn_gauge_create_improved(context_, &layout, near, &layout, far, &gauge_));
  else
    require(gauge_ ? staghorn_gauge_update(gauge_, &layout, near)
                   : staghorn_gauge_create(context_, &layout, near, &gauge_));
  links_ = hash;
}

std::int64_t Connection::smallest(std::int64_t number) const {
  if (all_ != MPI_COMM_NULL && MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT64_T, MPI_MIN, all_) != MPI_SUCCESS)
    throw Error("MPI_Allreduce failed");
  return number;
}

bool Connection::any(bool value) const { return smallest(!value) == 0; }

void Connection::require_own_process() const {
  if (getpid() != process_) throw Error("process", "the one of the first call", "a child that was forked from it");
}

bool Connection::is_verbose() const { return verbosity_ >= QUDA_VERBOSE && rank_in(all_) == 0; }

}  // namespace staghorn::milc
