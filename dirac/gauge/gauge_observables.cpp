#include "dirac/gauge/gauge_observables.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/gauge/cuda_links.hpp"
#include "dirac/gauge/link_deviation.hpp"
#include "dirac/gauge/plaquette_paths.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

using Matrix = ColorMatrix<double>;

// The fields one step ahead in each direction.
using AheadLinks = std::array<NeighbourSites<Links>, 4>;

// The traces of the plaquettes that start at the sites from `begin` to `end`, summed over planes.
STAGHORN_FMA_CLONES
void sum_plaquettes(const LinkField& links, const AheadLinks& ahead, double* space, double* time, std::int64_t begin,
                    std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x) {
    const Links& here = links[x];
    const Links* ahead_of[4]{};
    for (int mu = 0; mu < 4; ++mu) ahead_of[mu] = &ahead[mu][x];
    space[x] = time[x] = 0;
    for (int mu = 0; mu < 4; ++mu)
      for (int nu = mu + 1; nu < 4; ++nu)
        (nu == 3 ? time : space)[x] +=
            real_trace_plaquette(here[mu], (*ahead_of[mu])[nu], here[nu], (*ahead_of[nu])[mu]);
  }
}

// The largest deviations of the links of a site; NaN stays NaN.
STAGHORN_FMA_CLONES
void deviations2(const Links& links, double& unitarity, double& determinant_deviation) {
  for (const Matrix& u : links) grow_deviations2(u, unitarity, determinant_deviation);
}

// product = U_mu(x) ahead(x), P(x+mu) seen from x
STAGHORN_FMA_CLONES
void multiply_ahead(const LinkField& links, int mu, const NeighbourSites<Matrix>& ahead, MatrixField& product,
                    std::int64_t begin, std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x) product[x] = links[x][mu] * ahead[x];
}

// product = U_mu(x)^dagger P(x), which x+mu sees
STAGHORN_FMA_CLONES
void multiply_behind(const LinkField& links, int mu, const MatrixField& from, MatrixField& product, std::int64_t begin,
                     std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x) product[x] = adjoint(links[x][mu]) * from[x];
}

STAGHORN_FMA_CLONES
void project(Links& links) {
  for (Matrix& u : links) project_su3(u);
}

// How many sites a thread works on at a time: few enough for balance, many enough to cost nothing.
constexpr std::int64_t sites_at_a_time = 256;

}  // namespace

// One pass over the links. Of the sites ahead, only those along t are no longer in a cache.
Plaquette plaquette(const Communicator& communicator, const LinkField& links) {
  const std::int64_t n = links.size();
  SiteField<double> space(links.lattice()), time(links.lattice());
  const AheadLinks ahead = {
      NeighbourSites<Links>(communicator, links, 0, +1), NeighbourSites<Links>(communicator, links, 1, +1),
      NeighbourSites<Links>(communicator, links, 2, +1), NeighbourSites<Links>(communicator, links, 3, +1)};
#pragma omp parallel for
  for (std::int64_t x = 0; x < n; x += sites_at_a_time) {
    sum_plaquettes(links, ahead, space.data(), time.data(), x, std::min(n, x + sites_at_a_time));
    made_progress();
  }
  return mean_plaquette(communicator, links.lattice(), {space.data(), std::size_t(n)}, {time.data(), std::size_t(n)});
}

Plaquette mean_plaquette(const Communicator& communicator, const Lattice& lattice, std::span<const double> space,
                         std::span<const double> time) {
  // Three planes of each kind, three colours.
  const double count = 9.0 * double(lattice.global_volume());
  Plaquette result;
  result.space = exact_sum(communicator, space) / count;
  result.time = exact_sum(communicator, time) / count;
  result.all = (result.space + result.time) / 2;
  return result;
}

namespace {

// The mean of numbers of sites over sites and colours.
std::complex<double> mean_trace(const Communicator& communicator, const SiteField<double>& re,
                                const SiteField<double>& im, double traces_a_site) {
  const std::size_t n = std::size_t(re.size());
  const double count = 3 * traces_a_site * double(re.lattice().global_volume());
  return {exact_sum(communicator, {re.data(), n}) / count, exact_sum(communicator, {im.data(), n}) / count};
}

void require_closed(const Lattice& lattice, std::span<const std::int32_t> path) {
  std::array<std::int64_t, 4> at{};
  for (const std::int32_t step : path) {
    if (step < -4 || step > 3) throw Error(ErrorKind::argument, "step of a path", "-4 to 3", step);
    step < 0 ? --at[std::size_t(-1 - step)] : ++at[std::size_t(step)];
  }
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (at[mu] % lattice.global()[mu] != 0)
      throw Error(ErrorKind::argument, "path", "one that ends where it begins",
                  std::to_string(at[mu]) + " steps in direction " + "xyzt"[mu]);
}

}  // namespace

// From the last step to the first: P becomes the product of the links that are left, at the site where they begin.
std::complex<double> loop_trace(const Communicator& communicator, const LinkField& links,
                                std::span<const std::int32_t> path) {
  communicator.agree([&] { require_closed(links.lattice(), path); });
  const std::int64_t n = links.size();
  MatrixField product(links.lattice()), next(links.lattice());
#pragma omp parallel for
  for (std::int64_t x = 0; x < n; ++x) product[x] = identity_matrix<double>();
  for (std::size_t left = path.size(); left-- > 0;) {
    const bool forward = path[left] >= 0;
    const int mu = forward ? path[left] : -1 - path[left];
    if (forward) {
      const NeighbourSites<Matrix> ahead(communicator, product, mu, +1);
#pragma omp parallel for
      for (std::int64_t x = 0; x < n; x += sites_at_a_time)
        multiply_ahead(links, mu, ahead, next, x, std::min(n, x + sites_at_a_time));
    } else {
#pragma omp parallel for
      for (std::int64_t x = 0; x < n; x += sites_at_a_time)
        multiply_behind(links, mu, product, next, x, std::min(n, x + sites_at_a_time));
      next = shifted(communicator, next, mu, -1);
    }
    std::swap(product, next);
    made_progress();
  }
  SiteField<double> re(links.lattice()), im(links.lattice());
#pragma omp parallel for
  for (std::int64_t x = 0; x < n; ++x) {
    const Complex<double> t = trace(product[x]);
    re[x] = t.re;
    im[x] = t.im;
  }
  return mean_trace(communicator, re, im, 1);
}

std::complex<double> link_trace(const Communicator& communicator, const LinkField& links) {
  SiteField<double> re(links.lattice()), im(links.lattice());
#pragma omp parallel for
  for (std::int64_t x = 0; x < links.size(); ++x)
    for (int mu = 0; mu < 4; ++mu) {
      const Complex<double> t = trace(links[x][mu]);
      re[x] += t.re;
      im[x] += t.im;
    }
  return mean_trace(communicator, re, im, 4);
}

namespace {

// On the host.
Deviations2 largest_deviations2(const LinkField& links) {
  Deviations2 largest;
#pragma omp parallel
  {
    Deviations2 mine;
#pragma omp for nowait
    for (std::int64_t x = 0; x < links.size(); ++x) deviations2(links[x], mine.unitarity, mine.determinant);
#pragma omp critical(staghorn_check_unitarity)
    {
      grow(largest.unitarity, mine.unitarity);
      grow(largest.determinant, mine.determinant);
    }
  }
  return largest;
}

}  // namespace

UnitarityCheck check_unitarity(const Communicator& communicator, const LinkField& links) {
  Deviations2 largest;
  communicator.agree([&] {
    largest = links.space() == MemorySpace::cuda ? cuda_largest_deviations2(links) : largest_deviations2(links);
  });
  UnitarityCheck check;
  check.max_deviation = std::sqrt(communicator.max(largest.unitarity));  // the root of the largest is the largest root
  check.max_determinant_deviation = std::sqrt(communicator.max(largest.determinant));
  check.finite = std::isfinite(check.max_deviation) && std::isfinite(check.max_determinant_deviation);
  return check;
}

void reunitarize(LinkField& links) {
  if (links.space() == MemorySpace::cuda) return cuda_reunitarize(links);
#pragma omp parallel for
  for (std::int64_t x = 0; x < links.size(); ++x) project(links[x]);
}

#ifndef STAGHORN_CUDA
namespace {
[[noreturn]] void refuse() { throw Error("this build of Staghorn has no links on GPUs"); }
}  // namespace

Deviations2 cuda_largest_deviations2(const LinkField&) { refuse(); }
void cuda_set_hot(LinkField&, std::uint64_t) { refuse(); }
void cuda_reunitarize(LinkField&) { refuse(); }
void cuda_scale_directions(LinkField&, const std::array<double, 4>&) { refuse(); }
#endif

}  // namespace staghorn
