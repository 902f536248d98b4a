#include "solver/request/solve_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "dirac/fields/cuda_plain_vectors.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "dirac/fields/vector_shape.hpp"
#include "dirac/kernels/vector_kernels.hpp"
#include "halo/transport/transport_table.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

constexpr int most_masses = max_shifts + 1;
constexpr double smallest_mass = 1e-15, largest_mass = 1e15;

std::string name_of(const char* what, std::size_t rhs) { return std::string(what) + " " + std::to_string(rhs); }

bool is_finite(const ColorVector<double>& v) {
  bool finite = true;
  for (const Complex<double>& c : v.c) finite = finite && std::isfinite(c.re) && std::isfinite(c.im);
  return finite;
}

std::int64_t first_not_finite(const VectorField& field) {
  if (field.space() == MemorySpace::cuda) return cuda_first_not_finite(field.data(), field.lattice().local(), -1);
  std::int64_t first = field.size();
#pragma omp parallel for schedule(static) reduction(min : first)
  for (std::int64_t site = 0; site < field.size(); ++site)
    if (!is_finite(field[site])) first = std::min(first, site);
  return first;
}

// Throws Error where `field` has a number that is not finite. Local.
void require_finite_here(const std::string& name, const VectorField& field) {
  const std::int64_t site = first_not_finite(field);
  if (site == field.size()) return;
  const Lattice& lattice = field.lattice();
  const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
  throw Error(name, "finite numbers",
              "NaN or infinity at x,y,z,t = " + std::to_string(x[0]) + "," + std::to_string(x[1]) + "," +
                  std::to_string(x[2]) + "," + std::to_string(x[3]));
}

void require_finite(const Communicator& communicator, const char* what, std::span<const VectorField> fields) {
  communicator.agree([&] {
    for (std::size_t rhs = 0; rhs < fields.size(); ++rhs) require_finite_here(name_of(what, rhs), fields[rhs]);
  });
}

// |b|^2 on the sites of the system, where it may be zero only if that is allowed. Collective.
double source_norm2(const Communicator& communicator, System system, const std::string& name, const VectorField& source,
                    bool zero_is_allowed) {
  const std::optional<Parity> parity = sites_of(system);
  const double b2 = norm2(communicator, source, parity);
  if (!std::isfinite(b2)) return std::numeric_limits<double>::infinity();
  if (b2 != 0) return b2;
  const bool all_zero = is_zero(communicator, source);
  if (!all_zero && !(parity && !communicator.any(!is_zero_on(*parity, source))))
    return std::numeric_limits<double>::denorm_min();
  if (!zero_is_allowed)
    throw Error(name, std::string("something else than zero") + (parity ? " on " + to_string(system) + " sites" : ""),
                all_zero ? "zero at every site" : "a source that lives on the other parity only");
  return 0;
}

// Whether there is such a transport at all: where faces travel, choose_transport asks for one that this build has.
void require_transport(const std::string& name) {
  if (name == "auto") return;
  std::string names;
  for (const TransportKind* kind : transport_table()) {
    if (kind->name == name) return;
    names += std::string(names.empty() ? "" : ", ") + kind->name;
  }
  throw Error("transport", "auto or one of " + names, "'" + name + "'");
}

}  // namespace

std::optional<Parity> sites_of(System system) {
  if (system == System::full) return std::nullopt;
  return system == System::even ? Parity::even : Parity::odd;
}

void check_options(const SessionOptions& options) {
  const std::string precision = to_string(options.precision);
  if (options.precision == Precision::fp16) throw Error("precision", "fp64 or fp32", precision);
  const std::string sloppy = options.sloppy_auto ? "auto" : options.sloppy ? to_string(*options.sloppy) : "none";
  if (options.sloppy && (*options.sloppy == Precision::fp64 || options.precision != Precision::fp64))
    throw Error("sloppy", "fp32 or fp16 below precision fp64", sloppy + " below " + precision);
  if (!(options.coarse_tolerance > 0 && options.coarse_tolerance <= 0.5))
    throw Error("coarse_tolerance", "a number above 0, at most 0.5", options.coarse_tolerance);
  if (options.coarse_block && !options.coarse)
    throw Error("coarse_block", "with `coarse`, whose blocks they are", "none");
  for (const auto& [name, form] :
       {std::pair{"sloppy_links", options.sloppy_links}, std::pair{"sloppy_naik_links", options.sloppy_naik_links}})
    if (form && !options.sloppy) throw Error(name, "a sloppy precision, whose links they are", "none");
  require_transport(options.transport);
  check_action(options.quarks);
  const bool improved = options.quarks.improved();
  if (improved && (options.links != Reconstruct::none18 ||
                   options.sloppy_links.value_or(Reconstruct::none18) != Reconstruct::none18))
    throw Error(options.links == Reconstruct::none18 ? "sloppy_links" : "links",
                "18 reals a fat link, which is not unitary (`naik_links` says how Naik links are stored)",
                to_string(options.links == Reconstruct::none18 ? *options.sloppy_links : options.links));
  if (!improved && (options.naik_links != Reconstruct::none18 || options.sloppy_naik_links))
    throw Error(options.sloppy_naik_links ? "sloppy_naik_links" : "naik_links",
                "improved quarks (`action` asqtad or hisq, or `fat` and `naik`), whose links they are", "naive ones");
  if (options.quarks.stored() && options.dataset)
    throw Error("dataset", "thin links, whose name it is", "`fat` and `naik`");
  if (options.quarks.stored() && options.reunitarize)
    throw Error("reunitarize", "thin links, which can be projected onto SU(3)", "links from files");
  if (options.eigenpairs && !options.eigenvectors)
    throw Error("eigenpairs", "`eigenvectors`, the file that they are written to", "none");
  if (options.blas == Blas::cublas && options.sloppy)
    throw Error("`blas` cublas", "no sloppy precision, as it is the plain baseline", "sloppy " + sloppy);
}

void check_request(const SolveRequest& request, Precision precision) {
  const bool full = request.system == System::full;
  if (request.rational && full) throw Error("rational", "`system` even or odd, on which -D^2 acts", "full");
  const bool several = !request.masses.empty();
  if (request.masses.size() > std::size_t(most_masses))
    throw Error("masses", "at most " + std::to_string(most_masses), request.masses.size());
  for (const double mass : several ? request.masses : std::vector{request.mass}) {
    const char* const name = several ? "masses" : "mass";
    if (!std::isfinite(mass) || mass < 0 || (full && mass == 0))
      throw Error(name, full ? "a number above 0 for the full system" : "a number of at least 0", mass);
    if (full && mass < smallest_mass)
      throw Error(name, "at least 1e-15 for the full system, whose odd half is divided by 2m", mass);
    if (mass > largest_mass) throw Error(name, "at most 1e15, as D is less than the rounding of a larger 2m", mass);
  }
  if (request.rational_parts && !request.rational) throw Error("rational_parts", "a `rational` function", "none");
  request.check(tolerance_in_force(request, precision));
  if (request.stop == StopOn::parity && (several || request.rational))
    throw Error("stop", "on the system, with several masses or a rational function", "on its parity system");
  if (!request.naik_epsilons.empty() && request.naik_epsilons.size() != request.masses.size())
    throw Error("naik_epsilons", std::to_string(request.masses.size()) + ", one for each mass",
                request.naik_epsilons.size());
  for (const std::optional<double>& epsilon : request.naik_epsilons)
    if (epsilon && !std::isfinite(*epsilon)) throw Error("masses", "a finite epsilon", *epsilon);
  if (!request.tolerances.empty() && request.tolerances.size() != request.masses.size())
    throw Error("tolerances", std::to_string(request.masses.size()) + ", one for each mass", request.tolerances.size());
  for (const double of_mass : request.tolerances)
    if (!(of_mass >= 0 && of_mass < 1)) throw Error("tolerances", "relative residuals from 0 to below 1", of_mass);
  if (request.max_iterations && *request.max_iterations < 0)
    throw Error("max_iterations", "a number of at least 0", *request.max_iterations);
  request.check_checkpoint();
  if (several || request.rational)
    for (const auto& [name, is_set] :
         {std::pair{"chronological", request.chronological > 0}, std::pair{"recover", request.recover}})
      if (is_set) throw Error(name, "a single `mass`", "several");
}

void check_epsilons(const SolveRequest& request, const SessionOptions& options) {
  const QuarkAction& quarks = options.quarks;
  for (const std::optional<double>& epsilon : request.naik_epsilons) {
    if (!epsilon) continue;
    if (quarks.action != Action::hisq || quarks.stored())
      throw Error("masses", "no epsilon, which belongs to HISQ links that are made from thin ones", *epsilon);
    if (*epsilon != quarks.naik_epsilon.value_or(0) && !options.keep_thin_links)
      throw Error("masses", "the epsilon of the links, or links with `keep_thin_links`", *epsilon);
  }
}

void check_low_modes(const SolveRequest& request, bool any_eigenvectors, std::span<const SourceRequest> sources) {
  if (!request.exact_low_modes) return;
  if (request.system != System::full) throw Error("exact_low_modes", "the full system", to_string(request.system));
  if (!request.naik_epsilons.empty()) throw Error("exact_low_modes", "masses of one epsilon", "several");
  if (!any_eigenvectors) throw Error("exact_low_modes", "`eigenvectors`, which hold them", "none");
  std::string found;
  for (const SourceRequest& source : sources) {
    if (source.has_low_part()) return;
    found += (found.empty() ? "" : "; ") + in_words(source);
  }
  if (!sources.empty())
    throw Error("exact_low_modes",
                "a noise source, as z2:1, or a point or wall with all three colours, without operators, whose "
                "condensate or correlator they are a part of",
                found);
}

bool keeps_thin_links(const SessionOptions& options) {
  return !options.quarks.improved() || (options.keep_thin_links && !options.quarks.stored());
}

void check_mesons(const SolveRequest& request, bool thin_links, std::span<const SourceRequest> sources) {
  const bool any_colors = sources.empty() || std::any_of(sources.begin(), sources.end(),
                                                         [](auto& source) { return source.has_all_colors(); });
  if (!request.baryons.empty()) {
    if (request.system != System::full) throw Error("baryons", "the full system", to_string(request.system));
    if (!any_colors)
      throw Error("baryons", "a point or wall with all three colours among the sources", in_words(sources.front()));
  }
  if (request.mesons.empty()) {
    if (!request.pairs.empty()) throw Error("pairs", "`mesons`, whose sources they are", "none");
    return;
  }
  if (request.system != System::full) throw Error("mesons", "the full system", to_string(request.system));
  std::string found;
  for (const SourceRequest& source : sources) found += (found.empty() ? "" : "; ") + in_words(source);
  for (const SourcePair& pair : request.pairs)
    for (const int number : {pair.antiquark, pair.quark}) {
      if (sources.empty()) continue;
      if (std::size_t(number) >= sources.size())
        throw Error("pairs", "numbers of sources from 0 to " + std::to_string(sources.size() - 1), number);
      const SourceRequest& source = sources[std::size_t(number)];
      if (!source.has_all_colors() && source.spec.kind != SourceKind::file)
        throw Error("pairs", "points and walls with all three colours, or files", in_words(source));
    }
  if (request.pairs.empty() && !any_colors)
    throw Error("mesons", "a point or wall with all three colours among the sources", found);
  if (need_thin_links(request) && !thin_links)
    throw Error("mesons", "thin links for operators with shifts (`keep_thin_links` keeps those of asqtad and HISQ)",
                "fat and Naik links");
}

void check_fields(const Communicator& communicator, const Lattice& lattice, std::span<const VectorField> sources,
                  std::span<const VectorField> guesses, std::size_t n_masses) {
  if (sources.empty()) throw Error("sources", "at least one right-hand side", "none");
  if (sources.size() > max_rhs)
    throw Error("sources",
                "at most " + std::to_string(max_rhs) + " right-hand sides at once (`batch` solves some at a time)",
                sources.size());
  if (n_masses * sources.size() != guesses.size())
    throw Error(
        "solutions",
        std::to_string(n_masses * sources.size()) + " fields, one for each source" + (n_masses > 1 ? " and mass" : ""),
        guesses.size());
  communicator.agree([&] {
    for (std::span<const VectorField> fields : {sources, guesses})
      for (const VectorField& field : fields)
        if (!(field.lattice() == lattice))
          throw Error("sources and solutions", "fields on " + to_string(lattice.global()) + " cut as the links are",
                      to_string(field.lattice().global()) + ", grid " + to_string(field.lattice().grid()));
  });
  require_finite(communicator, "source", sources);
  require_finite(communicator, "initial guess", guesses);
}

std::vector<double> source_norms2(const Communicator& communicator, System system, std::span<const VectorField> sources,
                                  bool zero_is_allowed) {
  std::vector<double> result;
  for (std::size_t rhs = 0; rhs < sources.size(); ++rhs)
    result.push_back(source_norm2(communicator, system, name_of("source", rhs), sources[rhs], zero_is_allowed));
  return result;
}

double require_source(const Communicator& communicator, const std::string& name, const VectorField& source,
                      System system) {
  communicator.agree([&] { require_finite_here(name, source); });
  return source_norm2(communicator, system, name, source, false);
}

}  // namespace staghorn
