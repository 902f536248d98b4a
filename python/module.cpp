// The compiled part of the Python package beside the C interface: staghorn._native with files, campaigns, certificates,
// smoothing, pages and the table of options. What users see is in staghorn/*.py; here arguments are only handed on.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "dirac/gauge/improved_links.hpp"
#include "halo/watch/error_kind.hpp"
#include "halo/watch/failure_words.hpp"
#include "python/arrays.hpp"
#include "python/file_functions.hpp"
#include "python/interpreter.hpp"
#include "python/text_caster.hpp"
#include "solver/observables/observable_table.hpp"
#include "solver/report/html/html_report.hpp"
#include "solver/request/option_table.hpp"
#include "solver/session/campaign/campaign.hpp"
#include "solver/session/campaign/gauge_list.hpp"
#include "solver/session/certify/certify_input.hpp"
#include "solver/smoothing/smooth.hpp"
#include "solver/smoothing/smooth_links.hpp"

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

// A campaign: `gauge` as the program's --gauge, `mass` and `source` among the options. Returns the report as JSON, and
// the table for people. `progress`, where it is not None, is called as progress(gauge, number, of, iteration, residual
// over tolerance, words): when a configuration begins, every 16 iterations, and with words when it ends. The
// interpreter may run other threads meanwhile, and an interrupt or an error of `progress` stops it: a second call goes
// on.
std::pair<std::string, std::string> campaign(const std::string& gauge,
                                             const std::map<std::string, std::string>& options,
                                             const std::optional<std::string>& output,
                                             const std::optional<std::string>& report,
                                             const std::optional<std::string>& results, bool force,
                                             bool stop_at_failure, bool keep_checkpoint, const nb::object& progress) {
  CampaignRequest request;
  for (const auto& [name, text] : options) set_option(request.options, name, text);
  request.output = output;
  request.report = report;
  request.results = results;
  request.force = force;
  request.stop_at_failure = stop_at_failure;
  request.keep_checkpoints = keep_checkpoint;
  CampaignPart shown;
  const auto tell = [&](const CampaignPart& part, const CgProgress& at) {
    if (at.iteration % 16 != 0) return;
    check_interrupt();
    if (progress.is_none()) return;
    const nb::gil_scoped_acquire interpreter;
    progress(part.gauge, part.number, part.of, at.iteration, at.worst_ratio, part.words);
  };
  CampaignWatch watch;
  watch.part_begins = [&](const CampaignPart& part) { tell(shown = part, {}); };
  watch.progress = [&](const CgProgress& at) { tell(shown, at); };
  watch.part_ends = [&](const CampaignPart& part) { tell(part, {}); };
  const CampaignAnswer answer = without_interpreter([&] {
    const Communicator alone;
    request.gauges = read_gauge_list(alone, gauge);
    return run_campaign(alone, request, watch);
  });
  return {answer.json, answer.table};
}

// Reports of one request as one: the report as JSON, and the table for people.
std::pair<std::string, std::string> merged_campaigns(const std::vector<std::string>& reports,
                                                     const std::optional<std::string>& report,
                                                     const std::optional<std::string>& results, bool force) {
  const CampaignAnswer answer = without_interpreter([&] {
    return merge_campaigns(Communicator(), {reports, report, results, force});
  });
  return {answer.json, answer.table};
}

// A certificate of solutions; returns the report as JSON. Of `gauge` and `links` at most one is there, of `path` and
// `solutions` one. `named`: options that the caller gave. Arrays: U[T, Z, Y, X, mu, 3, 3] and v[n, T, Z, Y, X, 3].
std::string certify_solutions(const std::map<std::string, std::string>& named, const std::string& gauge,
                              const std::optional<ComplexArray>& links, const std::string& path,
                              const std::optional<ComplexArray>& solutions, const std::optional<ComplexArray>& sources,
                              const std::string& precision, bool any_convention, bool search) {
  SolveOptions options;
  std::set<std::string> names;
  for (const auto& [name, text] : named) {
    set_option(options, name, text);
    names.insert(name);
  }
  if (sources) options.source.spec = {SourceKind::file, {}, 0, {}};
  CertifyInput input = input_of_options(options, names);
  input.gauge = gauge;
  input.solution = path;
  input.request.stored = parse_precision(precision);
  input.request.any_convention = any_convention;
  input.request.search = search;
  const auto fields = [](const ComplexArray& array) {
    return views<ColorVector<double>>(whole_lattice(extents_of(array, 1)), array.data(), array.shape(0));
  };
  return without_interpreter([&] {
    if (links) input.links = views<Links>(whole_lattice(extents_of(*links, 0)), links->data(), 1).front();
    if (solutions) input.solutions = fields(*solutions);
    if (sources) input.sources = fields(*sources);
    return to_json(certify(Communicator(), std::move(input)));
  });
}

// Smoothed links U[T, Z, Y, X, mu, 3, 3] and the report as JSON, from the file `path` or from `links`.
std::pair<NumpyArray, std::string> smooth_links(const std::map<std::string, std::string>& named,
                                                const std::string& path, const std::optional<ComplexArray>& links,
                                                bool verify, bool reunitarize, const std::string& device) {
  SmoothRequest request;
  for (const auto& [name, text] : named) set_smooth_option(request, name, text);
  const SmoothSetting setting = setting_of(request);
  std::string json;
  Extents extents{};
  Buffer numbers = without_interpreter([&] {
    const Communicator alone;
    SmoothLinks read =
        links ? given_links(alone, views<Links>(whole_lattice(extents_of(*links, 0)), links->data(), 1).front(),
                            reunitarize)
              : read_links(alone, {path, {}, {}, verify}, reunitarize);
    SmoothReport report = smooth(alone, read.links, setting, device_for(alone, read.links.lattice(), setting, device),
                                 {check_interrupt, {}});
    report.gauge = read.summary;
    json = to_json(report);
    extents = report.lattice;
    return copied(read.links.data(), std::size_t(read.links.bytes()));
  });
  return {to_array(std::move(numbers), {}, extents, {4, 3, 3}), json};
}

// Fat links and Naik links without their weight, which comes third, of the thin ones of the file `path` or of `links`.
nb::tuple improved_links_of(const std::string& path, const std::optional<ComplexArray>& links,
                            const std::string& action, double u0, double epsilon, const std::string& unitarize,
                            bool verify, bool reunitarize) {
  if (action != "asqtad" && action != "hisq") throw Error("action", "asqtad or hisq", "'" + action + "'");
  const Unitarize group = parse_unitarize(unitarize);
  Extents extents{};
  Buffer naik;
  double weight = 0;
  Buffer fat = without_interpreter([&] {
    const Communicator alone;
    const SmoothLinks thin =
        links ? given_links(alone, views<Links>(whole_lattice(extents_of(*links, 0)), links->data(), 1).front(),
                            reunitarize)
              : read_links(alone, {path, {}, {}, verify}, reunitarize);
    extents = thin.links.lattice().global();
    const ImprovedLinks made =
        action == "asqtad" ? asqtad_links(alone, thin.links, u0) : hisq_links(alone, thin.links, epsilon, group);
    naik = copied(made.naik.data(), std::size_t(made.naik.bytes()));
    weight = made.naik_weight;
    return copied(made.fat.data(), std::size_t(made.fat.bytes()));
  });
  return nb::make_tuple(to_array(std::move(fat), {}, extents, {4, 3, 3}),
                        to_array(std::move(naik), {}, extents, {4, 3, 3}), weight);
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

  add_file_functions(m);
  m.def("options", &options);
  m.def(
      "html_report",
      [](const std::vector<std::pair<std::string, std::string>>& named) {
        std::vector<NamedReport> reports;
        for (const auto& [name, json] : named) reports.push_back({name, json});
        return html_report(reports, observable_kinds());
      },
      nb::arg("reports"));

  m.def("certify", &certify_solutions, nb::arg("options"), nb::arg("gauge"), nb::arg("links").none(), nb::arg("path"),
        nb::arg("solutions").none(), nb::arg("sources").none(), nb::arg("precision"), nb::arg("any_convention"),
        nb::arg("search"));
  m.def("smooth", &smooth_links, nb::arg("options"), nb::arg("path"), nb::arg("links").none(), nb::arg("verify"),
        nb::arg("reunitarize"), nb::arg("device"));
  m.def("smear", &improved_links_of, nb::arg("path"), nb::arg("links").none(), nb::arg("action"), nb::arg("u0"),
        nb::arg("epsilon"), nb::arg("unitarize"), nb::arg("verify"), nb::arg("reunitarize"));
  m.def("campaign_table", &campaign_table, nb::arg("path"), nb::arg("report"));
  m.def("merge_campaigns", &merged_campaigns, nb::arg("reports"), nb::arg("report").none(), nb::arg("results").none(),
        nb::arg("force"));
  m.def("campaign", &campaign, nb::arg("gauge"), nb::arg("options"), nb::arg("output").none(), nb::arg("report").none(),
        nb::arg("results").none(), nb::arg("force"), nb::arg("stop_at_failure"), nb::arg("keep_checkpoint"),
        nb::arg("progress").none());
}
