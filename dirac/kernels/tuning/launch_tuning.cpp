#include "dirac/kernels/tuning/launch_tuning.hpp"

#include <omp.h>

#include <algorithm>
#include <optional>

#include "dirac/algebra/philox.hpp"
#include "dirac/fields/color_vector_field.hpp"
#include "dirac/kernels/hop_tiles.hpp"
#include "dirac/kernels/tuning/launch_cache.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

constexpr int rounds = 5;
constexpr double seconds_a_round = 3e-3, least_gain = 0.02;
constexpr int most_calls = 40;
constexpr std::int64_t sites_at_once = 1 << 14;  // of one parity: a block of 128 on each of 128 processors

// Fills a vector of fp64 or fp32 with small random numbers, which repeat after a megabyte or two. A GPU that moves
// zeros draws less power than in a solve, and its clock may be higher.
template <class Real>
void fill_with_noise(ColorVectorField& v) {
  std::vector<Real> noise(std::size_t{1} << 18);
  RandomStream random(1, RandomPurpose::gaussian_noise, 0, 0);
  for (Real& real : noise) real = Real((random.uniform() - 0.5) * 0x1p-5);
  std::byte* data = static_cast<std::byte*>(v.data());
  const std::size_t bytes = std::size_t(v.bytes());
  std::size_t filled = std::min(bytes, noise.size() * sizeof(Real));
  cuda::copy_to_device(data, noise.data(), filled);
  for (std::size_t more = 0; filled < bytes; filled += more) {
    more = std::min(filled, bytes - filled);
    cuda::copy_on_device(data + filled, data, more);
  }
}

// Times the kernels of CG on random vectors. alpha = beta = 0 keeps the vectors bounded, as in an iteration that leaves
// x alone.
class TimedKernels {
 public:
  explicit TimedKernels(const TuningCase& what)
      : what_(what),
        view_(what.view),
        x_(what.layout, arithmetic_of(view_.vectors.precision), view_.vectors.n_rhs, MemorySpace::cuda),
        r_(what.layout, view_.vectors.precision, view_.vectors.n_rhs, MemorySpace::cuda),
        p_(what.layout, view_.vectors.precision, view_.vectors.n_rhs, MemorySpace::cuda),
        tmp_(what.layout, view_.vectors.precision, view_.vectors.n_rhs, MemorySpace::cuda),
        zeros_(std::size_t(view_.vectors.n_rhs), 0.0),
        grids_(std::size_t(view_.vectors.n_rhs), SumGrid::for_bound(1)),
        sums_(std::size_t(view_.vectors.n_rhs)) {
    if (x_.precision() == Precision::fp64)
      fill_with_noise<double>(x_);
    else
      fill_with_noise<float>(x_);
    for (ColorVectorField* v : {&r_, &p_, &tmp_}) v->convert_from(x_);
  }

  double hop(const LaunchChoice& choice) {
    view_.launch.choices.hop = choice;
    return time_hop(HopUse::store_norm, p_, tmp_);
  }
  double residual(const LaunchChoice& choice) {
    view_.launch.choices.residual = choice;
    return time_hop(HopUse::update_residual, tmp_, r_);
  }
  double direction(const LaunchChoice& choice) {
    view_.launch.choices.direction = choice;
    DirectionCall call;
    call.p = p_.data();
    call.r = r_.data();
    call.beta = zeros_.data();
    call.grids = grids_.data();
    call.sums = sums_.data();
    return time([&] { what_.kernels.update_direction(view_, call); });
  }

 private:
  double time_hop(HopUse use, const ColorVectorField& in, ColorVectorField& out) {
    HopCall call;
    call.use = use;
    call.in = in.data();
    call.out = out.data();
    call.p = p_.data();
    call.ghost_faces = what_.ghosts;
    call.alpha = call.beta = zeros_.data();
    call.grids = grids_.data();
    call.sums = sums_.data();
    what_.kernels.start_sums(view_, call);
    const auto launch = [&](HopPart part) {
      call.part = part;
      what_.kernels.hop(view_, call);
    };
    return time([&] {
      if (what_.whole) return launch(HopPart::all);
      launch(HopPart::interior);
      launch(HopPart::boundary);
    });
  }

  // Returns the seconds of one call, of several that are queued.
  template <class Work>
  static double time(const Work& work) {
    const auto batch = [&](int calls) {
      cuda::synchronize();
      const double start = omp_get_wtime();
      for (int k = 0; k < calls; ++k) work();
      cuda::synchronize();
      return (omp_get_wtime() - start) / calls;
    };
    return batch(std::clamp(int(seconds_a_round / batch(1)), 1, most_calls));
  }

  const TuningCase& what_;
  HopView view_;
  ColorVectorField x_, r_, p_, tmp_;
  std::vector<double> zeros_, alpha_;
  std::vector<SumGrid> grids_;
  std::vector<ExactPartial> sums_;
};

// The part of rank 0.
LaunchTuning tune(const TuningCase& what, const std::string& device, Tuning mode) {
  const double start = omp_get_wtime();
  LaunchTuning result;
  const std::filesystem::path file = launch_file();
  result.file = file.string();
  const KnownLaunches known = mode == Tuning::on ? read_launches(file) : KnownLaunches();
  const std::vector<LaunchChoice> tiles =
      tile_candidates(what.view.stencil, what.view.vectors.precision, what.view.vectors.n_rhs,
                      what.whole && what.view.geometry.boundary_sites > 0);
  const bool large = what.layout.lattice().local_volume() / 2 * what.view.vectors.n_rhs > sites_at_once;
  std::optional<TimedKernels> kernels;  // made where something is to be timed
  std::string lines;
  const auto choose = [&](const char* kernel, LaunchChoice& choice, double (TimedKernels::*time)(const LaunchChoice&),
                          std::vector<LaunchChoice> candidates) {
    if (candidates.size() == 1 && !large) return;
    const std::string key = launch_key(kernel, what.view, device);
    if (const auto found = known.find(key); found != known.end()) {
      choice = found->second;
      ++result.remembered;
      return;
    }
    try {
      if (!kernels) kernels.emplace(what);
    } catch (const LocalError&) {
      throw;
    } catch (const Error&) {
      return;  // no room for the vectors: nothing is chosen
    }
    const auto seconds = [&](const LaunchChoice& candidate) { return (*kernels.*time)(candidate); };
    choice = fastest(wave_candidates(fastest(candidates, seconds)), seconds);
    lines += launch_line(key, choice);
    ++result.tuned;
  };
  choose("hop", result.choices.hop, &TimedKernels::hop, tiles);
  choose("residual", result.choices.residual, &TimedKernels::residual, tiles);
  choose("direction", result.choices.direction, &TimedKernels::direction, {LaunchChoice()});
  if (result.tuned == 0) return result;
  result.not_kept = append_launches(file, lines);
  result.seconds = omp_get_wtime() - start;
  return result;
}

}  // namespace

LaunchTuning tune_launches(const Communicator& communicator, const TuningCase& what, const std::string& device,
                           Tuning mode) {
  LaunchTuning result;
  if (mode == Tuning::off || what.kernels.space != MemorySpace::cuda) return result;
  const Activity activity("tuning launches");
  communicator.agree([&] {
    if (communicator.is_root()) result = tune(what, device, mode);
  });
  communicator.broadcast(&result.choices, sizeof result.choices);
  communicator.broadcast(&result.tuned, sizeof result.tuned);
  communicator.broadcast(&result.remembered, sizeof result.remembered);
  communicator.broadcast(&result.seconds, sizeof result.seconds);
  result.file = communicator.broadcast(result.file);
  result.not_kept = communicator.broadcast(result.not_kept);
  result.mode = mode;
  return result;
}

std::vector<LaunchChoice> tile_candidates(Stencil stencil, Precision precision, int n_rhs, bool cut) {
  const auto that_divide = [&]<class Tiles>(Tiles) {
    std::vector<LaunchChoice> candidates;
    for (const int tile : Tiles::all)
      if (n_rhs % tile == 0) candidates.push_back({tile, 1});
    return candidates;
  };
  const auto of_list = [&]<class List>(List) {
    return cut ? that_divide(typename List::cut()) : that_divide(typename List::whole());
  };
  const auto of = [&]<int bytes>(std::integral_constant<int, bytes>) {
    return stencil == Stencil::improved ? of_list(HopTiles<bytes, Stencil::improved>()) : of_list(HopTiles<bytes>());
  };
  switch (precision) {
    case Precision::fp64:
      return of(std::integral_constant<int, 8>());
    case Precision::fp32:
      return of(std::integral_constant<int, 4>());
    case Precision::fp16:
      return of(std::integral_constant<int, 2>());
  }
  throw Error("no such precision");
}

std::vector<LaunchChoice> wave_candidates(const LaunchChoice& tile) {
  return {{tile.tile, 1}, {tile.tile, 2}, {tile.tile, 4}};
}

LaunchChoice fastest(const std::vector<LaunchChoice>& candidates,
                     const std::function<double(const LaunchChoice&)>& seconds) {
  if (candidates.size() == 1) return candidates.front();
  std::vector<std::vector<double>> times(candidates.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t k = 0; k < candidates.size(); ++k) times[k].push_back(seconds(candidates[k]));
  std::vector<double> medians;
  for (std::vector<double>& of_one : times) {
    std::nth_element(of_one.begin(), of_one.begin() + rounds / 2, of_one.end());
    medians.push_back(of_one[rounds / 2]);
  }
  const auto least = std::min_element(medians.begin(), medians.end());
  if (*least > (1 - least_gain) * medians.front()) return candidates.front();
  return candidates[std::size_t(least - medians.begin())];
}

}  // namespace staghorn
