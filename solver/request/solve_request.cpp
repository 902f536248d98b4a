#include "solver/request/solve_request.hpp"

#include <algorithm>

#include "halo/named_choice.hpp"

namespace staghorn {

namespace {

constexpr NamedChoice<System, 3> systems{"system",
                                         {{{System::full, "full"}, {System::even, "even"}, {System::odd, "odd"}}}};
constexpr NamedChoice<PhaseConvention, 2> phase_conventions{
    "phases", {{{PhaseConvention::cps, "cps"}, {PhaseConvention::milc, "milc"}}}};
constexpr NamedChoice<Blas, 2> blas_choices{"blas", {{{Blas::fused, "fused"}, {Blas::cublas, "cublas"}}}};
constexpr NamedChoice<CertificatePlace, 3> certificate_choices{
    "certificate",
    {{{CertificatePlace::automatic, "auto"}, {CertificatePlace::host, "host"}, {CertificatePlace::device, "device"}}}};
constexpr NamedChoice<EigenvectorPlace, 3> eigenvector_places{
    "eigenvectors_on",
    {{{EigenvectorPlace::automatic, "auto"}, {EigenvectorPlace::device, "device"}, {EigenvectorPlace::host, "host"}}}};

}  // namespace

std::string to_string(System system) { return systems.name(system); }
System parse_system(const std::string& text) { return systems.parse(text); }

std::string to_string(PhaseConvention phases) { return phase_conventions.name(phases); }
PhaseConvention parse_phase_convention(const std::string& text) { return phase_conventions.parse(text); }

std::string to_string(Blas blas) { return blas_choices.name(blas); }
Blas parse_blas(const std::string& text) { return blas_choices.parse(text); }
std::string to_string(CertificatePlace place) { return certificate_choices.name(place); }
CertificatePlace parse_certificate_place(const std::string& text) { return certificate_choices.parse(text); }
std::string to_string(EigenvectorPlace place) { return eigenvector_places.name(place); }
EigenvectorPlace parse_eigenvector_place(const std::string& text) { return eigenvector_places.parse(text); }

Reconstruct iterated_links(const SessionOptions& options) {
  if (options.quarks.improved()) return options.fat_links;
  return options.sloppy ? options.sloppy_links.value_or(Reconstruct::row12) : options.links;
}

Reconstruct iterated_naik_links(const SessionOptions& options) {
  return options.sloppy ? options.sloppy_naik_links.value_or(Reconstruct::u3_13) : options.naik_links;
}

std::string describe_numbers(const SessionOptions& options) {
  const bool improved = options.quarks.improved();
  std::string precision = to_string(options.precision);
  std::string links = to_string(improved ? options.fat_links : options.links), naik = to_string(options.naik_links);
  if (options.sloppy) {
    precision += "/" + to_string(*options.sloppy);
    if (!improved) links += "/" + to_string(iterated_links(options));
    naik += "/" + to_string(iterated_naik_links(options));
  }
  if (!improved) return precision + ", " + links + " reals a link";
  return precision + ", " + links + " reals a fat link, " + naik + " reals a Naik link";
}

std::string limit_text(const SolveRequest& request) {
  return request.max_iterations ? std::to_string(*request.max_iterations) : "none";
}

bool need_thin_links(const SolveRequest& request) {
  return std::any_of(request.mesons.begin(), request.mesons.end(), [](const MesonRequest& meson) {
    return meson.sink.shifts() != 0 || (meson.current && meson.current->links == CurrentLinks::thin);
  });
}

std::vector<double> masses_of(const SolveRequest& request) {
  return request.masses.empty() ? std::vector{request.mass} : request.masses;
}

std::vector<EpsilonGroup> epsilon_groups(const SolveRequest& request, double own) {
  std::vector<EpsilonGroup> groups{{own, {}}};
  for (std::size_t k = 0; k < request.masses.size(); ++k) {
    const double epsilon = request.naik_epsilons.empty() ? own : request.naik_epsilons[k].value_or(own);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.epsilon == epsilon; });
    if (group == groups.end()) group = groups.insert(group, {epsilon, {}});
    group->masses.push_back(k);
  }
  if (groups[0].masses.empty()) groups.erase(groups.begin());
  return groups;
}

int most_masses_together(const SolveRequest& request, double own) {
  std::size_t most = 1;
  for (const EpsilonGroup& group : epsilon_groups(request, own)) most = std::max(most, group.masses.size());
  return int(most);
}

double tolerance_in_force(const SolveRequest& request, Precision precision) {
  return request.tolerance.value_or(precision == Precision::fp64 ? 1e-10 : 1e-5);
}

}  // namespace staghorn
