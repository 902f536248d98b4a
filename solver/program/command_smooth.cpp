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
      "request gives the same bits on any number of ranks, and on GPUs.\n"
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
       {"no-probe", "", "read HDF5 at once; else a child meets the file first, as HDF5 may crash on a damaged one"},
       {"reunitarize", "", "project the links onto SU(3) first (files hold them to 1e-7 only)"},
       {"grid", "x,y,z,t", "process grid (default: the one with the least surface)"},
       {"device", "auto|cpu|cuda[:n]",
        "where to compute; auto takes a GPU for wilson, symanzik and stout where every rank has one with memory enough",
        "auto"}}));
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
        if (values.is_on("space-only")) request.space_only = true;
        for (const SmoothOption& option : smooth_options()) {
          const std::string name = with_dashes(option.name).substr(2);
          if (name != "space-only" && values.count(name))
            set_smooth_option(request, option.name, values.text(name.c_str()));
        }
        return setting_of(request);
      },
      [](const std::string& words) { return in_words_of_the_program(words); });
}

struct SmoothCommand {
  SmoothSetting setting;
  LinksFile links;
  bool reunitarize = false;
  std::string device;
  std::optional<std::string> output, report;
  GaugeFormat output_format = GaugeFormat::hdf5;
  Precision precision = Precision::fp64;
  std::map<std::string, std::string> metadata;
  bool report_to_output = false, force = false, quiet = false;
};

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
  out << to_string(report.setting.method) << " of " << to_string(report.lattice)
      << format(" in %.2f s on ", report.seconds) << report.device << "\n";
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

SmoothCommand read_smooth_command(const OptionValues& values) {
  SmoothCommand command;
  command.setting = read_setting(values);
  command.links = {values.text("gauge"), values.optional_text("dataset"), {}, !values.is_on("no-verify")};
  if (values.count("grid")) command.links.grid = extents_of(values, "grid");
  command.reunitarize = values.is_on("reunitarize");
  command.device = values.text("device");
  command.output = values.optional_text("output");
  command.report = values.optional_text("report");
  command.report_to_output = command.report == "-";
  if (command.report_to_output) command.report.reset();
  command.output_format = gauge_format_of(values, command.output.value_or(""), GaugeFormat::hdf5);
  command.precision = usual_precision(command.output_format, Precision::fp64);
  if (values.count("precision"))
    command.precision = parse_value("precision", [&] { return parse_precision(values.text("precision")); });
  command.metadata = description(command.setting, command.links.path);
  set_stored_rows(values, command.output_format, command.metadata);
  command.force = values.is_on("force");
  command.quiet = values.is_on("quiet") || command.report_to_output;
  require_not_read({command.output, command.report}, {command.links.path});
  return command;
}

}  // namespace

int run_smooth(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, smooth_syntax(), arguments, out);
  if (!values) return exit_certified;
  const SmoothCommand command = read_smooth_command(*values);
  const Watchdog watchdog(communicator, watchdog_limit(*values), exit_stalled);
  std::ostream nowhere(nullptr);
  std::ostream& messages = command.quiet ? nowhere : out;
  ClaimedNames names(communicator);
  if (command.output) names.claim(*command.output, command.force);
  if (command.report) names.claim(*command.report, command.force, WrittenBy::rank_0);
  SmoothLinks read = read_links(communicator, command.links, command.reunitarize);
  for (const std::string& text : unverified_checksums(read.summary.checksums))
    messages << "UNVERIFIED: " << text << "\n";

  SmoothWatch watch;
  if (command.setting.flows()) {
    messages << "       t  plaquette     E             t^2 E         charge\n";
    watch.measured = [&](const GaugeMeasurement& at) { print_row(messages, at); };
  }
  const int cuda_device = device_for(communicator, read.links.lattice(), command.setting, command.device);
  SmoothReport report = smooth(communicator, read.links, command.setting, cuda_device, watch);
  report.gauge = read.summary;
  report.output = command.output.value_or("");
  print_results(messages, report);
  write_with_report(
      communicator, command.output,
      [&](const Replacing& how) {
        write_gauge(communicator, *command.output, command.output_format, command.precision, read.links,
                    command.metadata, how);
      },
      command.report, [&](const Error*) { return to_json(report); }, command.force);
  if (command.output)
    messages << "written to " << *command.output << " (" << to_string(command.output_format) << ", "
             << to_string(command.precision) << ")\n";
  if (command.report_to_output) out << to_json(report);
  return report.converged ? exit_certified : exit_not_converged;
}

}  // namespace staghorn
