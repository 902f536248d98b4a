#include "solver/interface/solves/solve_calls.hpp"

#include <algorithm>
#include <cstring>

#include "dirac/operators/plain_operator.hpp"
#include "halo/watch/arithmetic.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/solves/operator_conventions.hpp"
#include "solver/interface/solves/request_fields.hpp"
#include "solver/interface/statuses.hpp"
#include "solver/interface/structs.hpp"
#include "solver/request/solve_checks.hpp"

namespace staghorn {

namespace {

constexpr double not_computed = -1;

// v(x) = (-1)^(x+y+z+t) v(x), in place.
void alternate(VectorField& v) {
  HostVectors plain;
  plain.space = v.space();
  VectorSigns signs;
  signs.alternating = true;
  read_vector(plain, signs, std::nullopt, v.data(), v);
}

// Whether vectors of fp32 hold a solution of this squared norm: no number overflows, and what underflows is below 1e-10
// of the norm on up to 10^12 sites.
bool fits_fp32(double norm2) { return norm2 == 0 || (norm2 > 1e-56 && norm2 < 1e76); }

}  // namespace

void SolveArguments::read(Asked& asked, const staghorn_request* request_given, const staghorn_vectors* vectors_given,
                          const HeldGauge& held, OptionsOf whose) {
  const Context& context = *held.context->context;
  request = read_struct(request_given, "request");
  layout = read_struct(vectors_given, "vectors");
  check(request);
  check(layout);
  asked.add("gauge", held.number);
  add(asked, request);
  options = options_of(request, held.asked, held.gauge->links().improved() != nullptr);
  const std::map<std::string, std::string> texts = texts_of(request.words);
  set_texts(options, texts, whose);
  asked.add("request.words", in_one_line(texts).c_str());
  if (system() != System::full) options.request.stop = StopOn::system;  // both are the same
  scale_heavy_quarks(options.request, source_scale(request, system()));
  asked.add("vectors.phases", layout.phases);
  asked.add("staghorn_eigenpairs_use", held.gauge->eigenpairs().are_used());
  host = vectors_of_host(layout, context.field_device());
  signs = signs_of_host(layout, &held.signs);
  check_half(layout, sites());
  space = host.space;
  if (held.gauge->options().certificate == CertificatePlace::device &&
      can_be_staged(host, context.lattice().local(), sites().has_value()))
    space = MemorySpace::cuda;
}

void SolveArguments::require_own_memory(const HeldGauge& held, const Memory& given, CallMemory all) const {
  const Extents& local = held.context->context->lattice().local();
  const auto pointers = [&](const char* name, const auto* first, int n) {
    all.reads(name, FieldBytes::of_array(first, std::size_t(n) * sizeof *first));
  };
  all.reads("request", FieldBytes::of_array(given.request, given.request->struct_size));
  all.reads("vectors", FieldBytes::of_array(given.vectors, given.vectors->struct_size));
  pointers("b", given.b, given.n_b);
  pointers("x", given.x, given.n_x);
  pointers("dx", given.dx, given.n_dx);
  for (int i = 0; i < given.n_b; ++i) all.reads("b", bytes_of(host, local, sites(), given.b[i]), i);
  for (int i = 0; i < given.n_x; ++i) all.writes("x", bytes_of(host, local, sites(), given.x[i]), i);
  for (int i = 0; i < given.n_dx; ++i) all.writes("dx", bytes_of(host, local, others(), given.dx[i]), i);
  all.writes("results", given.results);
  staghorn::require_own_memory(all);
}

std::optional<Parity> SolveArguments::sites() const { return sites_of(system()); }

std::optional<Parity> SolveArguments::others() const {
  return sites() ? std::optional(opposite(*sites())) : std::nullopt;
}

VectorSigns SolveArguments::of_sources() const { return signs_of_sources(request, system(), signs); }
VectorSigns SolveArguments::of_solutions() const { return signs_of_solutions(request, system(), signs); }

HostResults::HostResults(staghorn_result* first) : first_(first) {
  check_pointer("results", first);
  check_written_size(first->struct_size, first_size<staghorn_result>, "results[0]");
}

void HostResults::put(int i, staghorn_result result) const {
  const std::size_t size = first_->struct_size;
  write_struct(reinterpret_cast<char*>(first_) + std::size_t(i) * size, size, result);
}

staghorn_result result_of(const SolveArguments& arguments, RhsReport& rhs, double b2, bool stopped) {
  const double scale = source_scale(arguments.request, arguments.system());
  const auto sites = arguments.sites();
  staghorn_result result{};
  result.solution_norm2 = !sites ? rhs.norm2 : *sites == Parity::even ? rhs.norm2_even : rhs.norm2_odd;
  if (arguments.host.real == HostReal::fp32 && rhs.outcome == Outcome::certified && !fits_fp32(result.solution_norm2)) {
    rhs.outcome = Outcome::stagnated;
    rhs.digits_lost = true;
  }
  result.status = status_of(rhs.outcome);
  if (stopped && rhs.outcome == Outcome::out_of_iterations) result.status = STAGHORN_STOPPED;
  result.residual_hq = rhs.residual_hq / scale;
  result.iterations = rhs.iterations;
  result.iterations_more = rhs.iterations_more.value_or(0);
  result.updates = std::int64_t(rhs.updates.size());
  result.residual_iterated = rhs.residual_iterated;
  result.residual_true = rhs.residual_true;
  result.residual_parity = sites                         ? rhs.residual_true
                           : arguments.stops_on_parity() ? rhs.residual_parity.value_or(0)
                                                         : not_computed;
  result.source_norm2 = b2 / (scale * scale);
  return result;
}

bool is_withheld(const Communicator& all, const staghorn_request& request) {
  bool wanted = false;
  try {
    const HostArithmetic arithmetic;
    wanted = request.withhold && request.withhold(request.withhold_data) != 0;
  } catch (...) {  // of a host in C++: the other ranks wait
    wanted = true;
  }
  return all.any(wanted);
}

void give_hop(HeldGauge& held, const SolveArguments& arguments, VectorField& x, VectorField& dx, void* to) {
  const Communicator& all = held.context->context->communicator();
  if (arguments.of_solutions().alternating) all.agree([&] { alternate(x); });
  Gauge& gauge = *held.gauge;
  std::optional<OperatorLinks> links;
  all.agree([&] { links.emplace(gauge.bench().plain_links(x.space())); });
  plain_hop(all, *links, gauge.options().boundary, dx, x, arguments.others());
  all.agree([&] { held.staged.write(arguments.host, arguments.signs, arguments.others(), dx, to); });
}

void log_warnings(HeldContext& context, const SolveReport& report) {
  const staghorn_options& options = context.options;
  if (!options.log) return;
  const HostArithmetic arithmetic;
  for (const std::string& warning : transport_warnings(report.transports))
    if (context.logged.insert(warning).second) options.log(options.log_data, 0, warning.c_str());
}

}  // namespace staghorn
