// Contexts of staghorn.h: made, asked, destroyed, reported.
#include <staghorn_mpi.h>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <optional>

#include "halo/host_mapping.hpp"
#include "halo/one_process/launched_together.hpp"
#include "halo/watch/alarm.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/forked.hpp"
#include "solver/interface/alike.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/statuses.hpp"
#include "solver/interface/struct_layouts.hpp"
#include "solver/interface/structs.hpp"
#include "solver/interface/words.hpp"

namespace staghorn {

namespace {

struct Arguments {
  staghorn_geometry geometry{};
  staghorn_options options{};
  std::map<std::string, std::string> texts;  // options by name
};

// Arguments of a context, checked. Local.
Arguments read_arguments(staghorn_context** context, const staghorn_geometry* geometry,
                         const staghorn_options* options) {
  check_pointer("context", context);
  *context = nullptr;
  Arguments asked;
  asked.geometry = read_struct(geometry, "geometry");
  if (options)
    asked.options = read_struct(options, "options");
  else
    asked.options = defaults_of<staghorn_options>(STAGHORN_OPTIONS);
  check(asked.geometry);
  check(asked.options);
  asked.texts = texts_of(asked.options.words);
  return asked;
}

Extents extents_of(const std::int32_t* four) { return {four[0], four[1], four[2], four[3]}; }

SessionOptions session_options(const Arguments& asked) {
  SolveOptions all;
  SessionOptions& options = all.session;
  if (asked.geometry.grid[0] != 0) options.grid = extents_of(asked.geometry.grid);
  options.mapping = Mapping::natural;
  const int device = asked.options.device;
  options.device = device == STAGHORN_DEVICE_AUTO  ? "auto"
                   : device == STAGHORN_DEVICE_CPU ? "cpu"
                                                   : "cuda:" + std::to_string(device);
  if (asked.options.devices) options.device = asked.options.devices;
  // The numbers of enums here and there are the same.
  if (asked.options.certificate != STAGHORN_CERTIFICATE_WITH_SOLVE)
    options.certificate = CertificatePlace(asked.options.certificate);
  options.eigenvectors_on = EigenvectorPlace(asked.options.eigenvectors_on);
  if (asked.options.transport) options.transport = asked.options.transport;
  set_texts(all, asked.texts, OptionsOf::context);
  return options;
}

// The place of this process in the grid, x fastest.
int position_in_grid(const staghorn_geometry& geometry, int rank) {
  if (geometry.coord[0] == -1) return rank;
  int position = 0;
  for (int mu = 3; mu >= 0; --mu) position = position * geometry.grid[mu] + geometry.coord[mu];
  return position;
}

// The ranks of `all` in the order of the grid. Throws Error on all of them where two claim one place. Collective.
Communicator in_order_of_grid(const Communicator& all, const staghorn_geometry& geometry) {
  const Extents grid = extents_of(geometry.grid);
  if (volume(grid) != all.size())
    throw Error(ErrorKind::layout, "geometry.grid " + to_string(grid), std::to_string(all.size()) + " processes",
                std::to_string(volume(grid)));
  const int position = position_in_grid(geometry, all.rank());
  Communicator ordered = all.split(0, position);
  all.agree([&] {
    if (ordered.rank() != position)
      throw Error(ErrorKind::layout, "geometry.coord", "a place of its own for every rank",
                  "two ranks with the coordinates " + to_string(extents_of(geometry.coord)));
  });
  return ordered;
}

// What ranks must ask alike of a context. Devices, threads and the place in the grid are a matter of each rank.
void add(Asked& asked, const Arguments& arguments) {
  asked.add("geometry.global", std::span<const std::int32_t>(arguments.geometry.global));
  asked.add("geometry.grid", std::span<const std::int32_t>(arguments.geometry.grid));
  asked.add("geometry.coord", arguments.geometry.coord[0] == -1 ? "by rank" : "given");
  asked.add("options.certificate", arguments.options.certificate);
  asked.add("options.transport", arguments.options.transport ? arguments.options.transport : "auto");
  std::map<std::string, std::string> texts = arguments.texts;
  texts.erase("device");  // a matter of each rank
  asked.add("options.words", in_one_line(texts).c_str());
}

// A grid of zeros becomes the one of least surface, unless words say how the lattice is cut. Collective.
void complete_grid(const Communicator& all, Arguments& asked) {
  if (asked.geometry.grid[0] != 0) return;
  for (const char* cut : {"grid", "shares", "mapping", "loopback"})
    if (asked.texts.count(cut)) return;
  all.agree([&] {
    const Extents chosen = choose_process_grid(extents_of(asked.geometry.global), all.size());
    std::copy(chosen.begin(), chosen.end(), asked.geometry.grid);
  });
}

std::shared_ptr<HeldContext> made_context(const Communicator& all, Arguments asked, bool main_thread_only,
                                          std::shared_ptr<Surroundings> surroundings) {
  complete_grid(all, asked);
  auto held = std::make_shared<HeldContext>();
  held->options = asked.options;
  held->options.transport = held->options.tuning_file = held->options.devices = nullptr;  // strings of the host
  held->options.words = nullptr;
  held->texts = asked.texts;
  held->main_thread_only = main_thread_only;
  const Communicator ordered =
      asked.geometry.grid[0] != 0 ? in_order_of_grid(all, asked.geometry) : all.split(0, all.rank());
  SessionOptions options;
  all.agree([&] { options = session_options(asked); });
  if (!asked.options.environment && !options.tuning) options.tuning = Tuning::on;
  held->context = std::make_unique<Context>(ordered, extents_of(asked.geometry.global), options, options.mapping,
                                            surroundings, asked.options.threads);
  all.agree([&] {
    if (held->context->field_device() < 0 && options.certificate == CertificatePlace::device)
      throw Error(ErrorKind::argument, "options.certificate", "AUTO or HOST where a rank computes on the CPU",
                  "DEVICE");
    if (held->context->field_device() < 0 && asked.options.stream)
      throw Error(ErrorKind::argument, "options.stream", "NULL where a rank computes on the CPU", "a stream");
  });
  return held;
}

// Those of a context whose place in the grid is that of `rank`. Of arguments that are wrong: those of nothing.
std::shared_ptr<Surroundings> surroundings_of(const Arguments& asked, int rank) {
  const char* launch_file = asked.options.tuning_file;
  return std::make_shared<Surroundings>(asked.options.environment != 0, position_in_grid(asked.geometry, rank),
                                        launch_file ? launch_file : "");
}

void require_running_mpi() {
  if (!built_with_mpi)
    throw Error(ErrorKind::mpi, "communicator", "a Staghorn that was built with MPI", "one without, for one process");
  if (mpi_is_of_the_parent())
    throw Error(
        ErrorKind::mpi, "MPI", "to be initialised in this process",
        "that of the parent, which a child that was forked cannot use. Start children by spawn or exec, or fork "
        "before MPI is initialised");
  int started = 0, finished = 0;
  MPI_Initialized(&started);
  if (started) MPI_Finalized(&finished);
  if (!started || finished)
    throw Error(ErrorKind::mpi, "MPI", "to be initialised by the host", started ? "finalised" : "not initialised");
}

int create_with_mpi(staghorn_context** context, MPI_Comm parent, const staghorn_geometry* geometry,
                    const staghorn_options* options) {
  if (parent == MPI_COMM_NULL) throw Error(ErrorKind::argument, "communicator", "a group of ranks", "MPI_COMM_NULL");
  int between_groups = 0;
  MPI_Comm_test_inter(parent, &between_groups);
  if (between_groups)
    throw Error(ErrorKind::argument, "communicator", "one group of ranks, such as MPI_Intercomm_merge makes",
                "an intercommunicator, which has two");
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  int rank = 0;
  MPI_Comm_rank(parent, &rank);
  Arguments asked;
  std::shared_ptr<Surroundings> surroundings;
  std::exception_ptr refused;  // on this rank; all of them have to hear of it
  try {
    asked = read_arguments(context, geometry, options);
    surroundings = surroundings_of(asked, rank);
    int world = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    if (world == 1) require_one_process();
  } catch (...) {
    refused = std::current_exception();
  }
  std::optional<Surroundings::Scope> scope;
  if (surroundings) scope.emplace(*surroundings);
  const Communicator all = Communicator::with_alarm(parent);
  std::shared_ptr<HeldContext> held;
  staghorn_context* handle = nullptr;
  const auto make = [&] {
    agree_alike(all, "staghorn_context_create_mpi", [&](Asked& alike) {
      if (refused) std::rethrow_exception(refused);
      add(alike, asked);
    });
    held = made_context(all, asked, level == MPI_THREAD_SINGLE || level == MPI_THREAD_FUNNELED, surroundings);
    all.agree([&] { handle = make_handle(held); });
    return int(STAGHORN_OK);
  };
  try {
    const int status = all.alarm() ? all.alarm()->guard(std::cref(make), [] {}) : make();
    *context = handle;
    return status;
  } catch (...) {
    if (handle) drop_handle(handle);
    throw;
  }
}

}  // namespace

}  // namespace staghorn

using namespace staghorn;

int staghorn_context_create(staghorn_context** context, const staghorn_geometry* geometry,
                            const staghorn_options* options) {
  return guarded([&] {
    const Arguments asked = read_arguments(context, geometry, options);
    const auto surroundings = surroundings_of(asked, 0);
    const Surroundings::Scope scope(*surroundings);
    *context = make_handle(made_context(Communicator(), asked, false, surroundings));
  });
}

int staghorn_context_create_mpi(staghorn_context** context, MPI_Comm communicator, const staghorn_geometry* geometry,
                                const staghorn_options* options) {
  return guarded([&] {
    require_running_mpi();
    return create_with_mpi(context, communicator, geometry, options);
  });
}

int staghorn_context_create_f(staghorn_context** context, std::int32_t fortran_communicator,
                              const staghorn_geometry* geometry, const staghorn_options* options) {
  return guarded([&] {
    require_running_mpi();
    return create_with_mpi(context, MPI_Comm_f2c(MPI_Fint(fortran_communicator)), geometry, options);
  });
}

int staghorn_context_local(const staghorn_context* context, std::int32_t extents[4], std::int32_t origin[4]) {
  return guarded([&] {
    const auto held = held_by(context);
    check_pointer("extents", extents);
    check_pointer("origin", origin);
    CallMemory memory;
    memory.writes("extents", extents, 4);
    memory.writes("origin", origin, 4);
    memory.require_own();
    const Lattice& lattice = held->context->lattice();
    for (std::size_t mu = 0; mu < 4; ++mu) {
      extents[mu] = lattice.local()[mu];
      origin[mu] = lattice.origin()[mu];
    }
  });
}

int staghorn_context_grid(const staghorn_context* context, std::int32_t grid[4]) {
  return guarded([&] {
    const auto held = held_by(context);
    check_pointer("grid", grid);
    std::copy_n(held->context->lattice().grid().begin(), 4, grid);
  });
}

int staghorn_context_device(const staghorn_context* context, std::int32_t* device) {
  return guarded([&] {
    const auto held = held_by(context);
    check_pointer("device", device);
    const int number = held->context->cuda_device();
    *device = number < 0 ? std::int32_t(STAGHORN_DEVICE_CPU) : number;
  });
}

int staghorn_context_destroy(staghorn_context** context) {
  return guarded([&] {
    check_pointer("context", context);
    if (!*context) return;
    const auto held = held_by(*context);
    const Claim claim(*held);
    std::optional<Context::Scope> scope;
    try {
      scope.emplace(*held->context);
    } catch (const Error&) {  // other ranks destroy it, too: a GPU that cannot be selected does not stop this one
    }
    for (staghorn_gauge* gauge : held->gauges) {
      held_by(gauge)->gauge.reset();
      drop_handle(gauge);
    }
    held->gauges.clear();
    drop_handle(*context);
    *context = nullptr;
  });
}

int staghorn_refuse(staghorn_context* context, int status, const char* text) {
  return collectively(context, [&](HeldContext& held) {
    agree_alike(held.context->communicator(), "staghorn_refuse", [&](Asked&) {
      check_choice("status", status, STAGHORN_E_FILE, STAGHORN_E_ARGUMENT);
      check_pointer("text", text);
      throw LocalError(kind_of(status), text);
    });
  });
}

int staghorn_report(const staghorn_context* context, char* json, std::size_t* bytes) {
  return guarded([&] {
    const auto held = held_by(context);
    check_pointer("bytes", bytes);
    if (!held->report) throw Error(ErrorKind::state, "report", "a solve before", "none in this context");
    give_text(held->report(), json, bytes);
  });
}
