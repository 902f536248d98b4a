// Fields of other codes, filled by loops that count sites as those codes do, are read and written without a rounding.
#include <cstring>

#include "dirac/algebra/su3_matrix.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/layouts/link_conversion.hpp"
#include "solver/interface/layouts/vector_conversion.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

const Lattice lattice({4, 6, 8, 10}, {1, 1, 1, 1}, 0);
const Extents n = lattice.local();
constexpr SiteOrder orders[] = {SiteOrder::lex,        SiteOrder::cps_stag, SiteOrder::cps_wilson,
                                SiteOrder::even_odd_x, SiteOrder::qdp,      SiteOrder::cps_stag_block};
constexpr LinkPhases conventions[] = {LinkPhases::none, LinkPhases::cps, LinkPhases::milc, LinkPhases::tifr,
                                      LinkPhases::chroma};

// The sites in the order in which a host walks through them; even sites first, odd first, or as they come.
enum class Walk { all, even_first, odd_first };
std::vector<Coordinates> walked(const std::array<int, 4>& fastest_first, Walk walk) {
  std::vector<Coordinates> even, odd, all;
  Coordinates x{};
  for (int a = 0; a < n[fastest_first[3]]; ++a)
    for (int b = 0; b < n[fastest_first[2]]; ++b)
      for (int c = 0; c < n[fastest_first[1]]; ++c)
        for (int d = 0; d < n[fastest_first[0]]; ++d) {
          x[fastest_first[3]] = a, x[fastest_first[2]] = b, x[fastest_first[1]] = c, x[fastest_first[0]] = d;
          all.push_back(x);
          ((x[0] + x[1] + x[2] + x[3]) % 2 ? odd : even).push_back(x);
        }
  if (walk == Walk::all) return all;
  std::vector<Coordinates>& first = walk == Walk::even_first ? even : odd;
  std::vector<Coordinates>& second = walk == Walk::even_first ? odd : even;
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<Coordinates> walked_by(SiteOrder order, bool links) {
  const std::array<int, 4> x_fastest{0, 1, 2, 3}, t_fastest{3, 0, 1, 2};  // t, then x, y, z
  switch (order) {
    case SiteOrder::cps_stag:
      return links ? walked(x_fastest, Walk::all) : walked(t_fastest, Walk::even_first);
    case SiteOrder::cps_stag_block:
      return walked(t_fastest, Walk::even_first);
    case SiteOrder::cps_wilson:
      return walked(x_fastest, links ? Walk::even_first : Walk::odd_first);
    case SiteOrder::even_odd_x:
    case SiteOrder::qdp:
      return walked(x_fastest, Walk::even_first);
    case SiteOrder::lex:
      break;
  }
  return walked(x_fastest, Walk::all);
}

int power(int exponent) { return exponent % 2 ? -1 : 1; }

// eta_mu(x) of each convention as its code has it.
int eta(LinkPhases phases, int mu, const Coordinates& x) {
  const int milc[] = {power(x[3]), power(x[3] + x[0]), power(x[3] + x[0] + x[1]), 1};
  const int cps[] = {1, power(x[0]), power(x[0] + x[1]), power(x[0] + x[1] + x[2])};
  const int tifr[] = {power(x[1] + x[2] + x[3]), power(x[2] + x[3]), power(x[3]), 1};
  switch (phases) {
    case LinkPhases::none:
      return 1;
    case LinkPhases::milc:
      return milc[mu];
    case LinkPhases::tifr:
      return tifr[mu];
    default:
      return cps[mu];
  }
}

// The number in fp32 that is nearest. gcc 12 drops a pair of such conversions, double to float to double, where it
// makes vectors of them (-O2 and up), so the float goes through memory.
double in_fp32(double number) {
  volatile float rounded = float(number);
  return rounded;
}

template <class Real>
void put(std::byte* place, double re, double im) {
  const Real reals[2] = {Real(re), Real(im)};
  std::memcpy(place, reals, sizeof reals);
}
void put(HostReal real, std::byte* place, double re, double im) {
  real == HostReal::fp64 ? put<double>(place, re, im) : put<float>(place, re, im);
}

using Bytes = std::vector<std::byte>;
constexpr std::byte guard{0x5a};  // between sites and links

// The buffers of a host with the links `u`.
std::array<Bytes, 4> host_links(const HostLinks& layout, const LinkField& u) {
  const std::int64_t size = bytes_of(layout.real);
  const bool block = layout.order == SiteOrder::cps_stag_block, qdp = layout.order == SiteOrder::qdp;
  const std::int64_t stride = layout.site_stride ? layout.site_stride : size * (block || qdp ? 18 : 72);
  const std::int64_t sites = lattice.local_volume();
  const bool dagger = layout.dagger || block || layout.order == SiteOrder::cps_stag;
  std::array<Bytes, 4> buffers;
  for (int b = 0; b < (qdp ? 4 : 1); ++b) buffers[b].assign(std::size_t(stride * sites * (block ? 4 : 1)), guard);
  std::int64_t k = 0;
  for (const Coordinates& x : walked_by(layout.order, true)) {
    for (int mu = 0; mu < 4; ++mu) {
      int sign = eta(layout.phases, mu, x);
      if (layout.boundary_in && layout.boundary.theta[mu] == 1 && x[mu] == n[mu] - 1) sign = -sign;
      std::byte* link = buffers[qdp ? mu : 0].data() + layout.link_offset;
      link += block ? (sites * mu + k) * stride : k * stride + (qdp ? 0 : mu * 18 * size);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          const auto& e = u[lattice.site_index(x)][mu].e;
          const double re = sign * (dagger ? e[j][i].re : e[i][j].re);
          const double im = sign * (dagger ? -e[j][i].im : e[i][j].im);
          const int place = layout.order == SiteOrder::cps_wilson ? 3 * j + i : 3 * i + j;
          put(layout.real, link + 2 * size * place, re, im);
        }
    }
    ++k;
  }
  return buffers;
}

LinkBuffers pointers(const std::array<Bytes, 4>& buffers) {
  LinkBuffers result{};
  for (int b = 0; b < 4; ++b) result[b] = buffers[b].data();
  return result;
}
std::array<void*, 4> writable(std::array<Bytes, 4>& buffers) {
  std::array<void*, 4> result{};
  for (int b = 0; b < 4; ++b) result[b] = buffers[b].data();
  return result;
}

// Random links; in fp32 those that a host in fp32 can hold.
LinkField some_links(HostReal real) {
  LinkField u(lattice);
  make_random(u);
  if (real == HostReal::fp32)
    for (std::int64_t site = 0; site < u.size(); ++site)
      for (auto& link : u[site])
        for (auto& row : link.e)
          for (auto& element : row) element = {in_fp32(element.re), in_fp32(element.im)};
  return u;
}

template <class Site>
bool same_bits(const SiteField<Site>& a, const SiteField<Site>& b) {
  return std::memcmp(a.data(), b.data(), std::size_t(a.bytes())) == 0;
}

// All layouts of links: orders x conventions x boundary x precision x dagger, packed and within structs of sites.
std::vector<HostLinks> link_layouts() {
  std::vector<HostLinks> all;
  for (const HostReal real : {HostReal::fp64, HostReal::fp32})
    for (const SiteOrder order : orders)
      for (const LinkPhases phases : conventions)
        for (const bool boundary_in : {false, true})
          for (const bool in_struct : {false, true}) {
            HostLinks layout;
            layout.order = order, layout.real = real, layout.phases = phases, layout.boundary_in = boundary_in;
            layout.dagger = phases == LinkPhases::tifr;
            layout.boundary.theta = {0, 1, 0, 1};
            if (in_struct) layout.site_stride = 1000, layout.link_offset = 328;
            all.push_back(layout);
          }
  return all;
}

bool links_of_all_layouts_are_read_and_written_exactly() {
  const Communicator communicator(MPI_COMM_SELF);
  const LinkField u64 = some_links(HostReal::fp64), u32 = some_links(HostReal::fp32);
  LinkField found(lattice);
  for (const HostLinks& layout : link_layouts()) {
    const LinkField& u = layout.real == HostReal::fp64 ? u64 : u32;
    const std::array<Bytes, 4> host = host_links(layout, u);
    const TakenLinks taken = take_links(communicator, layout, pointers(host), found);
    if (!CHECK(same_bits(found, u)) || !CHECK(taken.unscaled) || !CHECK(taken.boundary.theta == layout.boundary.theta))
      return false;
    std::array<Bytes, 4> written = host;
    for (Bytes& buffer : written) std::fill(buffer.begin(), buffer.end(), guard);
    write_links(layout, found, writable(written));
    if (!CHECK(bool(written == host))) return false;
  }
  return true;
}

bool links_are_converted_between_all_layouts() {
  const LinkField u = some_links(HostReal::fp32);
  const std::vector<HostLinks> layouts = link_layouts();
  std::vector<std::array<Bytes, 4>> hosts;
  for (const HostLinks& layout : layouts) hosts.push_back(host_links(layout, u));
  for (std::size_t i = 0; i < layouts.size(); i += 7)
    for (std::size_t j = 0; j < layouts.size(); j += 3) {
      std::array<Bytes, 4> written = hosts[j];
      for (Bytes& buffer : written) std::fill(buffer.begin(), buffer.end(), guard);
      convert_links(lattice, layouts[i], pointers(hosts[i]), layouts[j], writable(written));
      if (!CHECK(bool(written == hosts[j]))) return false;
    }
  return true;
}

// The buffer of a host with the vector `v`, or of its even or odd half.
Bytes host_vector(const HostVectors& layout, LinkPhases phases, std::optional<Parity> half, const VectorField& v) {
  const std::int64_t size = bytes_of(layout.real), stride = layout.site_stride ? layout.site_stride : 6 * size;
  Bytes buffer(std::size_t(stride * lattice.local_volume() / (half ? 2 : 1)), guard);
  std::byte* place = buffer.data();
  for (const Coordinates& x : walked_by(layout.order, false)) {
    if (half && Lattice::parity_of(x) != *half) continue;
    int sign = 1;
    if (phases == LinkPhases::milc) sign = power(x[3] * (x[0] + x[1] + x[2]));
    for (int c = 0; c < 3; ++c) {
      const Complex<double>& component = v[lattice.site_index(x)].c[c];
      put(layout.real, place + 2 * c * size, sign * component.re, sign * component.im);
    }
    place += stride;
  }
  return buffer;
}

VectorField some_vector() {
  VectorField v(lattice);
  for (std::int64_t site = 0; site < v.size(); ++site) {
    RandomStream random = test_stream(std::uint64_t(1000000 + site));
    for (auto& c : v[site].c) {
      const Complex<double> number = complex_gaussian(random);
      c = {in_fp32(number.re), in_fp32(number.im)};
    }
  }
  return v;
}

VectorField kept(const VectorField& v, std::optional<Parity> parity) {
  VectorField result = v;
  for (std::int64_t site = 0; site < v.size(); ++site)
    if (parity && Lattice::parity_of(lattice.site_coordinates(site)) != *parity) result[site] = {};
  return result;
}

struct VectorCase {
  HostVectors layout;
  LinkPhases phases;
  std::optional<Parity> half;
};

std::vector<VectorCase> vector_cases() {
  std::vector<VectorCase> all;
  for (const HostReal real : {HostReal::fp64, HostReal::fp32})
    for (const SiteOrder order : orders)
      for (const LinkPhases phases : {LinkPhases::cps, LinkPhases::milc})
        for (const std::int64_t stride : {0, 136})
          for (const std::optional<Parity> half : {std::optional<Parity>(), {Parity::even}, {Parity::odd}})
            if (!half || order != SiteOrder::lex)
              all.push_back({{order, real, half.has_value(), stride}, phases, half});
  return all;
}

bool vectors_of_all_layouts_are_read_and_written_exactly() {
  const VectorField v = some_vector();
  for (const VectorCase& c : vector_cases()) {
    VectorSigns signs;
    signs.phases = c.phases;
    const Bytes host = host_vector(c.layout, c.phases, c.half, v);
    VectorField found(lattice);
    read_vector(c.layout, signs, c.half, host.data(), found);
    if (!CHECK(same_bits(found, kept(v, c.half)))) return false;
    Bytes written(host.size(), guard);
    write_vector(c.layout, signs, c.half, found, written.data());
    if (!CHECK(bool(written == host))) return false;
    if (!CHECK(std::int64_t(host.size()) >= buffer_bytes(c.layout, n))) return false;
  }
  return true;
}

bool vectors_are_converted_between_all_layouts() {
  const VectorField v = some_vector();
  for (const VectorCase& from : vector_cases())
    for (const VectorCase& to : vector_cases()) {
      if (from.half != to.half) continue;
      VectorSigns from_signs, to_signs;
      from_signs.phases = from.phases, to_signs.phases = to.phases;
      const Bytes host = host_vector(from.layout, from.phases, from.half, v);
      const Bytes expected = host_vector(to.layout, to.phases, to.half, v);
      Bytes written(expected.size(), guard);
      convert_vector(lattice, from.half, from.layout, from_signs, host.data(), to.layout, to_signs, written.data());
      if (!CHECK(bool(written == expected))) return false;
    }
  return true;
}

// A system on one parity of a full field reads and writes its own sites only; sign and factor of M go both ways.
bool parity_systems_and_factors_of_vectors() {
  const VectorField v = some_vector();
  const HostVectors layout{SiteOrder::even_odd_x, HostReal::fp64, false, 0};
  VectorSigns signs;
  signs.alternating = true;
  signs.factor = 4;
  Bytes host = host_vector(layout, LinkPhases::cps, {}, v);
  const Bytes before = host;
  VectorField found(lattice);
  read_vector(layout, signs, Parity::odd, host.data(), found);
  VectorField expected = kept(v, Parity::odd);
  for (std::int64_t site = 0; site < v.size(); ++site)
    for (auto& c : expected[site].c) c = {-0.25 * c.re, -0.25 * c.im};
  for (std::int64_t site = 0; site < v.size(); ++site)
    if (Lattice::parity_of(lattice.site_coordinates(site)) == Parity::even) expected[site] = {};
  if (!CHECK(same_bits(found, expected))) return false;
  write_vector(layout, signs, Parity::odd, found, host.data());
  return CHECK(bool(host == before));
}

// Which bytes of a buffer a vector of the case is written to, on its parity: those that do not stay what they were.
std::vector<bool> written_bytes(const VectorCase& c, std::optional<Parity> sites, const VectorField& v) {
  std::array<Bytes, 2> filled;
  for (int k = 0; k < 2; ++k) {
    filled[std::size_t(k)] = Bytes(std::size_t(buffer_bytes(c.layout, n)), std::byte(0x11 * (k + 1)));
    write_vector(c.layout, {}, sites, v, filled[std::size_t(k)].data());
  }
  std::vector<bool> written(filled[0].size());
  for (std::size_t i = 0; i < written.size(); ++i) written[i] = filled[0][i] == filled[1][i];
  return written;
}

// Two fields share bytes if and only if both are written to some byte: all orders, halves and strides, at distances
// that make them overlap, interlock, or lie side by side.
bool fields_share_the_bytes_that_both_are_written_to() {
  const VectorField v = some_vector();
  std::vector<VectorCase> cases = vector_cases();
  std::erase_if(cases, [](const VectorCase& c) { return c.phases != LinkPhases::cps; });
  int shared = 0, interlocked = 0;
  RandomStream random = test_stream(77);
  const auto one_of = [&](std::size_t count) { return std::size_t(random.bits() % count); };
  for (int turn = 0; turn < 600; ++turn) {
    const VectorCase &a = cases[one_of(cases.size())], &b = turn % 3 ? a : cases[one_of(cases.size())];
    const auto sites_of = [&](const VectorCase& c) {  // of full fields too, as parity systems have them
      return c.half || one_of(3) == 0 ? c.half : std::optional(one_of(2) ? Parity::odd : Parity::even);
    };
    const auto on_a = sites_of(a), on_b = sites_of(b);
    const std::vector<bool> of_a = written_bytes(a, on_a, v), of_b = written_bytes(b, on_b, v);
    const std::int64_t stride = stride_of(a.layout), end = std::int64_t(of_a.size());
    const std::int64_t distances[] = {0,       8,       48,      stride,
                                      -stride, 64,      end / 2, end / 2 + 24,
                                      end,     end - 8, -end,    4 * std::int64_t(one_of(std::size_t(end / 4)))};
    const std::int64_t distance = distances[one_of(std::size(distances))];
    bool expected = false;
    for (std::int64_t i = 0; i < std::int64_t(of_b.size()); ++i) {
      const std::int64_t there = i + distance;
      expected = expected || (of_b[std::size_t(i)] && there >= 0 && there < end && of_a[std::size_t(there)]);
    }
    char* const base = reinterpret_cast<char*>(std::uintptr_t{1} << 40);
    const FieldBytes first = bytes_of(a.layout, n, on_a, base), second = bytes_of(b.layout, n, on_b, base + distance);
    if (!CHECK(share_bytes(first, second) == expected) || !CHECK(share_bytes(second, first) == expected)) return false;
    shared += expected;
    interlocked += !expected && distance < end && distance > -end;
  }
  return CHECK(shared > 100) && CHECK(interlocked > 100);
}

std::string complaint(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return error.what();
  }
  return "";
}

bool layouts_that_make_no_sense_are_refused() {
  HostLinks links;
  links.link_offset = 8;
  links.site_stride = 576;
  if (!CHECK(complaint([&] { check_layout(links); }).find("site_stride of links: expected at least 584") == 0))
    return false;
  links = {};
  links.scale[2] = 0;
  if (!CHECK(complaint([&] { check_layout(links); }).find("scale of links") == 0)) return false;
  links = {};
  links.boundary.theta[1] = std::numeric_limits<double>::quiet_NaN();
  if (!CHECK(complaint([&] { check_layout(links); }).find("theta of links") == 0)) return false;
  HostVectors vectors;
  vectors.half = true;
  if (!CHECK(complaint([&] { check_layout(vectors); }).find("half of vectors") == 0)) return false;
  vectors = {SiteOrder::cps_stag, HostReal::fp64, true, 0};
  VectorField v(lattice);
  std::vector<double> host(std::size_t(3 * lattice.local_volume()));
  return CHECK(complaint([&] { read_vector(vectors, {}, {}, host.data(), v); }).find("half of vectors") == 0);
}

// A twist in the links stays there, and D has none; a factor is multiplied in and told.
bool twists_and_factors_stay_in_the_links() {
  const Communicator communicator(MPI_COMM_SELF);
  const LinkField u = some_links(HostReal::fp64);
  HostLinks layout;
  layout.phases = LinkPhases::milc;
  layout.boundary_in = true;
  layout.boundary.theta = {0.3, 0, 0, 3};
  const std::array<Bytes, 4> host = host_links(layout, u);
  LinkField found(lattice);
  TakenLinks taken = take_links(communicator, layout, pointers(host), found);
  if (!CHECK(taken.boundary.theta == std::array<double, 4>{0, 0, 0, 1}) || !CHECK(!taken.unscaled)) return false;
  layout.boundary = {};
  layout.boundary_in = false;
  layout.scale = {1, 1, 1, 1.7};
  taken = take_links(communicator, layout, pointers(host), found);
  const double expected = 1.7 * u[5][3].e[1][2].im;
  return CHECK(!taken.unscaled) && CHECK(found[5][3].e[1][2].im == expected) &&
         CHECK(found[5][2].e[0][1].re == u[5][2].e[0][1].re) && CHECK(bool(taken.signs.phases == LinkPhases::milc));
}

}  // namespace

std::vector<UnitCheck> layout_checks() {
  return {UNIT_CHECK(links_of_all_layouts_are_read_and_written_exactly),
          UNIT_CHECK(links_are_converted_between_all_layouts),
          UNIT_CHECK(vectors_of_all_layouts_are_read_and_written_exactly),
          UNIT_CHECK(vectors_are_converted_between_all_layouts),
          UNIT_CHECK(parity_systems_and_factors_of_vectors),
          UNIT_CHECK(fields_share_the_bytes_that_both_are_written_to),
          UNIT_CHECK(layouts_that_make_no_sense_are_refused),
          UNIT_CHECK(twists_and_factors_stay_in_the_links)};
}

}  // namespace staghorn
