#include "python/file_functions.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>

#include <cstring>
#include <ostream>

#include "halo/watch/error.hpp"
#include "halo/watch/surroundings.hpp"
#include "lattice_io/content/field_faults.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "lattice_io/vectors/vector_file.hpp"
#include "python/arrays.hpp"
#include "python/interpreter.hpp"
#include "python/text_caster.hpp"
#include "solver/chain/markov_chain.hpp"
#include "solver/gauge/context.hpp"

namespace staghorn::python {

namespace nb = nanobind;

namespace {

using Text = std::optional<std::string>;

nb::dict to_dict(const std::map<std::string, std::string>& fields) {
  nb::dict dict;
  for (const auto& [name, text] : fields) dict[nb::cast(name)] = text;
  return dict;
}

// {name: {stored, computed, match}}
nb::dict to_dict(const ChecksumResults& checksums) {
  nb::dict dict;
  for (const auto& [name, result] : checksums) {
    nb::dict entry;
    entry["stored"] = result.stored;
    entry["computed"] = result.computed;
    entry["match"] = result.match;
    dict[nb::cast(name)] = entry;
  }
  return dict;
}

nb::object or_none(const std::string& text) { return text.empty() ? nb::none() : nb::cast(text); }

// For a call: whether a child meets HDF5 files first.
class ProbeScope {
 public:
  explicit ProbeScope(bool probe) {
    SessionOptions options;
    options.no_probe = !probe;
    choose_probe(options);
  }

 private:
  Surroundings surroundings_{true};
  Surroundings::Scope scope_{surroundings_};
};

Replacing replacing(bool force, int compress) {
  if (compress < 0 || compress > 9)
    throw Error(ErrorKind::argument, "`compress`", "a level from 1 to 9, or 0", compress);
  Replacing how(force);
  how.compress = compress;
  return how;
}

nb::tuple read_gauge_file(const std::string& path, bool verify, const Text& dataset, const std::optional<Extents>& kyu,
                          const std::optional<Extents>& lattice, bool probe) {
  const ProbeScope scope(probe);
  const Communicator alone;
  GaugeHeader header;
  GaugeChecks checks;
  std::string fault;
  Buffer numbers = without_interpreter([&] {
    header = kyu ? read_kyu_header(alone, path, *kyu) : read_gauge_header(alone, path, dataset, lattice);
    LinkField links(whole_lattice(header.extents));
    checks = read_gauge(alone, header, links, verify);
    fault = fault_of_links(alone, links);
    if (verify) require_no_fault(path, fault);
    return copied(links.data(), std::size_t(links.bytes()));
  });
  nb::dict info;
  nb::list warnings;
  for (const std::string& warning : checks.warnings) warnings.append(warning);
  info["format"] = to_string(header.format);
  info["lattice"] = header.extents;
  info["precision"] = to_string(header.precision);
  info["rows"] = header.rows;
  info["big_endian"] = header.big_endian;
  info["fields"] = to_dict(header.fields);
  info["checksums"] = to_dict(checks.checksums);
  info["warnings"] = warnings;
  info["fault"] = or_none(fault);
  return nb::make_tuple(to_array(std::move(numbers), {}, header.extents, {4, 3, 3}), info);
}

void write_gauge_file(const std::string& path, const ComplexArray& links, const Text& format, const Text& precision,
                      bool force, int compress) {
  const GaugeFormat chosen =
      format ? parse_gauge_format(*format) : gauge_format_by_name(path).value_or(GaugeFormat::hdf5);
  without_interpreter([&] {
    const LinkField field(views<Links>(whole_lattice(extents_of(links, 0)), links.data(), 1).front());
    write_gauge(Communicator(), path, chosen,
                precision ? parse_precision(*precision) : usual_precision(chosen, Precision::fp64), field, {},
                replacing(force, compress));
  });
}

nb::tuple read_vector_file(const std::string& path, bool verify, bool probe) {
  const ProbeScope scope(probe);
  const Communicator alone;
  std::optional<VectorHeader> header;
  VectorContents contents;
  std::string fault;
  Buffer numbers = without_interpreter([&] {
    header = find_vectors(alone, path);
    if (!header) throw Error(path, "colour vectors in HDF5, SciDAC, NumPy's or FNAL's format", "something else");
    contents = read_vector_contents(alone, *header, whole_lattice(header->extents));
    fault = fault_of_vectors(alone, contents.fields, Precision::fp64, header->dataset == "checkpoint");
    const auto bytes = std::size_t(contents.fields.front().bytes());
    Buffer side_by_side(contents.fields.size() * bytes);
    for (std::size_t k = 0; k < contents.fields.size(); ++k)
      std::memcpy(side_by_side.data() + k * bytes, contents.fields[k].data(), bytes);
    return side_by_side;
  });
  nb::list checksums;
  for (const auto& [where, results] : contents.checks) {
    if (verify) require_verified(where, results);
    checksums.append(to_dict(results));
  }
  if (verify) require_no_fault(path, fault);
  nb::dict info;
  info["format"] = to_string(header->format);
  info["dataset"] = header->dataset;
  info["lattice"] = header->extents;
  info["precision"] = to_string(header->precision);
  info["fields"] = to_dict(header->fields);
  info["checksums"] = checksums;
  info["fault"] = or_none(fault);
  return nb::make_tuple(to_array(std::move(numbers), {contents.fields.size()}, header->extents, {3}), info);
}

void write_vector_file(const std::string& path, const ComplexArray& vectors, const std::string& name,
                       const Text& format, const Text& precision, bool force, int compress) {
  const VectorFormat chosen = format ? parse_vector_output(*format) : vector_output_by_name(path);
  without_interpreter([&] {
    const std::vector<VectorField> fields =
        views<ColorVector<double>>(whole_lattice(extents_of(vectors, 1)), vectors.data(), vectors.shape(0));
    write_vectors(Communicator(), path, name, fields, precision ? parse_precision(*precision) : usual_precision(chosen),
                  {}, replacing(force, compress), chosen);
  });
}

NumpyArray generate(const std::optional<Extents>& lattice, const std::string& start, double beta, int sweeps,
                    int overrelaxation, std::uint64_t seed, int save_every, const Text& save_as, const Text& output,
                    const Text& format, const Text& precision, const std::string& device, bool force,
                    const nb::object& progress) {
  ChainRequest request;
  request.extents = lattice;
  request.start = start;
  request.heatbath = {beta, seed, overrelaxation};
  request.sweeps = sweeps;
  request.save_every = save_every;
  request.save_as = save_as;
  request.output = output;
  request.device = device;
  request.force = force;
  const std::string name = output.value_or(save_as.value_or(""));
  request.format = format ? parse_gauge_format(*format) : gauge_format_by_name(name).value_or(GaugeFormat::hdf5);
  request.precision = precision ? parse_precision(*precision) : usual_precision(request.format, Precision::fp64);
  std::ostream nowhere(nullptr);
  Extents extents{};
  Buffer numbers = without_interpreter([&] {
    const LinkField links = run_chain(Communicator(), request, nowhere, [&](int done) {
      check_interrupt();
      if (progress.is_none()) return;
      const nb::gil_scoped_acquire interpreter;
      progress(done, sweeps);
    });
    extents = links.lattice().global();
    return copied(links.data(), std::size_t(links.bytes()));
  });
  return to_array(std::move(numbers), {}, extents, {4, 3, 3});
}

}  // namespace

void add_file_functions(nb::module_& module) {
  module.def("read_gauge", &read_gauge_file, nb::arg("path"), nb::arg("verify"), nb::arg("dataset").none(),
             nb::arg("kyu").none(), nb::arg("lattice").none(), nb::arg("probe"));
  module.def("write_gauge", &write_gauge_file, nb::arg("path"), nb::arg("links"), nb::arg("format").none(),
             nb::arg("precision").none(), nb::arg("force"), nb::arg("compress"));
  module.def("generate", &generate, nb::arg("lattice").none(), nb::arg("start"), nb::arg("beta"), nb::arg("sweeps"),
             nb::arg("overrelaxation"), nb::arg("seed"), nb::arg("save_every"), nb::arg("save_as").none(),
             nb::arg("output").none(), nb::arg("format").none(), nb::arg("precision").none(), nb::arg("device"),
             nb::arg("force"), nb::arg("progress").none());
  module.def("read_vectors", &read_vector_file, nb::arg("path"), nb::arg("verify"), nb::arg("probe"));
  module.def("write_vectors", &write_vector_file, nb::arg("path"), nb::arg("vectors"), nb::arg("name"),
             nb::arg("format").none(), nb::arg("precision").none(), nb::arg("force"), nb::arg("compress"));
}

}  // namespace staghorn::python
