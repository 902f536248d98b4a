// Products, linear combinations and shifted steps of many vectors for one instruction set: compiled once per set, as
// cpu_kernels.cpp.
//
// Flops and bytes per site, w bytes of a real, each vector read once:
//   dot       60 a pair                   12 w a pair
//   gram      18 a pair, 24 a column      6 w a column; n vectors with themselves are n (n - 1) / 2 pairs
//   combine   24 n m                      6 w (n + m), and 6 w for each column that grows
//   shifted   30 a shift and step         6 w (steps + 4 shifts)
// A group is W cells side by side, one in each lane of doubles. A Gram matrix keeps the numbers of all columns of a
// group in the caches, as doubles, and computes pairs in tiles that registers hold. Meanwhile the vectors of the next
// group are fetched.
#include "dirac/kernels/cpu/cpu_cells.hpp"

namespace staghorn {

// Internal linkage: code for one instruction set must never be merged with another's.
namespace {

// So many pairs after the one at hand are fetched into the first-level cache.
constexpr std::size_t pairs_ahead = 2;

void dot(const ProductCall& call) {
  const std::size_t n = call.a.size();
  struct Ahead {
    std::size_t pair;
    std::int64_t group;
  };
  const auto pair_ahead = [&](std::size_t i, std::int64_t group) {
    const std::size_t next = i + pairs_ahead;
    return next < n ? Ahead{next, group} : Ahead{next % n, group + std::int64_t(next / n)};
  };
  with_reader(call, [&](const auto& reader) {
    for_groups(call, reader.groups(), call.a.size(), [&] {
      return [&](std::int64_t group, ThreadProducts& products) {
        for (std::size_t i = 0; i < call.a.size(); ++i) {
          Doubles re[terms], im[terms];
          CellNorm<Doubles> norm_a{}, norm_b{};
          CellProduct<Doubles> product{};
          const Ahead ahead = pair_ahead(i, group);
          reader.for_numbers(call.a[i], group, 0, SiteCells::sites, [&](int site, int c, Doubles a_re, Doubles a_im) {
            reader.template prefetch<1>(reader.lines(call.a[ahead.pair], ahead.group, site), c);
            re[3 * site + c] = a_re, im[3 * site + c] = a_im;
            norm_a.add(a_re, a_im);
          });
          reader.for_numbers(call.b[i], group, 0, SiteCells::sites, [&](int site, int c, Doubles b_re, Doubles b_im) {
            reader.template prefetch<1>(reader.lines(call.b[ahead.pair], ahead.group, site), c);
            const int term = 3 * site + c;
            norm_b.add(b_re, b_im);
            product.add({re[term], im[term], re[term] + im[term]}, {b_re, b_im, b_re - b_im});
          });
          products.norm_a[i].see(norm_a.value());
          products.norm_b[i].see(norm_b.value());
          products.pairs[i].add(product.value());
        }
      };
    });
  });
}

// A Gram matrix takes so many sites of the cells at a time. Of vectors in fp64 it takes half the cells, where registers
// are wide: the numbers of 16 columns, and the products so far, fit the first-level cache. Else reading numbers from
// the second level competes with fetching the next group from memory.
template <class Reader>
constexpr int sites_at_once = vector_bytes == 64 && Reader::holds_doubles ? 4 : SiteCells::sites;

// The numbers of one column and group at these sites in doubles, six at each site: in the field itself where it holds
// doubles at the right scale, else in a panel.
struct GroupColumn {
  const Doubles* site[SiteCells::sites];
  Doubles panel[SiteCells::sites][6];
  CellNorm<Doubles> norm;  // of the cells so far

  STAGHORN_INLINE Complex<Doubles> number(int s, int c) const { return {site[s][2 * c], site[s][2 * c + 1]}; }

  template <class Reader>
  STAGHORN_INLINE void open(const Reader& reader, const VectorColumn& column, std::int64_t group, int first_site) {
    CellNorm<Doubles> sum = first_site == 0 ? CellNorm<Doubles>{} : norm;
    if constexpr (Reader::holds_doubles) {
      if (column.scale == 1) {
        for (int s = 0; s < sites_at_once<Reader>; ++s) {
          site[s] = reinterpret_cast<const Doubles*>(reader.block(column, group, first_site + s));
          STAGHORN_UNROLL
          for (int c = 0; c < 3; ++c) sum.add(number(s, c).re, number(s, c).im);
        }
        norm = sum;
        return;
      }
    }
    for (int s = 0; s < sites_at_once<Reader>; ++s) site[s] = panel[s];
    reader.for_numbers(column, group, first_site, sites_at_once<Reader>, [&](int s, int c, Doubles re, Doubles im) {
      Doubles* const to = panel[s - first_site] + 2 * c;
      to[0] = re, to[1] = im;
      sum.add(re, im);
    });
    norm = sum;
  }
};

// A tile of pairs: rows i of a, columns j of b; `above`: those with i < j of a square on the diagonal. Its sums and
// factors fit the registers, of which there are 32 with AVX-512 and on Arm, else 16.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int tile_rows = 2, tile_columns = 4;
#else
constexpr int tile_rows = 1, tile_columns = 3;
#endif

// Makes the compiler load a number once into a register. Else it reads memory again for every product, and a tile waits
// for its loads.
STAGHORN_INLINE Doubles in_register(Doubles v) {
#if defined(__AVX__)
  asm("" : "+v"(v));
#elif defined(__aarch64__)
  asm("" : "+w"(v));
#endif
  return v;
}

// The column that a tile fetches for a later group, while it computes.
template <class Reader>
struct NextColumn {
  const Reader& reader;
  const VectorColumn* column;  // or null
  std::int64_t group;
  int first_site;

  STAGHORN_INLINE const char* lines(int s) const {
    return column ? reader.next_lines(*column, group, first_site + s) : nullptr;
  }
};

template <int Rows, int Columns, bool above, class Reader>
STAGHORN_INLINE void add_tile(const GroupColumn* a, const GroupColumn* b, PairSum* pairs, std::size_t pitch,
                              int first_site, const NextColumn<Reader>& next) {
  CellProduct<Doubles> product[Rows][Columns];
  const auto for_pairs = [&](const auto& work) {
    STAGHORN_UNROLL
    for (int i = 0; i < Rows; ++i) STAGHORN_UNROLL
    for (int j = 0; j < Columns; ++j)
      if (!above || i < j) work(product[i][j], pairs[std::size_t(i) * pitch + std::size_t(j)]);
  };
  for_pairs([&](auto& p, const PairSum& pair) { p = first_site == 0 ? CellProduct<Doubles>{} : pair.product; });
#pragma GCC unroll 1
  for (int s = 0; s < sites_at_once<Reader>; ++s) {
    const char* const lines = next.lines(s);
#pragma GCC unroll 1
    for (int c = 0; c < 3; ++c) {
      Reader::template prefetch<1>(lines, c);
      LeftFactor<Doubles> left[Rows];
      STAGHORN_UNROLL
      for (int i = 0; i < Rows; ++i) {
        const Complex<Doubles> number = a[i].number(s, c);
        const Doubles re = in_register(number.re), im = in_register(number.im);
        left[i] = {re, im, re + im};
      }
      STAGHORN_UNROLL
      for (int j = 0; j < Columns; ++j) {
        const Complex<Doubles> number = b[j].number(s, c);
        const Doubles re = in_register(number.re), im = in_register(number.im);
        const RightFactor<Doubles> right = {re, im, re - im};
        STAGHORN_UNROLL
        for (int i = 0; i < Rows; ++i)
          if (!above || i < j) product[i][j].add(left[i], right);
      }
    }
  }
  if (first_site + sites_at_once<Reader> < SiteCells::sites)
    for_pairs([&](const auto& p, PairSum& pair) { pair.product = p; });
  else
    for_pairs([&](const auto& p, PairSum& pair) { pair.add(p.value()); });
}

// All pairs of a[0, n) with one panel of up to tile_columns columns of b.
template <int Columns, class Next>
STAGHORN_INLINE void add_rows(const GroupColumn* a, int n, const GroupColumn* b, PairSum* pairs, std::size_t pitch,
                              int first_site, const Next& next_column) {
  int i = 0;
  for (; i + tile_rows <= n; i += tile_rows)
    add_tile<tile_rows, Columns, false>(a + i, b, pairs + std::size_t(i) * pitch, pitch, first_site, next_column());
  if (i < n) add_tile<1, Columns, false>(a + i, b, pairs + std::size_t(i) * pitch, pitch, first_site, next_column());
}

// Calls work.operator()<Columns>(first) for the panels of up to tile_columns columns.
template <class Work>
STAGHORN_INLINE void for_panels(int columns, const Work& work) {
  int j = 0;
  for (; j + tile_columns <= columns; j += tile_columns) work.template operator()<tile_columns>(j);
  switch (columns - j) {
    case 1:
      return work.template operator()<1>(j);
    case 2:
      if constexpr (tile_columns > 2) return work.template operator()<2>(j);
      break;
    case 3:
      if constexpr (tile_columns > 3) return work.template operator()<3>(j);
      break;
  }
}

void gram(const ProductCall& call) {
  if (call.a.size() > std::size_t(max_columns)) {  // with one column of b
    for (std::size_t first = 0; first < call.a.size(); first += max_columns) {
      ProductCall part = call;
      part.a = call.a.subspan(first, std::min(call.a.size() - first, std::size_t(max_columns)));
      part.re += first, part.im += first, part.largest_a += first;
      gram(part);
    }
    return;
  }
  const int n = int(call.a.size()), m = int(call.b.size());
  const bool hermitian = m == 0;
  const std::size_t pitch = std::size_t(hermitian ? n : m);
  with_reader(call, [&](const auto& reader) {
    for_groups(call, reader.groups(), std::size_t(n) * pitch, [&] {
      return [&, a = std::vector<GroupColumn>(std::size_t(n)), b = std::vector<GroupColumn>(std::size_t(m))](
                 std::int64_t group, ThreadProducts& products) mutable {
        using Reader = std::remove_cvref_t<decltype(reader)>;
        PairSum* const pairs = products.pairs.data();
        for (int first_site = 0; first_site < SiteCells::sites; first_site += sites_at_once<Reader>) {
          for (std::size_t i = 0; i < a.size(); ++i) a[i].open(reader, call.a[i], group, first_site);
          for (std::size_t j = 0; j < b.size(); ++j) b[j].open(reader, call.b[j], group, first_site);

          int fetched = 0;  // each tile fetches one column
          const auto next_column = [&] {
            const int next = fetched++;
            const VectorColumn* column = next < n       ? &call.a[std::size_t(next)]
                                         : next - n < m ? &call.b[std::size_t(next - n)]
                                                        : nullptr;
            return NextColumn<Reader>{reader, column, group, first_site};
          };
          for_panels(int(pitch), [&]<int Columns>(int j) {
            const GroupColumn* right = (hermitian ? a : b).data() + j;
            add_rows<Columns>(a.data(), hermitian ? j : n, right, pairs + j, pitch, first_site, next_column);
            if (hermitian && Columns > 1)
              add_tile<Columns, Columns, true>(right, right, pairs + std::size_t(j) * (pitch + 1), pitch, first_site,
                                               next_column());
          });
          while (!Reader::holds_doubles && fetched < n + m) {  // columns that no tile fetched
            const auto next = next_column();
            for (int s = 0; s < sites_at_once<Reader>; ++s) {
              const char* const lines = next.lines(s);
              for (int third = 0; third < 3; ++third) Reader::template prefetch<2>(lines, third);
            }
          }
        }
        for (std::size_t i = 0; i < a.size(); ++i) {
          const Doubles norm2 = a[i].norm.value();
          products.norm_a[i].see(norm2);
          if (hermitian) pairs[i * (pitch + 1)].re.add(norm2);
        }
        for (std::size_t j = 0; j < b.size(); ++j) products.norm_b[j].see(b[j].norm.value());
      };
    });
  });
}

// Of one block the columns [first, first + Columns) of y, which all are grown or none is. `kept`: where they are kept
// for the time being, if not in their places.
template <class Stored, int Columns>
STAGHORN_INLINE void combine_block(const CombineCall& call, const Complex<Arithmetic<Stored>>* coefficients,
                                   std::int64_t block, int first, BlockVector<Stored>* kept) {
  const bool grown = first >= call.first_grown;
  using Real = Arithmetic<Stored>;
  const auto place = [&](const VectorColumn& column) {
    return reinterpret_cast<Stored*>(static_cast<char*>(column.data) + block * column.stride);
  };
  BlockVector<Stored> y[Columns] = {};
  if (grown)
    for (int j = 0; j < Columns; ++j)
      y[j] = load_vector(static_cast<const Stored*>(place(call.y[std::size_t(first + j)])));
  for (std::size_t i = grown ? std::size_t(call.first_x_of_grown) : 0; i < call.x.size(); ++i) {
    const BlockVector<Stored> x = load_vector(static_cast<const Stored*>(place(call.x[i])));
    STAGHORN_UNROLL
    for (int j = 0; j < Columns; ++j) {
      const Complex<Real> c = coefficients[i * call.y.size() + std::size_t(first + j)];
      const Complex<Block<Real>> factor = {broadcast<Block<Real>>(c.re), broadcast<Block<Real>>(c.im)};
      STAGHORN_UNROLL
      for (int k = 0; k < 3; ++k) y[j].c[k] = multiply_add(factor, x.c[k], y[j].c[k]);
    }
  }
  for (int j = 0; j < Columns; ++j)
    if (kept)
      kept[j] = y[j];
    else
      store_vector(place(call.y[std::size_t(first + j)]), y[j]);
}

void combine(const CombineCall& call) {
  with_stored(call.precision, call.y[0].data, [&]<class Stored>(const Stored*) {
    Complex<Arithmetic<Stored>> coefficients[max_coefficients];
    for (std::size_t k = 0; k < call.x.size() * call.y.size(); ++k)
      coefficients[k] = {Arithmetic<Stored>(call.coefficients[k].re), Arithmetic<Stored>(call.coefficients[k].im)};
#pragma omp parallel for schedule(static)
    for (std::int64_t block = 0; block < call.blocks; ++block) {
      BlockVector<Stored> in_place[max_grown];  // written once the whole block was read
      const auto combine_columns = [&](int begin, int end, BlockVector<Stored>* kept) {
        for_panels(end - begin, [&]<int Columns>(int first) {
          combine_block<Stored, Columns>(call, coefficients, block, begin + first, kept ? kept + first : nullptr);
        });
      };
      combine_columns(0, call.first_in_place, nullptr);
      combine_columns(call.first_in_place, call.first_grown, in_place);
      combine_columns(call.first_grown, int(call.y.size()), nullptr);
      for (int j = call.first_in_place; j < call.first_grown; ++j) {
        const VectorColumn& column = call.y[std::size_t(j)];
        store_vector(reinterpret_cast<Stored*>(static_cast<char*>(column.data) + block * column.stride),
                     in_place[j - call.first_in_place]);
      }
    }
  });
}

// Of one right-hand side of one block the steps of all shifts, in registers: numbers do not depend on how many steps go
// together.
template <class Stored>
STAGHORN_INLINE void update_shifted_vector(const ShiftedCall& call, std::int64_t block, int rhs) {
  using Real = Arithmetic<Stored>;
  using Reals = Block<Real>;
  const std::int64_t place = (block * call.n_rhs + rhs) * vector_stride<Stored>;
  for (std::size_t shift = 0; shift < call.x.size(); ++shift) {
    const std::size_t pair = shift * std::size_t(call.n_rhs) + std::size_t(rhs);
    const int count = call.counts[pair];
    if (count == 0) continue;
    Stored *const to_x = static_cast<Stored*>(call.x[shift]) + place, *const to_p =
                                                                          static_cast<Stored*>(call.p[shift]) + place;
    BlockVector<Stored> x = load_vector<Stored>(to_x), p = load_vector<Stored>(to_p);
    for (int step = 0; step < count; ++step) {
      const ShiftedStep<double>& given = call.steps[pair * max_shifted_steps + std::size_t(step)];
      const ShiftedStep<Reals> with = {broadcast<Reals>(Real(given.alpha)), broadcast<Reals>(Real(given.beta)),
                                       broadcast<Reals>(Real(given.zeta))};
      const BlockVector<Stored> r = load_vector(static_cast<const Stored*>(call.r[std::size_t(step)]) + place);
      STAGHORN_UNROLL
      for (int c = 0; c < 3; ++c) {
        with.apply(x.c[c].re, p.c[c].re, r.c[c].re);
        with.apply(x.c[c].im, p.c[c].im, r.c[c].im);
      }
    }
    store_vector(to_x, x);
    store_vector(to_p, p);
  }
}

void update_shifted(const ShiftedCall& call) {
  const auto update = [&]<class Stored>(const Stored*) {
#pragma omp parallel for schedule(static)
    for (std::int64_t block = 0; block < call.blocks; ++block)
      for (int rhs = 0; rhs < call.n_rhs; ++rhs) update_shifted_vector<Stored>(call, block, rhs);
  };
  if (call.precision == Precision::fp64) return update(static_cast<const double*>(nullptr));
  update(static_cast<const float*>(nullptr));
}

}  // namespace

#define STAGHORN_JOIN_VALUES(a, b) a##b
#define STAGHORN_JOIN(a, b) STAGHORN_JOIN_VALUES(a, b)

extern const VectorKernels STAGHORN_JOIN(cpu_vector_kernels_, STAGHORN_ISA);
const VectorKernels STAGHORN_JOIN(cpu_vector_kernels_, STAGHORN_ISA) = {0, dot, gram, combine, update_shifted};

}  // namespace staghorn
