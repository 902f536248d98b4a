#include "solver/session/certify/certify_input.hpp"

#include <cmath>
#include <utility>

#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "lattice_io/vectors/vector_file.hpp"
#include "solver/session/certify/certify.hpp"
#include "solver/session/session.hpp"
#include "solver/session/source_operators.hpp"

namespace staghorn {

namespace {

// The lower of a precision and that of the numbers in a file.
Precision lower(const Communicator& communicator, Precision stored, const std::string& path) {
  const std::optional<VectorHeader> header = find_vectors(communicator, path);
  return header && header->precision != Precision::fp64 ? header->precision : stored;
}

void require_on(const Lattice& lattice, const std::vector<VectorField>& fields, const char* name) {
  for (const VectorField& field : fields)
    if (!(field.lattice() == lattice))
      throw Error(ErrorKind::layout, std::string(name) + ": lattice", to_string(lattice.global()),
                  to_string(field.lattice().global()));
}

}  // namespace

CertifyInput input_of_options(const SolveOptions& options, const std::set<std::string>& named) {
  CertifyInput input;
  input.session = options.session;
  input.source = options.source;
  CertifyRequest& request = input.request;
  if (named.contains("mass")) request.mass = options.request.mass;
  if (named.contains("system")) request.system = options.request.system;
  request.phases = options.request.phases;
  request.tolerance = options.request.tolerance;
  if (request.mass && !(*request.mass >= 0 && std::isfinite(*request.mass)))
    throw Error("mass", "a number of at least 0", *request.mass);
  if (request.tolerance && !(*request.tolerance > 0 && *request.tolerance < 1))
    throw Error("tolerance", "a relative residual between 0 and 1", *request.tolerance);
  return input;
}

CertifyReport certify(const Communicator& all, CertifyInput input) {
  const Stopwatch reading;
  CertifyRequest request = input.request;
  request.quarks = input.session.quarks;
  SessionOptions options = input.session;
  options.device = "cpu";
  if (!options.quarks.stored()) options.quarks = {};  // thin links, of which all actions are made
  Session session = input.links ? Session(all, std::move(*input.links), options) : Session(all, input.gauge, options);
  const Communicator& ranks = session.communicator();
  std::vector<std::string> texts;
  std::vector<std::string>* const unverified = options.no_verify ? &texts : nullptr;
  if (!input.solution.empty()) {
    input.solutions = read_vectors(ranks, input.solution, "solution", session.lattice(), unverified);
    request.stored = lower(ranks, request.stored, input.solution);
  }
  const SourceSpec& spec = input.source.spec;
  const bool in_file = spec.kind == SourceKind::file;
  if (!in_file || !spec.path.empty()) {
    SourceSet set = make_sources(ranks, session.lattice(), input.source, options.no_verify,
                                 source_operators(session, request.phases));
    texts.insert(texts.end(), set.unverified.begin(), set.unverified.end());
    input.sources = std::move(set.fields);
    if (in_file) request.stored = lower(ranks, request.stored, spec.path);
  }
  require_on(session.lattice(), input.solutions, "solution");
  require_on(session.lattice(), input.sources, "source");
  const double seconds = ranks.max(reading.seconds());
  CertifyReport report = certify(session, request, input.solutions, input.sources);
  report.seconds["read"] = seconds;
  report.solution = input.solution;
  report.source = in_words(input.source);
  report.unverified = texts;
  return report;
}

}  // namespace staghorn
