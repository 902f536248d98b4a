// What a kernel is asked to do: the arguments of hops and direction updates, besides what all of them read (HopView).
// Vectors lie in the memory space of the kernels, scalars and sums on the host.
#pragma once

#include <cstdint>
#include <span>

#include "dirac/algebra/exact_sum.hpp"
#include "halo/transport/face_pointers.hpp"

namespace staghorn {

enum class HopPart { all, interior, boundary };  // GPU: which sites; the CPU is given lists of blocks

// What is done with tmp = D a at a site once it is known. p and r are those of CG; sums are per right-hand side.
enum class HopUse {
  store,            // out = tmp
  store_norm,       // out = tmp,              sum |tmp|^2;   with beta out = beta out + tmp
  update_residual,  // out -= alpha (4m^2 p - tmp),  sum |out|^2;   with beta p = r + beta p before, and x grows
};

// For loops on a GPU that keep their scalars there: kernels read and add to these instead of a call's scalars and sums.
// Arrays hold one number for each right-hand side.
struct DeviceScalars {
  const double *alpha = nullptr, *beta = nullptr, *bound = nullptr;
  const double *new_weight = nullptr, *old_weight = nullptr;
  void* cells = nullptr;      // SumCell (cuda_sums.cuh), cells_per_sum of them for each right-hand side
  const int* done = nullptr;  // if not null and *done != 0, kernels return immediately
};

struct HopCall {
  HopUse use = HopUse::store;
  std::span<const std::int32_t> blocks;  // target blocks to compute (CPU)
  HopPart part = HopPart::all;           // (GPU)
  const void* in = nullptr;              // vectors of the opposite parity
  const void* ghost = nullptr;           // their ghosts (CPU)
  FacePointers ghost_faces{};            // (GPU)
  FacePointers push{};                   // where the faces of out go as well (GPU, with sums, on the boundary)
  bool reversed = false;                 // from the last site to the first (GPU)
  void* out = nullptr;
  void* p = nullptr;  // vectors of the target parity
  double four_m2 = 0;
  const double* alpha = nullptr;  // one for each right-hand side, as in all arrays that follow
  const double* beta = nullptr;   // nullptr: without the recurrence
  void* x = nullptr;              // x = new_weight p + (old_weight p_before + x), in fp16 in fp32; nullptr: without
  const double* new_weight = nullptr;  // where both are 0, x is not touched
  const double* old_weight = nullptr;
  const SumGrid* grids = nullptr;
  ExactPartial* sums = nullptr;           // added to
  const DeviceScalars* device = nullptr;  // instead of alpha, grids and sums (GPU)
};

// x += alpha p;  p = r + beta p;  sum |p|^2.   Where alpha is 0 or x is nullptr, x is not touched. In fp16 x is fp32.
struct DirectionCall {
  void *x = nullptr, *p = nullptr;
  const void* r = nullptr;
  const double *alpha = nullptr, *beta = nullptr;
  const SumGrid* grids = nullptr;
  ExactPartial* sums = nullptr;
  FacePointers push{};                    // where the faces of p go as well (GPU)
  const DeviceScalars* device = nullptr;  // instead of alpha, grids and sums (GPU); the update is only queued then
};

}  // namespace staghorn
