// The inside of fake_cps.hpp: orders, boundary conditions, smearing and inversions by CPS's formulae, on one node.
#include "fake_cps.hpp"

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>

CPS_START_NAMESPACE

namespace {

typedef std::complex<double> Complex;
const double pi = 3.14159265358979323846;

struct Su3 {
  Complex e[3][3];
};
Su3 from(const Matrix& m) {
  Su3 a;
  for (int k = 0; k < 9; ++k) a.e[k / 3][k % 3] = Complex(m.u[2 * k], m.u[2 * k + 1]);
  return a;
}
Matrix to(const Su3& a) {
  Matrix m;
  for (int k = 0; k < 9; ++k) {
    m.u[2 * k] = a.e[k / 3][k % 3].real();
    m.u[2 * k + 1] = a.e[k / 3][k % 3].imag();
  }
  return m;
}
Su3 dagger(const Su3& a) {
  Su3 b;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) b.e[r][c] = std::conj(a.e[c][r]);
  return b;
}
Su3 times(Complex s, Su3 a) {
  for (auto& row : a.e)
    for (Complex& c : row) c *= s;
  return a;
}

const int* extents() { return GJP.node_sites; }
int site_of(const int x[4]) {
  const int* n = extents();
  return x[0] + n[0] * (x[1] + n[1] * (x[2] + n[2] * x[3]));
}
int stag_site(const int x[4]) {
  const int* n = extents();
  return (x[3] + n[3] * (x[0] + n[0] * (x[1] + n[1] * x[2])) + GJP.VolNodeSites() * ((x[0] + x[1] + x[2] + x[3]) % 2)) /
         2;
}
// All local sites.
template <class Work>
void for_sites(const Work& work) {
  const int* n = extents();
  int x[4];
  for (x[3] = 0; x[3] < n[3]; ++x[3])
    for (x[2] = 0; x[2] < n[2]; ++x[2])
      for (x[1] = 0; x[1] < n[1]; ++x[1])
        for (x[0] = 0; x[0] < n[0]; ++x[0]) work(x);
}
double eta(const int x[4], int mu) {
#ifdef MILC_COMPATIBILITY
  const int exponent[4] = {x[3], x[3] + x[0], x[3] + x[0] + x[1], 0};
#else
  const int exponent[4] = {0, x[0], x[0] + x[1], x[0] + x[1] + x[2]};
#endif
  return exponent[mu] % 2 ? -1 : 1;
}
void step(const int x[4], int mu, int by, int y[4]) {
  for (int nu = 0; nu < 4; ++nu) y[nu] = x[nu];
  y[mu] = (x[mu] + by + 4 * extents()[mu]) % extents()[mu];
}

void multiply_direction(int mu, Complex factor, bool last_slice) {
  for_sites([&](const int x[4]) {
    if (last_slice && x[mu] != extents()[mu] - 1) return;
    Matrix& u = Lattice::links()[std::size_t(4 * site_of(x) + mu)];
    u = to(times(factor, from(u)));
  });
}
// As CPS folds them in and out: of a twist, the second call undoes the first.
void boundary_conditions() {
  static int calls = 0;
  ++calls;
  for (int mu = 0; mu < 4; ++mu) {
    if (GJP.Bc(mu) == BND_CND_APRD) multiply_direction(mu, -1, true);
    if (GJP.Bc(mu) == BND_CND_TWISTED)
      multiply_direction(mu, std::polar(1.0, (calls % 2 ? -1 : 1) * pi * GJP.TwistAngle(mu)), true);
  }
}

double norm2(const std::vector<Vector>& a) {
  double sum = 0;
  for (const Vector& v : a)
    for (double c : v.v) sum += c * c;
  return sum;
}
// p a + q b
std::vector<Vector> sum(double p, const std::vector<Vector>& a, double q, const std::vector<Vector>& b) {
  std::vector<Vector> c(a.size());
  for (std::size_t k = 0; k < a.size(); ++k)
    for (int i = 0; i < 6; ++i) c[k].v[i] = p * a[k].v[i] + q * b[k].v[i];
  return c;
}
typedef std::vector<Vector> Half;  // the sites of a parity, in STAG order
Half half_at(const Vector* field, int offset = 0) {
  return Half(field + offset, field + offset + GJP.VolNodeSites() / 2);
}
void put(const Half& half, Vector* field, int offset = 0) {
  for (std::size_t k = 0; k < half.size(); ++k) field[offset + int(k)] = half[k];
}

// CPS's Dirac operator: it takes links and fields as they are, and leaves them in CANONICAL order.
class DiracOp {
 public:
  DiracOp(FstagTypes& lattice, Vector* f_out, Vector* f_in, Float mass, CnvFrmType cnv_frm)
      : lattice_(lattice), f_out_(f_out), f_in_(f_in), converts_(cnv_frm == CNV_FRM_YES) {
    ++Lattice::own_operators();
    if (GJP.Nodes(0) * GJP.Nodes(1) * GJP.Nodes(2) * GJP.Nodes(3) != 1) {
      std::printf("CPS's own operator is here for one node\n");
      std::exit(3);
    }
    near_ = lattice.near_links();
    far_ = lattice.far_links();
    boundary_conditions();
    multiply_direction(GJP.XiDir(), GJP.XiVXi() / GJP.XiV(), false);
    convert(STAG);
    mass_ = mass * GJP.XiBare() / GJP.XiV();
  }
  ~DiracOp() {
    convert(CANONICAL);
    boundary_conditions();
    multiply_direction(GJP.XiDir(), GJP.XiV() / GJP.XiVXi(), false);
  }
  double mass() const { return mass_; }

  // D on the sites of the other parity than that of `in`.
  Half hop(const Half& in, ChkbType parity_of_in) const {
    Half out(in.size());
    const int half = GJP.VolNodeSites() / 2;
    for_sites([&](const int x[4]) {
      if ((x[0] + x[1] + x[2] + x[3]) % 2 == int(parity_of_in)) return;
      Vector& to_site = out[std::size_t(stag_site(x) % half)];
      for (double& c : to_site.v) c = 0;
      for (int mu = 0; mu < 4; ++mu)
        for (int steps = 1; steps <= (far_ ? 3 : 1); steps += 2) {
          int y[4], z[4];
          step(x, mu, steps, y);
          step(x, mu, -steps, z);
          add(to_site, 1, link(x, mu, steps), in[std::size_t(stag_site(y) % half)]);
          add(to_site, -1, dagger(link(z, mu, steps)), in[std::size_t(stag_site(z) % half)]);
        }
    });
    return out;
  }
  Half a(const Half& in, double shift = 0) const {
    return sum(4 * mass_ * mass_ + shift, in, -1, hop(hop(in, CHKB_EVEN), CHKB_ODD));
  }
  // CPS's CG on even sites: iterations done, of at most `most`. `strict`: the multi-shift solver's "<".
  int cg(Half& x, const Half& b, double stop, int most, double shift = 0, bool strict = false) const {
    Half r = sum(1, b, -1, a(x, shift)), p = r;
    const double limit = stop * stop * norm2(b);
    double rr = norm2(r);
    int done = 0;
    while (done < most && (strict ? rr >= limit : rr > limit)) {
      const Half ap = a(p, shift);
      double pap = 0;
      for (std::size_t k = 0; k < p.size(); ++k)
        for (int i = 0; i < 6; ++i) pap += p[k].v[i] * ap[k].v[i];
      x = sum(1, x, rr / pap, p);
      r = sum(1, r, -rr / pap, ap);
      const double before = rr;
      rr = norm2(r);
      p = sum(1, r, rr / before, p);
      ++done;
    }
    return done;
  }
  // InvCg: the count that it returns, and the residual recomputed.
  int invert(Half& x, const Half& b, const CgArg& arg, Float* true_res) const {
    const int done = cg(x, b, arg.stop_rsd, arg.max_num_iter - 1);
    if (true_res) *true_res = std::sqrt(norm2(sum(1, b, -1, a(x))) / norm2(b));
    return done + 1;
  }

 private:
  static void add(Vector& out, double sign, const Su3& u, const Vector& in) {
    for (int r = 0; r < 3; ++r) {
      Complex c = 0;
      for (int k = 0; k < 3; ++k) c += u.e[r][k] * Complex(in.v[2 * k], in.v[2 * k + 1]);
      out.v[2 * r] += sign * c.real();
      out.v[2 * r + 1] += sign * c.imag();
    }
  }
  Su3 link(const int x[4], int mu, int steps) const {
    if (!near_) return dagger(from(Lattice::links()[std::size_t(4 * site_of(x) + mu)]));  // STAG links are daggered
    return from((steps == 1 ? near_ : far_)[(mu + 1) % 4 * GJP.VolNodeSites() + site_of(x)]);
  }
  void convert(StrOrdType to_order) {
    if (converts_)
      lattice_.Convert(to_order, f_out_, f_in_);
    else
      lattice_.Convert(to_order);
  }

  FstagTypes& lattice_;
  Vector *f_out_, *f_in_;
  bool converts_;
  const Matrix *near_, *far_;
  double mass_ = 0;
};

}  // namespace

std::vector<Matrix>& Lattice::links() {
  static std::vector<Matrix> all;
  return all;
}
StrOrdType& Lattice::order() {
  static StrOrdType one = CANONICAL;
  return one;
}
int& Lattice::own_operators() {
  static int made = 0;
  return made;
}

Lattice::Lattice() { links().resize(std::size_t(4 * GJP.VolNodeSites())); }

void Lattice::Convert(StrOrdType to_order) {
  if (to_order == order()) return;
  if (to_order != CANONICAL && to_order != STAG) std::exit(4);
  for_sites([](const int x[4]) {
    for (int mu = 0; mu < 4; ++mu) {
      Matrix& u = links()[std::size_t(4 * site_of(x) + mu)];
      u = to(times(eta(x, mu), dagger(from(u))));
    }
  });
  order() = to_order;
}
void Lattice::Convert(StrOrdType to_order, Vector* f_field_1, Vector* f_field_2) {
  if (to_order == order()) return;
  Fconvert(f_field_1, to_order, order());
  Fconvert(f_field_2, to_order, order());
  Convert(to_order);
}

FstagTypes::FstagTypes() : e_vsize(3 * GJP.VolNodeSites()), f_tmp(new Vector[std::size_t(GJP.VolNodeSites() / 2)]) {}
FstagTypes::~FstagTypes() { delete[] f_tmp; }

void FstagTypes::Fconvert(Vector* f_field, StrOrdType to_order, StrOrdType from_order, int) {
  if (to_order == from_order) return;
  const std::vector<Vector> before(f_field, f_field + GJP.VolNodeSites());
  for_sites([&](const int x[4]) {
    const int stag = stag_site(x), canonical = site_of(x);
    f_field[to_order == STAG ? stag : canonical] = before[std::size_t(to_order == STAG ? canonical : stag)];
  });
}

int FstagTypes::FmatInv(Vector* f_out, Vector* f_in, CgArg* cg_arg, Float* true_res, CnvFrmType cnv_frm, PreserveType) {
  const DiracOp d(*this, f_out, f_in, cg_arg->mass, cnv_frm);
  const int half = GJP.VolNodeSites() / 2;
  const Half even = half_at(f_in), odd = half_at(f_in, half);
  Half x = half_at(f_out);
  const int count = d.invert(x, sum(2 * d.mass(), even, -1, d.hop(odd, CHKB_ODD)), *cg_arg, true_res);
  put(x, f_out);
  put(sum(0.5 / d.mass(), odd, -0.5 / d.mass(), d.hop(x, CHKB_EVEN)), f_out, half);
  return count;
}
int FstagTypes::FmatEvlInv(Vector* f_out, Vector* f_in, CgArg* cg_arg, Float* true_res, CnvFrmType cnv_frm) {
  const DiracOp d(*this, f_out, f_in, cg_arg->mass, cnv_frm);
  Half x = half_at(f_out);
  const int count = d.invert(x, half_at(f_in), *cg_arg, &cg_arg->true_rsd);
  if (true_res) *true_res = cg_arg->true_rsd;
  put(x, f_out);
  put(d.hop(x, CHKB_EVEN), f_tmp);
  return count;
}
int FstagTypes::FmatEvlMInv(Vector** f_out, Vector* f_in, Float* shift, int n, int, CgArg** cg_arg, CnvFrmType cnv_frm,
                            MultiShiftSolveType type, Float* alpha, Vector** f_out_d) {
  // The smallest shift goes into the mass, which is scaled afterwards.
  const double lowest = shift[0], mass = std::sqrt(cg_arg[0]->mass * cg_arg[0]->mass + lowest / 4);
  const DiracOp d(*this, nullptr, f_in, mass, cnv_frm);
  const Half b = half_at(f_in);
  int most = 0;
  for (int s = 0; s < n; ++s) {
    Half x(b.size(), Vector());
    const int done = d.cg(x, b, cg_arg[s]->stop_rsd, cg_arg[0]->max_num_iter, shift[s] - lowest, true);
    if (done > most) most = done;
    cg_arg[s]->true_rsd = std::sqrt(norm2(sum(1, b, -1, d.a(x, shift[s] - lowest))));
    if (type == MULTI) put(x, f_out[s]);
    if (type == MULTI && f_out_d) put(d.hop(x, CHKB_EVEN), f_out_d[s]);
    if (type == SINGLE) put(sum(1, half_at(f_out[0]), alpha[s], x), f_out[0]);
  }
  return most;
}

Float FstagTypes::SetPhi(Vector* phi, Vector* frm_e, Vector* frm_o, Float mass, DagType) {
  const DiracOp d(*this, phi, frm_o, mass, CNV_FRM_NO);
  put(sum(2 * d.mass(), half_at(frm_e), -1, d.hop(half_at(frm_o), CHKB_ODD)), phi);
  return 0;
}
void FstagTypes::Fdslash(Vector* f_out, Vector* f_in, CgArg* cg_arg, CnvFrmType cnv_frm, int dir_flag) {
  const DiracOp d(*this, f_out, f_in, cg_arg->mass, cnv_frm);
  const int half = GJP.VolNodeSites() / 2;
  if (dir_flag != 0) return;  // not modelled
  put(d.hop(half_at(f_in, half), CHKB_ODD), f_out);
  put(d.hop(half_at(f_in), CHKB_EVEN), f_out, half);
}
Float FstagTypes::BhamiltonNode(Vector* boson, Float mass) {
  const DiracOp d(*this, f_tmp, boson, mass, CNV_FRM_NO);
  const Half in = half_at(boson), out = d.a(in);
  put(out, f_tmp);
  double dot = 0;
  for (std::size_t k = 0; k < in.size(); ++k)
    for (int i = 0; i < 6; ++i) dot += in[k].v[i] * out[k].v[i];
  return dot;
}
void FstagTypes::BforceVector(Vector* in, CgArg* cg_arg) {
  const DiracOp d(*this, f_tmp, in, cg_arg->mass, CNV_FRM_NO);
  put(d.hop(half_at(in), CHKB_EVEN), f_tmp);
}

Fsmear::Fsmear(int n_smear) : fields(std::size_t(n_smear)) {
  for (std::vector<Matrix>& field : fields) field.resize(std::size_t(4 * GJP.VolNodeSites()));
}
const Matrix* Fasqtad::near_links() {
  Smear();
  return fields[0].data();
}
const Matrix* Fasqtad::far_links() { return fields[1].data(); }

namespace {

typedef std::vector<Su3> MatrixField;

// Matrices taken along a link: directions 0 to 3 forwards, 4 to 7 backwards.
class Transport {
 public:
  explicit Transport(const std::vector<Matrix>& links) {
    for (const Matrix& u : links) v_.push_back(from(u));
  }
  MatrixField operator()(int direction, const MatrixField& in) const {
    MatrixField out(in.size());
    const int mu = direction % 4;
    for_sites([&](const int x[4]) {
      int y[4];
      step(x, mu, direction < 4 ? 1 : -1, y);
      const Su3 u = direction < 4 ? v_[std::size_t(4 * site_of(x) + mu)] : dagger(v_[std::size_t(4 * site_of(y) + mu)]);
      const Su3& m = in[std::size_t(site_of(y))];
      Su3& to_site = out[std::size_t(site_of(x))];
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
          to_site.e[r][c] = 0;
          for (int k = 0; k < 3; ++k) to_site.e[r][c] += u.e[r][k] * m.e[k][c];
        }
    });
    return out;
  }
  MatrixField unit(double c) const {
    MatrixField one(v_.size() / 4);
    for (Su3& m : one)
      for (int k = 0; k < 9; ++k) m.e[k / 3][k % 3] = k % 4 == 0 ? c : 0;
    return one;
  }

 private:
  std::vector<Su3> v_;
};
void add(MatrixField& sum, double c, const MatrixField& m) {
  for (std::size_t k = 0; k < m.size(); ++k)
    for (int i = 0; i < 9; ++i) sum[k].e[i / 3][i % 3] += c * m[k].e[i / 3][i % 3];
}

}  // namespace

void Fasqtad::Smear() {
  if (smeared) return;
  const StrOrdType before = StrOrd();
  Convert(CANONICAL);
  boundary_conditions();
  std::vector<Matrix> v = links();  // with phases and boundary, not daggered
  boundary_conditions();
  Convert(before);
  for_sites([&](const int x[4]) {
    for (int mu = 0; mu < 4; ++mu) {
      Matrix& u = v[std::size_t(4 * site_of(x) + mu)];
      u = to(times(eta(x, mu), from(u)));
    }
  });
  const Transport t(v);
  const auto back = [](int direction) { return (direction + 4) % 8; };
  const auto apart = [](int a, int b) { return a % 4 != b % 4; };
  for (int mu = 0; mu < 4; ++mu) {
    MatrixField fat = t(mu, t.unit(GJP.KS_coeff()));
    for (int nu = 0; nu < 8; ++nu) {
      if (!apart(mu, nu)) continue;
      const MatrixField first = t(back(nu), t.unit(1));
      MatrixField staple = t.unit(0);
      add(staple, GJP.staple3_coeff(), t(mu, first));
      add(staple, GJP.Lepage_coeff(), t(nu, t(mu, t(back(nu), first))));
      for (int rho = 0; rho < 8; ++rho) {
        if (!apart(mu, rho) || !apart(nu, rho)) continue;
        const MatrixField second = t(back(rho), first);
        MatrixField inner = t.unit(0);
        add(inner, GJP.staple5_coeff(), t(mu, second));
        for (int sigma = 0; sigma < 8; ++sigma)
          if (apart(mu, sigma) && apart(nu, sigma) && apart(rho, sigma))
            add(inner, GJP.staple7_coeff(), t(sigma, t(mu, t(back(sigma), second))));
        add(staple, 1, t(rho, inner));
      }
      add(fat, 1, t(nu, staple));
    }
    const MatrixField naik = t(mu, t(mu, t(mu, t.unit(GJP.Naik_coeff()))));
    const std::size_t first_of_direction = std::size_t((mu + 1) % 4 * GJP.VolNodeSites());
    for (std::size_t k = 0; k < fat.size(); ++k) {
      fields[0][first_of_direction + k] = to(fat[k]);
      fields[1][first_of_direction + k] = to(naik[k]);
    }
  }
  smeared = 1;
}

CPS_END_NAMESPACE
