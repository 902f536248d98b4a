#include "solver/session/certify/certify_files.hpp"

#include <cmath>

#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "lattice_io/vectors/vector_file.hpp"
#include "solver/session/certify/certify.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

namespace {

// What files of vectors say of their numbers, and of checksums.
struct FilesRead {
  Precision stored = Precision::fp64;  // the lowest
  std::vector<std::string> unverified;

  void take(const Communicator& communicator, const std::string& path) {
    const std::optional<VectorHeader> header = find_vectors(communicator, path);
    if (header && header->precision != Precision::fp64) stored = header->precision;
  }
};

}  // namespace

void check_certify_request(const CertifyRequest& request) {
  if (request.mass && !(*request.mass >= 0 && std::isfinite(*request.mass)))
    throw Error("mass", "a number of at least 0", *request.mass);
  if (request.tolerance && !(*request.tolerance > 0 && *request.tolerance < 1))
    throw Error("tolerance", "a relative residual between 0 and 1", *request.tolerance);
}

CertifyReport certify_files(const Communicator& all, const CertifyFiles& files) {
  check_certify_request(files.request);
  const Stopwatch reading;
  CertifyRequest request = files.request;
  request.quarks = files.session.quarks;
  SessionOptions options = files.session;
  options.device = "cpu";
  if (!options.quarks.stored()) options.quarks = {};  // thin links, of which all actions are made
  Session session(all, files.gauge, options);
  const Communicator& ranks = session.communicator();
  FilesRead read;
  std::vector<std::string>* const unverified = options.no_verify ? &read.unverified : nullptr;
  const std::vector<VectorField> solutions =
      read_vectors(ranks, files.solution, "solution", session.lattice(), unverified);
  read.take(ranks, files.solution);
  const SourceSet sources = make_sources(ranks, session.lattice(), files.source, options.no_verify);
  if (files.source.spec.kind == SourceKind::file) read.take(ranks, files.source.spec.path);
  request.stored = read.stored;
  read.unverified.insert(read.unverified.end(), sources.unverified.begin(), sources.unverified.end());
  const double seconds = ranks.max(reading.seconds());
  CertifyReport report = certify(session, request, solutions, sources.fields);
  report.seconds["read"] = seconds;
  report.solution = files.solution;
  report.source = in_words(files.source);
  report.unverified = read.unverified;
  return report;
}

}  // namespace staghorn
