// Which vector and which scalars of CG each slot of a kernel gets: one text for all forms of the loop on GPUs.
#pragma once

#include "dirac/kernels/kernel_table.hpp"
#include "halo/transport/face_pointers.hpp"
#include "solver/krylov/cuda/cuda_loop_form.hpp"
#include "solver/krylov/cuda/cuda_scalars.cuh"

namespace staghorn {

// Where the faces of a vector go, and where its ghosts are read. A direction p that is given travels as r does.
struct LoopFaces {
  FacePointers r_from{}, r_to{}, tmp_from{}, tmp_to{};
};

// Faces that kernels store straight into the ghosts of other ranks; none if d.peers() is nullptr.
LoopFaces peer_faces(StaggeredOperator& d);

class CgBinding {
 public:
  CgBinding(const LoopVectors& vectors, double shift, cuda::Scalars* scalars, const LoopFaces& faces);
  CgBinding(const CgBinding&) = delete;  // its calls point to its scalars

  // tmp = D r + beta tmp, or tmp = D p if p is given.
  HopCall hop(bool given) const;
  // p = r + beta p unless p is given;  r -= alpha (shift p - D tmp);  x. From the last site to the first: so this
  // kernel begins with what the hop left in cache.
  HopCall residual(bool given) const;
  // p = r + beta p
  DirectionCall direction() const;

 private:
  LoopVectors vectors_;
  double shift_;
  LoopFaces faces_;
  DeviceScalars scalars_[cuda::n_steps][2];  // [step][given]
};

}  // namespace staghorn
