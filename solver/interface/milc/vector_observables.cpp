// Shifts, spin-taste operators, contractions and Gaussian smearing of MILC's vectors, by the functions of staghorn.h.
//
// MILC's links carry staggered phases and signs of the boundary, which follow an origin that no call tells, so their
// numbers are used as they are. Spin-taste operators multiply staggered phases in: with links that are said to hold
// those of CPS already, what is multiplied in is what is taken out before.
#include <quda_milc_interface.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "dirac/operators/weighted_paths.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/interface/argument_checks.hpp"
#include "solver/interface/milc/milc_call.hpp"
#include "solver/interface/milc/requests.hpp"

namespace staghorn::milc {

namespace {

staghorn_links layout_of(int precision, int phases) {
  auto layout = defaults_of<staghorn_links>(STAGHORN_LINKS);
  layout.order = STAGHORN_EVEN_ODD_X;
  layout.precision = precision_of("external_precision", precision);
  layout.phases = phases;
  std::fill_n(layout.theta, 4, 0.0);
  return layout;
}

// A vector of which the call keeps a copy, as MILC may name one field as source and destination.
class Copied {
 public:
  Copied(const char* name, const void* field, const staghorn_vectors& vectors) {
    check_pointer(name, field);
    const std::size_t real = vectors.precision == STAGHORN_FP32 ? sizeof(float) : sizeof(double);
    bytes_.resize(6 * host().local_sites() * real);
    std::memcpy(bytes_.data(), field, bytes_.size());
  }
  const void* data() const { return bytes_.data(); }

 private:
  std::vector<char> bytes_;
};

void transport(int precision, const void* links, const WeightedPaths& paths, const void* source, void* destination) {
  check_pointer("links", links);
  const staghorn_links layout = layout_of(precision, STAGHORN_PHASES_NONE);
  const staghorn_vectors vectors = vectors_of(precision);
  const Copied from("source", source, vectors);
  const void* const u[4] = {links, nullptr, nullptr, nullptr};
  std::vector<const std::int32_t*> steps;
  std::vector<std::int32_t> lengths;
  for (const std::vector<std::int32_t>& path : paths.steps) {
    steps.push_back(path.data());
    lengths.push_back(std::int32_t(path.size()));
  }
  require(staghorn_transport(host().context(), &layout, u, &vectors, int(steps.size()), steps.data(), lengths.data(),
                             paths.weights.data(), paths.times, from.data(), destination));
}

void shift(int precision, const void* links, const void* source, void* destination, int direction, int symmetry) {
  check_choice("direction", direction, 0, 3);
  check_choice("symmetry", symmetry, 1, 3);
  WeightedPaths paths;
  if (symmetry & 1) paths.steps.push_back({direction});
  if (symmetry & 2) paths.steps.push_back({-1 - direction});
  paths.weights.assign(paths.steps.size(), symmetry == 3 ? 0.5 : 1.0);
  transport(precision, links, paths, source, destination);
}

void apply_spin_taste(int precision, const void* links, const void* source, void* destination, int spin, int taste) {
  check_pointer("links", links);
  const staghorn_links layout = layout_of(precision, STAGHORN_PHASES_CPS);
  staghorn_vectors vectors = vectors_of(precision);
  vectors.phases = STAGHORN_PHASES_CPS;
  const Copied from("source", source, vectors);
  const void* const u[4] = {links, nullptr, nullptr, nullptr};
  const std::int32_t origin[4] = {0, 0, 0, 0};
  require(staghorn_spin_taste(host().context(), &layout, u, &vectors, spin, taste, origin, from.data(), destination));
}

void contract(int precision, QudaContractArgs_t* args, const void* antiquark, const void* quark, double* correlators) {
  check_pointer("args", args);
  check_pointer("correlators", correlators);
  check_choice("number of momenta", args->n_mom, 1, 4096);
  for (const auto& [name, pointer] : {std::pair<const char*, const void*>{"mom_modes", args->mom_modes},
                                      {"fft_type", args->fft_type},
                                      {"source_position", args->source_position}})
    check_pointer(name, pointer);
  const Stopwatch watch;
  const auto n = std::size_t(args->n_mom);
  std::vector<std::int32_t> momenta, symmetries;
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t mu = 0; mu < 3; ++mu) {
      momenta.push_back(args->mom_modes[4 * k + mu]);
      symmetries.push_back(std::int32_t(args->fft_type[4 * k + mu]));
    }
    check_choice("mom_modes of t", args->mom_modes[4 * k + 3], 0, 0);
  }
  const staghorn_vectors vectors = vectors_of(precision);
  std::array<std::int32_t, 4> origin{};
  std::copy_n(args->source_position, 4, origin.begin());
  std::vector<double> sums(2 * n * std::size_t(host().extents()[3]));
  require(staghorn_contract(host().context(), &vectors, antiquark, quark, args->n_mom, momenta.data(),
                            symmetries.data(), origin.data(), sums.data()));
  for (std::size_t i = 0; i < sums.size(); ++i) correlators[i] += sums[i];  // MILC adds two contractions so
  args->dtime = watch.seconds();
  args->flops = double(host().local_sites()) * (22.0 + 26.0 * double(n));
}

void smear(int precision, const void* links, void* source, const QudaTwoLinkQuarkSmearArgs_t& args) {
  check_choice("laplaceDim", args.laplaceDim, 1, 4);
  check_choice("n_steps", args.n_steps, 0, 1000000);
  check_choice("t0", args.t0, -1, host().extents()[3] - 1);
  check_finite("width", args.width);
  check_pointer("source", source);
  if (args.n_steps == 0) return;
  const WeightedPaths paths = gaussian_smearing(args.width, args.n_steps, args.laplaceDim);
  const staghorn_vectors vectors = vectors_of(precision);
  const std::size_t bytes = 6 * (vectors.precision == STAGHORN_FP32 ? sizeof(float) : sizeof(double));
  std::vector<char> smeared(bytes * host().local_sites());
  transport(precision, links, paths, source, smeared.data());
  // Sites of a time slice lie in two rows, of even and of odd ones.
  const std::array<int, 4> local = host().local_extents();
  const std::size_t half = host().local_sites() / 2, slice = half / std::size_t(local[3]);
  const int only = args.laplaceDim == 4 ? -1 : args.t0;
  for (int t = 0; t < local[3]; ++t) {
    if (only >= 0 && t + host().first_site()[3] != only) continue;
    for (std::size_t parity = 0; parity < 2; ++parity) {
      const std::size_t first = bytes * (parity * half + std::size_t(t) * slice);
      std::memcpy(static_cast<char*>(source) + first, smeared.data() + first, bytes * slice);
    }
  }
}

}  // namespace

}  // namespace staghorn::milc

using namespace staghorn::milc;

void qudaShift(int external_precision, int, const void* links, void* source, void* destination, int direction,
               int symmetry, int) {
  run_timed("qudaShift", [&] { shift(external_precision, links, source, destination, direction, symmetry); });
}

void qudaSpinTaste(int external_precision, int, const void* links, void* source, void* destination, int spin, int taste,
                   int) {
  run_timed("qudaSpinTaste", [&] { apply_spin_taste(external_precision, links, source, destination, spin, taste); });
}

void qudaContractFT(int external_precision, QudaContractArgs_t* args, void* antiquark, void* quark,
                    double* correlators) {
  run_timed("qudaContractFT", [&] { contract(external_precision, args, antiquark, quark, correlators); });
}

void qudaTwoLinkGaussianSmear(int external_precision, int, void* links, void* source,
                              QudaTwoLinkQuarkSmearArgs_t args) {
  run_timed("qudaTwoLinkGaussianSmear", [&] { smear(external_precision, links, source, args); });
}

void qudaFreeTwoLink() {}  // none are kept
