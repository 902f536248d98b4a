// staghorn_eigenpairs_...: the lowest eigenpairs of a gauge's links, found or read, kept for its solves, written.
#include <staghorn.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "lattice_io/eigenvectors/eigenvector_file.hpp"
#include "lattice_io/files/output_file.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/solves/host_calls.hpp"
#include "solver/interface/solves/host_room.hpp"
#include "solver/interface/struct_layouts.hpp"
#include "solver/interface/structs.hpp"
#include "solver/session/low_modes/find_eigenpairs.hpp"
#include "solver/session/low_modes/kept_pairs.hpp"

namespace staghorn {

namespace {

int status_of_search(EigenOutcome outcome, bool stopped) {
  if (stopped) return STAGHORN_STOPPED;
  switch (outcome) {
    case EigenOutcome::certified:
      return STAGHORN_OK;
    case EigenOutcome::inaccurate:
      return STAGHORN_STAGNATED;
    case EigenOutcome::incomplete:
    case EigenOutcome::out_of_calls:
      break;
  }
  return STAGHORN_NOT_CONVERGED;
}

// What a gauge says of the pairs that it keeps. Local.
staghorn_eigen_info info_of(const Gauge& gauge) {
  staghorn_eigen_info info{};
  info.used = gauge.eigenpairs().are_used();
  const DeflationSummary* const kept = gauge.eigenpairs().summary();
  if (!kept) return info;
  info.pairs = std::int32_t(kept->pairs);
  info.precision = std::int32_t(kept->precision);
  info.smallest = kept->smallest;
  info.largest = kept->largest;
  info.residual = kept->largest_residual;
  info.orthogonality = kept->orthogonality;
  info.seconds = kept->read_seconds;
  return info;
}

void put(staghorn_eigen_info* to, const staghorn_eigen_info& info) {
  if (to) write_struct(to, to->struct_size, info);
}

EigenRequest request_of(Asked& asked, const staghorn_eigen_request& given) {
  asked.add("request.pairs", given.pairs);
  asked.add("request.tolerance", given.tolerance);
  asked.add("request.max_calls", given.max_calls);
  asked.add("request.seed", given.seed);
  asked.add("request.checkpoint", given.checkpoint);
  asked.add("request.checkpoint_every", given.checkpoint_every);
  asked.add("request.resume", given.resume);
  check_choice("request.resume", given.resume, 0, 1);
  check_finite("request.tolerance", given.tolerance);
  check_finite("request.checkpoint_every", given.checkpoint_every);
  EigenRequest request;
  request.pairs = given.pairs;
  request.tolerance = given.tolerance;
  request.max_calls = long(given.max_calls);
  request.seed = given.seed;
  if (given.checkpoint) request.checkpoint = given.checkpoint;
  request.checkpoint_every = given.checkpoint_every;
  request.resume = given.resume != 0;
  return request;
}

EigenpairOutput output_of(Asked& asked, const char* path, int storage, int replace) {
  asked.add("path", path);
  asked.add("storage", storage);
  asked.add("replace", replace);
  check_choice("storage", storage, STAGHORN_FP64, STAGHORN_FP16);
  check_choice("replace", replace, 0, 1);
  return {path, eigenvector_format_by_name(path), Precision(storage), replace != 0};
}

// With the numbers of the gauge: the last solve may have left others behind. Collective.
FoundEigenpairs search(HeldGauge& held, const EigenRequest& request, ProgressCall& progress) {
  held.gauge->set_numbers(held.asked, {});
  const auto show = progress.show();
  return find_eigenpairs(
      *held.gauge, request,
      [&](const EigenProgress& at) {
        if (show) show({at.calls, double(request.pairs - at.converged)});
      },
      progress.stopped());
}

int compute(HeldGauge& held, const staghorn_eigen_request* given, double* values, staghorn_eigen_info* info) {
  const Communicator& all = held.ranks();
  EigenRequest request;
  staghorn_eigen_request read{};
  agree_on(held, "staghorn_eigenpairs_compute", [&](Asked& asked) {
    read = read_struct(given, "request");
    request = request_of(asked, read);
    if (info) check_written(info, "info");
    CallMemory memory;
    memory.reads("request", FieldBytes::of_array(given, given->struct_size));
    if (read.pairs > 0) memory.writes("values", values, read.pairs);
    if (info) memory.writes("info", FieldBytes::of_array(info, info->struct_size));
    memory.require_own();
  });
  const Stopwatch whole;
  held.gauge->eigenpairs().forget();
  ProgressCall progress(all, read.progress, read.progress_data);
  FoundEigenpairs found = search(held, request, progress);
  const EigenReport report = found.report;
  if (values) std::copy(report.values.begin(), report.values.end(), values);
  staghorn_eigen_info made{};
  if (report.outcome == EigenOutcome::certified) {
    keep_eigenpairs(*held.gauge, std::move(found.pairs), report);
    made = info_of(*held.gauge);
  }
  made.status = status_of_search(report.outcome, *progress.stopped());
  made.found = std::int32_t(report.values.size());
  made.largest_of_all = report.largest_eigenvalue;
  made.calls = report.calls;
  made.residual = report.certified_residual;
  made.orthogonality = report.orthogonality;
  made.seconds = all.max(whole.seconds());
  put(info, made);
  return made.status;
}

// A search whose pairs go to the host and not to solves.
struct FindCall {
  const staghorn_eigen_request* given;
  const char* path;
  int storage, replace;
  const staghorn_vectors* vectors;
  staghorn_room room;
  void* room_data;
};

int find(HeldGauge& held, const FindCall& call) {
  const Communicator& all = held.ranks();
  EigenRequest request;
  staghorn_eigen_request read{};
  std::optional<EigenpairOutput> output;
  VectorsArgument vectors;
  agree_on(held, "staghorn_eigenpairs_find", [&](Asked& asked) {
    read = read_struct(call.given, "request");
    request = request_of(asked, read);
    asked.add("file", call.path ? "given" : nullptr);
    asked.add("room", call.room ? "given" : nullptr);
    if (call.path) {
      output = output_of(asked, call.path, call.storage, call.replace);
      require_writable(*output, held.lattice());
    }
    if (!call.room) return;
    vectors = VectorsArgument(call.vectors, "vectors", held.context->context->field_device(), &held.signs);
    check_room(vectors.given);
    if (vectors.host.half) throw Error(ErrorKind::unsupported, "vectors.half", "0", vectors.given.half);
  });
  ClaimedNames names(all);
  if (output) names.claim(output->path, output->force);
  ProgressCall progress(all, read.progress, read.progress_data);
  FoundEigenpairs found = search(held, request, progress);
  if (output) write_eigenpairs(*held.gauge, found, *output);
  if (call.room) {
    HostRoom room(held, vectors, std::nullopt, found.pairs.count(), call.room, call.room_data);
    VectorField plain(held.lattice());
    std::size_t i = 0;
    for (const ColorVectorField& block : found.pairs.blocks)
      for (int rhs = 0; rhs < block.n_rhs(); ++rhs) {
        block.unpack_exactly(found.pairs.parity, rhs, plain);
        room.write(i++, plain);
      }
  }
  const int status = status_of_search(found.report.outcome, *progress.stopped());
  held.context->report = [report = std::move(found.report)] { return to_json(report); };
  return status;
}

void read_file(HeldGauge& held, const char* path, staghorn_eigen_info* info) {
  agree_on(held, "staghorn_eigenpairs_read", [&](Asked& asked) {
    check_pointer("path", path);
    if (info) check_written(info, "info");
    asked.add("path", path);
  });
  held.gauge->eigenpairs().forget();
  load_eigenpairs(*held.gauge, read_eigenvector_header(held.ranks(), path));
  put(info, info_of(*held.gauge));
}

void write_file(HeldGauge& held, const char* path, int storage, int replace) {
  EigenpairOutput output;
  agree_on(held, "staghorn_eigenpairs_write", [&](Asked& asked) {
    check_pointer("path", path);
    output = output_of(asked, path, storage, replace);
    if (!held.gauge->eigenpairs().summary())
      throw Error(ErrorKind::state, "gauge", "eigenpairs, computed or read before", "none");
  });
  write_eigenpairs(*held.gauge, held.gauge->eigenpairs().pairs(), output);
}

// The pairs that are kept: what is known, and the first n values and residuals.
void get(HeldGauge& held, staghorn_eigen_info* info, int n, double* values, double* residuals) {
  check_written(info, "info");
  CallMemory memory;
  memory.writes("info", FieldBytes::of_array(info, info->struct_size));
  if (n > 0) memory.writes("values", values, n);
  if (n > 0) memory.writes("residuals", residuals, n);
  memory.require_own();
  put(info, info_of(*held.gauge));
  if (!held.gauge->eigenpairs().summary()) return;
  const Eigenpairs& pairs = held.gauge->eigenpairs().pairs();
  check_choice("n", n, 0, long(pairs.count()));
  if (values) std::copy_n(pairs.values.begin(), n, values);
  if (residuals) std::copy_n(pairs.residuals.begin(), n, residuals);
}

// Vectors of those that are kept, into the host's memory.
void give_vectors(HeldGauge& held, const staghorn_vectors* vectors, int first, int n, void* const* v) {
  VectorsArgument argument;
  agree_on(held, "staghorn_eigenpairs_vectors", [&](Asked& asked) {
    argument = VectorsArgument(vectors, "vectors", held.context->context->field_device(), &held.signs);
    asked.add("vectors.phases", argument.given.phases);
    asked.add("first", first);
    asked.add("n", n);
    check_half(argument.given, Parity::even);
    if (argument.given.memory == STAGHORN_DEVICE)
      throw Error(ErrorKind::unsupported, "vectors.memory", "memory of the host", "STAGHORN_DEVICE");
    const DeflationSummary* const kept = held.gauge->eigenpairs().summary();
    if (!kept) throw Error(ErrorKind::state, "gauge", "eigenpairs, computed or read before", "none");
    check_choice("first", first, 0, long(kept->pairs) - 1);
    check_choice("n", n, 1, long(kept->pairs) - first);
    check_pointer("v", v);
    CallMemory all;
    for (int i = 0; i < n; ++i) {
      check_pointer("v[i]", v[i]);
      const std::optional<Parity> sites = argument.host.half ? std::optional(Parity::even) : std::nullopt;
      all.writes("v", bytes_of(argument.host, held.lattice().local(), sites, v[i]), i);
    }
    all.require_own();
  });
  const Eigenpairs& pairs = held.gauge->eigenpairs().pairs();
  VectorField plain(held.lattice());
  held.ranks().agree([&] {
    for (int i = 0; i < n; ++i) {
      const int number = first + i;
      pairs.blocks[std::size_t(number / Eigenpairs::vectors_per_block)].unpack_exactly(
          pairs.parity, number % Eigenpairs::vectors_per_block, plain);
      if (!argument.host.half) write_vector(argument.host, argument.signs, Parity::odd, plain, v[i]);  // zeros
      write_vector(argument.host, argument.signs, Parity::even, plain, v[i]);
    }
  });
}

}  // namespace

}  // namespace staghorn

using namespace staghorn;

int staghorn_eigenpairs_compute(staghorn_gauge* gauge, const staghorn_eigen_request* request, double* values,
                                staghorn_eigen_info* info) {
  return collectively(gauge, [&](HeldGauge& held) { return compute(held, request, values, info); });
}

int staghorn_eigenpairs_find(staghorn_gauge* gauge, const staghorn_eigen_request* request, const char* path,
                             int storage, int replace, const staghorn_vectors* vectors, staghorn_room room,
                             void* room_data) {
  const FindCall call{request, path, storage, replace, vectors, room, room_data};
  return collectively(gauge, [&](HeldGauge& held) { return find(held, call); });
}

int staghorn_eigenpairs_read(staghorn_gauge* gauge, const char* path, staghorn_eigen_info* info) {
  return collectively(gauge, [&](HeldGauge& held) { read_file(held, path, info); });
}

int staghorn_eigenpairs_write(staghorn_gauge* gauge, const char* path, int storage, int replace) {
  return collectively(gauge, [&](HeldGauge& held) { write_file(held, path, storage, replace); });
}

int staghorn_eigenpairs_use(staghorn_gauge* gauge, int use) {
  return guarded([&] {
    check_choice("use", use, 0, 1);
    return locally(gauge, [&](HeldGauge& held) { held.gauge->eigenpairs().use(use != 0); });
  });
}

int staghorn_eigenpairs_get(staghorn_gauge* gauge, staghorn_eigen_info* info, int n, double* values,
                            double* residuals) {
  return locally(gauge, [&](HeldGauge& held) { get(held, info, n, values, residuals); });
}

int staghorn_eigenpairs_vectors(staghorn_gauge* gauge, const staghorn_vectors* vectors, int first, int n,
                                void* const* v) {
  return collectively(gauge, [&](HeldGauge& held) { give_vectors(held, vectors, first, n, v); });
}

int staghorn_eigenpairs_release(staghorn_gauge* gauge) {
  return locally(gauge, [&](HeldGauge& held) { held.gauge->eigenpairs().forget(); });
}
