// QUDA's eigensolver as MILC calls it: the lowest eigenpairs of M^dagger M = 4m^2 - D^2 with MILC's fat and long links.
//
// D^2 does not mix parities. A pair (lambda, v) on even sites gives (lambda, D v / sqrt(lambda)) on odd ones, so that
// pairs of all sites come two and two.
#include <quda_milc_interface.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "solver/interface/argument_checks.hpp"
#include "solver/interface/milc/milc_call.hpp"
#include "solver/interface/milc/requests.hpp"

namespace staghorn::milc {

namespace {

// Links that the next search will read, where they lie in MILC's memory.
struct Loaded {
  const void *fat = nullptr, *lng = nullptr;
  int precision = 0;
};
Loaded loaded;

// An enumerator of QUDA, of which Staghorn has one alone.
struct Only {
  const char* name;
  long value;
};

void check_enumerator(const char* name, long value, const Only& only) {
  if (value != only.value) throw Error(name, only.name, value);
}

int milc_precision(QudaPrecision precision) {
  if (precision == QUDA_SINGLE_PRECISION) return 1;
  if (precision == QUDA_DOUBLE_PRECISION) return 2;
  throw Error("cpu_prec", "QUDA_SINGLE_PRECISION or QUDA_DOUBLE_PRECISION", int(precision));
}

void load(const void* links, const QudaGaugeParam* param) {
  check_pointer("links", links);
  check_pointer("param", param);
  check_enumerator("gauge_order", param->gauge_order, {"QUDA_MILC_GAUGE_ORDER", QUDA_MILC_GAUGE_ORDER});
  if (param->anisotropy != 1) throw Error("anisotropy", "1", param->anisotropy);
  const std::array<int, 4> extents = host().local_extents();
  for (std::size_t mu = 0; mu < 4; ++mu) check_choice("X", param->X[mu], extents[mu], extents[mu]);
  const int precision = milc_precision(param->cpu_prec);
  if (param->type == QUDA_ASQTAD_FAT_LINKS)
    loaded = {links, nullptr, precision};
  else if (param->type != QUDA_ASQTAD_LONG_LINKS)
    throw Error("type", "QUDA_ASQTAD_FAT_LINKS or QUDA_ASQTAD_LONG_LINKS", int(param->type));
  else if (!loaded.fat || loaded.precision != precision)
    throw Error("long links", "fat links of their precision before", loaded.fat ? "another precision" : "none");
  else
    loaded.lng = links;
}

// What a search is asked that Staghorn has. Local.
void check_search(const QudaEigParam& param) {
  check_pointer("invert_param", param.invert_param);
  const QudaInvertParam& quarks = *param.invert_param;
  check_enumerator("dslash_type", quarks.dslash_type, {"QUDA_ASQTAD_DSLASH", QUDA_ASQTAD_DSLASH});
  check_enumerator("dagger", quarks.dagger, {"QUDA_DAG_NO", QUDA_DAG_NO});
  check_enumerator("mass_normalization", quarks.mass_normalization,
                   {"QUDA_MASS_NORMALIZATION", QUDA_MASS_NORMALIZATION});
  check_enumerator("dirac_order", quarks.dirac_order, {"QUDA_DIRAC_ORDER", QUDA_DIRAC_ORDER});
  check_finite("mass", quarks.mass);
  if (quarks.solution_type == QUDA_MATPC_SOLUTION) {
    check_enumerator("matpc_type", quarks.matpc_type, {"QUDA_MATPC_EVEN_EVEN", QUDA_MATPC_EVEN_EVEN});
  } else {
    check_enumerator("solution_type", quarks.solution_type, {"QUDA_MAT_SOLUTION", QUDA_MAT_SOLUTION});
    check_enumerator("use_norm_op", param.use_norm_op, {"QUDA_BOOLEAN_TRUE", QUDA_BOOLEAN_TRUE});
  }
  check_enumerator("spectrum", param.spectrum, {"QUDA_SPECTRUM_SR_EIG", QUDA_SPECTRUM_SR_EIG});
  check_enumerator("use_dagger", param.use_dagger, {"QUDA_BOOLEAN_FALSE", QUDA_BOOLEAN_FALSE});
  check_enumerator("compute_svd", param.compute_svd, {"QUDA_BOOLEAN_FALSE", QUDA_BOOLEAN_FALSE});
  check_enumerator("compute_gamma5", param.compute_gamma5, {"QUDA_BOOLEAN_FALSE", QUDA_BOOLEAN_FALSE});
  for (const auto& [name, path] : {std::pair{"vec_infile", param.vec_infile}, {"vec_outfile", param.vec_outfile}})
    if (*path) throw Error(name, "no file", std::string(path, strnlen(path, sizeof param.vec_infile)));
}

// Turns (v, 0) into (0, D v / sqrt(lambda)).
void to_odd_sites(staghorn_gauge* gauge, const staghorn_vectors& vectors, double value, const void* even, void* odd) {
  if (!(value > 0)) throw Error("eigenvalue of both parities", "above 0", value);
  const void* const in[1] = {even};
  void* const out[1] = {odd};
  require(staghorn_hop(gauge, &vectors, STAGHORN_ODD, 1, in, out));
  const std::size_t reals = 3 * host().local_sites();  // of one parity
  const auto scale = [&]<class Real>(Real* v) {
    std::fill_n(v, reals, Real(0));
    const double norm = std::sqrt(value);
    std::transform(v + reals, v + 2 * reals, v + reals, [&](Real number) { return Real(double(number) / norm); });
  };
  if (vectors.precision == STAGHORN_FP32)
    scale(static_cast<float*>(odd));
  else
    scale(static_cast<double*>(odd));
}

// `values`: real and imaginary parts.
void find(void* const* to, double* values, const QudaEigParam* param) {
  check_pointer("vectors", to);
  check_pointer("values", values);
  check_pointer("param", param);
  check_search(*param);
  const QudaInvertParam& quarks = *param->invert_param;
  const bool both = quarks.solution_type == QUDA_MAT_SOLUTION;
  const int n = param->n_conv;
  check_choice("n_conv", n, 1, both ? 2000 : 1000);
  if (!loaded.lng) throw Error("links", "fat and long ones by loadGaugeQuda before", loaded.fat ? "fat ones" : "none");
  staghorn_vectors vectors = vectors_of(milc_precision(quarks.cpu_prec));
  const Loaded links = std::exchange(loaded, {});
  CallMemory memory;
  memory.writes("values", values, 2 * n);
  for (int i = 0; i < n; ++i)
    memory.writes("vectors", host().bytes_of(vectors, both ? STAGHORN_FULL : STAGHORN_EVEN, to[i]), i);
  memory.require_own();
  staghorn_gauge* gauge = host().gauge(precision_of("cpu_prec", links.precision), links.fat, links.lng);
  auto request = defaults_of<staghorn_eigen_request>(STAGHORN_EIGEN_REQUEST);
  request.pairs = both ? (n + 1) / 2 : n;
  request.tolerance = param->tol;
  auto info = defaults_of<staghorn_eigen_info>(STAGHORN_EIGEN_INFO);
  std::vector<double> found(std::size_t(request.pairs));
  const int status = require(staghorn_eigenpairs_compute(gauge, &request, found.data(), &info));
  if (status != STAGHORN_OK)
    throw Error("eigenpairs", std::to_string(request.pairs),
                std::to_string(info.found) + ", " + staghorn_status_text(status));
  vectors.half = !both;
  for (int i = 0; i < n; ++i) {
    const int pair = both ? i / 2 : i;
    const double value = found[std::size_t(pair)];
    values[2 * i] = 4 * quarks.mass * quarks.mass + value;
    values[2 * i + 1] = 0;
    if (both && i % 2 == 1)
      to_odd_sites(gauge, vectors, value, to[i - 1], to[i]);
    else
      require(staghorn_eigenpairs_vectors(gauge, &vectors, pair, 1, to + i));
  }
  require(staghorn_eigenpairs_release(gauge));  // MILC deflates by its own
}

}  // namespace

}  // namespace staghorn::milc

using namespace staghorn::milc;

void loadGaugeQuda(void* links, QudaGaugeParam* param) {
  run("loadGaugeQuda", [&] { load(links, param); });
}

void eigensolveQuda(void** vectors, StaghornMilcComplex* values, QudaEigParam* param) {
  run_timed("eigensolveQuda", [&] { find(vectors, reinterpret_cast<double*>(values), param); });
}
