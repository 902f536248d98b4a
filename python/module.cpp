// The compiled part of the Python package: staghorn._native. What users see is in staghorn/session.py, which brings
// arrays into shape and documents every argument; here they are only handed on.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include "halo/watch/error.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "python/native_session.hpp"

namespace nb = nanobind;
using namespace staghorn;
using namespace staghorn::python;

namespace {

nb::dict to_dict(const std::map<std::string, ChecksumResult>& checksums) {
  nb::dict dict;
  for (const auto& [name, result] : checksums) {
    nb::dict entry;
    entry["stored"] = result.stored;
    entry["computed"] = result.computed;
    entry["match"] = result.match;
    dict[name.c_str()] = entry;
  }
  return dict;
}

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
  dict["checksums"] = to_dict(gauge.checksums);
  return dict;
}

nb::tuple read_gauge_file(const Process& process, const std::string& path, bool verify) {
  const GaugeHeader header = read_gauge_header(process.communicator, path);
  LinkField links(whole_lattice(header.extents));
  const GaugeChecks checks = read_gauge(process.communicator, header, links, verify);
  nb::dict info, fields;
  for (const auto& [name, text] : header.fields) fields[name.c_str()] = text;
  nb::list warnings;
  for (const std::string& warning : checks.warnings) warnings.append(warning);
  info["format"] = to_string(header.format);
  info["lattice"] = header.extents;
  info["precision"] = to_string(header.precision);
  info["rows"] = header.rows;
  info["big_endian"] = header.big_endian;
  info["fields"] = fields;
  info["checksums"] = to_dict(checks.checksums);
  info["warnings"] = warnings;
  return nb::make_tuple(to_array(copied(links.data(), std::size_t(links.bytes())), {}, header.extents, {4, 3, 3}),
                        info);
}

using OptionalText = std::optional<std::string>;

SessionOptions session_options(const std::string& boundary, const std::string& precision, const std::string& links,
                               const OptionalText& sloppy, const OptionalText& sloppy_links, bool reunitarize,
                               const std::string& loopback, const std::string& device, const OptionalText& tuning,
                               const std::string& blas) {
  SessionOptions options;
  options.boundary = parse_boundary(boundary);
  options.precision = parse_precision(precision);
  options.links = parse_reconstruct(links);
  if (sloppy) options.sloppy = parse_sloppy(*sloppy);
  if (sloppy_links) options.sloppy_links = parse_reconstruct(*sloppy_links);
  options.reunitarize = reunitarize;
  for (char direction : loopback) {
    const std::size_t mu = std::string("xyzt").find(direction);
    if (mu == std::string::npos) throw Error("loopback", "letters among xyzt", "'" + loopback + "'");
    options.loopback[mu] = true;
  }
  options.device = device;
  if (tuning) options.tuning = parse_tuning(*tuning);
  options.blas = parse_blas(blas);
  return options;
}

SolveRequest solve_request(double mass, const std::string& system, std::optional<double> tolerance, long max_iterations,
                           const std::string& phases) {
  SolveRequest request;
  request.mass = mass;
  request.system = parse_system(system);
  request.tolerance = tolerance;
  request.max_iterations = max_iterations;
  request.phases = parse_phase_convention(phases);
  return request;
}

}  // namespace

NB_MODULE(_native, m) {
  m.attr("version") = STAGHORN_VERSION;
  nb::exception<Error>(m, "Error", PyExc_RuntimeError);

  // MPI is started when the module is loaded and finalised when the module and the last Session are gone.
  nb::class_<Process>(m, "Process");
  const auto process = std::make_shared<Process>();
  m.attr("_process") = process;

  m.def("read_gauge", [process = std::weak_ptr<Process>(process)](const std::string& path, bool verify) {
    return read_gauge_file(*process.lock(), path, verify);
  });

  using Gauge = std::variant<std::string, ComplexArray>;
  nb::class_<NativeSession>(m, "Session")
      .def(
          "__init__",
          [process = std::weak_ptr<Process>(process)](
              NativeSession* self, const Gauge& gauge, const std::string& boundary, const std::string& precision,
              const std::string& links, const OptionalText& sloppy, const OptionalText& sloppy_links, bool reunitarize,
              const std::string& loopback, const std::string& device, const OptionalText& tuning,
              const std::string& blas) {
            new (self) NativeSession(process.lock(), gauge,
                                     session_options(boundary, precision, links, sloppy, sloppy_links, reunitarize,
                                                     loopback, device, tuning, blas));
          },
          nb::arg("gauge"), nb::arg("boundary"), nb::arg("precision"), nb::arg("links"), nb::arg("sloppy").none(),
          nb::arg("sloppy_links").none(), nb::arg("reunitarize"), nb::arg("loopback"), nb::arg("device"),
          nb::arg("tuning").none(), nb::arg("blas"))
      .def_prop_ro("lattice", [](const NativeSession& self) { return self.session().lattice().global(); })
      .def("links", &NativeSession::links)
      .def("gauge", [](const NativeSession& self) { return to_dict(self.session().gauge()); })
      .def(
          "solve",
          [](NativeSession& self, double mass, const std::string& system, std::optional<double> tolerance,
             long max_iterations, const std::string& phases, const Gauge& source, const std::string& color,
             int noise_vectors, const std::optional<ComplexArray>& guess) {
            return self.solve(solve_request(mass, system, tolerance, max_iterations, phases), source, color,
                              noise_vectors, guess);
          },
          nb::arg("mass"), nb::arg("system"), nb::arg("tolerance").none(), nb::arg("max_iterations"), nb::arg("phases"),
          nb::arg("source"), nb::arg("color"), nb::arg("noise_vectors"), nb::arg("guess").none());
}
