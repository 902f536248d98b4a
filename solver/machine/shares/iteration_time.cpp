#include "solver/machine/shares/iteration_time.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>

#include "dirac/gauge/heatbath.hpp"
#include "dirac/gauge/improved_links.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "halo/watch/surroundings.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

namespace {

constexpr double mass = 0.05;
// A measurement takes so many seconds as a rule, and so many pieces of some iterations at least. The fastest counts, so
// what else runs on a machine for a moment does not decide.
constexpr double moment = 0.2, least_seconds_of_piece = 0.01;
constexpr int least_pieces = 4, most_pieces = 60, least_iterations = 4, most_iterations = 512;

// A whole lattice of random numbers would take longer than the iterations: few sites of them are repeated.
Lattice few_sites() { return Lattice({10, 6, 2, 2}, {1, 1, 1, 1}, 0); }

template <class Site>
SiteField<Site> repeated(const SiteField<Site>& few, const Lattice& lattice) {
  SiteField<Site> field(lattice);
#pragma omp parallel for
  for (std::int64_t x = 0; x < field.size(); ++x) field[x] = few[x % few.size()];
  return field;
}

LinkField repeated_links(const Lattice& lattice, std::uint64_t seed) {
  LinkField few(few_sites());
  set_hot(few, seed);
  return repeated(few, lattice);
}

// An operator with random links, and CG on it in pieces of some iterations.
class Trial {
 public:
  Trial(const Communicator& communicator, const Lattice& lattice, const SessionOptions& options, int cuda_device) {
    const LinkField links = repeated_links(lattice, 1);
    std::optional<LinkField> naik;
    if (options.quarks.improved()) naik.emplace(repeated_links(lattice, 2));
    const OperatorLinks read = naik ? OperatorLinks(links, *naik, hisq_naik_weight(0)) : OperatorLinks(links);
    d_.emplace(communicator, read, operator_options(iterated_options(options), 1, cuda_device));
    work_.emplace(*d_);
    x_.emplace(d_->make_solution());
    b_.emplace(d_->make_vector());
    b_->pack(Parity::even, 0, repeated(make_source_vector(few_sites(), parse_source("gaussian:1"), 0), lattice));
    std::vector<ExactSum> sums(1, ExactSum(double(lattice.global_volume())));
    b2_ = d_->norm2(*b_, sums);
  }

  bool host_free() const { return d_->host_free(); }

  // Seconds of an iteration in a piece of so many iterations. Where the host looks on at each, the fastest two that
  // follow each other, for the solution is updated in every second; else all of them, with the set-up of the loop.
  double piece(int iterations) {
    std::vector<double> at;
    const Stopwatch clock;
    iterate(parity_system(*d_, Parity::even, mass), *work_, *x_, *b_, b2_, iterations,
            [&](const CgProgress&) { at.push_back(clock.seconds()); });
    double best = clock.seconds() / iterations;
    if (int(at.size()) == iterations)
      for (std::size_t k = 2; k < at.size(); ++k) best = std::min(best, (at[k] - at[k - 2]) / 2);
    return best;
  }

 private:
  std::optional<StaggeredOperator> d_;
  std::optional<CgVectors> work_;
  std::optional<ColorVectorField> x_, b_;
  std::vector<double> b2_;
};

// How many pieces, and of how many iterations, if an iteration takes so many seconds.
struct Pieces {
  int number = 0, iterations = 0;
  explicit Pieces(double once) {
    iterations = least_iterations;
    while (iterations < most_iterations && iterations * once < least_seconds_of_piece) iterations *= 2;
    number = std::clamp(int(moment / (iterations * once)), least_pieces, most_pieces);
  }
};

// What tests say in the place of the clock: STAGHORN_ITERATION_TIMES=FIXED,SITE,FACE in nanoseconds, the time of a rank
// that is not slowed (share_model.hpp). Nothing where the variable is not set.
std::optional<double> given_seconds(const Extents& local, const Extents& grid, const SessionOptions& options) {
  constexpr const char* name = "STAGHORN_ITERATION_TIMES";
  const char* text = environment_variable(name);
  if (!text) return {};
  RankSpeed speed;
  int end = 0;
  if (std::sscanf(text, "%lf,%lf,%lf%n", &speed.fixed, &speed.per_site, &speed.per_face_site, &end) != 3 || text[end])
    throw Error(name, "FIXED,SITE,FACE in nanoseconds", std::string("'") + text + "'");
  return 1e-9 * options.slowness.value_or(1) * own_seconds(speed, local, grid);
}

}  // namespace

CgStop just_iterations(std::size_t n_rhs, long iterations) {
  CgStop stop{std::vector<double>(n_rhs, 0.0), iterations};
  stop.stagnation_window = 0;
  stop.choice = default_loop_choice();
  return stop;
}

LoopForm iterate(const ParitySystem& system, CgVectors& work, ColorVectorField& x, const ColorVectorField& b,
                 const std::vector<double>& b2, long iterations, const ShowProgress& show) {
  auto& [r, p, tmp, loop] = work;  // r = p = b
  x.set_zero();
  r.copy_from(b);
  p.copy_from(b);
  CgState state{x, r, p, tmp, b2, b2, &loop};
  const LoopForm form = conjugate_gradient_loop(system, state, just_iterations(b2.size(), iterations), show).form;
  if (system.d.options().cuda_device >= 0) cuda::synchronize();
  return form;
}

std::vector<double> of_all_ranks(const Communicator& all, std::span<const double> own) {
  std::vector<double> numbers(own.size() * std::size_t(all.size()), 0.0);
  std::copy(own.begin(), own.end(), numbers.begin() + std::ptrdiff_t(own.size()) * all.rank());
  if (all.size() > 1) all.sum(numbers);
  return numbers;
}

MeasuredIteration time_iteration(const Communicator& communicator, const Lattice& lattice,
                                 const SessionOptions& options, int cuda_device) {
  const Activity activity("timing an iteration");
  if (const auto given = given_seconds(lattice.local(), lattice.grid(), options))
    return {communicator.max(*given), true};
  Trial trial(communicator, lattice, options, cuda_device);
  const Pieces pieces(communicator.max(trial.piece(least_iterations)));
  double best = std::numeric_limits<double>::infinity();
  for (int k = 0; k < pieces.number; ++k) {
    communicator.barrier();
    best = std::min(best, communicator.max(trial.piece(pieces.iterations)));
  }
  return {best, communicator.any(!trial.host_free())};
}

double time_own_iteration(const Communicator& all, const Extents& local, const Extents& grid,
                          const SessionOptions& options, int cuda_device) {
  const Activity activity("timing an iteration of this rank alone");
  if (const auto given = given_seconds(local, grid, options)) return *given;
  SessionOptions own = options;
  own.transport = "auto";
  own.tuning = Tuning::off;
  std::array<bool, 4> cut{};
  for (std::size_t mu = 0; mu < 4; ++mu) cut[mu] = grid[mu] > 1;
  const Communicator alone;
  std::optional<Trial> trial;
  all.agree([&] { trial.emplace(alone, Lattice(local, {1, 1, 1, 1}, 0, cut), own, cuda_device); });
  double first = 0, best = std::numeric_limits<double>::infinity();
  all.agree([&] { first = trial->piece(least_iterations); });
  // Of each round the ranks begin together, so all have pieces that others work beside.
  const double slowest = all.max(first);
  const Pieces pieces(slowest);
  for (int k = 0; k < pieces.number; ++k)
    all.agree([&] {
      const Stopwatch clock;
      do best = std::min(best, trial->piece(pieces.iterations));
      while (clock.seconds() < 0.8 * pieces.iterations * slowest);
    });
  return best;
}

std::vector<RankSpeed> measure_speeds(const Communicator& all, const Extents& local, const Extents& grid,
                                      const SessionOptions& options, int cuda_device) {
  // The thinner part: about half of the longest extent.
  Extents thin = local;
  int& longest = *std::max_element(thin.begin(), thin.end());
  const int least = smallest_extent(stencil_of(options));
  longest = std::max(least, longest / 4 * 2);
  const Extents whole{1, 1, 1, 1};
  const double with_faces = time_own_iteration(all, local, grid, options, cuda_device),
               without = time_own_iteration(all, local, whole, options, cuda_device),
               thinner = thin == local ? without : time_own_iteration(all, thin, whole, options, cuda_device);
  RankSpeed speed;
  const double sites = double(volume(local) - volume(thin));
  // Noise, and caches that hold the thinner part, must not make the fixed time negative or the time of a site small.
  const double mean = without / double(volume(local));
  speed.per_site = sites > 0 ? std::clamp((without - thinner) / sites, mean / 2, mean) : mean;
  speed.fixed = without - speed.per_site * double(volume(local));
  const std::int64_t faces = face_sites_of(local, grid);
  if (faces > 0) speed.per_face_site = std::max(0.0, with_faces - without) / double(faces);
  const std::vector<double> numbers = of_all_ranks(all, std::array{speed.fixed, speed.per_site, speed.per_face_site});
  std::vector<RankSpeed> speeds;
  for (std::size_t k = 0; k < numbers.size(); k += 3) speeds.push_back({numbers[k], numbers[k + 1], numbers[k + 2]});
  return speeds;
}

}  // namespace staghorn
