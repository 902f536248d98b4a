// Links of improved quarks made on GPUs against the host's, on any process grid, for test_device_links.py:
//
//   device_links X Y Z T  PX PY PZ PT  [time]
//
// Compares random links, and asqtad and HISQ links, bit by bit, on a hot and on a rough configuration, and what is said
// of a singular link. With `time` the host makes none: it prints how long the GPU took. Exit status: 0 all the same, 1
// something differs, 77 no GPU.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/gauge/heatbath.hpp"
#include "dirac/gauge/improved_links.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "halo/watchdog.hpp"
#include "solver/request/option_text.hpp"

using namespace staghorn;

namespace {

constexpr int no_gpu = 77;

using Make = std::function<ImprovedLinks(MemorySpace)>;

struct Case {
  std::string name;
  Make make;
};

std::vector<Case> cases(const Communicator& all, const LinkField& thin) {
  std::vector<Case> list{
      {"asqtad", [&](MemorySpace where) { return asqtad_links(all, thin, 0.86, where); }},
  };
  for (const Unitarize group : {Unitarize::u3, Unitarize::su3})
    for (const double epsilon : {0.0, -0.12})
      list.push_back(
          {std::string("hisq ") + (group == Unitarize::u3 ? "u3" : "su3") + ", epsilon " + std::to_string(epsilon),
           [&all, &thin, group, epsilon](MemorySpace where) { return hisq_links(all, thin, epsilon, group, where); }});
  return list;
}

bool same(const LinkField& a, const LinkField& b) {
  return std::memcmp(a.data(), b.data(), std::size_t(a.bytes())) == 0;
}

bool compare(const Communicator& all, const LinkField& thin, const char* configuration) {
  bool agree = true;
  for (const Case& c : cases(all, thin)) {
    const ImprovedLinks host = c.make(MemorySpace::host), device = c.make(MemorySpace::cuda);
    const bool here = same(host.fat, device.fat) && same(host.naik, device.naik) &&
                      host.naik_weight == device.naik_weight && host.smallest_singular == device.smallest_singular &&
                      host.smallest_determinant == device.smallest_determinant && device.device_seconds > 0 &&
                      host.device_seconds == 0;
    const bool differs = all.any(!here);
    if (all.is_root())
      std::printf("%s: %s, %s (smallest singular value %.3g, |det| %.3g)\n", differs ? "differs" : "same",
                  configuration, c.name.c_str(), device.smallest_singular, device.smallest_determinant);
    agree = agree && !differs;
  }
  return agree;
}

bool compare_hot(const Communicator& all, const LinkField& hot) {
  LinkField made(hot.lattice(), MemorySpace::cuda);
  set_hot(made, 7);
  const bool agree = !all.any(!same(hot, LinkField(made, MemorySpace::host)));
  if (all.is_root()) std::printf("%s: random links\n", agree ? "same" : "differs");
  return agree;
}

std::string error_of(const Communicator& all, const LinkField& thin, MemorySpace where) {
  try {
    hisq_links(all, thin, 0, Unitarize::u3, where);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

// A link with which Fat7 has rank two there: 1/8 of it and 7/8 of 1 from all staples.
bool compare_singular(const Communicator& all, const Lattice& lattice) {
  LinkField thin(lattice);
  set_cold(thin);
  const Coordinates bad{1, 2, 3, lattice.global()[3] - 1};
  for (std::int64_t site = 0; site < thin.size(); ++site)
    if (lattice.to_global(lattice.site_coordinates(site)) == bad) thin[site][2].e[1][1].re = -7;
  const std::string host = error_of(all, thin, MemorySpace::host), device = error_of(all, thin, MemorySpace::cuda);
  const std::string named = "1,2,3," + std::to_string(bad[3]) + " in direction z";
  const bool agree = host == device && host.find(named) != std::string::npos;
  if (all.is_root()) std::printf("%s: %s\n", agree ? "same" : "differs", host.c_str());
  if (all.is_root() && host != device) std::printf("  on the GPU: %s\n", device.c_str());
  return agree;
}

void time(const Communicator& all, const LinkField& thin) {
  for (const Case& c : cases(all, thin)) {
    double best = 1e9, whole = 1e9;
    for (int run = 0; run < 2; ++run) {
      const Stopwatch making;
      const ImprovedLinks made = c.make(MemorySpace::cuda);
      best = std::min(best, all.max(made.device_seconds));
      whole = std::min(whole, all.max(making.seconds()));
    }
    if (all.is_root())
      std::printf("time: %s: %.1f ms on the GPU, %.0f ms with transfers\n", c.name.c_str(), 1e3 * best, 1e3 * whole);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 9) return 2;
  if (cuda::device_count() == 0) return no_gpu;
  const MpiSession mpi;
  const Communicator all(MPI_COMM_WORLD);
  try {
    Extents extents, grid;
    for (int mu = 0; mu < 4; ++mu) {
      extents[mu] = parse_number<int>(argv[1 + mu]);
      grid[mu] = parse_number<int>(argv[5 + mu]);
    }
    cuda::select_device(all.rank_on_host() % cuda::device_count());
    const Lattice lattice(extents, grid, all.rank());
    LinkField thin(lattice);
    set_hot(thin, 7);
    if (argc > 9) {
      time(all, thin);
      return 0;
    }
    bool agree = compare_hot(all, thin);
    agree = compare(all, thin, "hot") && agree;
    set_cold(thin);
    for (std::uint32_t sweep = 0; sweep < 3; ++sweep) heatbath_sweep(all, thin, {.beta = 5.7, .seed = 3}, sweep);
    agree = compare(all, thin, "rough") && agree;
    agree = compare_singular(all, lattice) && agree;
    if (all.is_root() && agree) std::printf("all the same\n");
    return agree ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", all.rank(), error.what());
    end_job(all, 1);
  }
  return 0;
}
