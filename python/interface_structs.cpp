#include "python/interface_structs.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
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

Words::Words(const std::map<std::string, std::string>& options) {
  for (const auto& [name, text] : options)
    checked([&] { return staghorn_words_set(&handle, name.c_str(), text.c_str()); });
}

void bind_structs(nb::module_& m) {
  nb::class_<Words>(m, "Words").def(nb::init<std::map<std::string, std::string>>(), nb::arg("options"));
  nb::class_<staghorn_links>(m, "Links")
      .def(
          "__init__",
          [](staghorn_links* self, int order, int phases, bool boundary_in, bool dagger, double coefficient,
             const std::optional<std::array<double, 4>>& scale) {
            new (self) staghorn_links(defaults<staghorn_links, STAGHORN_LINKS>());
            self->order = order;
            self->phases = phases;
            self->boundary_in = boundary_in;
            self->dagger = dagger;
            self->coefficient = coefficient;
            if (scale) std::copy(scale->begin(), scale->end(), self->scale);
          },
          nb::arg("order"), nb::arg("phases") = int(STAGHORN_PHASES_NONE), nb::arg("boundary_in") = false,
          nb::arg("dagger") = false, nb::arg("coefficient") = 0.0, nb::arg("scale") = nb::none())
      .def_rw("precision", &staghorn_links::precision)
      .def_rw("memory", &staghorn_links::memory)
      .def_rw("generation", &staghorn_links::generation);
  nb::class_<staghorn_vectors>(m, "Vectors")
      .def(
          "__init__",
          [](staghorn_vectors* self, int order, int phases, bool half) {
            new (self) staghorn_vectors(defaults<staghorn_vectors, STAGHORN_VECTORS>());
            self->order = order;
            self->phases = phases;
            self->half = half;
          },
          nb::arg("order"), nb::arg("phases"), nb::arg("half"))
      .def_rw("precision", &staghorn_vectors::precision)
      .def_rw("memory", &staghorn_vectors::memory);
  nb::class_<staghorn_request>(m, "Request")  // with words, which it keeps alive
      .def(
          "__init__",
          [](staghorn_request* self, const Words& words, int sign, bool halved, int stop, bool guess) {
            new (self) staghorn_request(defaults<staghorn_request, STAGHORN_REQUEST>());
            self->tolerance = 0;  // by precision
            self->words = words.handle;
            self->sign = sign;
            self->halved = halved;
            self->stop = stop;
            self->guess = guess;
          },
          nb::keep_alive<1, 2>(), nb::arg("words"), nb::arg("sign") = 1, nb::arg("halved") = false,
          nb::arg("stop") = int(STAGHORN_STOP_ON_SYSTEM), nb::arg("guess") = false);
  nb::class_<staghorn_result>(m, "Result")
      .def_ro("status", &staghorn_result::status)
      .def_ro("iterations", &staghorn_result::iterations)
      .def_ro("iterations_more", &staghorn_result::iterations_more)
      .def_ro("residual_iterated", &staghorn_result::residual_iterated)
      .def_ro("residual_true", &staghorn_result::residual_true)
      .def_ro("residual_parity", &staghorn_result::residual_parity)
      .def_ro("residual_hq", &staghorn_result::residual_hq);
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
                              {"even-odd-x", STAGHORN_EVEN_ODD_X},
                              {"qdp", STAGHORN_QDP},
                              {"cps-stag-block", STAGHORN_CPS_STAG_BLOCK}});
  m.attr("PHASES") = choices({{"none", STAGHORN_PHASES_NONE},
                              {"cps", STAGHORN_PHASES_CPS},
                              {"milc", STAGHORN_PHASES_MILC},
                              {"tifr", STAGHORN_PHASES_TIFR},
                              {"chroma", STAGHORN_PHASES_CHROMA},
                              {"as-given", STAGHORN_PHASES_AS_GIVEN}});
  m.attr("SITES") = choices({{"full", STAGHORN_FULL}, {"even", STAGHORN_EVEN}, {"odd", STAGHORN_ODD}});
  m.attr("MEMORY") = choices({{"host", STAGHORN_HOST}, {"pinned", STAGHORN_PINNED}, {"device", STAGHORN_DEVICE}});
  m.attr("PRECISIONS") = choices({{"fp64", STAGHORN_FP64}, {"fp32", STAGHORN_FP32}, {"fp16", STAGHORN_FP16}});
  m.attr("STOPS") = choices({{"system", STAGHORN_STOP_ON_SYSTEM}, {"parity", STAGHORN_STOP_ON_PARITY}});
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
