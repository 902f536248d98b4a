// Staghorn beside CPS's own operator on one node: every call leaves the same links, fields, orders, counts and
// residuals behind. A trajectory whose lattices come from the static factory.
//
//   cps_beside      Exit status 1 if a check fails.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <staghorn_cps.hpp>
#include <string>
#include <vector>

CPS_START_NAMESPACE
GlobalJobParameter GJP;

// A program's own lines: HMC asks for (fermion, G_CLASS_NONE).
bool factory_is_mended = true;
Lattice& LatticeFactory::Create(FclassType fermion, GclassType gluon) {
  if (fermion == F_CLASS_STAG && gluon == G_CLASS_NONE && factory_is_mended)
    made() = new staghorn_cps::Solver<GnoneFstag>;
  else if (fermion == F_CLASS_STAG && gluon == G_CLASS_NONE)
    made() = new GnoneFstag;
  else
    made() = new GwilsonFstag;
  return *made();
}
CPS_END_NAMESPACE

#ifndef FAKE_CPS_WITHOUT_NAMESPACE
using namespace cps;
#endif

// Names of CPS keep their meaning in classes that are derived from the adapter's.
class Mine : public staghorn_cps::Solver<GwilsonFstag> {
 public:
  Vector first;
  Float mass = 0;
  static CnvFrmType conversion(const CgArg&) { return CNV_FRM_NO; }
};

namespace {

int failures = 0;
#define CHECK(condition, found)                                                         \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      std::printf("%s:%d: %s: %.17g\n", __FILE__, __LINE__, #condition, double(found)); \
      ++failures;                                                                       \
    }                                                                                   \
  } while (0)

typedef std::vector<Vector> Field;
int sites;

double random_number(unsigned long long stream, unsigned long long k) {  // in [-1, 1) [splitmix64]
  unsigned long long z = stream * 0xd1342543de82ef95ull + (k + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return double((z ^ (z >> 31)) >> 11) / 4503599627370496.0 - 1.0;
}
Field zero_field(int of_sites) { return Field(std::size_t(of_sites), Vector()); }
Field random_field(int seed, int of_sites) {
  Field a(zero_field(of_sites));
  for (int k = 0; k < 6 * of_sites; ++k) a[std::size_t(k / 6)].v[k % 6] = random_number(900000 + seed, k);
  return a;
}
// Random links in SU(3), made orthonormal row by row.
std::vector<Matrix> random_links(int seed) {
  std::vector<Matrix> all(std::size_t(4 * sites));
  for (std::size_t i = 0; i < all.size(); ++i) {
    double* e = all[i].u;
    for (int k = 0; k < 12; ++k) e[k] = random_number(seed * 1000003 + i, k) + (k == 0 || k == 8 ? 2 : 0);
    for (int row = 0; row < 2; ++row) {
      double re = 0, im = 0, norm2 = 0;
      for (int c = 0; c < 3 && row == 1; ++c) {
        re += e[2 * c] * e[6 + 2 * c] + e[2 * c + 1] * e[7 + 2 * c];
        im += e[2 * c] * e[7 + 2 * c] - e[2 * c + 1] * e[6 + 2 * c];
      }
      for (int c = 0; c < 3 && row == 1; ++c) {
        e[6 + 2 * c] -= re * e[2 * c] - im * e[2 * c + 1];
        e[7 + 2 * c] -= re * e[2 * c + 1] + im * e[2 * c];
      }
      for (int k = 0; k < 6; ++k) norm2 += e[6 * row + k] * e[6 * row + k];
      for (int k = 0; k < 6; ++k) e[6 * row + k] /= std::sqrt(norm2);
    }
    for (int c = 0; c < 3; ++c) {
      const int a = 2 * ((c + 1) % 3), b = 2 * ((c + 2) % 3);
      e[12 + 2 * c] = (e[a] * e[6 + b] - e[a + 1] * e[7 + b]) - (e[b] * e[6 + a] - e[b + 1] * e[7 + a]);
      e[13 + 2 * c] = -((e[a] * e[7 + b] + e[a + 1] * e[6 + b]) - (e[b] * e[7 + a] + e[b + 1] * e[6 + a]));
    }
  }
  return all;
}

double distance(const Vector* a, const Vector* b, int of_sites) {
  double difference = 0, norm2 = 0;
  for (int k = 0; k < 6 * of_sites; ++k) {
    difference += (a[k / 6].v[k % 6] - b[k / 6].v[k % 6]) * (a[k / 6].v[k % 6] - b[k / 6].v[k % 6]);
    norm2 += b[k / 6].v[k % 6] * b[k / 6].v[k % 6];
  }
  return std::sqrt(difference / norm2);
}
bool same(const Field& a, const Field& b) { return std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0; }

CgArg arguments(double mass = 0.2, double stop = 1e-12) {
  CgArg arg;
  arg.mass = mass;
  arg.stop_rsd = stop;
  arg.true_rsd = -7;
  arg.max_num_iter = 5000;
  return arg;
}

// Links of the program, in CANONICAL order.
std::vector<Matrix> links;
void reset(Lattice& lattice, StrOrdType order) {
  Lattice::links() = links;
  Lattice::order() = CANONICAL;
  lattice.ClearSmeared();
  lattice.Convert(order);
}
// After a call: links as they were, up to what CPS's multiplications round, and CANONICAL.
void links_are_back(Lattice& lattice, double allowed) {
  CHECK(lattice.StrOrd() == CANONICAL, lattice.StrOrd());
  double largest = 0;
  for (std::size_t i = 0; i < links.size(); ++i)
    for (int k = 0; k < 18; ++k) largest = std::fmax(largest, std::fabs(links[i].u[k] - Lattice::links()[i].u[k]));
  CHECK(largest <= allowed, largest);
}

// The same call of CPS's own class and of the adapter's, with links in both orders and both conversions.
template <class Base>
void inversions_agree(staghorn_cps::Connection& connection, bool stag_too = true) {
  Base own;
  staghorn_cps::Solver<Base> mine(connection);
  const int half = sites / 2;
  for (int stag = 0; stag <= (stag_too ? 1 : 0); ++stag)
    for (const CnvFrmType convert : {CNV_FRM_NO, CNV_FRM_YES}) {
      const Field b = random_field(1, sites), guess = random_field(2, sites);
      Field x[2] = {guess, guess}, in[2] = {b, b};
      Lattice* const lattices[2] = {&own, &mine};
      Float true_res[2] = {-1, -1};
      int count[2];
      CgArg arg[2] = {arguments(), arguments()};
      for (int k = 0; k < 2; ++k) {
        reset(own, stag ? STAG : CANONICAL);
        mine.ClearSmeared();
        const int operators = Lattice::own_operators();
        const long calls = connection.calls();
        count[k] = lattices[k]->FmatInv(x[k].data(), in[k].data(), &arg[k], &true_res[k], convert);
        CHECK(Lattice::own_operators() == operators + (k == 0) && connection.calls() == calls + k, k);
        links_are_back(own, k == 0 ? 1e-14 : 0);
      }
      CHECK(distance(x[1].data(), x[0].data(), sites) < 1e-10, distance(x[1].data(), x[0].data(), sites));
      CHECK(same(in[0], in[1]), stag);  // CPS converts f_in too where links came in STAG order
      CHECK(same(in[0], b) == !(stag && convert == CNV_FRM_YES), stag);
      CHECK(std::abs(count[0] - count[1]) <= 5, count[1] - count[0]);
      CHECK(true_res[1] <= arg[1].stop_rsd && arg[1].true_rsd == -7, true_res[1]);

      Field y[2] = {guess, guess}, from[2] = {b, b};
      for (int k = 0; k < 2; ++k) {
        reset(own, stag ? STAG : CANONICAL);
        mine.ClearSmeared();
        count[k] = lattices[k]->FmatEvlInv(y[k].data(), from[k].data(), &arg[k], &true_res[k], convert);
        links_are_back(own, k == 0 ? 1e-14 : 0);
      }
      const bool whole = !stag && convert == CNV_FRM_YES;
      const bool are_canonical = whole || (stag && convert == CNV_FRM_YES);
      CHECK(distance(y[1].data(), y[0].data(), are_canonical ? sites : half) < 1e-10, convert);
      CHECK(std::memcmp(&y[0][std::size_t(half)], &guess[std::size_t(half)], sizeof(Vector)) == 0 || are_canonical, 0);
      CHECK(are_canonical || std::memcmp(&y[1][std::size_t(half)], &guess[std::size_t(half)],
                                         std::size_t(half) * sizeof(Vector)) == 0,
            0);
      CHECK(same(from[0], from[1]), stag);
      CHECK(distance(mine.odd_hop(), own.odd_hop(), half) < 1e-10, distance(mine.odd_hop(), own.odd_hop(), half));
      CHECK(std::abs(count[0] - count[1]) <= 5 && arg[1].true_rsd == true_res[1], count[1]);
    }
}

template <class Base>
void shifts_agree(staghorn_cps::Connection& connection) {
  Base own;
  staghorn_cps::Solver<Base> mine(connection);
  Lattice* const lattices[2] = {&own, &mine};
  const int half = sites / 2, n = 3;
  Float shift[n] = {0.05, 0.3, 1.5}, alpha[n] = {0.5, -2, 3};
  Field b = random_field(3, sites);
  std::vector<Field> x[2], d[2];
  Float rsd[2][n];
  Field together[2] = {random_field(4, sites), random_field(4, sites)};
  for (int k = 0; k < 2; ++k) {
    x[k].assign(n, zero_field(sites));
    d[k] = x[k];
    CgArg arg[n];
    CgArg* args[n];
    Vector *to[n], *dto[n];
    for (int s = 0; s < n; ++s) {
      arg[s] = arguments(0.1, 1e-11);
      args[s] = &arg[s];
      to[s] = x[k][std::size_t(s)].data();
      dto[s] = d[k][std::size_t(s)].data();
    }
    reset(own, CANONICAL);
    mine.ClearSmeared();
    lattices[k]->FmatEvlMInv(to, b.data(), shift, n, 0, args, CNV_FRM_NO, MULTI, 0, dto);
    for (int s = 0; s < n; ++s) rsd[k][s] = arg[s].true_rsd;
    to[0] = together[k].data();
    lattices[k]->FmatEvlMInv(to, b.data(), shift, n, 0, args, CNV_FRM_NO, SINGLE, alpha, 0);
  }
  for (std::size_t s = 0; s < n; ++s) {
    CHECK(distance(x[1][s].data(), x[0][s].data(), half) < 1e-9, distance(x[1][s].data(), x[0][s].data(), half));
    CHECK(distance(d[1][s].data(), d[0][s].data(), half) < 1e-9, s);
    CHECK(rsd[1][s] < 1e-11 * std::sqrt(6.0 * half) && rsd[1][s] > 0, rsd[1][s]);
  }
  CHECK(distance(together[1].data(), together[0].data(), sites) < 1e-9, 0);
}

// SetPhi, Fdslash, MatPcDagMatPc, BhamiltonNode, BforceVector, and several fields in one call.
template <class Base>
void small_functions_agree(staghorn_cps::Connection& connection) {
  Base own;
  staghorn_cps::Solver<Base> mine(connection);
  Lattice* const lattices[2] = {&own, &mine};
  const int half = sites / 2;
  const Field e = random_field(5, sites), o = random_field(6, sites);
  for (int stag = 0; stag < 2; ++stag) {
    Field phi[2], whole[2], in[2], tmp[2], force[2];
    Float action[2];
    for (int k = 0; k < 2; ++k) {
      phi[k] = whole[k] = zero_field(sites);
      in[k] = o;
      Field even = e, odd = o;
      CgArg arg = arguments();
      const auto begin = [&] {
        reset(own, stag ? STAG : CANONICAL);
        mine.ClearSmeared();
      };
      begin();
      lattices[k]->SetPhi(phi[k].data(), even.data(), odd.data(), 0.15, DAG_YES);
      links_are_back(own, k == 0 ? 1e-14 : 0);
      begin();
      lattices[k]->Fdslash(whole[k].data(), in[k].data(), &arg, CNV_FRM_YES, 0);
      begin();
      action[k] = lattices[k]->BhamiltonNode(even.data(), 0.15);
      FstagTypes& types = k == 0 ? static_cast<FstagTypes&>(own) : static_cast<FstagTypes&>(mine);
      tmp[k].assign(types.odd_hop(), types.odd_hop() + half);
      begin();
      lattices[k]->BforceVector(even.data(), &arg);
      force[k].assign(types.odd_hop(), types.odd_hop() + half);
    }
    CHECK(distance(phi[1].data(), phi[0].data(), half) < 1e-14, distance(phi[1].data(), phi[0].data(), half));
    CHECK(distance(whole[1].data(), whole[0].data(), sites) < 1e-14, 0);
    CHECK(same(in[0], in[1]), stag);
    CHECK(distance(tmp[1].data(), tmp[0].data(), half) < 1e-14, 0);
    CHECK(distance(force[1].data(), force[0].data(), half) < 1e-14, 0);
    CHECK(std::fabs(action[1] / action[0] - 1) < 1e-13, action[1]);
  }
  // Three colours together.
  Field x[3], alone[3], b[3];
  Vector *to[3], *from[3];
  Float true_res[3], single = 0;
  CgArg arg = arguments();
  reset(mine, CANONICAL);
  for (int c = 0; c < 3; ++c) {
    x[c] = alone[c] = zero_field(sites);
    b[c] = random_field(10 + c, sites);
    to[c] = x[c].data();
    from[c] = b[c].data();
  }
  const long calls = connection.calls();
  const int most = mine.FmatInv(3, to, from, &arg, true_res);
  CHECK(connection.calls() == calls + 1, connection.calls() - calls);
  for (int c = 0; c < 3; ++c) {
    const int count = mine.FmatInv(alone[c].data(), b[c].data(), &arg, &single);
    CHECK(count <= most + 3 && single <= arg.stop_rsd && true_res[c] <= arg.stop_rsd, count);
    CHECK(distance(x[c].data(), alone[c].data(), sites) < 1e-10, distance(x[c].data(), alone[c].data(), sites));
  }
}

// What alg_int does: each action asks the static factory for a lattice, calls it, and gives it back; links move
// between.
void a_trajectory(staghorn_cps::Connection& connection) {
  const int half = sites / 2, steps = 3;
  Field result[2];
  Float energies[2];
  long calls[2];
  int operators[2];
  for (int k = 0; k < 2; ++k) {
    factory_is_mended = k == 1;
    Lattice::links() = links;
    Lattice::order() = CANONICAL;
    calls[k] = connection.calls();
    operators[k] = Lattice::own_operators();
    Field e = random_field(20, sites), o = random_field(21, sites), phi(zero_field(half));
    Field x(zero_field(half)), y(zero_field(half)), dx(zero_field(half));
    {
      Lattice& lat = LatticeFactory::Create(F_CLASS_STAG, G_CLASS_NONE);
      lat.SetPhi(phi.data(), e.data(), o.data(), 0.1, DAG_YES);
      LatticeFactory::Destroy();
    }
    for (int step = 0; step < steps; ++step) {
      Lattice& lat = LatticeFactory::Create(F_CLASS_STAG, G_CLASS_NONE);
      CgArg arg = arguments(0.1, 1e-12);
      CgArg* args[1] = {&arg};
      Float shift[1] = {0.2};
      Vector *to[1] = {y.data()}, *dto[1] = {dx.data()};
      lat.FmatEvlInv(x.data(), phi.data(), &arg, CNV_FRM_NO);
      lat.FmatEvlMInv(to, phi.data(), shift, 1, 0, args, CNV_FRM_NO, MULTI, 0, dto);
      LatticeFactory::Destroy();
      Lattice::links() = random_links(100 + step);  // the links of the next step
    }
    Lattice& lat = LatticeFactory::Create(F_CLASS_STAG, G_CLASS_NONE);
    energies[k] = lat.BhamiltonNode(x.data(), 0.1);
    LatticeFactory::Destroy();
    result[k] = x;
    calls[k] = connection.calls() - calls[k];
    operators[k] = Lattice::own_operators() - operators[k];
  }
  const int all = 2 * steps + 2;
  CHECK(calls[0] == 0 && operators[0] == all, calls[0]);  // a factory that was left alone
  CHECK(calls[1] == all && operators[1] == 0, calls[1]);
  CHECK(distance(result[1].data(), result[0].data(), half) < 1e-9, distance(result[1].data(), result[0].data(), half));
  CHECK(std::fabs(energies[1] / energies[0] - 1) < 1e-9, energies[1]);
}

template <class Work>
std::string failure_of(const Work& work) {
  try {
    work();
  } catch (const staghorn_cps::Failure& failure) {
    return failure.what();
  }
  return "";
}
bool says(const std::string& text, const char* word) {
  if (text.find(word) != std::string::npos) return true;
  std::printf("says: %s\n", text.c_str());
  return false;
}

// Eigenpairs are found through CPS's calls, stay while the links do, and shorten solves; CgArg::Inverter asks for them.
void eigenpairs_stay(staghorn_cps::Connection& connection) {
  staghorn_cps::Solver<GwilsonFstag> lattice(connection);
  const int half = sites / 2, n = 12;
  const double mass = 0.01;
  reset(lattice, CANONICAL);
  Field b = random_field(30, sites), x(zero_field(sites)), first(zero_field(sites));
  CgArg arg = arguments(mass, 1e-10);
  connection.request.sloppy = STAGHORN_NO_SLOPPY;
  const int without = lattice.FmatInv(first.data(), b.data(), &arg, 0);
  arg.Inverter = CG_LOWMODE_DEFL;
  arg.neig = n;
  CHECK(says(failure_of([&] { lattice.FmatInv(x.data(), b.data(), &arg, 0); }), "neig = 12"), 0);
  arg.Inverter = LOWMODEAPPROX;
  CHECK(says(failure_of([&] { lattice.FmatInv(x.data(), b.data(), &arg, 0); }), "LOWMODEAPPROX is not offered"), 0);
  arg.Inverter = BICGSTAB;
  CHECK(says(failure_of([&] { lattice.FmatInv(x.data(), b.data(), &arg, 0); }), "CG or CG_LOWMODE_DEFL"), 0);

  EigArg eig;
  eig.N_eig = n;
  eig.mass = mass;
  eig.RsdR_a = 1e-8;
  std::vector<Field> vectors(n, zero_field(half));
  std::vector<Vector*> to;
  for (Field& vector : vectors) to.push_back(vector.data());
  Float lambda[n], chirality[n];
  int valid[n];
  const int calls = lattice.FeigSolv(to.data(), lambda, chirality, valid, 0, &eig, CNV_FRM_NO);
  CHECK(calls > 20, calls);
  GwilsonFstag own;
  for (int i = 0; i < n; i += 3) {  // A v = lambda v by CPS's own operator
    const double vav = own.BhamiltonNode(to[std::size_t(i)], mass);
    Field scaled(zero_field(half));
    for (int k = 0; k < 6 * half; ++k)
      scaled[std::size_t(k / 6)].v[k % 6] = lambda[i] * vectors[std::size_t(i)][std::size_t(k / 6)].v[k % 6];
    CHECK(std::fabs(vav / lambda[i] - 1) < 1e-8 && valid[i] == 1 && chirality[i] == 1, vav);
    CHECK(distance(own.odd_hop(), scaled.data(), half) < 1e-6, distance(own.odd_hop(), scaled.data(), half));
  }
  LanczosArg lanczos;
  lanczos.nk_lanczos_vectors = n;
  lanczos.mass = mass;
  lanczos.stop_residual = 1e-8;
  std::vector<Field> whole(n, zero_field(sites));
  std::vector<Vector*> to_whole;
  for (Field& vector : whole) to_whole.push_back(vector.data());
  Float again[n];
  CHECK(lattice.FeigSolv(to_whole.data(), again, &lanczos, CNV_FRM_YES) == 0, 0);  // they are there
  CHECK(std::memcmp(again, lambda, sizeof lambda) == 0, again[0]);
  own.Fconvert(to_whole[n - 1], STAG, CANONICAL);
  CHECK(std::memcmp(to_whole[n - 1], to[n - 1], std::size_t(half) * sizeof(Vector)) == 0, 0);
  eig.RitzMatOper = NEG_MATPCDAG_MATPC;  // the largest: CPS's own
  CHECK(lattice.FeigSolv(to.data(), lambda, chirality, valid, 0, &eig, CNV_FRM_NO) == -1, 0);

  // The next calls have the same links, in whatever order, and of whichever lattice.
  arg.Inverter = CG_LOWMODE_DEFL;
  const int deflated = lattice.FmatInv(x.data(), b.data(), &arg, 0);
  CHECK(10 * deflated < 9 * without && distance(x.data(), first.data(), sites) < 1e-6, deflated);
  staghorn_cps::Solver<GnoneFstag> other(connection);
  reset(lattice, STAG);
  Field stag = b, y(zero_field(sites));
  other.Fconvert(stag.data(), STAG, CANONICAL);
  const int again_deflated = other.FmatInv(y.data(), stag.data(), &arg, 0, CNV_FRM_NO);
  CHECK(again_deflated == deflated && connection.eigenpairs() == n, again_deflated);
  Lattice::links()[7] = Lattice::links()[8];
  CHECK(says(failure_of([&] { lattice.FmatInv(x.data(), b.data(), &arg, 0); }), "found 0"), connection.eigenpairs());
  connection.request.sloppy = STAGHORN_AUTO_SLOPPY;
}

// Links are read once for three colours.
void unchanged_links_are_read_once(staghorn_cps::Connection& connection) {
  staghorn_cps::Solver<GwilsonFstag> lattice(connection);
  reset(lattice, CANONICAL);
  Field b = random_field(40, sites), x(zero_field(sites));
  staghorn_gauge_info info = staghorn_cps::defaults<staghorn_gauge_info>(STAGHORN_GAUGE_INFO);
  unsigned long long loads = 0;
  for (int colour = 0; colour < 3; ++colour) {
    CgArg arg = arguments(0.5, 1e-6);
    lattice.FmatInv(x.data(), b.data(), &arg, 0);
    staghorn_gauge_get(connection.gauge(), &info);
    if (colour > 0) CHECK(info.loads == loads, double(info.loads - loads));
    loads = info.loads;
  }
}

void initialise() {
  const int n[4] = {4, 4, 6, 4};
  sites = 1;
  for (int mu = 0; mu < 4; ++mu) {
    GJP.nodes[mu] = 1;
    GJP.node_sites[mu] = n[mu];
    GJP.node_coor[mu] = 0;
    GJP.bc[mu] = mu == 3 ? BND_CND_APRD : BND_CND_PRD;
    GJP.twist[mu] = 0;
    sites *= n[mu];
  }
  GJP.xi_dir = 3;
  GJP.xi_bare = GJP.xi_v = GJP.xi_v_xi = 1;
  links = random_links(1);
}

}  // namespace

int main() {
  initialise();
  CHECK(says(failure_of([] { staghorn_cps::Solver<GnoneFstag> none; }), "no staghorn_cps::Connection lives"), 0);
  staghorn_options options = staghorn_cps::default_options();
  options.threads = 1;
  staghorn_cps::Connection connection(options);
  inversions_agree<GwilsonFstag>(connection);
  inversions_agree<GnoneFasqtad>(connection);
  shifts_agree<GnoneFstag>(connection);
  shifts_agree<GwilsonFasqtad>(connection);
  small_functions_agree<GnoneFstag>(connection);
  small_functions_agree<GnoneFasqtad>(connection);
  connection.smears = true;  // Staghorn's own fat and long links
  inversions_agree<GwilsonFasqtad>(connection);
  connection.smears = false;
  a_trajectory(connection);
  eigenpairs_stay(connection);
  unchanged_links_are_read_once(connection);
  GJP.bc[1] = BND_CND_TWISTED;
  GJP.twist[1] = 0.3;
  inversions_agree<GnoneFstag>(connection, false);
  GJP.bc[1] = BND_CND_PRD;
  GJP.xi_bare = 1.5;  // anisotropic: links of t times 1.7, the mass times 1.5 / 1.25
  GJP.xi_v = 1.25;
  GJP.xi_v_xi = 1.7 * 1.25;
  inversions_agree<GnoneFstag>(connection);
  shifts_agree<GnoneFstag>(connection);
  small_functions_agree<GnoneFstag>(connection);
  {
    staghorn_cps::Solver<GnoneFasqtad> asqtad(connection);
    Field b = random_field(1, sites), x = b;
    CgArg arg = arguments();
    reset(asqtad, CANONICAL);
    CHECK(says(failure_of([&] { asqtad.FmatInv(x.data(), b.data(), &arg, 0); }), "isotropic"), 0);
  }
  Mine mine;
  CHECK(mine.StrOrd() == CANONICAL && Mine::conversion(arguments()) == CNV_FRM_NO && sizeof mine.first == 48, 0);
  if (!failures) std::printf("ok\n");
  return failures != 0;
}
