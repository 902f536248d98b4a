#include <algorithm>
#include <type_traits>
#include <vector>

#include "dirac/algebra/dispatch.hpp"
#include "dirac/kernels/cuda/cuda_launch.cuh"
#include "dirac/kernels/cuda/products/cuda_combine.cuh"
#include "dirac/kernels/cuda/products/cuda_combine.hpp"
#include "halo/cuda/cuda_check.hpp"

namespace staghorn::cuda {

namespace {

// With columns without a field up to whole steps of x and tiles of y before those that grow.
CombineArguments combine_arguments(const CombineCall& call, int step, int tile) {
  const auto filled = [](int first, int unit) { return (first + unit - 1) / unit * unit - first; };
  const int x_filled = filled(call.first_x_of_grown, step), y_filled = filled(call.first_grown, tile);
  const auto place_x = [&](int i) { return i < call.first_x_of_grown ? i : i + x_filled; };
  const auto place_y = [&](int j) { return j < call.first_grown ? j : j + y_filled; };
  CombineArguments a = {};
  a.n = place_x(int(call.x.size())), a.m = place_y(int(call.y.size()));
  a.first_grown = place_y(call.first_grown), a.first_x_of_grown = place_x(call.first_x_of_grown);
  for (std::size_t i = 0; i < call.x.size(); ++i) a.x[place_x(int(i))] = call.x[i].data;
  for (std::size_t j = 0; j < call.y.size(); ++j) a.y[place_y(int(j))] = call.y[j].data;
  std::vector<Complex<double>> coefficients(std::size_t(a.n * a.m));
  const Complex<double>* from = call.coefficients;
  for (int i = 0; i < int(call.x.size()); ++i)
    for (int j = 0; j < int(call.y.size()); ++j) coefficients[std::size_t(place_x(i) * a.m + place_y(j))] = *from++;
  // Of memory that is not pinned this returns when it has been read.
  STAGHORN_CUDA_CHECK(cudaMemcpyAsync(call.scratch, coefficients.data(), coefficients.size() * sizeof(coefficients[0]),
                                      cudaMemcpyHostToDevice));
  a.coefficients = static_cast<const Complex<double>*>(call.scratch);
  a.V = unsigned(call.lanes);
  return a;
}

// Blocks that take `rows` of `items` at a time, as many as run at once, and `parts` of them.
template <class Block>
void launch_persistent(void (*kernel)(CombineArguments), const CombineArguments& a, std::int64_t items, int rows,
                       int parts) {
  const int rounds = int((items + rows - 1) / rows), bytes = int(sizeof(Block));
  STAGHORN_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  kernel<<<dim3(grid_size(kernel, Block::threads, rounds, 1, bytes, rounds), parts), Block::threads, bytes>>>(a);
}

void combine_in_tensor_cores(const CombineCall& call) {
  const CombineArguments a = combine_arguments(call, step_columns, tile_columns);
  const auto launch = [&]<int Tiles>(std::integral_constant<int, Tiles>) {
    using Block = TensorBlock<Tiles>;
    const int columns = Tiles * tile_columns;
    launch_persistent<Block>(combine_tensor_kernel<Tiles>, a, 3 * std::int64_t{a.V}, Block::rows,
                             (a.m + columns - 1) / columns);
  };
  const auto hold = [&]<int Tiles>(std::integral_constant<int, Tiles>) {
    return a.m <= Tiles * tile_columns && a.n <= TensorBlock<Tiles>::most_columns;
  };
  constexpr std::integral_constant<int, 1> one;
  constexpr std::integral_constant<int, 2> two;
  constexpr std::integral_constant<int, 4> four;
  constexpr std::integral_constant<int, 6> six;
  if (hold(one))
    launch(one);
  else if (hold(two))
    launch(two);
  else if (hold(four))
    launch(four);
  else if (hold(six) && call.first_in_place < call.first_grown)
    launch(six);
  else
    launch(two);
}

// All columns grow, or none does.
void combine_alike(const CombineCall& call) {
  const CombineArguments a = combine_arguments(call, 1, 1);
  const auto launch = [&](auto kernel, std::size_t items, int columns) {
    const dim3 blocks(unsigned((items + combine_threads - 1) / combine_threads), (a.m + columns - 1) / columns);
    kernel<<<blocks, combine_threads>>>(a);
  };
  with_stored(call.precision, call.y[0].data, [&]<class Stored>(const Stored*) {
    const std::size_t numbers = 3 * std::size_t(a.V);
    if constexpr (is_fixed_point<Stored>)
      a.m == 1 ? launch(combine_fixed_kernel<1>, a.V, 1) : launch(combine_fixed_kernel<8>, a.V, 8);
    else if (a.m == 1)
      launch(combine_kernel<Stored, 1>, numbers, 1);
    else if (a.m <= 4)
      launch(combine_kernel<Stored, 4>, numbers, 4);
    else if (a.m <= 8)
      launch(combine_kernel<Stored, 8>, numbers, 8);
    else
      launch(combine_kernel<Stored, 16>, numbers, 16);
  });
}

// In fp32, where both kinds of columns are few enough for two lanes; otherwise returns false.
bool combined_at_once(const CombineCall& call) {
  const int plain = call.first_grown, grown = int(call.y.size()) - plain;
  if (call.precision != Precision::fp32 || call.lanes % 2 != 0 || plain == 0) return false;
  const auto launched = [&]<int Plain, int Grown>(std::integral_constant<int, Plain>,
                                                  std::integral_constant<int, Grown>) {
    using Block = AtOnceBlock<Plain, Grown>;
    if (plain > Plain || grown > Grown) return false;
    launch_persistent<Block>(combine_at_once_kernel<Plain, Grown>, combine_arguments(call, 1, 1),
                             3 * std::int64_t{call.lanes} / 2, Block::words, 1);
    return true;
  };
  constexpr std::integral_constant<int, 0> none;
  constexpr std::integral_constant<int, 8> eight;
  constexpr std::integral_constant<int, 16> sixteen;
  return grown == 0 ? plain > 8 && launched(sixteen, none) : launched(eight, eight) || launched(sixteen, sixteen);
}

// The columns [first, last) of y and the columns of x from `first_x` on.
void combine_part(CombineCall call, int first, int last, int first_x) {
  std::vector<Complex<double>> coefficients;
  const std::size_t columns = call.y.size();
  for (std::size_t i = std::size_t(first_x); i < call.x.size(); ++i)
    coefficients.insert(coefficients.end(), call.coefficients + i * columns + first,
                        call.coefficients + i * columns + last);
  call.x = call.x.subspan(std::size_t(first_x));
  call.y = call.y.subspan(std::size_t(first), std::size_t(last - first));
  call.coefficients = coefficients.data();
  call.first_grown = std::max(call.first_grown - first, 0), call.first_x_of_grown = 0;
  combine_alike(call);
}

}  // namespace

void combine(const CombineCall& call) {
  const int columns = int(call.y.size());
  if (call.precision == Precision::fp64 && columns > 1 && tensor_cores_make_chains()) {
    combine_in_tensor_cores(call);
  } else if (!combined_at_once(call)) {
    // What is written in place has a launch of its own, in which a thread has all columns.
    const auto part = [&](int first, int last, int first_x) {
      if (first < last) combine_part(call, first, last, first_x);
    };
    part(0, call.first_in_place, 0);
    part(call.first_in_place, call.first_grown, 0);
    part(call.first_grown, columns, call.first_x_of_grown);
  }
  STAGHORN_CUDA_CHECK_LAUNCH(combine_kernel);
  if (call.waits) STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

}  // namespace staghorn::cuda
