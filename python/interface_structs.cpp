#include "python/interface_structs.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>

#include <initializer_list>
#include <optional>
#include <utility>

#include "python/text_caster.hpp"

namespace staghorn::python {

namespace nb = nanobind;

void raise_error(int status, const std::string& text) {
  const nb::object error = nb::module_::import_("staghorn.errors").attr("error_of_library")(status, text);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

void bind_structs(nb::module_& m) {
  nb::class_<staghorn_geometry>(m, "Geometry")
      .def("__init__",
           [](staghorn_geometry* self) {
             new (self) staghorn_geometry(defaults<staghorn_geometry, STAGHORN_GEOMETRY>());
           })
      .def("set", [](staghorn_geometry& self, const Four& global, const Four& grid, const std::optional<Four>& coord) {
        for (std::size_t mu = 0; mu < 4; ++mu) {
          self.global[mu] = global[mu];
          self.grid[mu] = grid[mu];
          if (coord) self.coord[mu] = (*coord)[mu];
        }
      });
  nb::class_<staghorn_options>(m, "Options")
      .def("__init__",
           [](staghorn_options* self) { new (self) staghorn_options(defaults<staghorn_options, STAGHORN_OPTIONS>()); })
      .def_rw("device", &staghorn_options::device)
      .def_rw("threads", &staghorn_options::threads)
      .def_rw("certificate", &staghorn_options::certificate)
      .def_rw("eigenvectors_on", &staghorn_options::eigenvectors_on)
      .def_rw("environment", &staghorn_options::environment)
      .def_prop_rw(
          "stream", [](const staghorn_options& self) { return reinterpret_cast<std::uintptr_t>(self.stream); },
          [](staghorn_options& self, std::uintptr_t stream) { self.stream = reinterpret_cast<void*>(stream); });
  nb::class_<staghorn_links>(m, "Links")
      .def("__init__",
           [](staghorn_links* self) { new (self) staghorn_links(defaults<staghorn_links, STAGHORN_LINKS>()); })
      .def_rw("order", &staghorn_links::order)
      .def_rw("precision", &staghorn_links::precision)
      .def_rw("memory", &staghorn_links::memory)
      .def_rw("phases", &staghorn_links::phases)
      .def_rw("boundary_in", &staghorn_links::boundary_in)
      .def_rw("dagger", &staghorn_links::dagger)
      .def_rw("reals", &staghorn_links::reals)
      .def_rw("coefficient", &staghorn_links::coefficient)
      .def_rw("generation", &staghorn_links::generation)
      .def("set_theta",
           [](staghorn_links& self, const std::array<double, 4>& theta) {
             for (std::size_t mu = 0; mu < 4; ++mu) self.theta[mu] = theta[mu];
           })
      .def("set_scale", [](staghorn_links& self, const std::array<double, 4>& scale) {
        for (std::size_t mu = 0; mu < 4; ++mu) self.scale[mu] = scale[mu];
      });
  nb::class_<staghorn_action>(m, "Action")
      .def("__init__",
           [](staghorn_action* self) { new (self) staghorn_action(defaults<staghorn_action, STAGHORN_ACTION>()); })
      .def_rw("quarks", &staghorn_action::quarks)
      .def_rw("unitarize", &staghorn_action::unitarize)
      .def_rw("long_reals", &staghorn_action::long_reals)
      .def_rw("u0", &staghorn_action::u0)
      .def_rw("naik_epsilon", &staghorn_action::naik_epsilon);
  nb::class_<staghorn_vectors>(m, "Vectors")
      .def("__init__",
           [](staghorn_vectors* self) { new (self) staghorn_vectors(defaults<staghorn_vectors, STAGHORN_VECTORS>()); })
      .def_rw("order", &staghorn_vectors::order)
      .def_rw("precision", &staghorn_vectors::precision)
      .def_rw("memory", &staghorn_vectors::memory)
      .def_rw("phases", &staghorn_vectors::phases)
      .def_rw("half", &staghorn_vectors::half);
  nb::class_<Request>(m, "Request")
      .def(nb::init<>())
      .def("set",
           [](Request& self, const std::string& name, const std::string& value) {
             checked([&] { return staghorn_request_set(&self, name.c_str(), value.c_str()); });
           })
      .def_rw("system", &staghorn_request::system)
      .def_rw("sign", &staghorn_request::sign)
      .def_rw("halved", &staghorn_request::halved)
      .def_rw("precision", &staghorn_request::precision)
      .def_rw("sloppy", &staghorn_request::sloppy)
      .def_rw("sloppy_reals", &staghorn_request::sloppy_reals)
      .def_rw("stop", &staghorn_request::stop)
      .def_rw("guess", &staghorn_request::guess)
      .def_rw("chronological", &staghorn_request::chronological)
      .def_rw("mass", &staghorn_request::mass)
      .def_rw("tolerance", &staghorn_request::tolerance)
      .def_rw("tolerance_hq", &staghorn_request::tolerance_hq)
      .def_rw("max_iterations", &staghorn_request::max_iterations);
  nb::class_<staghorn_result>(m, "Result")
      .def_ro("status", &staghorn_result::status)
      .def_ro("iterations", &staghorn_result::iterations)
      .def_ro("iterations_more", &staghorn_result::iterations_more)
      .def_ro("residual_iterated", &staghorn_result::residual_iterated)
      .def_ro("residual_true", &staghorn_result::residual_true)
      .def_ro("residual_parity", &staghorn_result::residual_parity)
      .def_ro("residual_hq", &staghorn_result::residual_hq)
      .def_ro("source_norm2", &staghorn_result::source_norm2)
      .def_ro("solution_norm2", &staghorn_result::solution_norm2)
      .def_ro("seconds", &staghorn_result::seconds);
}

namespace {

nb::dict choices(std::initializer_list<std::pair<const char*, int>> of) {
  nb::dict dict;
  for (const auto& [name, number] : of) dict[name] = number;
  return dict;
}

}  // namespace

void bind_choices(nb::module_& m) {
  m.attr("ORDERS") = choices({{"lex", STAGHORN_LEX},
                              {"cps-stag", STAGHORN_CPS_STAG},
                              {"cps-wilson", STAGHORN_CPS_WILSON},
                              {"even-odd", STAGHORN_EVEN_ODD_X},
                              {"qdp", STAGHORN_QDP},
                              {"cps-stag-block", STAGHORN_CPS_STAG_BLOCK}});
  m.attr("PHASES") = choices({{"none", STAGHORN_PHASES_NONE},
                              {"cps", STAGHORN_PHASES_CPS},
                              {"milc", STAGHORN_PHASES_MILC},
                              {"tifr", STAGHORN_PHASES_TIFR},
                              {"chroma", STAGHORN_PHASES_CHROMA},
                              {"as-given", STAGHORN_PHASES_AS_GIVEN}});
  m.attr("ACTIONS") = choices({{"naive", STAGHORN_NAIVE}, {"asqtad", STAGHORN_ASQTAD}, {"hisq", STAGHORN_HISQ}});
  m.attr("GROUPS") = choices({{"u3", STAGHORN_U3}, {"su3", STAGHORN_SU3}});
  m.attr("SITES") = choices({{"full", STAGHORN_FULL}, {"even", STAGHORN_EVEN}, {"odd", STAGHORN_ODD}});
  m.attr("MEMORY") = choices({{"host", STAGHORN_HOST}, {"pinned", STAGHORN_PINNED}, {"device", STAGHORN_DEVICE}});
  m.attr("PRECISIONS") = choices({{"fp64", STAGHORN_FP64}, {"fp32", STAGHORN_FP32}, {"fp16", STAGHORN_FP16}});
  m.attr("STOPS") = choices({{"system", STAGHORN_STOP_ON_SYSTEM}, {"parity", STAGHORN_STOP_ON_PARITY}});
  m.attr("CERTIFICATES") = choices({{"auto", STAGHORN_CERTIFICATE_AUTO},
                                    {"host", STAGHORN_CERTIFICATE_HOST},
                                    {"device", STAGHORN_CERTIFICATE_DEVICE}});
  m.attr("EIGENVECTOR_PLACES") = choices({{"auto", STAGHORN_EIGENVECTORS_AUTO},
                                          {"device", STAGHORN_EIGENVECTORS_DEVICE},
                                          {"host", STAGHORN_EIGENVECTORS_HOST}});
  m.attr("DEVICES") = choices({{"auto", STAGHORN_DEVICE_AUTO}, {"cpu", STAGHORN_DEVICE_CPU}});
  m.attr("OUTCOMES") = choices({{"certified", STAGHORN_OK},
                                {"out_of_iterations", STAGHORN_NOT_CONVERGED},
                                {"stagnated", STAGHORN_STAGNATED},
                                {"breakdown", STAGHORN_BREAKDOWN},
                                {"stopped", STAGHORN_STOPPED}});
  m.attr("ERRORS") = choices({{"argument", STAGHORN_E_ARGUMENT},
                              {"layout", STAGHORN_E_LAYOUT},
                              {"value", STAGHORN_E_VALUE},
                              {"memory", STAGHORN_E_MEMORY},
                              {"device", STAGHORN_E_DEVICE},
                              {"mpi", STAGHORN_E_MPI},
                              {"state", STAGHORN_E_STATE},
                              {"unsupported", STAGHORN_E_UNSUPPORTED},
                              {"internal", STAGHORN_E_INTERNAL},
                              {"file", STAGHORN_E_FILE}});
}

}  // namespace staghorn::python
