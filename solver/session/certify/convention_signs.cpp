#include "solver/session/certify/convention_signs.hpp"

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"

namespace staghorn {

int convention_sign(const Convention& convention, const Coordinates& x) {
  const Coordinates& origin = convention.origin;
  // eta^cps_mu(x - o) = (-1)^(sum_{nu < mu} o_nu) eta^cps_mu(x), and phase_change leads from there to other phases.
  // Only parities count, so x + o stands for x - o.
  Coordinates moved{};
  int exponent = 0, before = 0;
  for (int mu = 0; mu < 4; ++mu) {
    moved[mu] = x[mu] + origin[mu];
    exponent += before * x[mu];
    before += origin[mu];
  }
  if (phase_change(convention.phases, moved) < 0) ++exponent;
  if (convention.boundary.theta[3] == 1 && x[3] < origin[3]) ++exponent;
  if (convention.adjoint) exponent += x[0] + x[1] + x[2] + x[3];
  return exponent & 1 ? -1 : 1;
}

VectorField in_our_signs(const Convention& convention, const VectorField& given) {
  VectorField v = given;
  const Lattice& lattice = v.lattice();
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < v.size(); ++site) {
    if (convention_sign(convention, lattice.to_global(lattice.site_coordinates(site))) > 0) continue;
    for (Complex<double>& c : v[site].c) c = {-c.re, -c.im};
  }
  if (convention.parity) clear_parity(v, opposite(*convention.parity));
  return v;
}

ColorMatrix<double> read_as(LinkReading reading, const ColorMatrix<double>& link) {
  if (reading == LinkReading::as_stored) return link;
  if (reading == LinkReading::daggered) return adjoint(link);
  ColorMatrix<double> result{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      result.e[i][j] = reading == LinkReading::transposed ? link.e[j][i] : conjugate(link.e[i][j]);
  return result;
}

ReadLinks::ReadLinks(const OperatorLinks& links, LinkReading reading) : given_(links) {
  if (reading == LinkReading::as_stored) return;
  const auto copy = [&](const LinkField& stored, std::optional<LinkField>& read) {
    read.emplace(stored);
#pragma omp parallel for schedule(static)
    for (std::int64_t site = 0; site < read->size(); ++site)
      for (ColorMatrix<double>& link : (*read)[site]) link = read_as(reading, link);
  };
  copy(links.near, near_);
  if (links.naik) copy(*links.naik, naik_);
}

OperatorLinks ReadLinks::links() const {
  if (!near_) return given_;
  return naik_ ? OperatorLinks(*near_, *naik_, given_.naik_scale) : OperatorLinks(*near_);
}

}  // namespace staghorn
