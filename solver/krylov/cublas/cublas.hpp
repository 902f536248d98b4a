// cuBLAS, loaded when it is asked for: dot, axpy, scal and copy on the columns of colour vectors in GPU memory. A
// column is one right-hand side. The program needs the library neither to be built nor to run. All calls are local and
// work on the selected device.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dirac/fields/color_vector_field.hpp"

namespace staghorn {

class Cublas {
 public:
  // Loads libcublas (13 or 12) and makes a handle on the selected device. Throws Error with every name that was tried
  // and what the loader said of it.
  Cublas();
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  static bool available();      // whether the library can be loaded here
  std::string version() const;  // "13.0.2"

  // Each call has one scalar for each column. Vectors are fp64 or fp32; sums are in that precision and in the order
  // that cuBLAS chooses. A column whose scalar makes the call do nothing is skipped.
  std::vector<double> dot(const ColorVectorField& x, const ColorVectorField& y) const;
  void axpy(std::span<const double> alpha, const ColorVectorField& x, ColorVectorField& y) const;  // y += alpha x
  void scal(std::span<const double> alpha, ColorVectorField& x) const;                             // x = alpha x
  void copy(const ColorVectorField& x, ColorVectorField& y) const;                                 // y = x

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace staghorn
