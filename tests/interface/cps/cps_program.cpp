// A program written against CPS, whose inversions Staghorn solves: what CPS promises of FmatInv and FmatEvlInv is
// checked by CPS's own formulae for layout, operator, stop, count and residual.
//
//   cps_program [GX GY GZ GT]     nodes; without them one process and no MPI. Exit status 1 if a check fails.
#include <staghorn_mpi.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <staghorn_cps.hpp>
#include <vector>

namespace cps {
GlobalJobParameter GJP;
}

namespace {

using namespace cps;
typedef std::complex<double> Complex;
typedef staghorn_cps::Solver<GwilsonFstag> StaggeredLattice;

int failures = 0, rank = 0;
#define CHECK(condition, found)                                                                        \
  do {                                                                                                 \
    if (!(condition)) {                                                                                \
      std::printf("%s:%d: rank %d: %s: %.17g\n", __FILE__, __LINE__, rank, #condition, double(found)); \
      ++failures;                                                                                      \
    }                                                                                                  \
  } while (0)

const int whole[4] = {4, 4, 6, 8};
const int V = 4 * 4 * 6 * 8;
const double pi = 3.14159265358979323846;

// Random numbers in [-1, 1) by global site. [splitmix64]
double random_number(unsigned long long stream, unsigned long long k) {
  unsigned long long z = stream * 0xd1342543de82ef95ull + (k + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return double((z ^ (z >> 31)) >> 11) / 4503599627370496.0 - 1.0;
}

void coordinates(int site, const int n[4], int x[4]) {
  for (int mu = 0; mu < 4; ++mu) {
    x[mu] = site % n[mu];
    site /= n[mu];
  }
}
int canonical(const int n[4], const int x[4]) { return x[0] + n[0] * (x[1] + n[1] * (x[2] + n[2] * x[3])); }
int stag(const int n[4], const int x[4]) {
  const int volume = n[0] * n[1] * n[2] * n[3];
  return (x[3] + n[3] * (x[0] + n[0] * (x[1] + n[1] * x[2])) + volume * ((x[0] + x[1] + x[2] + x[3]) % 2)) / 2;
}

// The whole lattice as every node knows it: plain links and a source, canonical.
std::vector<Matrix> thin_links;
std::vector<Vector> source;

void make_problem() {
  thin_links.resize(4 * V);
  source.resize(V);
  for (int site = 0; site < V; ++site) {
    for (int k = 0; k < 6; ++k) source[site].v[k] = random_number(900000 + site, k);
    for (int mu = 0; mu < 4; ++mu) {
      Complex e[3][3];
      for (int k = 0; k < 6; ++k)
        e[k / 3][k % 3] = {random_number(4 * site + mu, 2 * k), random_number(4 * site + mu, 2 * k + 1)};
      for (int row = 0; row < 2; ++row) {
        Complex overlap = 0;
        for (int c = 0; c < 3; ++c) overlap += std::conj(e[0][c]) * e[1][c];
        double norm2 = 0;
        for (int c = 0; c < 3; ++c) {
          if (row == 1) e[1][c] -= overlap * e[0][c];
          norm2 += std::norm(e[row][c]);
        }
        for (int c = 0; c < 3; ++c) e[row][c] /= std::sqrt(norm2);
      }
      for (int c = 0; c < 3; ++c)
        e[2][c] = std::conj(e[0][(c + 1) % 3] * e[1][(c + 2) % 3] - e[0][(c + 2) % 3] * e[1][(c + 1) % 3]);
      for (int k = 0; k < 9; ++k) {
        thin_links[4 * site + mu].u[2 * k] = e[k / 3][k % 3].real();
        thin_links[4 * site + mu].u[2 * k + 1] = e[k / 3][k % 3].imag();
      }
    }
  }
}

// V_mu(x) = (eta w U)^dagger as CPS's Dirac operator has it, for the whole lattice; w: boundary and anisotropy.
std::vector<Complex> dirac_links() {
  std::vector<Complex> v(36 * V);
  for (int site = 0; site < V; ++site) {
    int x[4];
    coordinates(site, whole, x);
    for (int mu = 0; mu < 4; ++mu) {
      const int exponent[4] = {0, x[0], x[0] + x[1], x[0] + x[1] + x[2]};
      Complex w = exponent[mu] % 2 ? -1 : 1;
      if (x[mu] == whole[mu] - 1 && GJP.Bc(mu) == BND_CND_APRD) w = -w;
      if (x[mu] == whole[mu] - 1 && GJP.Bc(mu) == BND_CND_TWISTED) w *= std::polar(1.0, -pi * GJP.TwistAngle(mu));
      if (mu == GJP.XiDir()) w *= GJP.XiVXi() / GJP.XiV();
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
          const double* e = thin_links[4 * site + mu].u + 2 * (3 * c + r);
          v[9 * (4 * site + mu) + 3 * r + c] = std::conj(w * Complex(e[0], e[1]));
        }
    }
  }
  return v;
}

typedef std::vector<Complex> Field;  // 3 numbers a site, canonical, whole lattice

// D a(x) = sum_mu V_mu(x)^dagger a(x+mu) - V_mu(x-mu) a(x-mu)
Field dirac(const std::vector<Complex>& v, const Field& a) {
  Field out(3 * V);
  for (int site = 0; site < V; ++site) {
    int x[4];
    coordinates(site, whole, x);
    for (int mu = 0; mu < 4; ++mu) {
      int y[4] = {x[0], x[1], x[2], x[3]}, z[4] = {x[0], x[1], x[2], x[3]};
      y[mu] = (x[mu] + 1) % whole[mu];
      z[mu] = (x[mu] + whole[mu] - 1) % whole[mu];
      const int ahead = canonical(whole, y), behind = canonical(whole, z);
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
          out[3 * site + r] += std::conj(v[9 * (4 * site + mu) + 3 * c + r]) * a[3 * ahead + c] -
                               v[9 * (4 * behind + mu) + 3 * r + c] * a[3 * behind + c];
    }
  }
  return out;
}

bool is_even(int site) {
  int x[4];
  coordinates(site, whole, x);
  return (x[0] + x[1] + x[2] + x[3]) % 2 == 0;
}
Field even_part(Field a) {
  for (int site = 0; site < V; ++site)
    for (int c = 0; c < 3 && !is_even(site); ++c) a[3 * site + c] = 0;
  return a;
}
double norm(const Field& a) {
  double sum = 0;
  for (const Complex& c : a) sum += std::norm(c);
  return std::sqrt(sum);
}
Field combination(double p, const Field& a, double q, const Field& b) {
  Field out(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) out[k] = p * a[k] + q * b[k];
  return out;
}

// This node's part of canonical fields of the whole lattice, in CANONICAL or STAG order, and back.
enum Sites { all_sites, even_half };
struct Node {
  int n[4], origin[4], sites;
  Node() {
    sites = 1;
    for (int mu = 0; mu < 4; ++mu) {
      n[mu] = GJP.NodeSites(mu);
      origin[mu] = n[mu] * GJP.NodeCoor(mu);
      sites *= n[mu];
    }
  }
  void global(int site, int x[4], int at[4]) const {
    coordinates(site, n, x);
    for (int mu = 0; mu < 4; ++mu) at[mu] = x[mu] + origin[mu];
  }
  std::vector<Vector> part(const Field& a, StrOrdType order) const {
    std::vector<Vector> out(sites);
    for (int site = 0; site < sites; ++site) {
      int x[4], at[4];
      global(site, x, at);
      Vector& to = out[order == STAG ? stag(n, x) : canonical(n, x)];
      for (int c = 0; c < 3; ++c) {
        to.v[2 * c] = a[3 * canonical(whole, at) + c].real();
        to.v[2 * c + 1] = a[3 * canonical(whole, at) + c].imag();
      }
    }
    return out;
  }
  // The whole field from the parts of all nodes; sites that `part` does not hold are 0. `offset`: of its first site.
  Field joined(const Vector* part, int count, int offset, StrOrdType order) const {
    Field a(3 * V);
    for (int site = 0; site < sites; ++site) {
      int x[4], at[4];
      global(site, x, at);
      const int place = (order == STAG ? stag(n, x) : canonical(n, x)) - offset;
      for (int c = 0; c < 3 && place >= 0 && place < count; ++c)
        a[3 * canonical(whole, at) + c] = Complex(part[place].v[2 * c], part[place].v[2 * c + 1]);
    }
    int started = 0;
    MPI_Initialized(&started);
    if (started) MPI_Allreduce(MPI_IN_PLACE, a.data(), 6 * V, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return a;
  }
  void load(Lattice& lattice, StrOrdType order) const {
    lattice.order() = order;
    for (int site = 0; site < sites; ++site) {
      int x[4], at[4];
      global(site, x, at);
      for (int mu = 0; mu < 4; ++mu) {
        Matrix u = thin_links[4 * canonical(whole, at) + mu];
        const int exponent[4] = {0, at[0], at[0] + at[1], at[0] + at[1] + at[2]};
        const double eta = exponent[mu] % 2 ? -1 : 1;
        Matrix& to = lattice.links()[4 * site + mu];
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c)
            for (int part = 0; part < 2; ++part)
              to.u[2 * (3 * r + c) + part] = order == CANONICAL ? u.u[2 * (3 * r + c) + part]
                                                                : eta * (part ? -1 : 1) * u.u[2 * (3 * c + r) + part];
      }
    }
  }
};

Field whole_source() {
  Field b(3 * V);
  for (int site = 0; site < V; ++site)
    for (int c = 0; c < 3; ++c) b[3 * site + c] = Complex(source[site].v[2 * c], source[site].v[2 * c + 1]);
  return b;
}

CgArg arguments() {
  CgArg arg;
  arg.mass = 0.2;
  arg.stop_rsd = 1e-8;
  arg.true_rsd = -7;
  arg.max_num_iter = 2000;
  return arg;
}

bool near(double found, double expected) { return std::fabs(found / expected - 1) < 1e-3; }

double used_mass(const CgArg& arg) { return arg.mass * GJP.XiBare() / GJP.XiV(); }

// FmatInv through Lattice&: the parity system stops at stop_rsd, the odd equation holds, nothing else is touched.
void full_inversion(staghorn_cps::Connection& connection, StrOrdType links, CnvFrmType convert) {
  const Node node;
  StaggeredLattice solver(connection);
  Lattice& lattice = solver;
  node.load(lattice, links);
  const StrOrdType order = links == STAG || convert == CNV_FRM_NO ? STAG : CANONICAL;
  const StrOrdType order_after = convert == CNV_FRM_NO ? STAG : CANONICAL;  // as CPS's operator leaves fields
  const Field b = whole_source();
  std::vector<Vector> in = node.part(b, order), out(node.sites);
  const std::vector<Vector> in_after = node.part(b, order_after);
  CgArg arg = arguments();
  Float true_res = -1;
  const int count = lattice.FmatInv(out.data(), in.data(), &arg, &true_res, convert);

  const std::vector<Complex> v = dirac_links();
  const double m2 = 2 * used_mass(arg);
  const Field x = node.joined(out.data(), node.sites, 0, order_after), dx = dirac(v, x);
  const Field src = even_part(combination(m2, b, -1, dirac(v, b)));  // 2m b_e - D b_o
  const Field x_e = even_part(x);
  const Field r = combination(1, src, -1, even_part(combination(m2 * m2, x_e, -1, dirac(v, dirac(v, x_e)))));
  const double parity_residual = norm(r) / norm(src);
  CHECK(parity_residual <= arg.stop_rsd, parity_residual);
  CHECK(near(true_res, parity_residual), true_res);
  CHECK(arg.true_rsd == -7, arg.true_rsd);  // FmatInv leaves it alone
  CHECK(count > 20 && count < 1000, count);
  const Field full = combination(1, b, -1, combination(m2, x, 1, dx));
  CHECK(norm(combination(1, full, -1, even_part(full))) < 1e-13 * norm(b), norm(full));  // the odd equation
  CHECK(std::memcmp(in.data(), in_after.data(), in.size() * sizeof in[0]) == 0, 0);
  const std::vector<Matrix> links_after = lattice.links();
  CHECK(lattice.StrOrd() == CANONICAL, lattice.StrOrd());
  node.load(lattice, CANONICAL);
  CHECK(std::memcmp(lattice.GaugeField(), links_after.data(), links_after.size() * sizeof(Matrix)) == 0, 0);

  const int again = lattice.FmatInv(out.data(), in.data(), &arg, &true_res, convert);  // from the solution
  CHECK(again == 1, again);
  arg.max_num_iter = 10;
  std::vector<Vector> short_of(node.sites);
  const int all_used = lattice.FmatInv(short_of.data(), in.data(), &arg, &true_res, convert);
  CHECK(all_used == 10, all_used);
  CHECK(true_res > 1e-3, true_res);
}

// FmatEvlInv with CNV_FRM_NO: half fields in STAG order, as HMC has them; f_tmp = D x.
void even_inversion(staghorn_cps::Connection& connection) {
  const Node node;
  StaggeredLattice solver(connection);
  Lattice& lattice = solver;
  node.load(lattice, CANONICAL);
  const int half = node.sites / 2;
  const Field b = even_part(whole_source());
  std::vector<Vector> in = node.part(b, STAG), out(node.sites);
  for (int k = half; k < node.sites; ++k)  // beyond the half that is there
    for (double& number : out[k].v) number = 9;
  CgArg arg = arguments();
  Float true_res = -1;
  const int count = lattice.FmatEvlInv(out.data(), in.data(), &arg, &true_res, CNV_FRM_NO);
  CHECK(count > 20 && count < 1000, count);
  const std::vector<Complex> v = dirac_links();
  const double m2 = 2 * used_mass(arg);
  const Field x = node.joined(out.data(), half, 0, STAG), dx = dirac(v, x);
  const double residual = norm(combination(1, b, -1, combination(m2 * m2, x, -1, dirac(v, dx)))) / norm(b);
  CHECK(residual <= arg.stop_rsd, residual);
  CHECK(near(true_res, residual), true_res);
  CHECK(arg.true_rsd == true_res, arg.true_rsd);
  const Field f_tmp = node.joined(solver.odd_hop(), half, half, STAG);
  CHECK(norm(combination(1, f_tmp, -1, dx)) < 1e-14 * norm(dx), norm(f_tmp));
  for (int k = half; k < node.sites; ++k) CHECK(out[k].v[3] == 9, out[k].v[3]);
  CHECK(lattice.FmatEvlInv(out.data(), in.data(), &arg, CNV_FRM_NO) == 1, 0);

  // Fields of the whole lattice, converted: the same solution, and the same f_tmp.
  std::vector<Vector> in_all = node.part(b, CANONICAL), out_all(node.sites);
  const int count_all = lattice.FmatEvlInv(out_all.data(), in_all.data(), &arg, &true_res, CNV_FRM_YES);
  CHECK(count_all == count, count_all);
  const Field y = node.joined(out_all.data(), node.sites, 0, CANONICAL);
  CHECK(std::memcmp(y.data(), x.data(), sizeof(Complex) * x.size()) == 0, 0);
  const Field again = node.joined(solver.odd_hop(), half, half, STAG);
  CHECK(std::memcmp(again.data(), f_tmp.data(), sizeof(Complex) * again.size()) == 0, 0);
}

// FmatEvlMInv: MULTI from zero with D x, SINGLE onto what is there; half fields, and fields of the whole lattice.
void shifted_inversions(staghorn_cps::Connection& connection) {
  const Node node;
  StaggeredLattice solver(connection);
  Lattice& lattice = solver;
  node.load(lattice, CANONICAL);
  const int half = node.sites / 2, n = 3;
  const Field b = even_part(whole_source());
  Float shift[n] = {0.0, 0.2, 1.5}, alpha[n] = {0.5, -2, 3};
  const Float shift_before[n] = {0.0, 0.2, 1.5};
  const std::vector<Complex> v = dirac_links();
  const double m2 = 2 * used_mass(arguments());
  Field sum(3 * V);
  for (const CnvFrmType convert : {CNV_FRM_NO, CNV_FRM_YES}) {
    const StrOrdType order = convert == CNV_FRM_NO ? STAG : CANONICAL;
    const int count = convert == CNV_FRM_NO ? half : node.sites;
    std::vector<Vector> in = node.part(b, order);
    std::vector<std::vector<Vector>> out(n, std::vector<Vector>(node.sites)), hops = out;
    CgArg arg[n];
    CgArg* args[n];
    Vector *x[n], *dx[n];
    for (int s = 0; s < n; ++s) {
      arg[s] = arguments();
      arg[s].stop_rsd = s == 1 ? 1e-6 : 1e-8;
      args[s] = &arg[s];
      x[s] = out[s].data();
      dx[s] = hops[s].data();
      for (int k = 0; k < count; ++k) out[s][k].v[1] = 9;
    }
    const int iterations = lattice.FmatEvlMInv(x, in.data(), shift, n, 0, args, convert, MULTI, 0, dx);
    CHECK(iterations > 20 && iterations < 1000, iterations);
    CHECK(std::memcmp(shift, shift_before, sizeof shift) == 0, shift[0]);
    sum.assign(3 * V, 9.0);
    for (int s = 0; s < n; ++s) {
      const Field found = even_part(node.joined(out[s].data(), count, 0, order)), hop = dirac(v, found);
      const Field left = combination(1, b, -1, combination(m2 * m2 + shift[s], found, -1, dirac(v, hop)));
      const double residual = norm(left) / norm(b);
      CHECK(residual <= 1.001 * arg[s].stop_rsd && residual > 0, residual);
      CHECK(arg[s].true_rsd <= arg[s].stop_rsd * norm(b) && arg[s].true_rsd > 0.01 * residual * norm(b),
            arg[s].true_rsd);
      const Field given = convert == CNV_FRM_NO ? node.joined(hops[s].data(), half, half, STAG)
                                                : node.joined(hops[s].data(), node.sites, 0, CANONICAL);
      const Field odd_hop = combination(1, given, -1, even_part(given));
      CHECK(norm(combination(1, odd_hop, -1, hop)) < 1e-14 * norm(hop), norm(odd_hop));
      sum = combination(1, sum, alpha[s], found);
    }
    std::vector<Vector> together(node.sites);
    for (Vector& to : together)
      for (int k = 0; k < 6; k += 2) to.v[k] = 9;
    x[0] = together.data();
    CHECK(lattice.FmatEvlMInv(x, in.data(), shift, n, 0, args, convert, SINGLE, alpha, 0) == iterations, iterations);
    const Field found = even_part(node.joined(together.data(), count, 0, order));
    CHECK(norm(combination(1, found, -1, even_part(sum))) < 1e-14 * norm(found), norm(found));
  }
  CgArg arg = arguments();
  arg.max_num_iter = 10;
  CgArg* args[1] = {&arg};
  std::vector<Vector> in = node.part(b, STAG), out(node.sites);
  Vector* x[1] = {out.data()};
  CHECK(lattice.FmatEvlMInv(x, in.data(), shift, 1, 0, args, CNV_FRM_NO, MULTI, 0, 0) == 10, 10);
}

void zero_source_is_solved(staghorn_cps::Connection& connection) {
  const Node node;
  StaggeredLattice lattice(connection);
  node.load(lattice, CANONICAL);
  std::vector<Vector> in(node.sites), out(node.sites);
  CgArg arg = arguments();
  Float true_res = -1;
  const int count = lattice.FmatInv(out.data(), in.data(), &arg, &true_res);
  CHECK(count == 1 && true_res == 0, true_res);
  CHECK(norm(node.joined(out.data(), node.sites, 0, CANONICAL)) == 0, count);
}

template <class Work>
void is_refused(const Work& work, const char* word) {
  try {
    work();
    std::printf("not refused: %s\n", word);
    ++failures;
  } catch (const staghorn_cps::Failure& failure) {
    CHECK(std::strstr(failure.what(), word) != nullptr, 0);
  }
}

// Fat and long links that Staghorn makes: the solution on these nodes has the bits of one node's.
void smeared_links_have_the_bits_of_one_node(staghorn_cps::Connection& connection, const staghorn_options& options) {
  const GlobalJobParameter nodes = GJP;
  std::vector<Vector> parts[2];
  connection.smears = true;
  for (int mu = 0; mu < 4; ++mu)
    if (GJP.NodeSites(mu) < 4) {
      staghorn_cps::Solver<GwilsonFasqtad> lattice(connection);
      is_refused([&] { lattice.take_links(); }, "local extents of at least 4");
      connection.smears = false;
      return;
    }
  for (int alone = 0; alone < 2; ++alone) {
    for (int mu = 0; alone && mu < 4; ++mu) {
      GJP.node_sites[mu] = whole[mu];
      GJP.nodes[mu] = 1;
      GJP.node_coor[mu] = 0;
    }
    std::unique_ptr<staghorn_cps::Connection> one(alone ? new staghorn_cps::Connection(options) : nullptr);
    staghorn_cps::Connection& used = alone ? *one : connection;
    used.smears = true;
    staghorn_cps::Solver<GwilsonFasqtad> lattice(used);
    const Node node;
    node.load(lattice, CANONICAL);
    std::vector<Vector> in = node.part(whole_source(), CANONICAL), out(node.sites);
    CgArg arg = arguments();
    const int count = lattice.FmatInv(out.data(), in.data(), &arg, 0);
    CHECK(count > 10 && count < 1000, count);
    parts[alone] = out;
    used.smears = false;
  }
  GJP = nodes;
  const Node node;
  Field x(3 * V);
  for (int site = 0; site < V; ++site)
    for (int c = 0; c < 3; ++c) x[3 * site + c] = Complex(parts[1][site].v[2 * c], parts[1][site].v[2 * c + 1]);
  const std::vector<Vector> expected = node.part(x, CANONICAL);
  CHECK(std::memcmp(parts[0].data(), expected.data(), expected.size() * sizeof(Vector)) == 0, 0);
}

void what_cannot_be_done_is_refused(staghorn_cps::Connection& connection) {
  const Node node;
  StaggeredLattice lattice(connection);
  node.load(lattice, CANONICAL);
  std::vector<Vector> in(node.sites), out(node.sites);
  CgArg arg = arguments();
  is_refused([&] { lattice.FmatEvlMInv(0, 0, 0, 0, 0, 0, CNV_FRM_NO, SINGLE, 0, 0); }, "FmatEvlMInv");
  is_refused([&] { lattice.FmatEvlMInv(0, 0, 0, 1, 0, 0, CNV_FRM_NO, MultiShiftSolveType(2), 0, 0); },
             "SINGLE or MULTI");
  GJP.bc[0] = BND_CND_GPARITY;
  is_refused([&] { lattice.FmatInv(out.data(), in.data(), &arg, 0); }, "boundary conditions");
  GJP.bc[0] = BND_CND_PRD;
  lattice.order() = WILSON;
  is_refused([&] { lattice.FmatInv(out.data(), in.data(), &arg, 0); }, "CANONICAL or STAG");
  lattice.order() = STAG_BLOCK;
  is_refused([&] { lattice.FmatInv(out.data(), in.data(), &arg, 0); }, "CANONICAL or STAG");
  lattice.order() = STAG;
  GJP.bc[0] = BND_CND_TWISTED;
  is_refused([&] { lattice.FmatInv(out.data(), in.data(), &arg, 0); }, "twisted boundaries want links in the order");
  GJP.bc[0] = BND_CND_PRD;
  node.load(lattice, CANONICAL);
}

void initialise(char** nodes) {
  int place = rank;
  int all = 1;
  for (int mu = 0; mu < 4; ++mu) all *= nodes ? std::atoi(nodes[mu]) : 1;
  place = all - 1 - place;  // ranks in an order of their own: backwards, t fastest
  for (int mu = 3; mu >= 0; --mu) {
    GJP.nodes[mu] = nodes ? std::atoi(nodes[mu]) : 1;
    GJP.node_sites[mu] = whole[mu] / GJP.nodes[mu];
    GJP.node_coor[mu] = place % GJP.nodes[mu];
    place /= GJP.nodes[mu];
    GJP.bc[mu] = mu == 3 ? BND_CND_APRD : BND_CND_PRD;
    GJP.twist[mu] = 0;
  }
  GJP.xi_dir = 3;
  GJP.xi_bare = GJP.xi_v = GJP.xi_v_xi = 1;
}

void run(staghorn_cps::Connection& connection, const staghorn_options& options) {
  for (const CnvFrmType convert : {CNV_FRM_YES, CNV_FRM_NO})
    for (const StrOrdType links : {CANONICAL, STAG}) full_inversion(connection, links, convert);
  even_inversion(connection);
  shifted_inversions(connection);
  smeared_links_have_the_bits_of_one_node(connection, options);
  zero_source_is_solved(connection);
  what_cannot_be_done_is_refused(connection);
  GJP.bc[1] = BND_CND_TWISTED;
  GJP.twist[1] = 0.3;
  full_inversion(connection, CANONICAL, CNV_FRM_YES);
  even_inversion(connection);
  shifted_inversions(connection);
  GJP.xi_bare = 1.5;  // links of t times 1.7, mass times 1.5 / 1.25
  GJP.xi_v = 1.25;
  GJP.xi_v_xi = 1.7 * 1.25;
  full_inversion(connection, CANONICAL, CNV_FRM_NO);
  even_inversion(connection);
  shifted_inversions(connection);
}

}  // namespace

int main(int argc, char** argv) {
  make_problem();
  staghorn_options options = staghorn_cps::default_options();
  options.threads = 1;
  if (argc == 1) {
    initialise(nullptr);
    staghorn_cps::Connection connection(options);
    run(connection, options);
  } else if (argc == 5) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    initialise(argv + 1);
    {
      staghorn_cps::Connection connection(MPI_COMM_WORLD, options);
      run(connection, options);
    }
    MPI_Finalize();
  } else {
    return 2;
  }
  if (!failures && rank == 0) std::printf("ok\n");
  return failures != 0;
}
