// The connection of a program that is written against CPS (Columbia Physics System) to Staghorn: one context on the
// nodes of GJP, and one gauge whose links follow those of whichever lattice solves. C++11.
//
// CPS's headers are included here, whatever the order of the program's own. staghorn_mpi.h comes before this header if
// there are several nodes.
#ifndef STAGHORN_CPS_CONNECTION_HPP
#define STAGHORN_CPS_CONNECTION_HPP

#include <alg/cg_arg.h>
#include <alg/eig_arg.h>
#include <alg/lanczos_arg.h>
#include <staghorn.h>
#include <util/gjp.h>
#include <util/lattice.h>

#include <cfenv>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

// The namespace of CPS. A CPS that was configured without one: -DSTAGHORN_CPS_NAMESPACE= (nothing behind =).
#ifndef STAGHORN_CPS_NAMESPACE
#define STAGHORN_CPS_NAMESPACE cps
#endif

namespace staghorn_cps {

// What is used of CPS.
namespace host {
using STAGHORN_CPS_NAMESPACE::BND_CND_APRD;
using STAGHORN_CPS_NAMESPACE::BND_CND_PRD;
using STAGHORN_CPS_NAMESPACE::BND_CND_TWISTED;
using STAGHORN_CPS_NAMESPACE::CANONICAL;
using STAGHORN_CPS_NAMESPACE::CG;
using STAGHORN_CPS_NAMESPACE::CG_LOWMODE_DEFL;
using STAGHORN_CPS_NAMESPACE::CgArg;
using STAGHORN_CPS_NAMESPACE::CNV_FRM_NO;
using STAGHORN_CPS_NAMESPACE::CNV_FRM_YES;
using STAGHORN_CPS_NAMESPACE::CnvFrmType;
using STAGHORN_CPS_NAMESPACE::DagType;
using STAGHORN_CPS_NAMESPACE::EigArg;
using STAGHORN_CPS_NAMESPACE::Fasqtad;
using STAGHORN_CPS_NAMESPACE::Float;
using STAGHORN_CPS_NAMESPACE::Fsmear;
using STAGHORN_CPS_NAMESPACE::FstagTypes;
using STAGHORN_CPS_NAMESPACE::GJP;
using STAGHORN_CPS_NAMESPACE::LanczosArg;
using STAGHORN_CPS_NAMESPACE::LOWMODEAPPROX;
using STAGHORN_CPS_NAMESPACE::MATDAG_MAT;
using STAGHORN_CPS_NAMESPACE::MATPCDAG_MATPC;
using STAGHORN_CPS_NAMESPACE::Matrix;
using STAGHORN_CPS_NAMESPACE::MULTI;
using STAGHORN_CPS_NAMESPACE::MultiShiftSolveType;
using STAGHORN_CPS_NAMESPACE::PRESERVE_YES;
using STAGHORN_CPS_NAMESPACE::PreserveType;
using STAGHORN_CPS_NAMESPACE::SINGLE;
using STAGHORN_CPS_NAMESPACE::STAG;
using STAGHORN_CPS_NAMESPACE::Vector;
}  // namespace host

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

class Connection {
 public:
  // One node: no function of MPI is called.
  explicit Connection(const staghorn_options& options = default_options()) {
    const staghorn_geometry geometry = of_nodes();
    checked(staghorn_context_create(&context_, &geometry, &options));
    if (!first()) first() = this;
  }
#ifdef STAGHORN_MPI_H
  // All nodes; ranks may be in any order. Collective.
  explicit Connection(MPI_Comm nodes, const staghorn_options& options = default_options()) {
    const staghorn_geometry geometry = of_nodes();
    checked(staghorn_context_create_mpi(&context_, nodes, &geometry, &options));
    if (!first()) first() = this;
  }
#endif
  ~Connection() {
    if (first() == this) first() = nullptr;
    staghorn_context_destroy(&context_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The one that lattices take which are made without one, as in CPS's static LatticeFactory: the first that lives.
  static Connection& of_program() {
    if (!first()) throw Failure("no staghorn_cps::Connection lives: make one after GJP.Initialize, before any lattice");
    return *first();
  }

  // Takes thin links, unless they are those of the last call: then links and eigenpairs stay. Collective.
  void load(const staghorn_links& links, const void* u) {
    const void* const buffers[4] = {u, nullptr, nullptr, nullptr};
    checked(gauge_ ? staghorn_gauge_update(gauge_, &links, buffers)
                   : staghorn_gauge_create(context_, &links, buffers, &gauge_));
  }
  // The same of fat and long links as CPS has them: t, x, y, z in turn, each for all sites in CANONICAL order.
  void load_fields(const staghorn_links& links, const host::Matrix* fat, const host::Matrix* naik) {
    repack(fat, fat_);
    repack(naik, naik_);
    seen_.clear();
    load_pair(links);
  }
  // The same of fat and long links that Staghorn makes from thin ones, with the coefficients of GJP. Collective.
  void load_smeared(const staghorn_links& links, const host::Matrix* u) {
    // CPS's 3- and 7-link staples have the signs that the phases of their links want.
    const double weights[6] = {host::GJP.KS_coeff(),      host::GJP.Naik_coeff(),     -host::GJP.staple3_coeff(),
                               host::GJP.staple5_coeff(), -host::GJP.staple7_coeff(), host::GJP.Lepage_coeff()};
    std::vector<double> seen(reals() + 6);
    std::memcpy(seen.data(), u, reals() * sizeof(double));
    std::memcpy(seen.data() + reals(), weights, sizeof weights);
    const bool same = seen.size() == seen_.size() && std::memcmp(seen.data(), seen_.data(), 8 * seen.size()) == 0;
    if (any_node(!same)) {
      seen_.clear();
      fat_.resize(reals());
      naik_.resize(reals());
      const void* const from[4] = {u, nullptr, nullptr, nullptr};
      void* const fat[4] = {fat_.data(), nullptr, nullptr, nullptr};
      void* const naik[4] = {naik_.data(), nullptr, nullptr, nullptr};
      checked(staghorn_smear_links(context_, &links, from, weights, &links, fat, naik, nullptr));
      seen_.swap(seen);
    }
    load_pair(links);
  }

  staghorn_context* context() const { return context_; }
  // NULL before the first call that takes links.
  staghorn_gauge* gauge() const { return gauge_; }

  // How many eigenpairs the gauge keeps.
  int eigenpairs() const {
    staghorn_eigen_info info = defaults<staghorn_eigen_info>(STAGHORN_EIGEN_INFO);
    if (gauge_) checked(staghorn_eigenpairs_get(gauge_, &info, 0, nullptr, nullptr));
    return info.pairs;
  }
  // The n lowest eigenvalues of -D^2 of the links that were taken last, each pair to |K v - lambda v| <= residual (0:
  // 1e-10 times the largest eigenvalue). The gauge keeps the pairs for its solves, until the links change. `calls`,
  // unless NULL: applications of K; 0 where pairs as good are kept already. Throws Failure unless all n are proved.
  // Collective.
  std::vector<double> find_eigenpairs(int n, double residual = 0, int* calls = nullptr) {
    if (!gauge_) throw Failure("eigenpairs: no lattice has handed its links over yet");
    staghorn_eigen_request wanted = defaults<staghorn_eigen_request>(STAGHORN_EIGEN_REQUEST);
    staghorn_eigen_info info = defaults<staghorn_eigen_info>(STAGHORN_EIGEN_INFO);
    constexpr double largest_of_all = 100;  // of -D^2: 64 with links in SU(3), somewhat more with fat and long ones
    wanted.pairs = n;
    if (residual > 0) wanted.tolerance = residual / largest_of_all;
    checked(staghorn_eigenpairs_get(gauge_, &info, 0, nullptr, nullptr));
    if (n < 1 || info.pairs < n || info.residual > wanted.tolerance * largest_of_all) {
      const int status = checked(staghorn_eigenpairs_compute(gauge_, &wanted, nullptr, &info));
      if (status != STAGHORN_OK) throw Failure(std::string("eigenpairs: ") + staghorn_status_text(status));
      if (calls) *calls = int(info.calls);
    } else if (calls) {
      *calls = 0;
    }
    std::vector<double> values(std::size_t(n), 0.0);
    checked(staghorn_eigenpairs_get(gauge_, &info, n, values.data(), nullptr));
    return values;
  }

  // How many functions of lattices Staghorn has answered: 0 after a trajectory says that CPS solved by itself.
  long calls() const { return calls_; }
  void count() { ++calls_; }

  // Precisions of the solves that follow (precision, sloppy, sloppy_reals), and their progress function; all other
  // fields are set by each call.
  staghorn_request request = defaults<staghorn_request>(STAGHORN_REQUEST);
  // Of STAG fields: a CPS that was compiled with MILC_COMPATIBILITY has MILC's.
#ifdef MILC_COMPATIBILITY
  int phases = STAGHORN_PHASES_MILC;
#else
  int phases = STAGHORN_PHASES_CPS;
#endif
  // Fasqtad: fat and long links are made by Staghorn, and not by CPS's Smear().
  bool smears = false;

 private:
  static Connection*& first() {
    static Connection* connection = nullptr;
    return connection;
  }
  static long sites() {
    return long(host::GJP.NodeSites(0)) * host::GJP.NodeSites(1) * host::GJP.NodeSites(2) * host::GJP.NodeSites(3);
  }
  static std::size_t reals() { return std::size_t(72 * sites()); }
  static void repack(const host::Matrix* field, std::vector<double>& links) {
    constexpr int matrix = 18;
    links.resize(reals());
    for (long site = 0; site < sites(); ++site)
      for (int mu = 0; mu < 4; ++mu)
        std::memcpy(links.data() + matrix * (4 * site + mu), field + ((mu + 1) % 4 * sites() + site),
                    matrix * sizeof(double));
  }
  void load_pair(const staghorn_links& links) {
    const void* const fat[4] = {fat_.data(), nullptr, nullptr, nullptr};
    const void* const naik[4] = {naik_.data(), nullptr, nullptr, nullptr};
    checked(gauge_ ? staghorn_gauge_update_improved(gauge_, &links, fat, &links, naik)
                   : staghorn_gauge_create_improved(context_, &links, fat, &links, naik, &gauge_));
  }
  static staghorn_geometry of_nodes() {
    staghorn_geometry geometry = defaults<staghorn_geometry>(STAGHORN_GEOMETRY);
    for (int mu = 0; mu < 4; ++mu) {
      geometry.global[mu] = host::GJP.NodeSites(mu) * host::GJP.Nodes(mu);
      geometry.grid[mu] = host::GJP.Nodes(mu);
      geometry.coord[mu] = host::GJP.NodeCoor(mu);
    }
    return geometry;
  }
  // Collective.
  bool any_node(bool value) const {
    std::vector<double> of_sites(std::size_t(sites()), 0.0);
    of_sites[0] = value;
    double sum = 0;
    checked(staghorn_site_sum(context_, of_sites.data(), &sum));
    return sum > 0;
  }

  staghorn_context* context_ = nullptr;
  staghorn_gauge* gauge_ = nullptr;
  long calls_ = 0;
  std::vector<double> fat_, naik_;  // [site][mu]
  std::vector<double> seen_;        // of load_smeared: the thin links and coefficients of fat_ and naik_
};

}  // namespace staghorn_cps

#endif
