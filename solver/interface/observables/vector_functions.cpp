// staghorn_transport, staghorn_spin_taste, staghorn_contract: vectors of a host along paths of links, under spin-taste
// operators, and contracted. Fields are whole and in the memory of the host.
#include <staghorn.h>

#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/covariant_shift.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/alike.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/layouts/vector_conversion.hpp"
#include "solver/interface/link_calls.hpp"
#include "solver/interface/struct_layouts.hpp"
#include "solver/interface/structs.hpp"
#include "solver/observables/spin_taste_operator.hpp"
#include "solver/observables/spin_taste_shifts.hpp"

namespace staghorn {

namespace {

constexpr int most_paths = 4096, most_steps = 4096, most_times = 1000000;

// Whole vectors in the memory of the host, and their buffers.
class WholeVectors {
 public:
  // Local.
  void read(Asked& asked, const staghorn_vectors* vectors, const Context& context) {
    argument_ = VectorsArgument(vectors, "vectors", context.field_device(), nullptr);
    asked.add("vectors.phases", argument_.given.phases);
    lattice_ = &context.lattice();
    if (argument_.host.half) throw Error(ErrorKind::unsupported, "vectors.half", "0", argument_.given.half);
    if (argument_.given.memory == STAGHORN_DEVICE)
      throw Error(ErrorKind::unsupported, "vectors.memory", "memory of the host", "STAGHORN_DEVICE");
  }
  // Local.
  FieldBytes bytes(const char* name, const void* at) const {
    check_pointer(name, at);
    return bytes_of(argument_.host, lattice_->local(), std::nullopt, at);
  }
  // As the numbers are, or in the phases of CPS. Local.
  VectorField take(const void* from, bool as_they_are) const {
    VectorField field(*lattice_);
    read_vector(argument_.host, as_they_are ? VectorSigns{} : argument_.signs, std::nullopt, from, field);
    return field;
  }
  void give(const VectorField& field, bool as_they_are, void* to) const {
    write_vector(argument_.host, as_they_are ? VectorSigns{} : argument_.signs, std::nullopt, field, to);
  }

 private:
  VectorsArgument argument_;
  const Lattice* lattice_ = nullptr;
};

// Plain links, and the boundary of fields that are taken along them. Collective.
struct TakenAlong {
  LinkField links;
  Boundary boundary;

  TakenAlong(const Context& context, const PassingLinks& passing) : links(context.lattice()) {
    boundary = take_links(context.communicator(), passing.layout, passing.buffers, links).boundary;
  }
};

struct TransportCall {
  LinksArgument links;
  const staghorn_vectors* vectors;
  int n;
  const std::int32_t* const* paths;
  const std::int32_t* lengths;
  const double* weights;
  int times;
  const void* in;
  void* out;
};

void transport(const HeldContext& held, const TransportCall& call) {
  const Context& context = *held.context;
  PassingLinks passing;
  WholeVectors vectors;
  agree_alike(context.communicator(), "staghorn_transport", [&](Asked& asked) {
    CallMemory memory;
    passing = read_passing(asked, call.links, context, memory);
    vectors.read(asked, call.vectors, context);
    check_choice("n", call.n, 1, most_paths);
    check_choice("times", call.times, 0, most_times);
    asked.add("n", call.n);
    asked.add("times", call.times);
    check_pointer("paths", call.paths);
    check_pointer("lengths", call.lengths);
    check_pointer("weights", call.weights);
    asked.add("weights", std::span<const double>(call.weights, std::size_t(call.n)));
    for (int i = 0; i < call.n; ++i) {
      check_finite("weights[i]", call.weights[i]);
      check_choice("lengths[i]", call.lengths[i], 0, most_steps);
      if (call.lengths[i] > 0) check_pointer("paths[i]", call.paths[i]);
      asked.add("paths[" + std::to_string(i) + ']',
                std::span<const std::int32_t>(call.paths[i], std::size_t(call.lengths[i])));
      for (int k = 0; k < call.lengths[i]; ++k) check_choice("step of a path", call.paths[i][k], -4, 3);
      memory.reads("paths", FieldBytes::of_array(call.paths[i], std::size_t(call.lengths[i]) * sizeof **call.paths), i);
    }
    memory.reads("lengths", call.lengths, call.n);
    memory.reads("weights", call.weights, call.n);
    memory.reads("in", vectors.bytes("in", call.in));
    memory.writes("out", vectors.bytes("out", call.out));
    memory.require_own();
  });
  const TakenAlong along(context, passing);
  WeightedPaths paths{{}, {call.weights, call.weights + call.n}, call.times};
  for (int i = 0; i < call.n; ++i) paths.steps.emplace_back(call.paths[i], call.paths[i] + call.lengths[i]);
  const VectorField field =
      transported(context.communicator(), along.links, along.boundary, paths, vectors.take(call.in, true));
  context.communicator().agree([&] { vectors.give(field, true, call.out); });
}

// Changes signs: eps(x), if asked for, times zeta_mu(x) for each mu in `directions`, x counted from `origin`. Local.
void multiply_signs(const Coordinates& origin, bool eps, int directions, VectorField& f) {
  const Lattice& lattice = f.lattice();
  const int zetas = std::popcount(unsigned(directions));
#pragma omp parallel for
  for (std::int64_t site = 0; site < f.size(); ++site) {
    const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
    int exponent = 0;
    for (int mu = 0; mu < 4; ++mu) exponent += (x[mu] - origin[mu]) * (zetas + int(eps) + (directions >> mu & 1));
    if (exponent & 1)
      for (Complex<double>& c : f[site].c) c = {-c.re, -c.im};
  }
}

void read_origin(Asked& asked, const std::int32_t* origin, CallMemory& memory, Coordinates& to) {
  check_pointer("origin", origin);
  asked.add("origin", std::span<const std::int32_t>(origin, 4));
  memory.reads("origin", origin, 4);
  for (int mu = 0; mu < 4; ++mu) to[mu] = origin[mu];
}

struct SpinTasteCall {
  LinksArgument links;
  const staghorn_vectors* vectors;
  int spin, taste;
  const std::int32_t* origin;
  const void* in;
  void* out;
};

// O f = eps Z_A prod_(mu in S) zeta_mu f, A = S xor T.
void spin_taste(const HeldContext& held, const SpinTasteCall& call) {
  const Context& context = *held.context;
  PassingLinks passing;
  WholeVectors vectors;
  Coordinates origin{};
  agree_alike(context.communicator(), "staghorn_spin_taste", [&](Asked& asked) {
    CallMemory memory;
    check_choice("spin", call.spin, 0, 15);
    check_choice("taste", call.taste, 0, 15);
    asked.add("spin", call.spin);
    asked.add("taste", call.taste);
    passing = read_passing(asked, call.links, context, memory);
    vectors.read(asked, call.vectors, context);
    read_origin(asked, call.origin, memory, origin);
    memory.reads("in", vectors.bytes("in", call.in));
    memory.writes("out", vectors.bytes("out", call.out));
    memory.require_own();
  });
  VectorField f = vectors.take(call.in, false);
  multiply_signs(origin, false, call.spin, f);
  if (const int set = call.spin ^ call.taste) {
    const TakenAlong along(context, passing);
    const MeasuredLinks links{OperatorLinks(along.links), &along.links, along.boundary, {}};
    f = std::move(spin_taste_shifts(context.communicator(), links, origin, f, {&set, 1}).at(set));
  }
  multiply_signs(origin, true, 0, f);
  context.communicator().agree([&] { vectors.give(f, false, call.out); });
}

struct ContractCall {
  const staghorn_vectors* vectors;
  const void *antiquark, *quark;
  int n;
  const std::int32_t *momenta, *symmetries, *origin;
  double* correlators;
};

using Numbers = std::vector<Complex<double>>;

// Of the momenta and symmetries of one correlator, three numbers each.
SinkMomentum momentum_of(const std::int32_t* p, const std::int32_t* symmetry) {
  SinkMomentum momentum;
  for (std::size_t i = 0; i < 3; ++i) {
    momentum.p[i] = p[i];
    momentum.phase[i] = symmetry[i] == STAGHORN_MOMENTUM_EVEN  ? MomentumPhase::cosine
                        : symmetry[i] == STAGHORN_MOMENTUM_ODD ? MomentumPhase::sine
                                                               : MomentumPhase::exponential;
  }
  return momentum;
}

// parts = w(x) a(x)^dagger b(x), w a product of factors of x, y and z.
STAGHORN_FMA_CLONES
void weigh_sites(const std::array<Numbers, 3>& factors, const Extents& local, const VectorField& a,
                 const VectorField& b, std::int64_t begin, std::int64_t end,
                 std::array<std::vector<double>, 2>& parts) {
  for (std::int64_t site = begin; site < end; ++site) {
    const Coordinates x = unravel(site, local);
    const Complex<double> yz = factors[1][std::size_t(x[1])] * factors[2][std::size_t(x[2])];
    const Complex<double> value = (factors[0][std::size_t(x[0])] * yz) * dot(a[site], b[site]);
    parts[0][std::size_t(site)] = value.re;
    parts[1][std::size_t(site)] = value.im;
  }
}

void contract(const HeldContext& held, const ContractCall& call) {
  const Context& context = *held.context;
  const Lattice& lattice = context.lattice();
  WholeVectors vectors;
  Coordinates origin{};
  const std::size_t slices = std::size_t(lattice.global()[3]);
  agree_alike(context.communicator(), "staghorn_contract", [&](Asked& asked) {
    CallMemory memory;
    vectors.read(asked, call.vectors, context);
    check_choice("n", call.n, 1, most_paths);
    asked.add("n", call.n);
    check_pointer("momenta", call.momenta);
    check_pointer("symmetries", call.symmetries);
    check_pointer("correlators", call.correlators);
    const std::size_t numbers = 3 * std::size_t(call.n);
    asked.add("momenta", std::span<const std::int32_t>(call.momenta, numbers));
    asked.add("symmetries", std::span<const std::int32_t>(call.symmetries, numbers));
    for (std::size_t i = 0; i < numbers; ++i)
      check_choice("symmetries[i]", call.symmetries[i], STAGHORN_MOMENTUM_ODD, STAGHORN_MOMENTUM_BOTH);
    read_origin(asked, call.origin, memory, origin);
    memory.reads("momenta", call.momenta, std::int64_t(numbers));
    memory.reads("symmetries", call.symmetries, std::int64_t(numbers));
    memory.reads("antiquark", vectors.bytes("antiquark", call.antiquark));
    memory.reads("quark", vectors.bytes("quark", call.quark));
    memory.writes("correlators", call.correlators, 2 * std::int64_t(call.n) * std::int64_t(slices));
    memory.require_own();
  });
  const VectorField a = vectors.take(call.antiquark, true), b = vectors.take(call.quark, true);
  std::vector<std::int32_t> slice_of(std::size_t(a.size()));
  for (std::int64_t site = 0; site < a.size(); ++site)
    slice_of[std::size_t(site)] = lattice.to_global(lattice.site_coordinates(site))[3];
  std::array<std::vector<double>, 2> parts{std::vector<double>(std::size_t(a.size())),
                                           std::vector<double>(std::size_t(a.size()))};
  for (int k = 0; k < call.n; ++k) {
    const std::array<Numbers, 3> factors =
        momentum_factors(lattice, origin, momentum_of(call.momenta + 3 * k, call.symmetries + 3 * k));
    const std::int64_t row = lattice.local()[0];
#pragma omp parallel for
    for (std::int64_t r = 0; r < n_rows(lattice); ++r)
      weigh_sites(factors, lattice.local(), a, b, r * row, (r + 1) * row, parts);
    for (std::size_t part = 0; part < 2; ++part) {
      const std::vector<double> sums = exact_sums(context.communicator(), parts[part], slice_of, slices);
      for (std::size_t t = 0; t < slices; ++t) {
        if (!std::isfinite(sums[t])) throw Error(ErrorKind::value, "antiquark, quark", "finite numbers", "others");
        call.correlators[2 * (std::size_t(k) * slices + t) + part] = sums[t];
      }
    }
  }
}

}  // namespace

}  // namespace staghorn

using namespace staghorn;

int staghorn_transport(staghorn_context* context, const staghorn_links* links, const void* const u[4],
                       const staghorn_vectors* vectors, int n, const std::int32_t* const* paths,
                       const std::int32_t* lengths, const double* weights, int times, const void* in, void* out) {
  const TransportCall call{{"links", links, u}, vectors, n, paths, lengths, weights, times, in, out};
  return collectively(context, [&](HeldContext& held) { transport(held, call); });
}

int staghorn_spin_taste(staghorn_context* context, const staghorn_links* links, const void* const u[4],
                        const staghorn_vectors* vectors, int spin, int taste, const std::int32_t origin[4],
                        const void* in, void* out) {
  const SpinTasteCall call{{"links", links, u}, vectors, spin, taste, origin, in, out};
  return collectively(context, [&](HeldContext& held) { spin_taste(held, call); });
}

int staghorn_contract(staghorn_context* context, const staghorn_vectors* vectors, const void* antiquark,
                      const void* quark, int n, const std::int32_t* momenta, const std::int32_t* symmetries,
                      const std::int32_t origin[4], double* correlators) {
  const ContractCall call{vectors, antiquark, quark, n, momenta, symmetries, origin, correlators};
  return collectively(context, [&](HeldContext& held) { contract(held, call); });
}
