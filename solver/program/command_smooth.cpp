// `staghorn smooth`: gradient flow, smearing, gauge fixing and loops of a configuration.
#include <ostream>

#include "halo/watchdog.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/text_file.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/request/words/formatted.hpp"
#include "solver/smoothing/smooth.hpp"
#include "solver/smoothing/smooth_links.hpp"

namespace staghorn {

namespace {

CommandSyntax smooth_syntax() {
  CommandSyntax syntax{
      "smooth", "staghorn smooth --gauge FILE --method METHOD [options]      (mpirun -n N in front for more ranks)",
      "Smooths a configuration by the gradient flow (wilson, symanzik) or by smearing (ape, stout, hyp), fixes its "
      "gauge\n"
      "(coulomb, landau), or measures it as it is (none): plaquette, Polyakov loop, energy and topological charge of "
      "the\n"
      "clover, of a flow at every step with t0 and w0; Wilson loops. docs/smoothing.md defines all of them. The same\n"
      "request gives the same bits on any number of ranks.\n"
      "Exit status: 0 done, 1 error, 2 usage, 3 gauge fixing ran out of sweeps, 4 ended by the watchdog.\n",
      "\nExamples:\n"
      "  staghorn smooth --gauge lat.nersc --method wilson --time 2 --step 0.02 --report flow.json\n"
      "  staghorn smooth --gauge lat.nersc --method stout --steps 4 --weights 0.1 --output stout.nersc\n"
      "  staghorn smooth --gauge lat.nersc --method landau --tolerance 1e-14 --output landau.nersc\n"
      "  staghorn smooth --gauge lat.nersc --method none --loops 4x8\n"};
  syntax.options.add(options_of(
      "Links",
      {{"gauge", "FILE", "thin links: MILC, NERSC, ILDG, SciDAC, HDF5, npy or openQCD", {}, OptionRow::required},
       {"dataset", "NAME", "of links in HDF5: the dataset that holds them (default: links)"},
       {"no-verify", "", "read links whose checksums are absent or wrong"},
       {"reunitarize", "", "project the links onto SU(3) first (files hold them to 1e-7 only)"},
       {"grid", "x,y,z,t", "process grid (default: the one with the least surface)"}}));
  syntax.options.add(options_of(
      "Method",
      {{"method", "METHOD", "none | wilson | symanzik | ape | stout | hyp | coulomb | landau", {}, OptionRow::required},
       {"time", "T", "of a flow: how far, in units of a^2; a multiple of the step"},
       {"step", "E", "of a flow: the step of its third-order Runge-Kutta method (default: 0.02)"},
       {"measure-every", "K", "of a flow: measure and print every K steps (default: 1)"},
       {"steps", "N", "of smearing: how often (default: 1)"},
       {"weights", "A[,A2,A3]",
        "alpha of ape (default: 0.6), rho of stout (0.1), or alpha_1, alpha_2, alpha_3 of hyp (0.75,0.6,0.3)"},
       {"space-only", "", "of ape and stout: links and staples in space alone"},
       {"relaxation", "W", "of gauge fixing: over-relaxation, from 1 to below 2 (default: 1.7)"},
       {"tolerance", "TOL", "of gauge fixing: theta at which it ends (default: 1e-12)"},
       {"max-sweeps", "N", "of gauge fixing: most sweeps (default: 10000)"},
       {"loops", "RxT", "measure the Wilson loops up to R sites in space and T in time, of the links at the end"}}));
  syntax.options.add(watchdog_options());
  syntax.options.add(options_of(
      "Files",
      {{"output", "F", "write the links at the end"},
       {"format", "FORMAT",
        "milc | nersc | ildg | scidac | hdf5 | npy | openqcd | kyu | pyquda (default: what the name F ends in, as "
        ".nersc, else hdf5)"},
       {"precision", "fp32|fp64", "of the stored numbers (default: fp64 where the format has it)"},
       {"rows", "2|3", "rows stored per link, NERSC only (default: 3)"},
       {"report", "F.json", "write the report; - prints it, and nothing else"},
       {"force", "", "replace files that exist"},
       {"quiet", "", "print nothing but errors"}}));
  return syntax;
}

SmoothSetting read_setting(const OptionValues& values) {
  return with_usage_errors(
      [&] {
        SmoothRequest request;
        for (const char* name : {"method", "time", "step", "measure_every", "steps", "weights", "relaxation",
                                 "tolerance", "max_sweeps", "loops"})
          if (const std::string option = with_dashes(name).substr(2); values.count(option))
            set_smooth_option(request, name, values.text(option.c_str()));
        if (values.is_on("space-only")) request.space_only = true;
        return setting_of(request);
      },
      [](const std::string& words) { return in_words_of_the_program(words); });
}

void print_row(std::ostream& out, const GaugeMeasurement& at) {
  const double e = at.field.energy();
  out << format("%8.4f  %.10f  %.10f  %.10f  %+.8f\n", at.time, at.plaquette.all, e, at.time * at.time * e,
                at.field.charge)
      << std::flush;
}

void print_measurement(std::ostream& out, const char* when, const GaugeMeasurement& at) {
  out << format("%-7s plaquette %.12f   Polyakov loop %+.10f %+.10f i\n", when, at.plaquette.all, at.polyakov.real(),
                at.polyakov.imag())
      << format("        E %.12f  (space %.12f, time %.12f)   charge %+.10f\n", at.field.energy(),
                at.field.energy_space, at.field.energy_time, at.field.charge);
}

void print_results(std::ostream& out, const SmoothReport& report) {
  if (report.setting.flows())
    for (const auto& [name, scale] : {std::pair{"t0", report.scales.t0}, {"w0", report.scales.w0}})
      out << name << (scale ? format(" = %.10g\n", *scale) : std::string(": not reached\n"));
  if (report.fixing)
    out << (report.converged ? "FIXED" : "NOT CONVERGED")
        << format("   %d sweeps, theta %.3e, functional %.14f (was %.14f)\n", report.fixing->sweeps,
                  report.fixing->theta, report.fixing->functional, report.fixing->functional_before);
  print_measurement(out, "before", report.before);
  if (report.setting.method != SmoothMethod::none) print_measurement(out, "after", report.after);
  for (const WilsonLoop& loop : report.loops)
    out << format("W(%d, %d) = %.14f\n", loop.distance, loop.time, loop.value);
}

// What the file of links says of how they were made.
std::map<std::string, std::string> description(const SmoothSetting& setting, const std::string& gauge) {
  std::map<std::string, std::string> lines{{"smoothed_from", gauge}, {"smooth_method", to_string(setting.method)}};
  if (setting.flows()) lines["flow_time"] = shortest_digits(setting.steps * setting.step);
  if (setting.flows()) lines["flow_step"] = shortest_digits(setting.step);
  if (setting.smears()) lines["smear_steps"] = std::to_string(setting.steps);
  for (std::size_t i = 0; i < setting.weights.size(); ++i)
    lines["smear_weight_" + std::to_string(i + 1)] = shortest_digits(setting.weights[i]);
  if (setting.space_only) lines["smear_directions"] = "space";
  return lines;
}

}  // namespace

int run_smooth(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, smooth_syntax(), arguments, out);
  if (!values) return exit_certified;
  const SmoothSetting setting = read_setting(*values);
  const std::string gauge = values->text("gauge");
  const std::optional<std::string> output = values->optional_text("output");
  std::optional<std::string> report_file = values->optional_text("report");
  const bool report_to_output = report_file == "-", force = values->is_on("force");
  if (report_to_output) report_file.reset();
  const GaugeFormat format = gauge_format_of(*values, output.value_or(""), GaugeFormat::hdf5);
  Precision precision = usual_precision(format, Precision::fp64);
  if (values->count("precision"))
    precision = parse_value("precision", [&] { return parse_precision(values->text("precision")); });
  std::map<std::string, std::string> metadata = description(setting, gauge);
  set_stored_rows(*values, format, metadata);
  require_not_read({output, report_file}, {gauge});
  std::optional<Extents> grid;
  if (values->count("grid")) grid = extents_of(*values, "grid");
  std::ostream nowhere(nullptr);
  std::ostream& messages = values->is_on("quiet") || report_to_output ? nowhere : out;

  const Watchdog watchdog(communicator, watchdog_limit(*values), exit_stalled);
  ClaimedNames names(communicator);
  for (const auto& name : {output, report_file})
    if (name) names.claim(*name, force);
  SmoothLinks read =
      read_links(communicator, {gauge, values->optional_text("dataset"), grid, !values->is_on("no-verify")},
                 values->is_on("reunitarize"));
  for (const std::string& text : unverified_checksums(read.summary.checksums))
    messages << "UNVERIFIED: " << text << "\n";

  SmoothWatch watch;
  if (setting.flows()) {
    messages << "       t  plaquette     E             t^2 E         charge\n";
    watch.measured = [&](const GaugeMeasurement& at) { print_row(messages, at); };
  }
  SmoothReport report = smooth(communicator, read.links, setting, watch);
  report.gauge = read.summary;
  report.output = output.value_or("");
  print_results(messages, report);
  write_with_report(
      communicator, output,
      [&](const Replacing& how) { write_gauge(communicator, *output, format, precision, read.links, metadata, how); },
      report_file, [&](const Error*) { return to_json(report); }, force);
  if (output)
    messages << "written to " << *output << " (" << to_string(format) << ", " << to_string(precision) << ")\n";
  if (report_to_output) out << to_json(report);
  return report.converged ? exit_certified : exit_not_converged;
}

}  // namespace staghorn
