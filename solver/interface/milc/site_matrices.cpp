// What MILC asks of its links and momenta site by site: the action of momenta, and links projected onto SU(3).
#include <quda_milc_interface.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "dirac/gauge/link_deviation.hpp"
#include "dirac/gauge/unitary_projection.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/milc/milc_call.hpp"
#include "solver/interface/milc/site_fields.hpp"

namespace staghorn::milc {

namespace {

using Matrix = ColorMatrix<double>;

// Of the four of a site: sum of |m01|^2 + |m02|^2 + |m12|^2 + (m00^2 + m11^2 + m22^2) / 2 - 4. Less 4, the mean is near
// 0.
double momentum_action(const double* reals) {
  double sum = 0;
  for (const double* m = reals; m < reals + 40; m += 10) {
    double complex_part = 0, diagonal = 0;
    for (int k = 0; k < 6; ++k) complex_part += m[k] * m[k];
    for (int k = 6; k < 9; ++k) diagonal += m[k] * m[k];
    sum += complex_part + diagonal / 2 - 4;
  }
  return sum;
}

// No link that has no projection.
constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

STAGHORN_INLINE void change_sign(Matrix& u) {
  for (auto& row : u.e)
    for (Complex<double>& element : row) element = {-element.re, -element.im};
}

// Projects U onto SU(3), or -U, and changes the sign back, if `signed_links` and the determinant says so. False: there
// is no such matrix.
STAGHORN_INLINE bool project(Matrix& u, bool signed_links, double tolerance) {
  const bool turned = signed_links && determinant(u).re < 0;
  if (turned) change_sign(u);
  const UnitaryProjection nearest = project_unitary(u);
  if (!(determinant(u).re > 0) || !(nearest.singular[2] > 0)) return false;
  u = without_determinant_phase(nearest.unitary);
  double unitarity = 0, determinant_deviation = 0;
  grow_deviations2(u, unitarity, determinant_deviation);
  if (turned) change_sign(u);
  return unitarity <= tolerance * tolerance;
}

// The links of the sites from `begin` to `end`. Returns 4 site + direction of the first that has no projection.
STAGHORN_FMA_CLONES
std::int64_t project_sites(const SiteField& links, bool signed_links, double tolerance, std::int64_t begin,
                           std::int64_t end) {
  for (std::int64_t site = begin; site < end; ++site) {
    std::array<Matrix, 4> at{};
    double reals[72];
    static_assert(sizeof at == sizeof reals);
    links.read(std::size_t(site), reals);
    std::memcpy(&at, reals, sizeof reals);
    for (std::int64_t mu = 0; mu < 4; ++mu)
      if (!project(at[std::size_t(mu)], signed_links, tolerance)) return 4 * site + mu;
    std::memcpy(reals, &at, sizeof reals);
    links.write(std::size_t(site), reals);
  }
  return none;
}

// 4 times the number of the site in the lattice, x fastest, + direction, from the same in MILC's order on this rank.
std::int64_t global_link(std::int64_t link) {
  const std::array<int, 4> local = host().local_extents(), first = host().first_site(), global = host().extents();
  const std::int64_t half = std::int64_t(local[0]) * local[1] * local[2] * local[3] / 2;
  std::int64_t left = 2 * (link / 4 % half), parity = link / 4 / half;
  std::array<std::int64_t, 4> x{};
  for (std::size_t mu = 0; mu < 4; ++mu) {
    x[mu] = left % local[mu];
    left /= local[mu];
  }
  x[0] += (x[0] + x[1] + x[2] + x[3] + parity) % 2;
  std::int64_t site = 0;
  for (std::size_t mu = 4; mu-- > 0;) site = site * global[mu] + first[mu] + x[mu];
  return 4 * site + link % 4;
}

std::string text_of_link(std::int64_t link) {
  std::int64_t site = link / 4;
  std::string text = "a link in direction ";
  text += "xyzt"[link % 4];
  for (std::size_t mu = 0; mu < 4; ++mu) {
    const int extent = host().extents()[mu];
    text += (mu == 0 ? " at (" : ", ") + std::to_string(site % extent);
    site /= extent;
  }
  return text + ")";
}

constexpr std::int64_t sites_at_a_time = 256;

void project_links(const SiteField& links, double tolerance, bool signed_links) {
  constexpr double always_met = 1e-14;
  if (!(tolerance >= 0)) throw Error("tolerance", "a number of at least 0", tolerance);
  const auto sites = std::int64_t(host().local_sites());
  std::int64_t bad = none;
#pragma omp parallel for reduction(min : bad)
  for (std::int64_t site = 0; site < sites; site += sites_at_a_time)
    bad = std::min(bad, project_sites(links, signed_links, std::max(tolerance, always_met), site,
                                      std::min(sites, site + sites_at_a_time)));
  bad = host().smallest(bad == none ? none : global_link(bad));
  if (bad != none) throw Error("links", "matrices that have one of SU(3) near them", text_of_link(bad));
}

double action_of_momenta(const SiteField& momenta) {
  std::vector<double> actions(host().local_sites());
#pragma omp parallel for
  for (std::size_t site = 0; site < actions.size(); ++site) {
    double reals[40];
    momenta.read(site, reals);
    actions[site] = momentum_action(reals);
  }
  double sum = 0;
  require(staghorn_site_sum(host().context(), actions.data(), &sum));
  return sum;
}

}  // namespace

}  // namespace staghorn::milc

using namespace staghorn::milc;

double qudaMomAction(int precision, QudaMILCSiteArg_t* arg) {
  double action = 0;
  run_timed("qudaMomAction", [&] { action = action_of_momenta(SiteField::momenta(precision, arg)); });
  return action;
}

void qudaUnitarizeSU3Phased(int precision, double tolerance, QudaMILCSiteArg_t* arg, int phase_in) {
  run_timed("qudaUnitarizeSU3Phased",
            [&] { project_links(SiteField::links(precision, arg), tolerance, phase_in != 0); });
}

void qudaUnitarizeSU3(int precision, double tolerance, QudaMILCSiteArg_t* arg) {
  run_timed("qudaUnitarizeSU3", [&] { project_links(SiteField::links(precision, arg), tolerance, false); });
}
