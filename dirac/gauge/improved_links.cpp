#include "dirac/gauge/improved_links.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "dirac/gauge/cuda_improved_links.hpp"
#include "dirac/gauge/plaquette_paths.hpp"
#include "dirac/gauge/unitary_projection.hpp"
#include "halo/available_memory.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

using Matrix = ColorMatrix<double>;

// Work for one thread at a time.
constexpr std::int64_t sites_per_slab = 128;

template <class Work>
void for_slabs(std::int64_t sites, const Work& work) {
#pragma omp parallel for schedule(static)
  for (std::int64_t begin = 0; begin < sites; begin += sites_per_slab)
    work(begin, std::min(sites, begin + sites_per_slab));
}

STAGHORN_FMA_CLONES
void scale_direction(const LinkField& links, int mu, double weight, MatrixField& out, std::int64_t begin,
                     std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x) out[x] = scaled_link(weight, links[x][mu]);
}

STAGHORN_FMA_CLONES
void add_direction(const MatrixField& m, int mu, LinkField& out, std::int64_t begin, std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x) add_path(out[x][mu], m[x]);
}

STAGHORN_FMA_CLONES
void add_ahead(const LinkField& links, const NeighbourSites<Matrix>& ahead, const NeighbourSites<Links>& ahead_mu,
               int nu, MatrixField& out, std::int64_t begin, std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x) add_path_ahead(out[x], links[x][nu], ahead[x], ahead_mu[x][nu]);
}

STAGHORN_FMA_CLONES
void make_behind(const LinkField& links, const MatrixField& m, const NeighbourSites<Links>& ahead_mu, int nu,
                 MatrixField& behind, std::int64_t begin, std::int64_t end) {
  for (std::int64_t y = begin; y < end; ++y) behind[y] = path_behind(links[y][nu], m[y], ahead_mu[y][nu]);
}

STAGHORN_FMA_CLONES
void add_behind(const NeighbourSites<Matrix>& behind, MatrixField& out, std::int64_t begin, std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x) add_path(out[x], behind[x]);
}

STAGHORN_FMA_CLONES
void multiply_ahead(const LinkField& links, const NeighbourSites<Links>& ahead, int mu, LinkField& out,
                    std::int64_t begin, std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x) out[x][mu] = links[x][mu] * ahead[x][mu];
}

STAGHORN_FMA_CLONES
void project(LinkField& links, Unitarize unitarize, ProjectionExtremes& met, std::int64_t begin, std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x)
    for (int mu = 0; mu < 4; ++mu) {
      const UnitaryProjection p = project_unitary(links[x][mu]);
      if (!(p.singular[2] > 0) && met.bad_link < 0) {
        met.bad_link = 4 * x + mu;
        std::copy(p.singular, p.singular + 3, met.bad);
      }
      met.singular = std::min(met.singular, p.singular[2]);
      met.determinant = std::min(met.determinant, p.singular[0] * p.singular[1] * p.singular[2]);
      links[x][mu] = unitarize == Unitarize::u3 ? p.unitary : without_determinant_phase(p.unitary);
    }
}

// One direction mu of the links, and how paths around it are made. `work` is overwritten.
class Smearing {
 public:
  Smearing(const Communicator& communicator, const LinkField& links, int mu, MatrixField& work)
      : communicator_(communicator), links_(links), mu_(mu), ahead_mu_(communicator, links, mu, +1), work_(work) {}

  // m = weight U_mu
  void set_link(double weight, MatrixField& m) const {
    for_slabs(m.size(), [&](auto begin, auto end) { scale_direction(links_, mu_, weight, m, begin, end); });
  }

  // out(x) += U_nu(x) m(x+nu) U_nu(x+mu)^dagger
  void add_staple_ahead(const MatrixField& m, int nu, MatrixField& out) const {
    const NeighbourSites<Matrix> ahead(communicator_, m, nu, +1);
    for_slabs(m.size(), [&](auto begin, auto end) { add_ahead(links_, ahead, ahead_mu_, nu, out, begin, end); });
  }

  // out(x) += U_nu(x-nu)^dagger m(x-nu) U_nu(x-nu+mu)
  void add_staple_behind(const MatrixField& m, int nu, MatrixField& out) const {
    for_slabs(m.size(), [&](auto begin, auto end) { make_behind(links_, m, ahead_mu_, nu, work_, begin, end); });
    const NeighbourSites<Matrix> behind(communicator_, work_, nu, -1);
    for_slabs(m.size(), [&](auto begin, auto end) { add_behind(behind, out, begin, end); });
  }

  void add_staples(const MatrixField& m, int nu, MatrixField& out) const {
    add_staple_ahead(m, nu, out);
    add_staple_behind(m, nu, out);
  }

 private:
  const Communicator& communicator_;
  const LinkField& links_;
  int mu_;
  NeighbourSites<Links> ahead_mu_;
  MatrixField& work_;
};

}  // namespace

SmearingWeights fat7_weights() { return {1. / 8, 1. / 16, 1. / 64, 1. / 384, 0}; }

SmearingWeights hisq_weights(double epsilon) { return {1 + epsilon / 8, 1. / 16, 1. / 64, 1. / 384, -1. / 8}; }

SmearingWeights asqtad_weights(double u0) {
  const double u2 = u0 * u0, u4 = u2 * u2;
  return {5. / 8, 1 / (16 * u2), 1 / (64 * u4), 1 / (384 * u4 * u2), -1 / (16 * u4)};
}

double hisq_naik_weight(double epsilon) { return -(1 + epsilon) / 24; }
double asqtad_naik_weight(double u0) { return -1 / (24 * u0 * u0); }

// Sums over staples are linear, so that paths of 3, 5 and 7 links are nested sums around growing sums:
//
//   F = one U + sum_a S_a( three U + sum_b S_b( five U + S_c( seven U ) ) ) + lepage (straight paths),   a, b, c, mu
//   all different, where S_nu is the sum of both staples in nu.
LinkField smeared_links(const Communicator& communicator, const LinkField& links, const SmearingWeights& weights) {
  const Lattice& lattice = links.lattice();
  const bool staples = weights.three != 0 || weights.five != 0 || weights.seven != 0;
  LinkField result(lattice);
  // Made once: fresh pages take a fifth of the time.
  MatrixField sum(lattice), third(lattice), fifth(lattice), seventh(lattice), work(lattice);
  for (int mu = 0; mu < 4; ++mu) {
    const Smearing around(communicator, links, mu, work);
    around.set_link(weights.one, sum);
    around.set_link(weights.seven, seventh);
    for (int a = 0; a < 4; ++a) {
      if (a == mu) continue;
      if (staples) {
        around.set_link(weights.three, third);
        for (int b = 0; b < 4; ++b) {
          if (b == mu || b == a) continue;
          around.set_link(weights.five, fifth);
          around.add_staples(seventh, 6 - mu - a - b, fifth);
          around.add_staples(fifth, b, third);
        }
        around.add_staples(third, a, sum);
      }
      if (weights.lepage == 0) continue;
      MatrixField ahead(lattice), behind(lattice);
      MatrixField& straight = third;
      around.set_link(weights.lepage, straight);
      around.add_staple_ahead(straight, a, ahead);
      around.add_staple_ahead(ahead, a, sum);
      around.add_staple_behind(straight, a, behind);
      around.add_staple_behind(behind, a, sum);
    }
    for_slabs(result.size(), [&](auto begin, auto end) { add_direction(sum, mu, result, begin, end); });
  }
  return result;
}

LinkField three_link_products(const Communicator& communicator, const LinkField& links) {
  LinkField two(links.lattice()), three(links.lattice());
  for (int mu = 0; mu < 4; ++mu) {
    const NeighbourSites<Links> ahead(communicator, links, mu, +1);
    for_slabs(two.size(), [&](auto begin, auto end) { multiply_ahead(links, ahead, mu, two, begin, end); });
    const NeighbourSites<Links> two_ahead(communicator, two, mu, +1);
    for_slabs(two.size(), [&](auto begin, auto end) { multiply_ahead(links, two_ahead, mu, three, begin, end); });
  }
  return three;
}

ProjectionReport project_links(const Communicator& communicator, LinkField& links, Unitarize unitarize) {
  ProjectionExtremes all;
  for_slabs(links.size(), [&](std::int64_t begin, std::int64_t end) {
    ProjectionExtremes met;
    project(links, unitarize, met, begin, end);
#pragma omp critical(staghorn_project_links)
    {
      all.singular = std::min(all.singular, met.singular);
      all.determinant = std::min(all.determinant, met.determinant);
      if (met.bad_link >= 0 && (all.bad_link < 0 || met.bad_link < all.bad_link)) {
        all.bad_link = met.bad_link;
        std::copy(met.bad, met.bad + 3, all.bad);
      }
    }
  });
  return agree_on_projection(communicator, links.lattice(), all);
}

ProjectionReport agree_on_projection(const Communicator& communicator, const Lattice& lattice,
                                     const ProjectionExtremes& met) {
  communicator.agree([&] {
    if (met.bad_link < 0) return;
    const Coordinates at = lattice.to_global(lattice.site_coordinates(met.bad_link / 4));
    std::ostringstream found;
    found << "singular values " << met.bad[0] << ", " << met.bad[1] << ", " << met.bad[2];
    throw Error("smeared link at site " + std::to_string(at[0]) + "," + std::to_string(at[1]) + "," +
                    std::to_string(at[2]) + "," + std::to_string(at[3]) + " in direction " + "xyzt"[met.bad_link % 4],
                "a matrix of rank three, to be projected onto U(3)", found.str());
  });
  return {-communicator.max(-met.singular), -communicator.max(-met.determinant)};
}

MemorySpace space_for_links(const Communicator& communicator, const Lattice& lattice, int cuda_device) {
  return space_for_bytes(communicator, cuda_improved_links_bytes(lattice), cuda_device);
}

MemorySpace space_for_bytes(const Communicator& communicator, double bytes, int cuda_device) {
  if (!communicator.any(cuda_device >= 0)) return MemorySpace::host;
  const AvailableMemory available = available_memory(communicator, cuda_device);
  const bool fits = cuda_device >= 0 && bytes <= std::min(available.device, available.device_limit);
  return communicator.any(!fits) ? MemorySpace::host : MemorySpace::cuda;
}

ImprovedLinks asqtad_links(const Communicator& communicator, const LinkField& thin, double u0, MemorySpace where) {
  if (!(u0 > 0 && std::isfinite(u0))) throw Error("tadpole factor u0", "a number above 0", u0);
  if (where == MemorySpace::cuda)
    return cuda_improved_links(communicator, thin, std::nullopt, asqtad_weights(u0), asqtad_naik_weight(u0));
  return {smeared_links(communicator, thin, asqtad_weights(u0)), three_link_products(communicator, thin),
          asqtad_naik_weight(u0)};
}

ImprovedLinks hisq_links(const Communicator& communicator, const LinkField& thin, double epsilon, Unitarize unitarize,
                         MemorySpace where) {
  if (!std::isfinite(epsilon)) throw Error("naik_epsilon", "a finite number", epsilon);
  if (where == MemorySpace::cuda)
    return cuda_improved_links(communicator, thin, unitarize, hisq_weights(epsilon), hisq_naik_weight(epsilon));
  LinkField w = smeared_links(communicator, thin, fat7_weights());
  const ProjectionReport report = project_links(communicator, w, unitarize);
  return {smeared_links(communicator, w, hisq_weights(epsilon)), three_link_products(communicator, w),
          hisq_naik_weight(epsilon), report.smallest_singular, report.smallest_determinant};
}

#ifndef STAGHORN_CUDA
ImprovedLinks cuda_improved_links(const Communicator&, const LinkField&, const std::optional<Unitarize>&,
                                  const SmearingWeights&, double) {
  throw Error("this build of Staghorn has no smearing on GPUs");
}
double cuda_improved_links_bytes(const Lattice&) { return 0; }
#endif

}  // namespace staghorn
