#include "halo/transport/transport_p2p.hpp"
#include "solver/krylov/cuda/cuda_binding.cuh"

namespace staghorn {

LoopFaces peer_faces(StaggeredOperator& d) {
  constexpr int set_of_r = 0, set_of_tmp = 1;  // two sets of ghosts take turns
  const PeerTransport* peers = d.peers();
  if (!peers) return {};
  return {peers->incoming(set_of_r), peers->outgoing(set_of_r), peers->incoming(set_of_tmp),
          peers->outgoing(set_of_tmp)};
}

CgBinding::CgBinding(const LoopVectors& vectors, double shift, cuda::Scalars* scalars, const LoopFaces& faces)
    : vectors_(vectors), shift_(shift), faces_(faces) {
  for (int step = 0; step < cuda::n_steps; ++step)
    for (const bool given : {false, true})
      scalars_[step][given] = {scalars->alpha,
                               given ? nullptr : scalars->beta,
                               scalars->bound[step],
                               scalars->pending.new_weight,
                               scalars->pending.old_weight,
                               scalars->cells[step],
                               &scalars->done};
}

HopCall CgBinding::hop(bool given) const {
  HopCall call;
  call.use = HopUse::store_norm;
  call.in = given ? vectors_.p : vectors_.r;
  call.out = vectors_.tmp;
  call.ghost_faces = faces_.r_from;
  call.push = faces_.tmp_to;
  call.device = &scalars_[cuda::hop_step][given];
  return call;
}

HopCall CgBinding::residual(bool given) const {
  HopCall call;
  call.use = HopUse::update_residual;
  call.reversed = true;
  call.in = vectors_.tmp;
  call.p = vectors_.p;
  call.x = vectors_.x;
  call.out = vectors_.r;
  call.ghost_faces = faces_.tmp_from;
  call.push = faces_.r_to;
  call.four_m2 = shift_;
  call.device = &scalars_[cuda::residual_step][given];
  return call;
}

DirectionCall CgBinding::direction() const {
  DirectionCall call;
  call.p = vectors_.p;
  call.r = vectors_.r;
  call.push = faces_.r_to;
  call.device = &scalars_[cuda::direction_step][false];
  return call;
}

}  // namespace staghorn
