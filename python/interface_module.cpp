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

void log_message(void* data, int level, const char* text) {
  const nb::gil_scoped_acquire interpreter;
  try {
    (*static_cast<nb::object*>(data))(level, std::string(text));
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("the log function of a Context");
  }
}

std::shared_ptr<Context> create_context(const staghorn_geometry& geometry, staghorn_options options,
                                        const std::optional<std::string>& transport,
                                        const std::optional<std::string>& tuning_file,
                                        const std::optional<std::string>& devices, nb::object log,
                                        std::optional<std::int32_t> communicator, const nb::object& ready) {
  ready();  // all arguments are what they should be
  auto context = std::make_shared<Context>();
  context->log = std::move(log);
  options.transport = transport ? transport->c_str() : nullptr;
  options.tuning_file = tuning_file ? tuning_file->c_str() : nullptr;
  options.devices = devices ? devices->c_str() : nullptr;
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

std::string report(const Context& context) {
  std::size_t bytes = 0;
  checked([&] { return staghorn_report(context.handle, nullptr, &bytes); });
  std::string json(bytes, '\0');
  checked([&] { return staghorn_report(context.handle, json.data(), &bytes); });
  json.resize(bytes - 1);  // without the final 0
  return json;
}

// Links of a host: thin ones, perhaps with an action that makes fat and long ones of them, or fat and long ones.
std::shared_ptr<Gauge> create_gauge(std::shared_ptr<Context> context, const staghorn_links& links, const Addresses& u,
                                    const std::optional<staghorn_links>& long_links, const Addresses& lng,
                                    const std::optional<staghorn_action>& action) {
  auto gauge = std::make_shared<Gauge>();
  gauge->context = std::move(context);
  ++gauge->context->calls;
  const auto buffers = link_pointers(u), long_buffers = link_pointers(lng);
  staghorn_context* in = gauge->context->handle;
  checked([&] {
    if (long_links)
      return staghorn_gauge_create_improved(in, &links, buffers.data(), &*long_links, long_buffers.data(),
                                            &gauge->handle);
    if (action) return staghorn_gauge_create_action(in, &links, buffers.data(), &*action, &gauge->handle);
    return staghorn_gauge_create(in, &links, buffers.data(), &gauge->handle);
  });
  return gauge;
}

void update(const Gauge& gauge, const staghorn_links& links, const Addresses& u,
            const std::optional<staghorn_links>& long_links, const Addresses& lng) {
  ++gauge.context->calls;
  const auto buffers = link_pointers(u), long_buffers = link_pointers(lng);
  checked([&] {
    return long_links
               ? staghorn_gauge_update_improved(gauge.handle, &links, buffers.data(), &*long_links, long_buffers.data())
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

// Solves by `call`, which is given the request with its progress function, and gives `n` results.
template <class Call>
std::pair<int, std::vector<staghorn_result>> solved(staghorn_request request, nb::object progress, std::size_t n,
                                                    const Call& call) {
  Listener listener{std::move(progress), {}};
  request.progress = Listener::call;
  request.progress_data = &listener;
  std::vector<staghorn_result> results(n, defaults<staghorn_result, STAGHORN_RESULT>());
  const int status = checked([&] { return call(request, results.data()); });
  if (listener.error) throw *listener.error;
  return {status, std::move(results)};
}

auto solve(const Gauge& gauge, const Request& request, const staghorn_vectors& vectors, const Addresses& b,
           const Addresses& x, const Addresses& dx, nb::object progress) {
  ++gauge.context->calls;
  const auto sources = pointers<const void*>(b);
  const auto solutions = pointers<void*>(x), hops = pointers<void*>(dx);
  return solved(request, std::move(progress), b.size(), [&](const staghorn_request& asked, staghorn_result* results) {
    return staghorn_solve(gauge.handle, &asked, &vectors, int(sources.size()), sources.data(), solutions.data(),
                          hops.empty() ? nullptr : hops.data(), results);
  });
}

auto multishift(const Gauge& gauge, const Request& request, const staghorn_vectors& vectors,
                const std::vector<double>& shifts, const std::vector<double>& tolerances,
                const std::vector<double>& alphas, std::uintptr_t b, const Addresses& x, const Addresses& dx,
                nb::object progress) {
  ++gauge.context->calls;
  const auto solutions = pointers<void*>(x), hops = pointers<void*>(dx);
  const auto or_null = [](const std::vector<double>& numbers) { return numbers.empty() ? nullptr : numbers.data(); };
  return solved(request, std::move(progress), shifts.size(),
                [&](const staghorn_request& asked, staghorn_result* results) {
                  return staghorn_multishift(gauge.handle, &asked, &vectors, int(shifts.size()), shifts.data(),
                                             or_null(tolerances), or_null(alphas), reinterpret_cast<const void*>(b),
                                             solutions.data(), hops.empty() ? nullptr : hops.data(), results);
                });
}

void hop(const Gauge& gauge, const staghorn_vectors& vectors, int target, const Addresses& in, const Addresses& out) {
  ++gauge.context->calls;
  const auto sources = pointers<const void*>(in);
  const auto results = pointers<void*>(out);
  checked([&] {
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
  ++gauge.context->calls;
  auto about = defaults<staghorn_gauge_info, STAGHORN_GAUGE_INFO>();
  checked([&] { return staghorn_gauge_get(gauge.handle, &about); });
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
  m.def("file_lattice", [](const std::string& path) {
    Four extents{};
    checked([&] { return staghorn_file_lattice(path.c_str(), extents.data()); });
    return extents;
  });
  m.def("create_context", &create_context, nb::arg("geometry"), nb::arg("options"), nb::arg("transport").none(),
        nb::arg("tuning_file").none(), nb::arg("devices").none(), nb::arg("log").none(), nb::arg("communicator").none(),
        nb::arg("ready"));
  m.def("local_lattice", &local_lattice);
  m.def("process_grid", &process_grid);
  m.def("device", &device);
  m.def("report", &report);
  m.def("read_links", [](Context& context, const std::string& path, bool verify, const staghorn_links& links,
                         const Addresses& u) {
    ++context.calls;
    const auto buffers = link_pointers(u);
    checked([&] { return staghorn_read_links(context.handle, path.c_str(), verify ? 1 : 0, &links, buffers.data()); });
  });
  m.def("create_gauge", &create_gauge, nb::arg("context"), nb::arg("links"), nb::arg("u"), nb::arg("long_links").none(),
        nb::arg("lng"), nb::arg("action").none());
  m.def("update", &update, nb::arg("gauge"), nb::arg("links"), nb::arg("u"), nb::arg("long_links").none(),
        nb::arg("lng"));
  m.def("info", &info);
  m.def("hop", &hop);
  m.def("solve", &solve, nb::arg("gauge"), nb::arg("request"), nb::arg("vectors"), nb::arg("b"), nb::arg("x"),
        nb::arg("dx"), nb::arg("progress").none());
  m.def("multishift", &multishift, nb::arg("gauge"), nb::arg("request"), nb::arg("vectors"), nb::arg("shifts"),
        nb::arg("tolerances"), nb::arg("alphas"), nb::arg("b"), nb::arg("x"), nb::arg("dx"),
        nb::arg("progress").none());
}
