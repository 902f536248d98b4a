#include "solver/request/eigen_request.hpp"

#include <cmath>
#include <string>

#include "halo/watch/error.hpp"
#include "solver/request/option_text.hpp"

namespace staghorn {

namespace {

// Rounding in fp64 leaves about 1e-15, and in fp32 4e-7.
double least_tolerance(Precision precision) { return precision == Precision::fp64 ? 1e-16 : 1e-6; }

}  // namespace

void check_eigen_request(const EigenRequest& request, const SessionOptions& options) {
  if (request.pairs < 1 || request.pairs > EigenRequest::most_pairs)
    throw Error("pairs", "a number from 1 to " + std::to_string(EigenRequest::most_pairs), request.pairs);
  const double least = least_tolerance(options.precision);
  if (!(request.tolerance >= least && request.tolerance < 1))
    throw Error("tolerance",
                "a number from " + option_text(least) + " to 1 in " + to_string(options.precision) +
                    ", on residuals over the largest eigenvalue",
                request.tolerance);
  request.check_checkpoint();
  if (request.max_calls < 1) throw Error("max_calls", "a number of at least 1", request.max_calls);
  if (request.interval_from && !(*request.interval_from > 0))
    throw Error("interval_from", "an eigenvalue above 0", *request.interval_from);
  if (request.degree && (*request.degree < 1 || *request.degree > 1000))
    throw Error("degree", "a number from 1 to 1000", *request.degree);
}

void check_eigen_request(const EigenRequest& request, const Extents& lattice) {
  const std::int64_t dimension = 3 * volume(lattice) / 2;
  if (request.pairs > dimension)
    throw Error("pairs",
                "at most " + std::to_string(dimension) + ", the dimension of even sites of " + to_string(lattice),
                request.pairs);
}

}  // namespace staghorn
