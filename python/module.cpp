// The compiled part of the Python package: staghorn._native. What users see is in staghorn/session.py, which brings
// arrays into shape and documents every argument; here they are only handed on.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "halo/watch/error_kind.hpp"
#include "halo/watch/failure_words.hpp"
#include "python/file_functions.hpp"
#include "python/native_session.hpp"
#include "python/text_caster.hpp"
#include "solver/observables/observable_table.hpp"
#include "solver/report/html/html_report.hpp"
#include "solver/request/option_table.hpp"

namespace nb = nanobind;
using namespace staghorn;
using namespace staghorn::python;

namespace {

nb::dict to_dict(const GaugeSummary& gauge) {
  nb::dict dict;
  dict["file"] = gauge.file;
  dict["format"] = gauge.format;
  dict["plaquette"] = gauge.plaquette;
  dict["plaquette_space"] = gauge.plaquette_space;
  dict["plaquette_time"] = gauge.plaquette_time;
  dict["link_trace"] = gauge.link_trace;
  dict["max_unitarity_deviation"] = gauge.max_unitarity_deviation;
  dict["reunitarized"] = gauge.reunitarized;
  dict["verified"] = gauge.verified();
  dict["checksums"] = staghorn::python::to_dict(gauge.checksums);
  return dict;
}

// The options of Session and of solve, for their signatures and documentation.
nb::list options() {
  nb::list list;
  for (const Option& option : solve_options()) {
    nb::dict entry;
    entry["name"] = option.name;
    entry["of"] = option.of_session() ? "session" : "solve";
    entry["value"] = option.is_switch() ? "on|off" : option.value;
    entry["help"] = option.help;
    entry["default"] = option.default_text ? nb::object(nb::cast(*option.default_text)) : nb::none();
    list.append(entry);
  }
  return list;
}

// The library's errors are those of staghorn/errors.py, and so are exceptions of others that it did not expect.
void raise_error(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const nb::python_error&) {
    throw;  // nanobind knows what becomes of its own
  } catch (const nb::builtin_exception&) {
    throw;
  } catch (const std::exception& failure) {
    const FailureWords words = words_of_failure(failure);
    const nb::object raised = nb::module_::import_("staghorn.errors").attr("Error")(words.text, to_string(words.kind));
    PyErr_SetObject(raised.type().ptr(), raised.ptr());
  }
}

}  // namespace

NB_MODULE(_native, m) {
  m.attr("version") = STAGHORN_VERSION;
  m.attr("Error") = nb::module_::import_("staghorn.errors").attr("Error");
  nb::register_exception_translator(raise_error);

  nb::class_<Process>(m, "Process");
  const auto process = std::make_shared<Process>();
  m.attr("_process") = process;

  add_file_functions(m, process);
  m.def("options", &options);
  m.def(
      "html_report",
      [](const std::vector<std::pair<std::string, std::string>>& named) {
        std::vector<NamedReport> reports;
        for (const auto& [name, json] : named) reports.push_back({name, json});
        return html_report(reports, observable_kinds());
      },
      nb::arg("reports"));

  m.def(
      "campaign",
      [process = std::weak_ptr<Process>(process)](
          const std::string& gauge, const OptionTexts& options, const std::optional<std::string>& output,
          const std::optional<std::string>& report, const std::optional<std::string>& results, bool force,
          bool stop_at_failure, const nb::object& progress) {
        return campaign(*process.lock(), gauge, options, {{}, {}, output, report, results, force, stop_at_failure},
                        progress);
      },
      nb::arg("gauge"), nb::arg("options"), nb::arg("output").none(), nb::arg("report").none(),
      nb::arg("results").none(), nb::arg("force"), nb::arg("stop_at_failure"), nb::arg("progress").none());

  using Gauge = std::variant<std::string, ComplexArray>;
  nb::class_<NativeSession>(m, "Session")
      .def(
          "__init__",
          [process = std::weak_ptr<Process>(process)](NativeSession* self, const Gauge& gauge,
                                                      const OptionTexts& options) {
            new (self) NativeSession(process.lock(), gauge, options);
          },
          nb::arg("gauge"), nb::arg("options"))
      .def_prop_ro("lattice", [](const NativeSession& self) { return self.session().lattice().global(); })
      .def("links", &NativeSession::links)
      .def("gauge", [](const NativeSession& self) { return to_dict(self.session().gauge()); })
      .def("solve", &NativeSession::solve, nb::arg("source"), nb::arg("guess").none(), nb::arg("options"),
           nb::arg("progress").none())
      .def(
          "eigen",
          [](NativeSession& self, int pairs, double tolerance, long max_calls, std::uint64_t seed, bool vectors,
             const std::optional<std::string>& output, const std::string& storage, bool force,
             const std::optional<std::string>& checkpoint, double checkpoint_every, bool resume) {
            EigenRequest request;
            request.pairs = pairs;
            request.tolerance = tolerance;
            request.max_calls = max_calls;
            request.seed = seed;
            request.checkpoint = checkpoint;
            request.checkpoint_every = checkpoint_every;
            request.resume = resume;
            std::optional<EigenpairOutput> file;
            if (output)
              file =
                  EigenpairOutput{*output, eigenvector_format_by_name(*output), parse_kernel_precision(storage), force};
            return self.eigen(request, vectors, file);
          },
          nb::arg("pairs"), nb::arg("tolerance"), nb::arg("max_calls"), nb::arg("seed"), nb::arg("vectors"),
          nb::arg("output").none(), nb::arg("storage"), nb::arg("force"), nb::arg("checkpoint").none(),
          nb::arg("checkpoint_every"), nb::arg("resume"));
}
