// The fields of shifted systems of multi-shift CG, and the pass that takes all of them some steps further: x and p of a
// shift are read and written once for up to max_shifted_steps iterations.
#pragma once

#include <span>
#include <vector>

#include "dirac/fields/color_vector_field.hpp"
#include "dirac/kernels/vector_kernels.hpp"
#include "dirac/operators/staggered_operator.hpp"

namespace staghorn {

class ShiftedUpdate {
 public:
  // Makes zero fields x and p for so many shifts, and what keeps residuals of earlier steps: fields of `d`, in fp64 or
  // fp32. `d` must outlive the object. Throws Error for more than max_shifts shifts, or fields in fp16. Local.
  ShiftedUpdate(const StaggeredOperator& d, int n_shifts);

  // x = 0 and p = r for every shift; no step waits. Local.
  void begin(const ColorVectorField& r);
  // x = 0 and p of each shift as given, converted; no step waits. Frees each field when it has been read. Local.
  void begin(std::span<ColorVectorField> p);
  // Takes a step of every shift with the residual r of now: `steps` and `takes_part` have n_rhs numbers for each shift.
  // A shift and right-hand side that once does not take part is done. The step is kept until there are
  // max_shifted_steps of them. Local.
  void step(const ColorVectorField& r, std::span<const ShiftedStep<double>> steps, std::span<const char> takes_part);
  // Takes the steps that wait. Local.
  void finish();

  // x and p of all shifts. Where no step waits they are all there is to know.
  std::vector<ColorVectorField*> vectors();
  const ColorVectorField& x(int shift) const { return x_[std::size_t(shift)]; }
  // Moves p of all shifts out; of no use afterwards.
  std::vector<ColorVectorField> take_p() { return std::move(p_); }
  std::int64_t bytes() const;  // of all fields; this rank

  // How many fields so many shifts take.
  static int fields(int n_shifts) { return 2 * n_shifts + max_shifted_steps - 1; }

 private:
  void begin_without_steps();
  void take_steps(const ColorVectorField& last_residual);

  const StaggeredOperator& d_;
  const VectorKernels& kernels_;
  std::vector<ColorVectorField> x_, p_, earlier_;  // earlier_: residuals of steps that wait
  int waiting_ = 0;
  std::vector<ShiftedStep<double>> steps_;  // max_shifted_steps for each shift and right-hand side
  std::vector<int> counts_;
  Buffer steps_host_, steps_device_;  // GPU: steps, then counts
};

}  // namespace staghorn
