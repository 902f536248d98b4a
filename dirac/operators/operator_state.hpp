// What a StaggeredOperator holds, and how a hop runs (operator_hop.cpp). On the CPU a hop runs in pieces, between which
// messages advance; on the GPU it is queued. Private to staggered_operator.cpp, operator_state.cpp and
// operator_hop.cpp.
#pragma once

#include "dirac/kernels/experiments/hop_kernels.hpp"
#include "dirac/kernels/kernel_table.hpp"
#include "dirac/operators/hop_data.hpp"
#include "dirac/operators/staggered_operator.hpp"
#include "dirac/stencil/face_packing.hpp"
#include "dirac/stencil/face_wire.hpp"
#include "halo/transport/face_exchange.hpp"

namespace staghorn {

struct StaggeredOperator::State {
  State(const Communicator& communicator, const OperatorLinks& links, const OperatorOptions& options,
        std::shared_ptr<HopData> from);

  void reload(const OperatorLinks& links, const HopData* from);
  // Takes the scales of the links into the views: operators that share the data may have reloaded them.
  void refresh_scales();

  // One hop into `target`, faces in flight while interior blocks are computed. `call` lacks only its blocks and ghosts.
  void hop(Parity target, HopCall call);

  // Runs a hop and returns the exact sums of |out|^2.
  std::vector<double> hop_and_sums(Parity target, HopCall call, const ColorVectorField& out, std::span<ExactSum> sums);

  // Packs the faces of `in` for the coming exchange; on a GPU this is queued.
  void pack(const HopView& view, const void* in);

  CommunicationTimes communication_times();

  // Adds up |v|^2 of a field in the operator's precision or, for x, in the precision that it computes with.
  void norm2(const ColorVectorField& v, const std::vector<SumGrid>& grids, std::vector<ExactPartial>& partials);

  // Returns the exact sums of what a kernel has just added up. If a contribution did not fit its grid, |v|^2 is summed
  // again on larger grids until all fit. Without sums nothing is asked of other ranks.
  std::vector<double> collect(std::vector<ExactPartial>& partials, std::vector<SumGrid>& grids,
                              const ColorVectorField& v, std::span<ExactSum> sums);

  const Communicator& communicator;
  OperatorOptions options;
  const KernelTable& kernels;
  PinnedPieces pieces;  // GPU only
  const std::shared_ptr<HopData> data;
  const SiteLayout& layout;  // of data
  Buffer scratch, scratch_host;
  TransportChoice transport;
  FaceExchange exchange;
  const HopKernels run;  // of `kernels`, as options.experiment asks
  // Of a CPU among unlike ranks: how faces of each sending parity travel, and ghosts as the kernels read them.
  std::array<std::optional<FaceWire>, 2> wires;
  Buffer ghosts;
  std::array<HopView, 2> views;  // by target parity
  LaunchTuning tuning;
  HopTimes times;
  SampledHops sampled;  // GPU only

 private:
  HopView view_of(Parity target);
  LinkSetView links_of(LinkSet set, Parity target) const;
  double scale_of(LinkSet set) const;
  DeviceGeometry geometry_of(Parity target) const;
  void make_wires();
  void tune();
  void cuda_hop(const HopView& view, HopCall& call);
};

// Of each right-hand side; without sums any grids, for kernels that add up all the same.
std::vector<SumGrid> grids_of(std::span<ExactSum> sums, int n_rhs);

}  // namespace staghorn
