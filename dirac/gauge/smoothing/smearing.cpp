#include "dirac/gauge/smoothing/smearing.hpp"

#include <vector>

#include "dirac/gauge/improved_links.hpp"
#include "dirac/gauge/smoothing/link_paths.hpp"
#include "dirac/gauge/smoothing/rimmed_links.hpp"
#include "dirac/gauge/smoothing/site_slabs.hpp"

namespace staghorn {

namespace {

// A staple of a link in direction nu: its sides and its top are links of these fields.
struct Staple {
  int nu;
  LinkView sides, top;
};

// result = (1 - alpha) U_mu + weight sum of staples
STAGHORN_FMA_CLONES
void blend(const Rims& rims, const LinkField& links, int mu, double alpha, double weight,
           const std::vector<Staple>& staples, LinkField& result, SiteSlab slab) {
  for (std::int64_t x = slab.begin; x < slab.end; ++x) {
    const std::int64_t place = rims.place(x);
    ColorMatrix<double> sum{}, blended = scaled_link(1 - alpha, links[x][std::size_t(mu)]);
    for (const Staple& staple : staples) add_staples(sum, staple.sides, staple.top, place, mu, staple.nu);
    add_scaled(blended, weight, sum);
    result[x][std::size_t(mu)] = blended;
  }
}

// Smears the links of direction mu, not yet projected. Two staples in each direction share alpha.
void smear_direction(const Rims& rims, const LinkField& links, int mu, double alpha, const std::vector<Staple>& staples,
                     LinkField& result) {
  const double weight = alpha / double(2 * staples.size());
  for_slabs(links.size(), [&](SiteSlab slab) { blend(rims, links, mu, alpha, weight, staples, result, slab); });
}

// The links of direction mu as they were.
void keep_direction(const LinkField& links, int mu, LinkField& result) {
  for_slabs(links.size(), [&](SiteSlab slab) {
    for (std::int64_t x = slab.begin; x < slab.end; ++x) result[x][std::size_t(mu)] = links[x][std::size_t(mu)];
  });
}

// A field of smeared links for each direction, with rims.
struct Level {
  std::vector<LinkField> fields;
  std::vector<RimmedLinks> rimmed;

  LinkView view(int which) const { return rimmed[std::size_t(which)].view(); }
};

// Field `which` of a level has the links of all other directions, smeared with the staples that staples_of(which, mu)
// names. Its own direction keeps the links as they are.
template <class StaplesOf>
Level make_level(const Communicator& communicator, const Rims& rims, const LinkField& links, double alpha,
                 const StaplesOf& staples_of) {
  Level level;
  level.fields.assign(4, links);
  for (int which = 0; which < 4; ++which) {
    LinkField& field = level.fields[std::size_t(which)];
    for (int mu = 0; mu < 4; ++mu)
      if (mu != which) smear_direction(rims, links, mu, alpha, staples_of(which, mu), field);
    project_links(communicator, field, Unitarize::su3);
  }
  for (const LinkField& field : level.fields) level.rimmed.emplace_back(communicator, rims, field);
  return level;
}

}  // namespace

LinkField ape_smeared(const Communicator& communicator, const LinkField& links, double alpha, int directions) {
  const Rims rims(links.lattice(), 1);
  const RimmedLinks rimmed(communicator, rims, links);
  LinkField result = links;
  for (int mu = 0; mu < directions; ++mu) {
    std::vector<Staple> staples;
    for (int nu = 0; nu < directions; ++nu)
      if (nu != mu) staples.push_back({nu, rimmed.view(), rimmed.view()});
    smear_direction(rims, links, mu, alpha, staples, result);
  }
  project_links(communicator, result, Unitarize::su3);
  for (int mu = directions; mu < 4; ++mu) keep_direction(links, mu, result);
  return result;
}

LinkField hyp_smeared(const Communicator& communicator, const LinkField& links, const std::array<double, 3>& alpha) {
  const Rims rims(links.lattice(), 1);
  const RimmedLinks thin(communicator, rims, links);
  // first[nu]: V_mu smeared with staples in nu alone.
  const Level first = make_level(communicator, rims, links, alpha[2], [&](int nu, int) {
    return std::vector<Staple>{{nu, thin.view(), thin.view()}};
  });
  // second[nu]: V_mu smeared with staples in the two directions rho other than nu and mu. They are made of links that
  // are smeared in the fourth direction.
  const Level second = make_level(communicator, rims, links, alpha[1], [&](int nu, int mu) {
    std::vector<Staple> staples;
    for (int rho = 0; rho < 4; ++rho) {
      const int fourth = 6 - mu - nu - rho;
      if (rho != mu && rho != nu) staples.push_back({rho, first.view(fourth), first.view(fourth)});
    }
    return staples;
  });
  LinkField result = links;
  for (int mu = 0; mu < 4; ++mu) {
    std::vector<Staple> staples;
    for (int nu = 0; nu < 4; ++nu)
      if (nu != mu) staples.push_back({nu, second.view(mu), second.view(nu)});
    smear_direction(rims, links, mu, alpha[0], staples, result);
  }
  project_links(communicator, result, Unitarize::su3);
  return result;
}

}  // namespace staghorn
