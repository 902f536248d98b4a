// Cells of 2^4 sites as the CPU kernels take them, one in each lane of doubles: their numbers, and exact sums over
// them. For cpu_vector_kernels.cpp alone, which is compiled once for each instruction set.
#pragma once

#include <omp.h>

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "dirac/algebra/dispatch.hpp"
#include "dirac/algebra/lanes.hpp"
#include "dirac/kernels/cell_products.hpp"
#include "dirac/kernels/cpu/cpu_access.hpp"
#include "dirac/kernels/vector_kernels.hpp"

namespace staghorn {

// Internal linkage: code for one instruction set must never be merged with another's. So std::vector holds types of
// this namespace only.
namespace {

constexpr int W = vector_bytes / 8;
using Doubles = Lanes<double, W>;
using Bits = Lanes<std::int64_t, W>;
constexpr int terms = 3 * SiteCells::sites;  // complex numbers of a cell

STAGHORN_INLINE Doubles widen(Lanes<float, W> numbers) {
#if defined(__AVX__)
  Doubles wide;
  asm("vcvtps2pd %1, %0" : "=v"(wide) : "v"(numbers));  // GCC 12 takes four instructions
  return wide;
#else
  return __builtin_convertvector(numbers, Doubles);
#endif
}

// Norms are not negative. Their bits without the sign are ordered like the numbers, infinity and NaN above all.
struct LargestNorm {
  Bits bits{};

  STAGHORN_INLINE void see(Doubles norm2) {
    const Bits seen = __builtin_bit_cast(Bits, norm2) & INT64_MAX;
    bits = seen > bits ? seen : bits;
  }
  double value() const {
    std::int64_t most = 0;
    for (int l = 0; l < W; ++l) most = std::max(most, std::int64_t(bits[l]));
    return __builtin_bit_cast(double, most);
  }
};

// Whether products of these columns fit the grid. NaN does not.
bool fits(double largest) { return largest <= CellGrid::most; }

// NaN stays.
void raise(double& largest, double seen) {
  if (largest == largest && !(seen <= largest)) largest = seen;
}

// The sum of one real of a pair: what lanes hold since the last flush, and the integer total before.
struct RealSum {
  CellSum<Doubles> running{};
  __int128 total = 0;

  STAGHORN_INLINE void add(Doubles v) { running.add(v); }
  void flush() {
    std::int64_t high = 0, low = 0;  // each lane below 2^53
    for (int l = 0; l < W; ++l) {
      high += static_cast<std::int64_t>(running.high[l] / CellGrid::u1);
      low += static_cast<std::int64_t>(running.low[l] / CellGrid::u2);
    }
    total += (static_cast<__int128>(high) << 42) + low;
    running.high = running.low = Doubles{};
  }
};

// The sum of one pair, and its product at the sites of this group's cells so far.
struct PairSum {
  RealSum re, im;
  CellProduct<Doubles> product;

  STAGHORN_INLINE void add(const Complex<Doubles>& value) {
    re.add(value.re);
    im.add(value.im);
  }
  void flush() {
    re.flush();
    im.flush();
  }
};

// One column's numbers of a group, where its layout keeps whole blocks: read from the fields as they are needed.
template <class Stored>
struct BlockReader {
  static constexpr int groups_per_entry = stored_lanes<Stored> / W;
  static constexpr bool holds_doubles = std::is_same_v<Stored, double>;
  std::int64_t count;
  const std::int32_t* places;

  std::int64_t groups() const { return count * groups_per_entry; }
  const char* block(const VectorColumn& column, std::int64_t group, int site) const {
    return static_cast<const char*>(column.data) +
           places[std::size_t(group / groups_per_entry * SiteCells::sites + site)] * column.stride;
  }
  // read(site, color, re, im) for the complex numbers of `sites` sites of the cells.
  template <class Read>
  STAGHORN_INLINE void for_numbers(const VectorColumn& column, std::int64_t group, int first_site, int sites,
                                   const Read& read) const {
    constexpr int V = stored_lanes<Stored>;
    const int first = int(group % groups_per_entry) * W;
    const Doubles scale = broadcast<Doubles>(column.scale);
    for (int site = first_site; site < first_site + sites; ++site) {
      const Stored* const vector = reinterpret_cast<const Stored*>(block(column, group, site));
      const Stored* const numbers = vector + first;
      const auto real = [&](int k) {
        if constexpr (is_fixed_point<Stored>) {
          const auto q = *reinterpret_cast<const Lanes<std::int16_t, W>*>(numbers + k * V);
          const auto number =
              __builtin_convertvector(__builtin_convertvector(q, Lanes<std::int32_t, W>), Lanes<float, W>);
          return widen(number * load<Lanes<float, W>>(units(vector) + first));
        } else if constexpr (holds_doubles) {
          return load<Doubles>(numbers + k * V);
        } else {
          return widen(load<Lanes<float, W>>(numbers + k * V));
        }
      };
      STAGHORN_UNROLL
      for (int c = 0; c < 3; ++c) read(site, c, real(2 * c) * scale, real(2 * c + 1) * scale);
    }
  }
  // Where one site of a column lies, null beyond the last group.
  STAGHORN_INLINE const char* lines(const VectorColumn& column, std::int64_t group, int site) const {
    return group < groups() ? block(column, group, site) : nullptr;
  }
  // Where one site of a column lies in the next entry, if this group fetches it, else null: each group of an entry
  // fetches its share of the sites.
  STAGHORN_INLINE const char* next_lines(const VectorColumn& column, std::int64_t group, int site) const {
    const std::int64_t next = group + groups_per_entry;
    return next < groups() && (site - group) % groups_per_entry == 0 ? block(column, next, site) : nullptr;
  }
  // Asks for a third of its lines, into the cache of this level. Processors ignore requests that come too close
  // together.
  template <int level>
  static STAGHORN_INLINE void prefetch(const char* lines, int third) {
    if (!lines) return;
    STAGHORN_UNROLL
    for (int byte = 0; byte < int(vector_stride<Stored> * sizeof(Stored)); byte += 3 * 64)
      __builtin_prefetch(lines + third * 64 + byte, 0, 4 - level);
  }
};

// The same of a layout whose lanes are consecutive sites: a cell lies in several blocks and lanes, and is read alone.
template <class Stored>
struct SlotReader {
  static constexpr bool holds_doubles = false;
  std::int64_t count;
  const std::int32_t* places;

  std::int64_t groups() const { return (count + W - 1) / W; }
  template <class Read>
  void for_numbers(const VectorColumn& column, std::int64_t group, int first_site, int sites, const Read& read) const {
    constexpr int V = stored_lanes<Stored>;
    for (int site = first_site; site < first_site + sites; ++site) {
      Doubles numbers[6] = {};
      for (int l = 0; l < W && group * W + l < count; ++l) {
        const std::int32_t slot = places[std::size_t((group * W + l) * SiteCells::sites + site)];
        const Stored* vector =
            reinterpret_cast<const Stored*>(static_cast<const char*>(column.data) + slot / V * column.stride) +
            slot % V;
        for (int k = 0; k < 6; ++k) {
          if constexpr (is_fixed_point<Stored>)
            numbers[k][l] = float(vector[k * V]) * units(vector - slot % V)[slot % V] * column.scale;
          else
            numbers[k][l] = vector[k * V] * column.scale;
        }
      }
      for (int c = 0; c < 3; ++c) read(site, c, numbers[2 * c], numbers[2 * c + 1]);
    }
  }
  const char* lines(const VectorColumn&, std::int64_t, int) const { return nullptr; }
  const char* next_lines(const VectorColumn&, std::int64_t, int) const { return nullptr; }
  template <int level>
  static void prefetch(const char*, int) {}
};

// Runs work(reader) with the reader of the call's fields.
template <class Work>
void with_reader(const ProductCall& call, const Work& work) {
  with_stored(call.precision, call.a[0].data, [&]<class Stored>(const Stored*) {
    if (call.cells->whole_blocks)
      work(BlockReader<Stored>{call.cells->count, call.cells->places.data()});
    else
      work(SlotReader<Stored>{call.cells->count, call.cells->places.data()});
  });
}

// The sums and largest norms of one thread.
struct ThreadProducts {
  ThreadProducts(std::size_t pairs, std::size_t a, std::size_t b) : pairs(pairs), norm_a(a), norm_b(b) {}

  void flush() {
    // What does not fit is summed again at another scale: its limbs mean nothing.
    for (const LargestNorm& norm : norm_a) overflow |= !fits(norm.value());
    for (const LargestNorm& norm : norm_b) overflow |= !fits(norm.value());
    if (overflow) return;
    for (PairSum& sum : pairs) sum.flush();
  }
  void add_to(const ProductCall& call) const {
#pragma omp critical(staghorn_products)
    {
      for (std::size_t p = 0; p < pairs.size() && !overflow; ++p)
        call.re[p].total += pairs[p].re.total, call.im[p].total += pairs[p].im.total;
      for (std::size_t i = 0; i < norm_a.size(); ++i) raise(call.largest_a[i], norm_a[i].value());
      for (std::size_t i = 0; i < norm_b.size(); ++i) raise(call.largest_b[i], norm_b[i].value());
    }
  }

  std::vector<PairSum> pairs;
  std::vector<LargestNorm> norm_a, norm_b;
  bool overflow = false;
};

// Runs work(group, products) over all groups with one ThreadProducts for each thread, and adds them up.
template <class Work>
void for_groups(const ProductCall& call, std::int64_t groups, std::size_t pairs, const Work& work) {
#pragma omp parallel
  {
    ThreadProducts products(pairs, call.a.size(), call.b.size());
    const std::int64_t first = groups * omp_get_thread_num() / omp_get_num_threads();
    const std::int64_t last = groups * (omp_get_thread_num() + 1) / omp_get_num_threads();
    auto worker = work();  // what the thread needs besides, made by itself
    for (std::int64_t begin = first; begin < last; begin += CellGrid::capacity) {
      const std::int64_t end = std::min(last, begin + CellGrid::capacity);
      for (std::int64_t group = begin; group < end; ++group) worker(group, products);
      products.flush();
    }
    products.add_to(call);
  }
}

}  // namespace

}  // namespace staghorn
