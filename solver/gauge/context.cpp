#include "solver/gauge/context.hpp"

#include <omp.h>

#include "dirac/kernels/rank_layouts.hpp"
#include "halo/child/bounded_child.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/device_choice.hpp"
#include "halo/watch/error.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/machine/shares/share_choice.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/solve_checks.hpp"

namespace staghorn {

namespace {

// The library where it is asked for, else nothing. Throws Error where it cannot be used. Local.
std::unique_ptr<Cublas> open_cublas(const SessionOptions& options, int cuda_device) {
  if (options.blas != Blas::cublas) return nullptr;
  const cuda::DeviceScope scope(cuda_device);
  return std::make_unique<Cublas>();
}

// So many threads of OpenMP for this thread, and at the end of the scope as many as before; 0: as many as there are.
class ThreadScope {
 public:
  explicit ThreadScope(int threads) : before_(omp_get_max_threads()) {
    if (threads > 0) omp_set_num_threads(threads);
  }
  ~ThreadScope() { omp_set_num_threads(before_); }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

// With the grid and shares of these ranks, and the slowness of this one. Collective.
SessionOptions decided_options(const Communicator& all, const Extents& global, SessionOptions options, Mapping mapping,
                               int threads) {
  const ThreadScope scope(threads);
  const TeamArithmetic arithmetic;
  all.agree([&] { options.slowness = slowness_of(options, all); });
  if (options.shares.automatic) options = choose_shares(all, global, options, mapping, false).options;
  return options;
}

}  // namespace

SessionOptions completed_options(SessionOptions options) {
  options.blocks = options.coarse.has_value();
  static_cast<SolveNumbers&>(options) = chosen_numbers(options, options);
  check_options(options);
  solver_for(options);    // throws if there is none
  default_loop_choice();  // throws if the environment's is none
  if (!options.tuning) options.tuning = default_tuning();
  return options;
}

void choose_probe(const SessionOptions& options) {
  if (!options.no_probe) return;
  Surroundings& here = Surroundings::current();
  if (*options.no_probe) return here.set_probe("");
  if (here.probe().empty()) here.set_probe(program_beside_this_library());
  if (here.probe().empty())
    throw Error(ErrorKind::unsupported, "`no_probe` false", "the program staghorn beside its library", "none");
}

Context::Context(const Communicator& all, const Extents& global, const SessionOptions& options, Mapping mapping,
                 std::shared_ptr<Surroundings> surroundings, int threads)
    : surroundings_(std::move(surroundings)),
      threads_(threads),
      options_(decided_options(all, global, completed_options(options), mapping, threads)),
      loop_(default_loop_choice()),
      placed_(place_lattice(all, global, options_.grid, options_.shares, options_.loopback, mapping,
                            smallest_extent(stencil_of(options_)))) {
  {
    std::optional<Surroundings::Scope> scope;
    if (surroundings_) scope.emplace(*surroundings_);
    communicator().agree([&] { choose_probe(options_); });
  }
  const int rank_on_host = communicator().rank_on_host();
  communicator().agree([&] {
    cuda_device_ = choose_device(options_.device, communicator(), rank_on_host);
    if (options_.blas == Blas::cublas && cuda_device_ < 0)
      throw Error("`blas` cublas", "a GPU to compute on (device cuda)", "device cpu");
  });
  communicator().agree([&] { cublas_ = open_cublas(options_, cuda_device_); });
  devices_ = devices_of_ranks(communicator(), cuda_device_);
  on_gpus_ = communicator().any(cuda_device_ >= 0);
  mixed_ = on_gpus_ && communicator().any(cuda_device_ < 0);
  unlike_ = layouts_differ(communicator(), cuda_device_ >= 0 ? cuda_kernels() : cpu_kernels());
}

void Context::require_own_process() const {
  if (forks() == forks_ || (communicator().is_alone() && cuda_device_ < 0)) return;
  throw Error(ErrorKind::state, "context", "a call from the process that made it",
              std::string("a child that was forked: it has not the ") + (cuda_device_ < 0 ? "MPI" : "GPU") +
                  " of its parent. Start children by spawn or exec, or fork before the first call");
}

std::string Context::device() const { return describe_devices(devices_); }

Context::Scope::Scope(const Context& context)
    : surroundings_(context.surroundings_ ? std::optional<Surroundings::Scope>(std::in_place, *context.surroundings_)
                                          : std::nullopt),
      device_((context.require_own_process(), context.cuda_device())) {  // a call of CUDA, within these surroundings
  if (context.threads_ > 0) {
    threads_before_ = omp_get_max_threads();
    omp_set_num_threads(context.threads_);
  }
  arithmetic_.emplace();
}

Context::Scope::~Scope() {
  arithmetic_.reset();
  if (threads_before_ > 0) omp_set_num_threads(threads_before_);
}

}  // namespace staghorn
