// Staghorn in a program that is written against CPS (Columbia Physics System): a lattice class whose staggered
// inversions are solved by Staghorn. C++11. CPS's headers may come before or after this one; staghorn_mpi.h comes
// before it if there are several nodes.
//
//   staghorn_cps::Connection staghorn(MPI_COMM_WORLD);                  // after GJP.Initialize; lives as long as the
//   program staghorn_cps::Solver<GwilsonFstag> lattice;                 // in the place of GwilsonFstag lattice;
//   lattice.FmatInv(x, b, &cg_arg, &true_res);                          // as before, also through Lattice&
//
// What CPS does is kept: stop on |r| <= stop_rsd |2m b_e - D b_o| of the even system, f_out as a first guess, the count
// of iterations + 1 (max_num_iter if that was not enough), true_res and true_rsd, f_tmp = D x after FmatEvlInv, twists
// and anisotropy; of FmatEvlMInv SINGLE and MULTI, the count of iterations, stop_rsd of each shift; the order of links
// and fields that CPS's Dirac operator leaves behind. Three things differ: true_res is recomputed in fp64 with the
// links as they are; a zero source returns 1 with true_res 0; what cannot be done throws staghorn_cps::Failure.
#ifndef STAGHORN_CPS_HPP
#define STAGHORN_CPS_HPP

#include <staghorn_cps_connection.hpp>
#include <type_traits>

namespace staghorn_cps {

// Base: a lattice class of CPS with staggered fermions. Smeared: Fsmear, where it is a base of Base.
template <class Base, class... Smeared>
class SolverOf : public Base {
  static_assert(std::is_base_of<host::FstagTypes, Base>::value,
                "staghorn_cps::Solver takes lattice classes with staggered fermions: Fstag or Fasqtad");
  static_assert(!std::is_base_of<host::Fsmear, Base>::value || std::is_base_of<host::Fasqtad, Base>::value,
                "staghorn_cps::Solver does not offer Fp4 and Fhisq: of smeared links it takes Fasqtad alone");
  static constexpr bool is_asqtad = std::is_base_of<host::Fasqtad, Base>::value;

 public:
  // The connection outlives the lattice.
  explicit SolverOf(Connection& connection = Connection::of_program()) : Smeared(3)..., connection_(&connection) {}

  using Base::FeigSolv;
  using Base::FmatEvlInv;
  using Base::FmatEvlMInv;
  using Base::FmatInv;
  using Base::SetPhi;

  // Hands the links over now, so that Connection::find_eigenpairs can look for their eigenpairs. Collective.
  void take_links() { begin(host::CNV_FRM_NO); }

  // M x = b on the whole lattice. Collective.
  int FmatInv(host::Vector* f_out, host::Vector* f_in, host::CgArg* cg_arg, host::Float* true_res,
              host::CnvFrmType cnv_frm = host::CNV_FRM_YES, host::PreserveType = host::PRESERVE_YES) override {
    return FmatInv(1, &f_out, &f_in, cg_arg, true_res, cnv_frm);
  }
  // The same for n fields, 1 to 64, together: three colours in the time of about two. true_res: n numbers, or NULL.
  // Returns the largest count. Collective.
  int FmatInv(int n, host::Vector** f_out, host::Vector** f_in, host::CgArg* cg_arg, host::Float* true_res,
              host::CnvFrmType cnv_frm = host::CNV_FRM_YES) {
    const Layout layout = begin(cnv_frm);
    staghorn_request request = request_of(*cg_arg, STAGHORN_FULL);
    request.stop = STAGHORN_STOP_ON_PARITY;
    use_low_modes(*cg_arg, request);
    if (n < 1) throw Failure("FmatInv: at least one field is needed");
    std::vector<staghorn_result> results(std::size_t(n), defaults<staghorn_result>(STAGHORN_RESULT));
    const std::vector<const void*> sources(f_in, f_in + n);
    const std::vector<void*> solutions(f_out, f_out + n);
    const staghorn_vectors vectors = vectors_of(layout, 0);
    checked(staghorn_solve(connection_->gauge(), &request, &vectors, n, sources.data(), solutions.data(), nullptr,
                           results.data()));
    int most = 0;
    for (int i = 0; i < n; ++i) {
      const staghorn_result& result = results[std::size_t(i)];
      if (true_res) true_res[i] = result.residual_parity;
      if (count(result, *cg_arg) > most) most = count(result, *cg_arg);
      end(layout, f_out[i], f_in[i]);
    }
    return most;
  }

  // A x = b on even sites; f_tmp = D x. Collective.
  int FmatEvlInv(host::Vector* f_out, host::Vector* f_in, host::CgArg* cg_arg, host::Float* true_res,
                 host::CnvFrmType cnv_frm = host::CNV_FRM_YES) override {
    const Layout layout = begin(cnv_frm);
    const staghorn_request request = request_of(*cg_arg, STAGHORN_EVEN);
    staghorn_result result{};
    if (!layout.canonical) {
      result = solve(request, vectors_of(layout, 1), f_in, f_out, this->f_tmp);
    } else {  // fields of the whole lattice, of which the even sites are used
      const staghorn_vectors whole = vectors_of(layout, 0), stag = vectors_of(Layout{false, false}, 0);
      std::vector<double> dx(std::size_t(6 * sites()), 0.0), in_stag(dx.size());
      result = solve(request, whole, f_in, f_out, dx.data());
      checked(staghorn_convert_vectors(connection_->context(), &whole, dx.data(), &stag, in_stag.data()));
      std::memcpy(static_cast<void*>(this->f_tmp), in_stag.data() + dx.size() / 2, dx.size() / 2 * sizeof(double));
    }
    cg_arg->true_rsd = result.residual_true;
    if (true_res) *true_res = result.residual_true;
    end(layout, f_out, f_in);
    return count(result, *cg_arg);
  }

  // (A + shift[s]) x[s] = b on even sites. MULTI: each solution to f_out[s], and D x[s] to f_out_d[s] unless that is
  // NULL. SINGLE: f_out[0] += sum alpha[s] x[s]. Each shift stops at stop_rsd of its own CgArg, of which true_rsd
  // becomes |r_s|, not divided by |b|, as CPS has it. On anisotropic lattices each shift is shift[s] + shift[0]
  // ((XiBare / XiV)^2 - 1), as CPS has it, which hides shift[0] in the mass and scales that afterwards. Collective.
  int FmatEvlMInv(host::Vector** f_out, host::Vector* f_in, host::Float* shift, int n_shifts, int, host::CgArg** cg_arg,
                  host::CnvFrmType cnv_frm, host::MultiShiftSolveType type, host::Float* alpha,
                  host::Vector** f_out_d) override {
    if (type != host::SINGLE && type != host::MULTI) throw Failure("FmatEvlMInv: the type has to be SINGLE or MULTI");
    if (n_shifts < 1) throw Failure("FmatEvlMInv: at least one shift is needed");
    const bool single = type == host::SINGLE;
    const Layout layout = begin(cnv_frm);
    staghorn_request request = request_of(*cg_arg[0], STAGHORN_EVEN);
    request.guess = 0;
    if (cg_arg[0]->max_num_iter < 0) throw Failure("FmatEvlMInv: max_num_iter has to be at least 0");
    request.max_iterations = cg_arg[0]->max_num_iter;
    std::vector<double> stop, shifts(shift, shift + n_shifts);
    for (int s = 0; s < n_shifts; ++s) stop.push_back(cg_arg[s]->stop_rsd);
    if (host::GJP.XiBare() != host::GJP.XiV()) {
      const StandardArithmetic arithmetic;
      const double scale = host::GJP.XiBare() / host::GJP.XiV();
      for (double& value : shifts) value += shift[0] * (scale * scale - 1);
    }
    std::vector<staghorn_result> results(std::size_t(n_shifts), defaults<staghorn_result>(STAGHORN_RESULT));
    const staghorn_vectors vectors = vectors_of(layout, layout.canonical ? 0 : 1);
    const std::vector<void*> x(f_out, f_out + (single ? 1 : n_shifts));
    std::vector<void*> dx;
    if (!single && f_out_d) dx.assign(f_out_d, f_out_d + n_shifts);
    checked(staghorn_multishift(connection_->gauge(), &request, &vectors, n_shifts, shifts.data(), stop.data(),
                                single ? alpha : nullptr, f_in, x.data(), dx.empty() ? nullptr : dx.data(),
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

  // D of the whole field with dir_flag 0; other parts of D are CPS's own. Collective.
  void Fdslash(host::Vector* f_out, host::Vector* f_in, host::CgArg* cg_arg, host::CnvFrmType cnv_frm,
               int dir_flag) override {
    if (dir_flag != 0) return Base::Fdslash(f_out, f_in, cg_arg, cnv_frm, dir_flag);
    const Layout layout = begin(cnv_frm);
    hop(vectors_of(layout, 0), STAGHORN_FULL, f_in, f_out);
    end(layout, f_out, f_in);
  }
  // phi = 2m frm_e - D frm_o on even sites, half fields in STAG order. Collective.
  host::Float SetPhi(host::Vector* phi, host::Vector* frm_e, host::Vector* frm_o, host::Float mass,
                     host::DagType) override {
    const staghorn_vectors half = vectors_of(begin(host::CNV_FRM_NO), 1);
    hop(half, STAGHORN_EVEN, frm_o, phi);
    subtract(2 * used_mass(mass), frm_e, phi);
    return 0;
  }
  // out = A in on even sites, half fields in STAG order; *dot, unless NULL: in . out of this node. Collective.
  void MatPcDagMatPc(host::Vector* out, host::Vector* in, host::Float mass, host::Float* dot = nullptr) {
    const staghorn_vectors half = vectors_of(begin(host::CNV_FRM_NO), 1);
    std::vector<double> odd(std::size_t(3 * sites()));
    hop(half, STAGHORN_ODD, in, odd.data());
    hop(half, STAGHORN_EVEN, odd.data(), out);
    subtract(4 * used_mass(mass) * used_mass(mass), in, out);
    if (!dot) return;
    const StandardArithmetic arithmetic;
    const double *a = numbers(in), *b = numbers(out);
    *dot = 0;
    for (std::size_t k = 0; k < odd.size(); ++k) *dot = std::fma(a[k], b[k], *dot);
  }
  // The action of a boson on this node; f_tmp = A boson. Collective.
  host::Float BhamiltonNode(host::Vector* boson, host::Float mass) override {
    host::Float action = 0;
    MatPcDagMatPc(this->f_tmp, boson, mass, &action);
    return action;
  }
  // f_tmp = D in, for the force of a boson. Collective.
  void BforceVector(host::Vector* in, host::CgArg*) override {
    hop(vectors_of(begin(host::CNV_FRM_NO), 1), STAGHORN_ODD, in, this->f_tmp);
  }

  // The N_eig lowest eigenpairs of A, proved, half fields in STAG order; start vectors are not read. The connection
  // keeps the pairs. Returns the applications of D^2. Where RitzMatOper is neither MATPCDAG_MATPC nor MATDAG_MAT, CPS's
  // own. Collective.
  int FeigSolv(host::Vector** f_eigenv, host::Float* lambda, host::Float* chirality, int* valid_eig, host::Float** hsum,
               host::EigArg* eig_arg, host::CnvFrmType cnv_frm = host::CNV_FRM_YES) override {
    if (!is_a(eig_arg->RitzMatOper))
      return Base::FeigSolv(f_eigenv, lambda, chirality, valid_eig, hsum, eig_arg, cnv_frm);
    const int calls =
        eigenpairs(begin(host::CNV_FRM_NO), eig_arg->N_eig, eig_arg->mass, eig_arg->RsdR_a, f_eigenv, lambda);
    const StandardArithmetic arithmetic;
    for (int i = 0; i < eig_arg->N_eig; ++i) {
      lambda[i] *= host::GJP.XiV() / host::GJP.XiBare();
      chirality[i] = 1;
      valid_eig[i] = 1;
    }
    return calls;
  }
  // The same for nk_lanczos_vectors; with CNV_FRM_YES fields of the whole lattice, zero on odd sites. Collective.
  int FeigSolv(host::Vector** f_eigenv, host::Float* lambda, host::LanczosArg* eig_arg,
               host::CnvFrmType cnv_frm = host::CNV_FRM_YES) {
    if (!is_a(eig_arg->RitzMat_convcheck)) return Base::FeigSolv(f_eigenv, lambda, eig_arg, cnv_frm);
    return eigenpairs(begin(cnv_frm), eig_arg->nk_lanczos_vectors, eig_arg->mass, eig_arg->stop_residual, f_eigenv,
                      lambda);
  }

 private:
  // How the fields of a call lie, and whether CPS leaves them in CANONICAL order though they came in STAG.
  struct Layout {
    bool canonical, become_canonical;
  };

  static long sites() {
    return long(host::GJP.NodeSites(0)) * host::GJP.NodeSites(1) * host::GJP.NodeSites(2) * host::GJP.NodeSites(3);
  }
  static bool is_a(int ritz_operator) {
    return ritz_operator == host::MATPCDAG_MATPC || ritz_operator == host::MATDAG_MAT;
  }
  static double* numbers(void* field) { return static_cast<double*>(field); }

  // What CPS's Dirac operator does when it is made and destroyed: fields are converted with the links, if these are not
  // in STAG order yet; the end finds all of them in CANONICAL order. Takes the links. Collective.
  Layout begin(host::CnvFrmType cnv_frm) {
    const bool stag = this->StrOrd() == host::STAG, converts = cnv_frm == host::CNV_FRM_YES;
    if (!stag && this->StrOrd() != host::CANONICAL) throw Failure("links have to be in the order CANONICAL or STAG");
    staghorn_links links = defaults<staghorn_links>(STAGHORN_LINKS);
    links.order = STAGHORN_LEX;
    links.generation = STAGHORN_GENERATION_BY_CONTENT;
    for (int mu = 0; mu < 4; ++mu) links.theta[mu] = theta(mu, stag);
    if (stag) this->Convert(host::CANONICAL);
    load_links(links, std::integral_constant<bool, is_asqtad>());
    connection_->count();
    return {!stag && converts, stag && converts};
  }
  void end(const Layout& layout, host::Vector* f_out, host::Vector* f_in) {
    if (!layout.become_canonical) return;
    this->Fconvert(f_out, host::CANONICAL, host::STAG);
    this->Fconvert(f_in, host::CANONICAL, host::STAG);
  }

  void load_links(staghorn_links& links, std::false_type) {
    {
      const StandardArithmetic arithmetic;
      links.scale[host::GJP.XiDir()] = host::GJP.XiVXi() / host::GJP.XiV();
    }
    connection_->load(links, this->GaugeField());
  }
  void load_links(staghorn_links& links, std::true_type) {
    if (host::GJP.XiVXi() != host::GJP.XiV() || host::GJP.XiBare() != host::GJP.XiV())
      throw Failure("Fasqtad wants an isotropic lattice: XiBare = XiV = XiVXi");
    if (connection_->smears) return connection_->load_smeared(links, this->GaugeField());
    this->Smear();
    links.phases = connection_->phases;
    links.boundary_in = 1;
    connection_->load_fields(links, this->Fields(0), this->Fields(1));
  }

  // CPS multiplies the link that crosses the boundary by exp(-i pi angle).
  static double theta(int mu, bool stag) {
    switch (host::GJP.Bc(mu)) {
      case host::BND_CND_PRD:
        return 0;
      case host::BND_CND_APRD:
        return 1;
      case host::BND_CND_TWISTED:
        if (stag) throw Failure("twisted boundaries want links in the order CANONICAL: CPS itself spoils STAG ones");
        return -host::GJP.TwistAngle(mu);
      default:
        throw Failure("boundary conditions have to be periodic, antiperiodic or twisted");
    }
  }

  staghorn_vectors vectors_of(const Layout& layout, int half) const {
    staghorn_vectors vectors = defaults<staghorn_vectors>(STAGHORN_VECTORS);
    vectors.order = layout.canonical ? STAGHORN_LEX : STAGHORN_CPS_STAG;
    vectors.phases = connection_->phases;
    vectors.half = half;
    return vectors;
  }

  static double used_mass(double mass) {
    const StandardArithmetic arithmetic;
    return mass * host::GJP.XiBare() / host::GJP.XiV();
  }
  staghorn_request request_of(const host::CgArg& cg_arg, int system) const {
    staghorn_request request = connection_->request;
    request.system = system;
    request.mass = used_mass(cg_arg.mass);
    request.tolerance = cg_arg.stop_rsd;
    request.max_iterations = cg_arg.max_num_iter > 1 ? cg_arg.max_num_iter - 1 : 1;  // CPS's loop ends there
    request.guess = 1;
    return request;
  }
  // CgArg::Inverter of FmatInv. CPS's deflation is a first guess from low modes, whatever f_out holds.
  void use_low_modes(const host::CgArg& cg_arg, staghorn_request& request) const {
    if (cg_arg.Inverter == host::CG) return;
    if (cg_arg.Inverter == host::LOWMODEAPPROX)
      throw Failure("Inverter LOWMODEAPPROX is not offered: CG_LOWMODE_DEFL solves with eigenpairs of Staghorn");
    if (cg_arg.Inverter != host::CG_LOWMODE_DEFL) throw Failure("Inverter has to be CG or CG_LOWMODE_DEFL");
    const int kept = connection_->eigenpairs();
    if (kept == 0 || kept < cg_arg.neig)
      throw Failure("Inverter CG_LOWMODE_DEFL: expected neig = " + std::to_string(cg_arg.neig) +
                    " eigenpairs of these links in the connection, found " + std::to_string(kept) +
                    "; take_links() and find_eigenpairs() make them, CPS's file fname_eigen is not read");
    request.guess = 0;
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
  static int count(const staghorn_result& result, const host::CgArg& cg_arg) {
    return result.status == STAGHORN_NOT_CONVERGED ? cg_arg.max_num_iter : int(result.iterations) + 1;
  }
  void hop(const staghorn_vectors& vectors, int target, const void* in, void* out) {
    const void* const from[1] = {in};
    void* const to[1] = {out};
    checked(staghorn_hop(connection_->gauge(), &vectors, target, 1, from, to));
  }
  // half = factor in - half, on the even half of a field
  static void subtract(double factor, host::Vector* in, host::Vector* half) {
    const StandardArithmetic arithmetic;
    double *a = numbers(in), *b = numbers(half);
    for (long k = 0; k < 3 * sites(); ++k) b[k] = std::fma(factor, a[k], -b[k]);
  }
  int eigenpairs(const Layout& layout, int n, double mass, double residual, host::Vector** vectors, double* lambda) {
    int calls = 0;
    const std::vector<double> values = connection_->find_eigenpairs(n, residual, &calls);
    const staghorn_vectors to_host = vectors_of(layout, layout.canonical || layout.become_canonical ? 0 : 1);
    std::vector<void*> to(vectors, vectors + n);
    checked(staghorn_eigenpairs_vectors(connection_->gauge(), &to_host, 0, n, to.data()));
    const double four_m2 = 4 * used_mass(mass) * used_mass(mass);
    for (int i = 0; i < n; ++i) {
      lambda[i] = four_m2 + values[std::size_t(i)];
      if (layout.become_canonical) this->Fconvert(vectors[i], host::CANONICAL, host::STAG);
    }
    return calls;
  }

  Connection* connection_;
};

// SolverOf<Base, Fsmear> of a class with smeared links: such a virtual base has to be initialised by the last class.
template <class Base, bool smeared>
struct SolverFor {
  typedef SolverOf<Base> type;
};
template <class Base>
struct SolverFor<Base, true> {
  typedef SolverOf<Base, host::Fsmear> type;
};

// The lattice class: Solver<GwilsonFstag>, Solver<GnoneFstag>, Solver<GnoneFasqtad>.
template <class Base>
using Solver = typename SolverFor<Base, std::is_base_of<host::Fsmear, Base>::value>::type;

}  // namespace staghorn_cps

#endif
