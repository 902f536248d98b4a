#include "solver/interface/milc/connection.hpp"

#include <staghorn_mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "solver/interface/milc/failure.hpp"

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

}  // namespace

MPI_Comm Connection::communicator() const {
  if (!mpi_runs()) return MPI_COMM_NULL;
  return given_.value_or(MPI_COMM_WORLD);
}

void Connection::set_communicator(const void* handle) {
  require_pointer("communicator", handle);
  MPI_Comm given;
  std::memcpy(&given, handle, sizeof given);
  given_ = given;
}

void Connection::open(const QudaInitArgs_t& args) {
  require_choice("verbosity", args.verbosity, QUDA_SILENT, QUDA_DEBUG_VERBOSE);
  require_pointer("latsize", args.layout.latsize);
  require_pointer("machsize", args.layout.machsize);
  verbosity_ = args.verbosity;
  staghorn_geometry geometry;
  require(staghorn_defaults(&geometry, sizeof geometry, STAGHORN_GEOMETRY));
  std::copy_n(args.layout.latsize, 4, geometry.global);
  std::copy_n(args.layout.machsize, 4, geometry.grid);
  if (context_ && std::memcmp(&geometry, &geometry_, sizeof geometry) == 0) return;
  close();
  make_context(geometry, args.layout.device);
  geometry_ = geometry;
}

void Connection::make_context(const staghorn_geometry& geometry, int device) {
  const bool alone = std::all_of(geometry.grid, geometry.grid + 4, [](int n) { return n == 1; });
  staghorn_options options;
  require(staghorn_defaults(&options, sizeof options, STAGHORN_OPTIONS));
  options.environment = 1;  // programs of MILC have no other place for settings of ours
  options.device = alone && device > 0 ? device : STAGHORN_DEVICE_AUTO;
  options.certificate = STAGHORN_CERTIFICATE_WITH_SOLVE;
  all_ = alone ? MPI_COMM_NULL : communicator();
  if (verbosity_ > QUDA_SILENT && rank_in(all_) == 0) options.log = write_message;
  require(alone ? staghorn_context_create(&context_, &geometry, &options)
                : staghorn_context_create_mpi(&context_, all_, &geometry, &options));
}

void Connection::close() {
  links_.reset();
  require(staghorn_gauge_destroy(&gauge_));
  require(staghorn_context_destroy(&context_));
  all_ = MPI_COMM_NULL;
}

staghorn_gauge* Connection::gauge(int precision, const void* fat, const void* lng) {
  if (!context_) refuse("lattice", "qudaInit before", "none");
  require_pointer("fat links", fat);
  require_pointer("long links", lng);
  const auto start = std::chrono::steady_clock::now();
  std::int32_t extents[4], origin[4];
  require(staghorn_context_local(context_, extents, origin));
  constexpr std::size_t reals_of_site = 4 * 18;
  const std::size_t bytes_of_real = precision == STAGHORN_FP32 ? sizeof(float) : sizeof(double);
  std::size_t bytes = reals_of_site * bytes_of_real;
  for (const std::int32_t n : extents) bytes *= std::size_t(n);

  const Links found{precision, hash_field(fat, bytes, bytes_of_real), hash_field(lng, bytes, bytes_of_real)};
  int changed_improved[2] = {links_ != found, !found.lng.zero};
  any(changed_improved);
  has_read_ = changed_improved[0] != 0;
  if (has_read_) read_links(found, changed_improved[1] != 0, fat, lng);
  links_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return gauge_;
}

void Connection::read_links(const Links& found, bool improved, const void* fat, const void* lng) {
  links_.reset();
  staghorn_links layout;
  require(staghorn_defaults(&layout, sizeof layout, STAGHORN_LINKS));
  layout.order = STAGHORN_EVEN_ODD_X;
  layout.precision = found.precision;
  layout.phases = STAGHORN_PHASES_AS_GIVEN;  // they follow an origin that no call tells
  const void* const near[4] = {fat, nullptr, nullptr, nullptr};
  const void* const far[4] = {lng, nullptr, nullptr, nullptr};
  if (improved)  // the library takes zeros for naive quarks too, but has to read them for that
    require(gauge_ ? staghorn_gauge_update_improved(gauge_, &layout, near, &layout, far)
                   : staghorn_gauge_create_improved(context_, &layout, near, &layout, far, &gauge_));
  else
    require(gauge_ ? staghorn_gauge_update(gauge_, &layout, near)
                   : staghorn_gauge_create(context_, &layout, near, &gauge_));
  links_ = found;
}

void Connection::any(int (&both)[2]) const {
  if (all_ == MPI_COMM_NULL) return;
  if (MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT, MPI_MAX, all_) != MPI_SUCCESS)
    throw Failure("MPI_Allreduce failed");
}

bool Connection::is_verbose() const { return verbosity_ >= QUDA_VERBOSE && rank_in(all_) == 0; }

}  // namespace staghorn::milc
