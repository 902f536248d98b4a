#include "solver/interface/solves/solve_calls.hpp"

#include <utility>

#include "dirac/fields/plain_algebra.hpp"
#include "halo/watch/arithmetic.hpp"
#include "solver/interface/solves/request_fields.hpp"
#include "solver/interface/structs.hpp"
#include "solver/request/solve_checks.hpp"

namespace staghorn {

namespace {

constexpr double not_computed = -1;

// Whether vectors of fp32 hold any vector of this squared norm: no number overflows, and what underflows is below 1e-10
// of the norm on up to 10^12 sites.
bool fits_fp32(double norm2) { return norm2 == 0 || (norm2 > 1e-56 && norm2 < 1e76); }

// Twice what rounding to fp32 takes from a vector at most.
constexpr double largest_share_lost = 0x1p-23;

}  // namespace

void SolveArguments::read(Asked& asked, const staghorn_request* request_given, const staghorn_vectors* vectors_given,
                          const HeldGauge& held, OptionsOf whose) {
  request = read_struct(request_given, "request");
  check(request);
  vectors = VectorsArgument(vectors_given, "vectors", held.context->context->field_device(), &held.signs);
  add(asked, request);
  options = options_of(request, whose, held.asked, held.gauge->links().improved() != nullptr);
  asked.add("vectors.phases", vectors.given.phases);
  asked.add("staghorn_eigenpairs_use", held.gauge->eigenpairs().are_used());
  const System system = options.request.system;
  sites = sites_of(system);
  if (sites) others = opposite(*sites);
  check_half(vectors.given, sites);
  of_solutions = vectors.signs;
  of_solutions.alternating = flips(request, system);
  of_sources = of_solutions;
  source_scale = staghorn::source_scale(request, system);
  of_sources.factor = 1 / source_scale;
  space = vectors.host.space;
  if (held.gauge->options().certificate == CertificatePlace::device &&
      can_be_staged(vectors.host, held.lattice().local(), sites.has_value()))
    space = MemorySpace::cuda;
}

staghorn_result result_of(const SolveArguments& arguments, const RhsReport& rhs, double b2, bool stopped) {
  const auto sites = arguments.sites;
  staghorn_result result{};
  result.solution_norm2 = !sites ? rhs.norm2 : *sites == Parity::even ? rhs.norm2_even : rhs.norm2_odd;
  result.status = status_of(rhs.outcome);
  if (stopped && rhs.outcome == Outcome::out_of_iterations) result.status = STAGHORN_STOPPED;
  result.residual_hq = rhs.residual_hq / arguments.source_scale;
  result.iterations = rhs.iterations;
  result.iterations_more = rhs.iterations_more.value_or(0);
  result.updates = std::int64_t(rhs.updates.size());
  result.residual_iterated = rhs.residual_iterated;
  result.residual_true = rhs.residual_true;
  result.residual_parity = sites                         ? rhs.residual_true
                           : arguments.stops_on_parity() ? rhs.residual_parity.value_or(0)
                                                         : not_computed;
  result.source_norm2 = b2 / (arguments.source_scale * arguments.source_scale);
  return result;
}

bool is_held(const Communicator& communicator, HostReal real, std::optional<Parity> sites, const VectorField& x,
             const std::function<VectorField&()>& back) {
  if (real != HostReal::fp32) return true;
  const double x2 = norm2(communicator, x, sites);
  if (fits_fp32(x2)) return true;
  VectorField& lost = back();
  add(lost, -1, x);
  return norm2(communicator, lost, sites) <= largest_share_lost * largest_share_lost * x2;
}

void tell_not_held(RhsReport& rhs) {
  if (rhs.outcome != Outcome::certified) return;
  rhs.outcome = Outcome::stagnated;
  rhs.digits_lost = true;
}

void keep_report(HeldContext& context, SolveReport report) {
  const staghorn_options& options = context.options;
  if (options.log) {
    const HostArithmetic arithmetic;
    for (const std::string& warning : transport_warnings(report.transports))
      if (context.logged.insert(warning).second) options.log(options.log_data, 0, warning.c_str());
  }
  context.report = [report = std::move(report)] { return to_json(report); };
}

}  // namespace staghorn
