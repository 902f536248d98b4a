// The staggered operator D on the local lattice: its hop from one parity to the other, alone or together with the line
// of Conjugate Gradient that uses it. Faces travel while interior sites are computed.
//
// D a(x) = sum_mu eta_mu(x) [ U_mu(x) a(x+mu) - U_mu(x-mu)^dagger a(x-mu) ]   [Kim & Lee, Lattice 2010]
// Improved quarks (asqtad, HISQ) have fat links there, and terms of three steps beside them (dirac/stencil/legs.hpp).
// A = 4m^2 - D^2 on the sites of one parity; D is anti-Hermitian, so (p, A p) = 4m^2 |p|^2 + |D p|^2.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/fields/color_vector_field.hpp"
#include "dirac/fields/site_field.hpp"
#include "dirac/operators/hop_times.hpp"
#include "dirac/operators/operator_options.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "halo/communicator.hpp"
#include "halo/transport/transport_choice.hpp"

namespace staghorn {

struct HopData;
struct HopView;
struct KernelTable;
class FaceExchange;
class PeerTransport;

class StaggeredOperator {
 public:
  // Packs `links`: thin ones, or the fat and Naik links of improved quarks (row12 keeps two rows: they must be in SU(3)
  // to the precision the answer needs), fetches the ghost links, sets up the face messages, tunes the launches of a
  // GPU. `communicator` must outlive the operator. `from`: the data of another operator on the same links. If its
  // precision, link form and boundary match, both operators share the data; else if it holds uncompressed fp64 links on
  // the same GPU, links are converted from there. Throws Error where links and options do not fit: see require_fit
  // (operator_links.hpp). Collective.
  StaggeredOperator(const Communicator& communicator, const OperatorLinks& links, const OperatorOptions& options,
                    std::shared_ptr<HopData> from = {});
  ~StaggeredOperator();

  // Other links in the place of those it has, in the same form: vectors, tables, transports and launches stay.
  // Operators that share the data get the links too. `from` as above, of these links. Collective.
  void reload(const OperatorLinks& links, std::shared_ptr<HopData> from = {});

  const Communicator& communicator() const;
  const SiteLayout& layout() const;
  const Lattice& lattice() const;
  const OperatorOptions& options() const;
  const KernelTable& kernels() const;               // in use
  std::string kernel_set() const;                   // their name: "cuda", or one of cpu_kernels()
  std::shared_ptr<HopData> hop_data() const;        // to be shared with another operator
  std::int64_t link_bytes() const;                  // of this rank
  std::int64_t halo_bytes() const;                  // face and ghost buffers, neighbour tables; of this rank
  std::string transport() const;                    // "none", "self", "mpi", "self+mpi", "p2p", ...
  const TransportChoice& transport_choice() const;  // how it was chosen
  const LaunchTuning& tuning() const;               // what tuning did
  const HopTimes& times() const;                    // by the host's clock; on a GPU `interior` is all its waiting
  // The same as phases, on a GPU from samples; nothing where kernels store faces straight into ghosts. Local.
  CommunicationTimes communication_times() const;
  void reset_times();
  // Bytes of each face that travels in a hop, in the order of FaceExchange. Local.
  const std::array<std::size_t, 8>& face_bytes() const;

  ColorVectorField make_vector() const;    // n_rhs zero vectors on one parity
  ColorVectorField make_solution() const;  // n_rhs zero vectors for x, which fp16 keeps in fp32

  // All below are collective; every returned vector holds one exact norm per right-hand side, |.|^2 over the global
  // lattice. `sums` has one running grid per right-hand side; where it is empty, nothing is summed over ranks or
  // returned.

  // out(target) = D in, where `in` lives on the opposite parity. Flops and bytes: hop_cost.hpp.
  void hop(ColorVectorField& out, const ColorVectorField& in, Parity target);
  // out = D in, or out = beta out + D in if beta is given; returns |out|^2.
  std::vector<double> hop_and_norm2(ColorVectorField& out, const ColorVectorField& in, Parity target,
                                    std::span<ExactSum> sums, std::span<const double> beta = {});
  // r -= alpha (4m^2 p - D tmp), where r and p live on `parity` and tmp = D p on the other; returns |r|^2.
  std::vector<double> update_residual(ColorVectorField& r, const ColorVectorField& p, const ColorVectorField& tmp,
                                      Parity parity, double four_m2, std::span<const double> alpha,
                                      std::span<ExactSum> sums);
  // The lines of CG that run before: p = r + beta p (p stays if beta is empty), and x = new_weight p + old_weight
  // p_before + x, where p_before is p before its recurrence. Where both coefficients are 0, x is not touched.
  struct CgStep {
    std::span<const double> alpha, beta, new_weight, old_weight;  // per right-hand side
  };
  std::vector<double> update_residual(ColorVectorField& r, ColorVectorField& p, ColorVectorField& x,
                                      const ColorVectorField& tmp, Parity parity, double four_m2, const CgStep& step,
                                      std::span<ExactSum> sums);
  // x += alpha p, then p = r + beta p, where x, p and r live on `parity`; returns |p|^2. Where alpha is 0, x is not
  // touched. No communication but the sum.
  std::vector<double> update_direction(ColorVectorField& x, ColorVectorField& p, const ColorVectorField& r,
                                       Parity parity, std::span<const double> alpha, std::span<const double> beta,
                                       std::span<ExactSum> sums);
  std::vector<double> norm2(const ColorVectorField& v, std::span<ExactSum> sums);
  // Packs, sends and awaits the faces of `in` as a hop into `target` would, and nothing else: for timing. On a GPU the
  // work is queued.
  void exchange_faces(const ColorVectorField& in, Parity target);
  // b = alpha a + beta b, for fields of any operator in fp64 or fp32. Local.
  void combine(double alpha, const ColorVectorField& a, double beta, ColorVectorField& b) const;

  // What kernels read for hops into `target`. For loops that launch kernels themselves. Local.
  const HopView& view(Parity target) const;
  // Whether such loops need the host only to queue work: the operator is on a GPU, and faces, if there are any, are
  // stored straight into ghosts or travel by NCCL.
  bool host_free() const;
  FaceExchange& faces();
  PeerTransport* peers();  // where the device stores faces straight into ghosts, else nullptr

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace staghorn
