#include "solver/krylov/cublas/cublas.hpp"

#include <dlfcn.h>

#include <cstdint>

#include "halo/watch/error.hpp"
#include "halo/watch/injected_faults.hpp"

namespace staghorn {

// A named namespace: where a folder is compiled as one file (STAGHORN_FOLDERS_TOGETHER), gcc 13 breaks down at a class
// like `Cublas::State` whose members have types of an unnamed one.
namespace cublas_routines {

// The declarations of cublas_v2.h that are used here, with 64-bit sizes (cuBLAS 12 and newer).
using Handle = struct cublasContext*;
using Status = int;  // 0 is success
constexpr Status execution_failed = 13;
template <class Real>
using Dot = Status (*)(Handle, std::int64_t n, const Real* x, std::int64_t, const Real* y, std::int64_t, Real* result);
template <class Real>
using Axpy = Status (*)(Handle, std::int64_t n, const Real* alpha, const Real* x, std::int64_t, Real* y, std::int64_t);
template <class Real>
using Scal = Status (*)(Handle, std::int64_t n, const Real* alpha, Real* x, std::int64_t);
template <class Real>
using Copy = Status (*)(Handle, std::int64_t n, const Real* x, std::int64_t, Real* y, std::int64_t);

constexpr const char* library_names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so"};

// Returns the loaded library, or null; `failures` then holds what the loader said.
void* load_library(std::string& failures) {
  for (const char* name : library_names) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    failures += std::string(failures.empty() ? "" : "; ") + dlerror();
  }
  return nullptr;
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function) throw Error("cuBLAS", std::string("a library of version 12 or newer, with ") + name, "one without");
}

// The level-1 routines of one precision.
template <class Real>
struct Routines {
  Dot<Real> dot;
  Axpy<Real> axpy;
  Scal<Real> scal;
  Copy<Real> copy;

  Routines(void* library, const std::string& letter) {
    const auto name = [&](const char* routine) { return "cublas" + letter + routine + "_v2_64"; };
    find(library, name("dot").c_str(), dot);
    find(library, name("axpy").c_str(), axpy);
    find(library, name("scal").c_str(), scal);
    find(library, name("copy").c_str(), copy);
  }
};

// On the GPU a column is contiguous: 6 reals at every site of a parity.
std::int64_t column_reals(const ColorVectorField& v) { return std::int64_t{6} * v.layout().lanes(); }
template <class Real>
Real* column_of(ColorVectorField& v, int column) {
  return static_cast<Real*>(v.data()) + column * column_reals(v);
}
template <class Real>
const Real* column_of(const ColorVectorField& v, int column) {
  return static_cast<const Real*>(v.data()) + column * column_reals(v);
}

}  // namespace cublas_routines

using namespace cublas_routines;

struct Cublas::State {
  void* library;
  Status (*create)(Handle*);
  Status (*destroy)(Handle);
  Status (*get_version)(Handle, int*);
  const char* (*status_text)(Status);
  Routines<double> fp64;
  Routines<float> fp32;
  Handle handle = nullptr;

  explicit State(void* opened) : library(opened), fp64(opened, "D"), fp32(opened, "S") {
    find(library, "cublasCreate_v2", create);
    find(library, "cublasDestroy_v2", destroy);
    find(library, "cublasGetVersion_v2", get_version);
    find(library, "cublasGetStatusString", status_text);
  }
  ~State() {
    if (handle) destroy(handle);  // the library stays loaded: it does not survive being unloaded beside the runtime
  }

  void check(Status status, const char* call, const char* file, int line) const {
    if (cuda_call_is_to_fail()) status = execution_failed;
    if (status == 0) return;
    throw LocalError(ErrorKind::device,
                     std::string(file) + ":" + std::to_string(line) + ": " + call + ": " + status_text(status));
  }

  // work(routines, column) for every column, with the routines of the precision of `v`.
  template <class Work>
  void for_columns(const ColorVectorField& v, const Work& work) const {
    for (int column = 0; column < v.n_rhs(); ++column)
      if (v.precision() == Precision::fp64)
        work(fp64, column);
      else if (v.precision() == Precision::fp32)
        work(fp32, column);
      else
        throw Error("cuBLAS", "vectors of fp64 or fp32", to_string(v.precision()));
  }
};

#define STAGHORN_CUBLAS_CHECK(state, call) (state).check((call), #call, __FILE__, __LINE__)

Cublas::Cublas() {
  std::string failures;
  void* library = load_library(failures);
  if (!library)
    throw Error("cuBLAS", "a library of version 12 or newer (LD_LIBRARY_PATH may name its folder)", failures);
  state_ = std::make_unique<State>(library);
  STAGHORN_CUBLAS_CHECK(*state_, state_->create(&state_->handle));
}

Cublas::~Cublas() = default;

bool Cublas::available() {
  std::string failures;
  return load_library(failures) != nullptr;
}

std::string Cublas::version() const {
  int version = 0;
  STAGHORN_CUBLAS_CHECK(*state_, state_->get_version(state_->handle, &version));
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

std::vector<double> Cublas::dot(const ColorVectorField& x, const ColorVectorField& y) const {
  std::vector<double> results;
  state_->for_columns(x, [&]<class Real>(const Routines<Real>& blas, int i) {
    Real result = 0;
    STAGHORN_CUBLAS_CHECK(*state_, blas.dot(state_->handle, column_reals(x), column_of<Real>(x, i), 1,
                                            column_of<Real>(y, i), 1, &result));
    results.push_back(double(result));
  });
  return results;
}

void Cublas::axpy(std::span<const double> alpha, const ColorVectorField& x, ColorVectorField& y) const {
  state_->for_columns(x, [&]<class Real>(const Routines<Real>& blas, int i) {
    const Real factor = Real(alpha[i]);
    if (factor == 0) return;
    STAGHORN_CUBLAS_CHECK(*state_, blas.axpy(state_->handle, column_reals(x), &factor, column_of<Real>(x, i), 1,
                                             column_of<Real>(y, i), 1));
  });
}

void Cublas::scal(std::span<const double> alpha, ColorVectorField& x) const {
  state_->for_columns(x, [&]<class Real>(const Routines<Real>& blas, int i) {
    const Real factor = Real(alpha[i]);
    if (factor == 1) return;
    STAGHORN_CUBLAS_CHECK(*state_, blas.scal(state_->handle, column_reals(x), &factor, column_of<Real>(x, i), 1));
  });
}

void Cublas::copy(const ColorVectorField& x, ColorVectorField& y) const {
  state_->for_columns(x, [&]<class Real>(const Routines<Real>& blas, int i) {
    STAGHORN_CUBLAS_CHECK(
        *state_, blas.copy(state_->handle, column_reals(x), column_of<Real>(x, i), 1, column_of<Real>(y, i), 1));
  });
}

}  // namespace staghorn
