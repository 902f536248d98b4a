#include "python/native_session.hpp"

#include "halo/error.hpp"
#include "solver/propagator_observables.hpp"
#include "solver/sources.hpp"

namespace staghorn::python {

namespace nb = nanobind;

namespace {

Session make_session(const Communicator& communicator, const std::variant<std::string, ComplexArray>& gauge,
                     const SessionOptions& options) {
  if (const auto* path = std::get_if<std::string>(&gauge)) return Session(communicator, *path, options);
  const ComplexArray& links = std::get<ComplexArray>(gauge);
  const Lattice lattice = whole_lattice(extents_of(links, 0), options.loopback);
  return Session(communicator, copy_to_field<Links>(lattice, links.data()), options);
}

std::vector<VectorField> copy_to_vectors(const Lattice& lattice, const ComplexArray& array, const char* what) {
  const Extents found = extents_of(array, 1);
  if (found != lattice.global()) throw Error(what, "lattice " + to_string(lattice.global()), to_string(found));
  std::vector<VectorField> fields;
  const std::size_t numbers = std::size_t(lattice.local_volume()) * 3;
  for (std::size_t i = 0; i < array.shape(0); ++i)
    fields.push_back(copy_to_field<ColorVector<double>>(lattice, array.data() + i * numbers));
  return fields;
}

// Lets Ctrl-C stop a long solve: asks the interpreter every few iterations.
void check_interrupt(const CgProgress& progress) {
  if (progress.iteration % 16 != 0) return;
  const nb::gil_scoped_acquire interpreter;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace

NativeSession::NativeSession(std::shared_ptr<Process> process, const std::variant<std::string, ComplexArray>& gauge,
                             const SessionOptions& options)
    : process_(std::move(process)), session_(make_session(process_->communicator, gauge, options)) {}

NumpyArray NativeSession::links() const {
  return copy_to_array<Links>({&session_.links()}, session_.lattice().global(), {4, 3, 3}, false);
}

std::pair<NumpyArray, std::string> NativeSession::solve(const SolveRequest& request,
                                                        const std::variant<std::string, ComplexArray>& source,
                                                        const std::string& color, int noise_vectors,
                                                        const std::optional<ComplexArray>& guess) {
  const Lattice& lattice = session_.lattice();
  const Communicator& communicator = session_.communicator();
  SourceSpec spec;
  SourceSet sources;
  std::vector<VectorField> solutions;
  SolveReport report;
  {
    const nb::gil_scoped_release others_may_run;
    if (const auto* words = std::get_if<std::string>(&source)) {
      spec = parse_source(*words);
      sources = make_sources(communicator, lattice, spec, parse_color(color), noise_vectors);
    } else {
      sources.fields = copy_to_vectors(lattice, std::get<ComplexArray>(source), "source");
      sources.colors.assign(sources.fields.size(), -1);
    }
    if (guess)
      solutions = copy_to_vectors(lattice, *guess, "guess");
    else
      solutions.assign(sources.fields.size(), VectorField(lattice));
    if (solutions.size() != sources.fields.size())
      throw Error("guess", std::to_string(sources.fields.size()) + " vectors", std::to_string(solutions.size()));
    report = session_.solve(request, sources.fields, solutions, check_interrupt);
    report.source = std::holds_alternative<std::string>(source) ? to_string(spec) : "array";
    for (std::size_t i = 0; i < sources.colors.size(); ++i) report.rhs[i].color = sources.colors[i];
    if (request.system == System::full && std::holds_alternative<std::string>(source)) {
      if (spec.has_color() && solutions.size() == 3) report.pion_correlator = pion_correlator(communicator, solutions);
      if (spec.is_noise()) report.condensate = estimate_condensate(communicator, sources.fields, solutions);
    }
  }
  std::vector<const VectorField*> fields;
  for (const VectorField& field : solutions) fields.push_back(&field);
  return {copy_to_array<ColorVector<double>>(fields, lattice.global(), {3}, true), to_json(report)};
}

}  // namespace staghorn::python
