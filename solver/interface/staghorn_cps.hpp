// Staghorn in a program that is written against CPS (Columbia Physics System): a lattice class whose staggered
// inversions are solved by Staghorn. C++11. Include CPS's util/lattice.h, util/gjp.h and alg/cg_arg.h before this
// header, and staghorn_mpi.h too if there are several nodes.
//
//   staghorn_cps::Connection staghorn(MPI_COMM_WORLD);                  // after GJP.Initialize; lives as long as the
//   program staghorn_cps::Solver<GwilsonFstag> lattice(staghorn);               // in the place of GwilsonFstag
//   lattice; lattice.FmatInv(x, b, &cg_arg, &true_res);                          // as before, also through Lattice&
//
// What CPS does is kept: stop on |r| <= stop_rsd |2m b_e - D b_o| of the even system, f_out as a first guess, the count
// of iterations + 1 (max_num_iter if that was not enough), true_res and true_rsd, f_tmp = D x after FmatEvlInv, twists
// and anisotropy; of FmatEvlMInv SINGLE and MULTI, the count of iterations, stop_rsd of each shift. Three things
// differ: true_res is recomputed in fp64 with the links as they are; a zero source returns 1 with true_res 0; what
// cannot be done throws staghorn_cps::Failure.
#ifndef STAGHORN_CPS_HPP
#define STAGHORN_CPS_HPP

#include <staghorn.h>

#include <cfenv>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#ifndef STAGHORN_CPS_NAMESPACE
#define STAGHORN_CPS_NAMESPACE cps
#endif

namespace staghorn_cps {

class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& text) : std::runtime_error("Staghorn for CPS: " + text) {}
};

// Throws Failure with the library's text where `status` is an error; returns outcomes.
inline int checked(int status) {
  if (status < 0) throw Failure(staghorn_last_error());
  return status;
}

// Any of the structs of staghorn.h with its defaults.
template <class Struct>
Struct defaults(int which) {
  Struct value{};
  checked(staghorn_defaults(&value, sizeof value, which));
  return value;
}

inline staghorn_options default_options() { return defaults<staghorn_options>(STAGHORN_OPTIONS); }

// Masses are computed as the library computes, whatever rounding and traps the program has set.
class StandardArithmetic {
 public:
  StandardArithmetic() {
    std::feholdexcept(&before_);
    std::fesetround(FE_TONEAREST);
  }
  ~StandardArithmetic() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_;
};

// The context of the program, on the nodes of GJP, and one gauge whose links follow those of whichever lattice solves.
class Connection {
 public:
  // One node: no function of MPI is called.
  explicit Connection(const staghorn_options& options = default_options()) {
    const staghorn_geometry geometry = of_nodes();
    checked(staghorn_context_create(&context_, &geometry, &options));
  }
#ifdef STAGHORN_MPI_H
  // All nodes; ranks may be in any order. Collective.
  explicit Connection(MPI_Comm nodes, const staghorn_options& options = default_options()) {
    const staghorn_geometry geometry = of_nodes();
    checked(staghorn_context_create_mpi(&context_, nodes, &geometry, &options));
  }
#endif
  ~Connection() { staghorn_context_destroy(&context_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Takes the links. Collective.
  void load(const staghorn_links& links, const void* u) {
    const void* const buffers[4] = {u, nullptr, nullptr, nullptr};
    checked(gauge_ ? staghorn_gauge_update(gauge_, &links, buffers)
                   : staghorn_gauge_create(context_, &links, buffers, &gauge_));
  }
  staghorn_context* context() const { return context_; }
  staghorn_gauge* gauge() const { return gauge_; }

  // Precisions of the solves that follow (precision, sloppy, sloppy_reals), and their progress function; all other
  // fields are set by each call.
  staghorn_request request = defaults<staghorn_request>(STAGHORN_REQUEST);

 private:
  static staghorn_geometry of_nodes() {
    using namespace STAGHORN_CPS_NAMESPACE;
    staghorn_geometry geometry = defaults<staghorn_geometry>(STAGHORN_GEOMETRY);
    for (int mu = 0; mu < 4; ++mu) {
      geometry.global[mu] = GJP.NodeSites(mu) * GJP.Nodes(mu);
      geometry.grid[mu] = GJP.Nodes(mu);
      geometry.coord[mu] = GJP.NodeCoor(mu);
    }
    return geometry;
  }

  staghorn_context* context_ = nullptr;
  staghorn_gauge* gauge_ = nullptr;
};

// Base: a lattice class of CPS with staggered fermions, GwilsonFstag or GnoneFstag for example.
template <class Base>
class Solver : public Base {
  typedef STAGHORN_CPS_NAMESPACE::Vector Vector;
  typedef STAGHORN_CPS_NAMESPACE::Float Float;
  typedef STAGHORN_CPS_NAMESPACE::CgArg CgArg;
  typedef STAGHORN_CPS_NAMESPACE::CnvFrmType CnvFrmType;

 public:
  // `connection` outlives the lattice.
  explicit Solver(Connection& connection) : connection_(&connection) {}

  using Base::FmatEvlInv;
  using Base::FmatInv;

  // M x = b on the whole lattice. Collective.
  int FmatInv(Vector* f_out, Vector* f_in, CgArg* cg_arg, Float* true_res,
              CnvFrmType cnv_frm = STAGHORN_CPS_NAMESPACE::CNV_FRM_YES,
              STAGHORN_CPS_NAMESPACE::PreserveType = STAGHORN_CPS_NAMESPACE::PRESERVE_YES) override {
    load_links();
    staghorn_request request = request_of(*cg_arg, STAGHORN_FULL);
    request.stop = STAGHORN_STOP_ON_PARITY;
    const staghorn_result result = solve(request, vectors_of(cnv_frm, 0), f_in, f_out, nullptr);
    if (true_res) *true_res = result.residual_parity;
    return count(result, *cg_arg);
  }

  // A x = b on even sites; f_tmp = D x. Collective.
  int FmatEvlInv(Vector* f_out, Vector* f_in, CgArg* cg_arg, Float* true_res,
                 CnvFrmType cnv_frm = STAGHORN_CPS_NAMESPACE::CNV_FRM_YES) override {
    load_links();
    const staghorn_request request = request_of(*cg_arg, STAGHORN_EVEN);
    staghorn_result result{};
    const staghorn_vectors stag = vectors_of(STAGHORN_CPS_NAMESPACE::CNV_FRM_NO, 1);
    if (cnv_frm == STAGHORN_CPS_NAMESPACE::CNV_FRM_NO || this->StrOrd() == STAGHORN_CPS_NAMESPACE::STAG) {
      result = solve(request, stag, f_in, f_out, this->f_tmp);
    } else {  // fields of the whole lattice in the order of the links, of which the even sites are used
      const staghorn_vectors whole = vectors_of(cnv_frm, 0);
      std::vector<double> dx(std::size_t(6 * sites()), 0.0), in_stag(dx.size());
      result = solve(request, whole, f_in, f_out, dx.data());
      const staghorn_vectors whole_stag = vectors_of(STAGHORN_CPS_NAMESPACE::CNV_FRM_NO, 0);
      checked(staghorn_convert_vectors(connection_->context(), &whole, dx.data(), &whole_stag, in_stag.data()));
      double* f_tmp = reinterpret_cast<double*>(this->f_tmp);
      for (std::size_t k = 0; k < dx.size() / 2; ++k) f_tmp[k] = in_stag[dx.size() / 2 + k];
    }
    cg_arg->true_rsd = result.residual_true;
    if (true_res) *true_res = result.residual_true;
    return count(result, *cg_arg);
  }

  // (A + shift[s]) x[s] = b on even sites. MULTI: each solution to f_out[s], and D x[s] to f_out_d[s] unless that is
  // NULL. SINGLE: f_out[0] += sum alpha[s] x[s]. Each shift stops at stop_rsd of its own CgArg, of which true_rsd
  // becomes |r_s|, not divided by |b|, as CG has it. Collective.
  int FmatEvlMInv(Vector** f_out, Vector* f_in, Float* shift, int n_shifts, int, CgArg** cg_arg, CnvFrmType cnv_frm,
                  STAGHORN_CPS_NAMESPACE::MultiShiftSolveType type, Float* alpha, Vector** f_out_d) override {
    using namespace STAGHORN_CPS_NAMESPACE;
    if (type != SINGLE && type != MULTI) throw Failure("FmatEvlMInv: the type has to be SINGLE or MULTI");
    if (n_shifts < 1) throw Failure("FmatEvlMInv: at least one shift is needed");
    load_links();
    staghorn_request request = request_of(*cg_arg[0], STAGHORN_EVEN);
    request.guess = 0;
    if (cg_arg[0]->max_num_iter < 0) throw Failure("FmatEvlMInv: max_num_iter has to be at least 0");
    request.max_iterations = cg_arg[0]->max_num_iter;
    std::vector<double> stop;
    for (int s = 0; s < n_shifts; ++s) stop.push_back(cg_arg[s]->stop_rsd);
    std::vector<staghorn_result> results(std::size_t(n_shifts), defaults<staghorn_result>(STAGHORN_RESULT));
    const bool whole = cnv_frm == CNV_FRM_YES && this->StrOrd() == CANONICAL;
    const staghorn_vectors vectors = whole ? vectors_of(cnv_frm, 0) : vectors_of(CNV_FRM_NO, 1);
    const std::vector<void*> x(f_out, f_out + (type == SINGLE ? 1 : n_shifts));
    std::vector<void*> dx;
    if (type == MULTI && f_out_d) dx.assign(f_out_d, f_out_d + n_shifts);
    checked(staghorn_multishift(connection_->gauge(), &request, &vectors, n_shifts, shift, stop.data(),
                                type == SINGLE ? alpha : nullptr, f_in, x.data(), dx.empty() ? nullptr : dx.data(),
                                results.data()));
    const StandardArithmetic arithmetic;
    int iterations = 0;
    for (int s = 0; s < n_shifts; ++s) {
      const staghorn_result& result = results[std::size_t(s)];
      cg_arg[s]->true_rsd = result.residual_iterated * std::sqrt(result.source_norm2);
      if (result.iterations > iterations) iterations = int(result.iterations);
    }
    return iterations;
  }

 private:
  static long sites() {
    using namespace STAGHORN_CPS_NAMESPACE;
    return long(GJP.NodeSites(0)) * GJP.NodeSites(1) * GJP.NodeSites(2) * GJP.NodeSites(3);
  }

  void load_links() {
    using namespace STAGHORN_CPS_NAMESPACE;
    staghorn_links links = defaults<staghorn_links>(STAGHORN_LINKS);
    const bool stag = this->StrOrd() == STAG;
    if (!stag && this->StrOrd() != CANONICAL) throw Failure("links have to be in the order CANONICAL or STAG");
    links.order = stag ? STAGHORN_CPS_STAG : STAGHORN_LEX;
    links.phases = stag ? STAGHORN_PHASES_CPS : STAGHORN_PHASES_NONE;
    for (int mu = 0; mu < 4; ++mu) links.theta[mu] = theta(mu, stag);
    {
      const StandardArithmetic arithmetic;
      links.scale[GJP.XiDir()] = GJP.XiVXi() / GJP.XiV();
    }
    connection_->load(links, this->GaugeField());
  }

  // CPS multiplies the link that crosses the boundary by exp(-i pi angle).
  static double theta(int mu, bool stag) {
    using namespace STAGHORN_CPS_NAMESPACE;
    switch (GJP.Bc(mu)) {
      case BND_CND_PRD:
        return 0;
      case BND_CND_APRD:
        return 1;
      case BND_CND_TWISTED:
        if (stag) throw Failure("twisted boundaries want links in the order CANONICAL");
        return -GJP.TwistAngle(mu);
      default:
        throw Failure("boundary conditions have to be periodic, antiperiodic or twisted");
    }
  }

  // Fields are in STAG order, or in that of the links where they are to be converted.
  staghorn_vectors vectors_of(CnvFrmType cnv_frm, int half) {
    const bool canonical =
        cnv_frm == STAGHORN_CPS_NAMESPACE::CNV_FRM_YES && this->StrOrd() == STAGHORN_CPS_NAMESPACE::CANONICAL;
    staghorn_vectors vectors = defaults<staghorn_vectors>(STAGHORN_VECTORS);
    vectors.order = canonical ? STAGHORN_LEX : STAGHORN_CPS_STAG;
    vectors.phases = STAGHORN_PHASES_CPS;
    vectors.half = half;
    return vectors;
  }

  staghorn_request request_of(const CgArg& cg_arg, int system) const {
    using namespace STAGHORN_CPS_NAMESPACE;
    const StandardArithmetic arithmetic;
    staghorn_request request = connection_->request;
    request.system = system;
    request.mass = cg_arg.mass * GJP.XiBare() / GJP.XiV();
    request.tolerance = cg_arg.stop_rsd;
    request.max_iterations = cg_arg.max_num_iter > 1 ? cg_arg.max_num_iter - 1 : 1;  // CPS's loop ends there
    request.guess = 1;
    return request;
  }

  staghorn_result solve(const staghorn_request& request, const staghorn_vectors& vectors, const void* b, void* x,
                        void* dx) {
    staghorn_result result = defaults<staghorn_result>(STAGHORN_RESULT);
    const void* const sources[1] = {b};
    void* const solutions[1] = {x};
    void* const hops[1] = {dx};
    checked(
        staghorn_solve(connection_->gauge(), &request, &vectors, 1, sources, solutions, dx ? hops : nullptr, &result));
    return result;
  }

  static int count(const staghorn_result& result, const CgArg& cg_arg) {
    return result.status == STAGHORN_NOT_CONVERGED ? cg_arg.max_num_iter : int(result.iterations) + 1;
  }

  Connection* connection_;
};

}  // namespace staghorn_cps

#endif
