// The compiled part of Context and Gauge: staghorn._interface, the functions and structs of staghorn.h for Python.
//
// It includes no other header of Staghorn, so it can be compiled against an installed libstaghorn.so. Fields are
// addresses: staghorn/fields.py checks shapes, orders and memory. Functions release the interpreter while they run.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>
#include <staghorn.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/interface_structs.hpp"
#include "python/text_caster.hpp"

namespace nb = nanobind;
using namespace staghorn::python;

namespace {

using Addresses = std::vector<std::uintptr_t>;  // of fields

template <class Pointer>
std::vector<Pointer> pointers(const Addresses& addresses) {
  std::vector<Pointer> made;
  for (const std::uintptr_t address : addresses) made.push_back(reinterpret_cast<Pointer>(address));
  return made;
}

// One pointer for all directions, or one for each.
std::array<void*, 4> link_pointers(const Addresses& addresses) {
  std::array<void*, 4> made{};
  for (std::size_t mu = 0; mu < addresses.size() && mu < 4; ++mu) made[mu] = reinterpret_cast<void*>(addresses[mu]);
  return made;
}

struct Context {
  staghorn_context* handle = nullptr;
  nb::object log;  // called with each message
  long calls = 0;  // of collective functions, which began; staghorn/together.py asks
  ~Context() {
    const nb::gil_scoped_release others_may_run;
    destroy();
  }
  int destroy() { return staghorn_context_destroy(&handle); }
};

struct Gauge {
  std::shared_ptr<Context> context;
  staghorn_gauge* handle = nullptr;
  ~Gauge() {
    const nb::gil_scoped_release others_may_run;
    destroy();
  }
  int destroy() { return context->handle ? staghorn_gauge_destroy(&handle) : int(STAGHORN_OK); }
};

// A collective call of a context, checked.
template <class... Calls>
int collective(Context& context, const Calls&... calls) {
  ++context.calls;
  return checked(calls...);
}

void log_message(void* data, int level, const char* text) {
  const nb::gil_scoped_acquire interpreter;
  try {
    (*static_cast<nb::object*>(data))(level, std::string(text));
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("the log function of a Context");
  }
}

std::shared_ptr<Context> create_context(const Four& lattice, const std::optional<Four>& grid,
                                        const std::optional<Four>& coord, const Words& words, int threads,
                                        bool environment, std::uintptr_t stream,
                                        const std::optional<std::string>& tuning_file, nb::object log,
                                        std::optional<std::int32_t> communicator, const nb::object& ready) {
  ready();  // all arguments are what they should be
  auto geometry = defaults<staghorn_geometry, STAGHORN_GEOMETRY>();
  const Four chosen{};  // the library chooses
  std::copy(lattice.begin(), lattice.end(), geometry.global);
  std::copy_n(grid.value_or(chosen).begin(), 4, geometry.grid);
  if (coord) std::copy(coord->begin(), coord->end(), geometry.coord);
  auto context = std::make_shared<Context>();
  context->log = std::move(log);
  auto options = defaults<staghorn_options, STAGHORN_OPTIONS>();
  options.device = STAGHORN_DEVICE_AUTO;
  options.words = words.handle;
  options.threads = threads;
  options.environment = environment;
  options.stream = reinterpret_cast<void*>(stream);
  options.tuning_file = tuning_file ? tuning_file->c_str() : nullptr;
  if (!context->log.is_none()) {
    options.log = log_message;
    options.log_data = &context->log;
  }
  checked([&] {
    return communicator ? staghorn_context_create_f(&context->handle, *communicator, &geometry, &options)
                        : staghorn_context_create(&context->handle, &geometry, &options);
  });
  return context;
}

std::pair<Four, Four> local_lattice(const Context& context) {
  Four extents{}, origin{};
  checked([&] { return staghorn_context_local(context.handle, extents.data(), origin.data()); });
  return {extents, origin};
}

Four process_grid(const Context& context) {
  Four grid{};
  checked([&] { return staghorn_context_grid(context.handle, grid.data()); });
  return grid;
}

int device(const Context& context) {
  std::int32_t number = 0;
  checked([&] { return staghorn_context_device(context.handle, &number); });
  return number;
}

// The text that `call` of the library writes about this handle.
template <class Handle, class Call>
std::string text_of(Handle* handle, const Call& call) {
  std::size_t bytes = 0;
  checked([&] { return call(handle, nullptr, &bytes); });
  std::string json(bytes, '\0');
  checked([&] { return call(handle, json.data(), &bytes); });
  json.resize(bytes - 1);  // without the final 0
  return json;
}

std::string report(const Context& context) { return text_of(context.handle, staghorn_report); }

std::string gauge_report(const Gauge& gauge) {
  ++gauge.context->calls;
  return text_of(gauge.handle, staghorn_gauge_report);
}

std::shared_ptr<Gauge> gauge_in(std::shared_ptr<Context> context) {
  auto gauge = std::make_shared<Gauge>();
  gauge->context = std::move(context);
  return gauge;
}

// Links of a host: thin ones, of which words may make fat and Naik ones, or fat and Naik ones.
std::shared_ptr<Gauge> create_gauge(std::shared_ptr<Context> context, staghorn_links links, const Addresses& u,
                                    const std::optional<staghorn_links>& naik_links, const Addresses& naik,
                                    const Words& words) {
  const auto gauge = gauge_in(std::move(context));
  const auto buffers = link_pointers(u), naik_buffers = link_pointers(naik);
  staghorn_context* in = gauge->context->handle;
  links.words = words.handle;
  collective(*gauge->context, [&] {
    return naik_links ? staghorn_gauge_create_improved(in, &links, buffers.data(), &*naik_links, naik_buffers.data(),
                                                       &gauge->handle)
                      : staghorn_gauge_create(in, &links, buffers.data(), &gauge->handle);
  });
  return gauge;
}

std::shared_ptr<Gauge> read_gauge(std::shared_ptr<Context> context, const std::optional<std::string>& path,
                                  const Words& words) {
  const auto gauge = gauge_in(std::move(context));
  collective(*gauge->context, [&] {
    return staghorn_gauge_read(gauge->context->handle, path ? path->c_str() : nullptr, words.handle, &gauge->handle);
  });
  return gauge;
}

void gauge_links(const Gauge& gauge, const staghorn_links& links, const Addresses& u) {
  const auto buffers = link_pointers(u);
  collective(*gauge.context, [&] { return staghorn_gauge_links(gauge.handle, &links, buffers.data()); });
}

void update(const Gauge& gauge, const staghorn_links& links, const Addresses& u,
            const std::optional<staghorn_links>& naik_links, const Addresses& naik) {
  const auto buffers = link_pointers(u), naik_buffers = link_pointers(naik);
  collective(*gauge.context, [&] {
    return naik_links
               ? staghorn_gauge_update_improved(gauge.handle, &links, buffers.data(), &*naik_links, naik_buffers.data())
               : staghorn_gauge_update(gauge.handle, &links, buffers.data());
  });
}

// A progress function of Python while a solve runs: stops it for a signal (Ctrl-C), an error or a true result.
struct Listener {
  nb::object function;  // or None
  std::optional<nb::python_error> error;

  static int call(void* data, std::int64_t iteration, double residual_over_tolerance) {
    auto& self = *static_cast<Listener*>(data);
    const nb::gil_scoped_acquire interpreter;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (self.function.is_none()) return 0;
      return nb::bool_(self.function(iteration, residual_over_tolerance)) ? 1 : 0;
    } catch (nb::python_error& error) {
      self.error.emplace(std::move(error));
      return 1;
    }
  }
};

// A function of Python that makes an array for so many vectors, and says where it lies.
struct Room {
  nb::object function;
  std::optional<nb::python_error> error;

  static void* call(void* data, std::int64_t n) {
    auto& self = *static_cast<Room*>(data);
    const nb::gil_scoped_acquire interpreter;
    try {
      return reinterpret_cast<void*>(nb::cast<std::uintptr_t>(self.function(n)));
    } catch (nb::python_error& error) {
      self.error.emplace(std::move(error));
      return nullptr;
    }
  }
};

// A collective call of a gauge with functions of Python, of which it raises what they raised.
template <class Call>
int listened(const Gauge& gauge, const Listener& listener, const Room& room, const Call& call) {
  return collective(*gauge.context, call, [&] {
    if (room.error) throw *room.error;
    if (listener.error) throw *listener.error;
  });
}

template <class Request>
Request told(Request request, Listener& listener) {
  request.progress = Listener::call;
  request.progress_data = &listener;
  return request;
}

auto solve(const Gauge& gauge, const staghorn_request& asked, const staghorn_vectors& vectors, const Addresses& b,
           const Addresses& x, const Addresses& dx, nb::object progress) {
  const auto sources = pointers<const void*>(b);
  const auto solutions = pointers<void*>(x), hops = pointers<void*>(dx);
  Listener listener{std::move(progress), {}};
  const staghorn_request request = told(asked, listener);
  std::vector<staghorn_result> results(b.size(), defaults<staghorn_result, STAGHORN_RESULT>());
  const int status = listened(gauge, listener, {}, [&] {
    return staghorn_solve(gauge.handle, &request, &vectors, int(sources.size()), sources.data(), solutions.data(),
                          hops.empty() ? nullptr : hops.data(), results.data());
  });
  return std::pair{status, std::move(results)};
}

auto multishift(const Gauge& gauge, const staghorn_request& asked, const staghorn_vectors& vectors,
                const std::vector<double>& shifts, const std::vector<double>& tolerances, std::uintptr_t b,
                const Addresses& x, nb::object progress) {
  const auto solutions = pointers<void*>(x);
  Listener listener{std::move(progress), {}};
  const staghorn_request request = told(asked, listener);
  std::vector<staghorn_result> results(shifts.size(), defaults<staghorn_result, STAGHORN_RESULT>());
  const int status = listened(gauge, listener, {}, [&] {
    return staghorn_multishift(gauge.handle, &request, &vectors, int(shifts.size()), shifts.data(),
                               tolerances.empty() ? nullptr : tolerances.data(), nullptr,
                               reinterpret_cast<const void*>(b), solutions.data(), nullptr, results.data());
  });
  return std::pair{status, std::move(results)};
}

int solve_sources(const Gauge& gauge, const staghorn_request& asked, const staghorn_vectors& vectors,
                  const Addresses& b, nb::object room, nb::object progress) {
  const auto sources = pointers<const void*>(b);
  Listener listener{std::move(progress), {}};
  Room memory{std::move(room), {}};
  const staghorn_request request = told(asked, listener);
  return listened(gauge, listener, memory, [&] {
    return staghorn_solve_sources(gauge.handle, &request, &vectors, int(sources.size()), sources.data(), Room::call,
                                  &memory);
  });
}

int find_eigenpairs(const Gauge& gauge, int pairs, double tolerance, std::int64_t max_calls, std::uint64_t seed,
                    const std::optional<std::string>& checkpoint, double checkpoint_every, bool resume,
                    const std::optional<std::string>& output, int storage, bool force, const staghorn_vectors& vectors,
                    nb::object room, nb::object progress) {
  Listener listener{std::move(progress), {}};
  Room memory{std::move(room), {}};
  auto request = told(defaults<staghorn_eigen_request, STAGHORN_EIGEN_REQUEST>(), listener);
  request.pairs = pairs;
  request.tolerance = tolerance;
  request.max_calls = max_calls;
  request.seed = seed;
  request.checkpoint = checkpoint ? checkpoint->c_str() : nullptr;
  request.checkpoint_every = checkpoint_every;
  request.resume = resume;
  const staghorn_room to = memory.function.is_none() ? nullptr : Room::call;
  return listened(gauge, listener, memory, [&] {
    return staghorn_eigenpairs_find(gauge.handle, &request, output ? output->c_str() : nullptr, storage, force,
                                    &vectors, to, &memory);
  });
}

void read_eigenpairs(const Gauge& gauge, const std::string& path) {
  collective(*gauge.context, [&] { return staghorn_eigenpairs_read(gauge.handle, path.c_str(), nullptr); });
}

void find_coarse(const Gauge& gauge, int vectors, const std::optional<std::array<std::int32_t, 4>>& block,
                 std::int64_t iterations, std::uint64_t seed, const std::optional<std::string>& output, int storage,
                 bool force) {
  collective(*gauge.context, [&] {
    return staghorn_coarse_find(gauge.handle, vectors, block ? block->data() : nullptr, iterations, seed,
                                output ? output->c_str() : nullptr, storage, force);
  });
}

void hop(const Gauge& gauge, const staghorn_vectors& vectors, int target, const Addresses& in, const Addresses& out) {
  const auto sources = pointers<const void*>(in);
  const auto results = pointers<void*>(out);
  collective(*gauge.context, [&] {
    return staghorn_hop(gauge.handle, &vectors, target, int(sources.size()), sources.data(), results.data());
  });
}

// Where an array of any library lies, through DLPack or the buffer protocol. It keeps the array alive.
struct Memory {
  nb::ndarray<nb::ro> array;

  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(array.data()); }
  nb::tuple shape() const {
    nb::list list;
    for (std::size_t i = 0; i < array.ndim(); ++i) list.append(array.shape(i));
    return nb::tuple(list);
  }
  nb::tuple strides() const {
    nb::list list;
    for (std::size_t i = 0; i < array.ndim(); ++i) list.append(array.stride(i));
    return nb::tuple(list);
  }
  std::string dtype() const {
    const auto type = array.dtype();
    const bool complex = type.code == std::uint8_t(nb::dlpack::dtype_code::Complex);
    return (complex ? "complex" : "other") + std::to_string(int(type.bits) * int(type.lanes));
  }
};

nb::dict info(const Gauge& gauge) {
  auto about = defaults<staghorn_gauge_info, STAGHORN_GAUGE_INFO>();
  collective(*gauge.context, [&] { return staghorn_gauge_get(gauge.handle, &about); });
  nb::dict dict;
  dict["plaquette"] = about.plaquette[0];
  dict["plaquette_space"] = about.plaquette[1];
  dict["plaquette_time"] = about.plaquette[2];
  dict["link_trace"] = nb::module_::import_("builtins").attr("complex")(about.link_trace[0], about.link_trace[1]);
  dict["unitarity"] = about.unitarity;
  dict["determinant"] = about.determinant;
  dict["hash"] = about.hash;
  dict["naive"] = about.naive != 0;
  dict["coefficient"] = about.coefficient;
  dict["long_unitarity"] = about.long_unitarity;
  dict["long_hash"] = about.long_hash;
  dict["loads"] = about.loads;
  return dict;
}

}  // namespace

NB_MODULE(_interface, m) {
  bind_choices(m);
  bind_structs(m);

  nb::class_<Memory>(m, "Memory")
      .def("__init__", [](Memory* self, nb::ndarray<nb::ro> array) { new (self) Memory{std::move(array)}; })
      .def_prop_ro("address", &Memory::address)
      .def_prop_ro("shape", &Memory::shape)
      .def_prop_ro("strides", &Memory::strides)
      .def_prop_ro("dtype", &Memory::dtype)
      .def_prop_ro("device_type", [](const Memory& self) { return self.array.device_type(); })
      .def_prop_ro("device_id", [](const Memory& self) { return self.array.device_id(); });

  nb::class_<Context>(m, "Context")
      .def_ro("calls", &Context::calls)
      .def("refuse",
           [](Context& self, int status, const std::string& text) {
             ++self.calls;
             const nb::gil_scoped_release others_may_run;
             staghorn_refuse(self.handle, status, text.c_str());  // the caller has an error already
           })
      .def("destroy", [](Context& self) { checked([&] { return self.destroy(); }); });
  nb::class_<Gauge>(m, "Gauge").def("destroy", [](Gauge& self) { checked([&] { return self.destroy(); }); });

  m.def("mpi_library", [] { return std::string(staghorn_mpi_library()); });
  m.def(
      "gauge_lattice",
      [](const std::optional<std::string>& path, const Words& words) {
        Four extents{};
        checked([&] { return staghorn_gauge_lattice(path ? path->c_str() : nullptr, words.handle, extents.data()); });
        return extents;
      },
      nb::arg("path").none(), nb::arg("words"));
  m.def("create_context", &create_context, nb::arg("lattice"), nb::arg("grid").none(), nb::arg("coord").none(),
        nb::arg("words"), nb::arg("threads"), nb::arg("environment"), nb::arg("stream"), nb::arg("tuning_file").none(),
        nb::arg("log").none(), nb::arg("communicator").none(), nb::arg("ready"));
  m.def("local_lattice", &local_lattice);
  m.def("process_grid", &process_grid);
  m.def("device", &device);
  m.def("report", &report);
  m.def("read_links",
        [](Context& context, const std::string& path, bool verify, const staghorn_links& links, const Addresses& u) {
          const auto buffers = link_pointers(u);
          collective(context, [&] {
            return staghorn_read_links(context.handle, path.c_str(), verify ? 1 : 0, &links, buffers.data());
          });
        });
  m.def("write_vectors", [](Context& context, const std::string& path, const std::string& name, bool force,
                            const staghorn_vectors& vectors, const Addresses& v) {
    const auto fields = pointers<const void*>(v);
    collective(context, [&] {
      return staghorn_write_vectors(context.handle, path.c_str(), name.c_str(), force ? 1 : 0, &vectors,
                                    int(fields.size()), fields.data());
    });
  });
  m.def("create_gauge", &create_gauge, nb::arg("context"), nb::arg("links"), nb::arg("u"), nb::arg("naik_links").none(),
        nb::arg("naik"), nb::arg("words"));
  m.def("read_gauge", &read_gauge, nb::arg("context"), nb::arg("path").none(), nb::arg("words"));
  m.def("update", &update, nb::arg("gauge"), nb::arg("links"), nb::arg("u"), nb::arg("naik_links").none(),
        nb::arg("naik"));
  m.def("info", &info);
  m.def("gauge_links", &gauge_links);
  m.def("gauge_report", &gauge_report);
  m.def("hop", &hop);
  m.def("read_eigenpairs", &read_eigenpairs);
  m.def("solve", &solve, nb::arg("gauge"), nb::arg("request"), nb::arg("vectors"), nb::arg("b"), nb::arg("x"),
        nb::arg("dx"), nb::arg("progress").none());
  m.def("multishift", &multishift, nb::arg("gauge"), nb::arg("request"), nb::arg("vectors"), nb::arg("shifts"),
        nb::arg("tolerances"), nb::arg("b"), nb::arg("x"), nb::arg("progress").none());
  m.def("solve_sources", &solve_sources, nb::arg("gauge"), nb::arg("request"), nb::arg("vectors"), nb::arg("b"),
        nb::arg("room"), nb::arg("progress").none());
  m.def("find_eigenpairs", &find_eigenpairs, nb::arg("gauge"), nb::arg("pairs"), nb::arg("tolerance"),
        nb::arg("max_calls"), nb::arg("seed"), nb::arg("checkpoint").none(), nb::arg("checkpoint_every"),
        nb::arg("resume"), nb::arg("output").none(), nb::arg("storage"), nb::arg("force"), nb::arg("vectors"),
        nb::arg("room").none(), nb::arg("progress").none());
  m.def("find_coarse", &find_coarse, nb::arg("gauge"), nb::arg("vectors"), nb::arg("block").none(),
        nb::arg("iterations"), nb::arg("seed"), nb::arg("output").none(), nb::arg("storage"), nb::arg("force"));
}
