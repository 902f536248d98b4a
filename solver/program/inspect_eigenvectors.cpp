#include "solver/program/inspect_eigenvectors.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "dirac/fields/plain_algebra.hpp"
#include "halo/cut_lattice.hpp"
#include "lattice_io/files/header_text.hpp"
#include "solver/program/inspect_vectors.hpp"

namespace staghorn {

using Json = nlohmann::ordered_json;

namespace {

// The largest | |v|^2 - 1 | over all vectors.
double departure_from_norm(const Communicator& communicator, const EigenvectorHeader& header, bool no_verify) {
  VectorField v(cut_lattice(communicator, header.extents));
  double largest = 0;
  read_each_eigenvector(
      communicator, header, v.lattice(), no_verify, [&](std::int64_t) -> VectorField& { return v; },
      [&](std::int64_t) { largest = std::max(largest, std::fabs(norm2(communicator, v, Parity::even) - 1)); });
  return largest;
}

}  // namespace

void inspect_eigenvectors(const Communicator& communicator, const EigenvectorHeader& header, bool as_json,
                          bool no_verify, std::ostream& out) {
  const double departure = departure_from_norm(communicator, header, no_verify);
  if (as_json) {
    out << Json{{"file", header.path},
                {"holds", "eigenvectors"},
                {"format", to_string(header.format)},
                {"lattice", header.extents},
                {"precision", to_string(header.precision)},
                {"pairs", header.count()},
                {"values", header.values},
                {"residuals", header.residuals},
                {"values_have_checksum", !is_milc(header.format)},
                {"departure_from_norm", departure},
                {"intact", !no_verify},
                {"header", header.fields}}
               .dump(2, ' ', false, Json::error_handler_t::replace)
        << "\n";
    return;
  }
  out << header.path << "\n  format      " << to_string(header.format) << ", " << to_string(header.precision)
      << "\n  lattice     " << to_string(header.extents) << "  (X x Y x Z x T)\n  eigenpairs  " << header.count()
      << " of -D^2 on even sites, from " << shortest_digits(header.values.front()) << " to "
      << shortest_digits(header.values.back())
      << (is_milc(header.format) ? ", as the file says: no checksum covers them, a solve finds them anew" : "") << "\n";
  if (!header.residuals.empty())
    out << "  residuals   up to "
        << shortest_digits(*std::max_element(header.residuals.begin(), header.residuals.end()))
        << ", as the file says\n";
  out << "  norms       | |v|^2 - 1 | <= " << shortest_digits(departure) << "\n  checksums   "
      << (no_verify ? "not looked at" : "match") << "\n  header\n";
  print_fields(out, header.fields);
}

}  // namespace staghorn
