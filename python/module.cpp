// The compiled part of the Python package beside the C interface: staghorn._native with files, campaigns, pages and the
// table of options. What users see is in staghorn/*.py; here arguments are only handed on.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "halo/watch/error_kind.hpp"
#include "halo/watch/failure_words.hpp"
#include "python/file_functions.hpp"
#include "python/native_campaign.hpp"
#include "python/text_caster.hpp"
#include "solver/observables/observable_table.hpp"
#include "solver/report/html/html_report.hpp"
#include "solver/request/option_table.hpp"

namespace nb = nanobind;
using namespace staghorn;
using namespace staghorn::python;

namespace {

// The options of Session and of solve, for their signatures and documentation.
nb::list options() {
  nb::list list;
  for (const Option& option : solve_options()) {
    nb::dict entry;
    entry["name"] = option.name;
    entry["of"] = option.of_session() ? "session" : "solve";
    entry["group"] = option.group == OptionGroup::lattice_operator ? "operator" : "";
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
}
