// The loop of Conjugate Gradient on GPUs: the host queues batches of iterations and looks at the scalars of one batch
// while the next runs. How a batch is queued is the business of the form (cuda_loop_form.hpp).
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "halo/cuda/cuda_check.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/transport/face_exchange.hpp"
#include "halo/transport/transport_p2p.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/adverse_timing.hpp"
#include "halo/watchdog.hpp"
#include "solver/krylov/cuda/cuda_loop_form.hpp"
#include "solver/krylov/cuda/cuda_scalars.cuh"
#include "solver/krylov/cuda_conjugate_gradient.hpp"

namespace staghorn {

namespace {

using cuda::Scalars;

struct Stream {
  cudaStream_t handle = nullptr;
  Stream() { STAGHORN_CUDA_CHECK(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(handle); }
  Stream(const Stream&) = delete;
};

// What the host looks at between batches, in pinned memory.
struct Glimpse {
  Scalars* host = nullptr;
  cudaEvent_t copied = nullptr;
  Glimpse() {
    STAGHORN_CUDA_CHECK(cudaMallocHost(&host, sizeof(Scalars)));
    STAGHORN_CUDA_CHECK(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
  }
  ~Glimpse() {
    cudaEventDestroy(copied);
    cudaFreeHost(host);
  }
  Glimpse(const Glimpse&) = delete;
};

// The form that the loop takes. The same on all ranks. Collective.
LoopForm choose_form(StaggeredOperator& d, LoopChoice choice) {
  const OperatorOptions& options = d.options();
  // Ranks of other widths take the same form.
  const std::int64_t local_volume = d.lattice().largest_local_volume();
  const bool wide = takes_wide_kernel(choice, local_volume);
  if (takes_one_kernel(choice, options.n_rhs, local_volume) && can_be_one_kernel(d, wide))
    return wide ? LoopForm::wide_kernel : LoopForm::one_kernel;
  return d.faces().nccl() ? LoopForm::nccl : LoopForm::two_kernels;
}

int window_of_device(long window) { return int(std::min<long>(window, std::numeric_limits<int>::max())); }

Scalars starting_scalars(const ParitySystem& system, const CgState& state, const CgStop& stop) {
  StaggeredOperator& d = system.d;
  Scalars s = {};
  s.n_rhs = int(state.r2.size());
  s.shift = system.shift;
  s.max_iterations = stop.max_iterations - (state.begun() ? state.memory->iterations : 0);
  s.n_ranks = d.peers() ? d.communicator().size() : 1;  // else NCCL adds the sums of all ranks
  s.rank = d.communicator().rank();
  s.silent_rank = -1;
  s.wait_limits = {patience_nanoseconds(), nullptr};
  if (s.n_ranks > 1) {
    s.wait_limits = d.peers()->wait_limits();
    for (int rank = 0; rank < s.n_ranks; ++rank)
      s.mailbox[rank] = reinterpret_cast<cuda::Mail*>(d.peers()->mailbox(rank));
    s.first_tag = d.peers()->next_tag();
  }
  int active = 0;
  for (int i = 0; i < s.n_rhs; ++i) {
    const double r2 = state.r2[std::size_t(i)], p2 = state.p2[std::size_t(i)];
    s.r2[i] = r2;
    s.p2[i] = p2;
    s.target[i] = stop.target_norm[std::size_t(i)];
    s.smallest[i] = std::numeric_limits<double>::infinity();
    s.outcome[i] = CgOutcome::out_of_iterations;
    s.stagnation_window[i] = window_of_device(stop.stagnation_window);
    s.bound[cuda::hop_step][i] = s.bound[cuda::direction_step][i] = sum_near(p2).grid().bound;
    if (state.begun()) {
      const Running& running = state.memory->rhs[std::size_t(i)];
      s.stagnation_window[i] = window_of_device(stagnation_window_of(running, stop, std::size_t(i)));
      s.smallest[i] = running.smallest;
      s.since_smallest[i] = running.since_smallest;
      s.outcome[i] = running.done.outcome;
      s.active[i] = running.active;
      s.bound[cuda::hop_step][i] = state.memory->hop_bounds[std::size_t(i)];
    } else {
      s.active[i] = !is_done<long long>(r2, s.target[i], s.stagnation_window[i], s.smallest[i], s.since_smallest[i],
                                        s.outcome[i]);
    }
    s.most_iterations[i] = stop.most_of(std::size_t(i));
    if (state.begun() && !stop.most_iterations.empty())
      s.most_iterations[i] -= state.memory->rhs[std::size_t(i)].done.iterations;
    s.active[i] = s.active[i] && s.most_iterations[i] > 0;
    s.bound[cuda::residual_step][i] = sum_near(r2).grid().bound;
    active += s.active[i];
  }
  s.least_active = least_active(stop.until_first, active);
  s.done = active < s.least_active || s.max_iterations <= 0;
  return s;
}

double worst_ratio(const Scalars& s) {
  double worst = 0;
  for (int i = 0; i < s.n_rhs; ++i) worst = std::max(worst, std::sqrt(s.r2[i]) / s.target[i]);
  return worst;
}

// What each right-hand side did: what it had done before, and the history on the device, which has no |r|^2 at the
// start.
std::vector<SolvedRhs> results(const Scalars& s, const Buffer& history, const Buffer& steps, const CgState& state) {
  const std::size_t n = state.r2.size();
  const long long longest = *std::max_element(s.iterations, s.iterations + n);
  std::vector<double> r2((std::size_t(longest) + 1) * n), alpha = r2;
  cuda::copy_to_host(r2.data(), history.data(), r2.size() * sizeof(double));
  cuda::copy_to_host(alpha.data(), steps.data(), alpha.size() * sizeof(double));
  std::vector<SolvedRhs> rhs(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (state.begun())
      rhs[i] = state.memory->rhs[i].done;
    else
      rhs[i].history.push_back(state.r2[i]);
    rhs[i].outcome = s.outcome[i];
    rhs[i].iterations += long(s.iterations[i]);
    for (std::size_t k = 1; k <= std::size_t(s.iterations[i]); ++k) {
      rhs[i].history.push_back(r2[k * n + i]);
      rhs[i].steps.push_back(alpha[k * n + i]);
    }
    rhs[i].residual_norm = std::sqrt(rhs[i].history.back());
  }
  return rhs;
}

// The memory of a loop after the iterations of `s`, which was `before` at first; `left`: the keeper wants it.
LoopMemory memory_of(const Scalars& s, std::vector<SolvedRhs> done, const LoopMemory& before, bool patient, bool left) {
  LoopMemory memory{left, before.iterations + long(s.iteration), {}, {}};
  for (std::size_t i = 0; i < done.size(); ++i) {
    Running running{std::move(done[i]), s.active[i], s.smallest[i], long(s.since_smallest[i]), 0, patient};
    if (!before.rhs.empty()) {
      running.root_condition = before.rhs[i].root_condition;
      running.patient = before.rhs[i].patient;
    }
    memory.hop_bounds.push_back(s.bound[cuda::hop_step][i]);
    memory.rhs.push_back(std::move(running));
  }
  return memory;
}

std::ptrdiff_t count_active(std::span<const Running> rhs) {
  return std::count_if(rhs.begin(), rhs.end(), [](const Running& running) { return running.active; });
}

}  // namespace

// Stream, buffers and forms of the loop. Building them takes time, so they are kept between solves.
struct CudaLoop {
  Buffer history, steps, scalars_buffer{sizeof(Scalars), MemorySpace::cuda};
  Stream stream;
  Glimpse glimpses[2];
  std::map<std::pair<LoopForm, Parity>, std::unique_ptr<CudaLoopForm>> forms;

  Scalars* scalars() { return reinterpret_cast<Scalars*>(scalars_buffer.data()); }

  // Collective.
  CudaLoopForm& form_for(const ParitySystem& system, LoopChoice choice) {
    const LoopForm form = choose_form(system.d, choice);
    std::unique_ptr<CudaLoopForm>& made = forms[{form, system.parity}];
    if (made) return *made;
    const LoopContext context{system.d, system.parity, scalars(), stream.handle};
    made = with_experiment(form == LoopForm::two_kernels ? make_two_kernels(context)
                           : form == LoopForm::nccl      ? make_nccl_kernels(context)
                                                         : make_one_kernel(context, form == LoopForm::wide_kernel),
                           context);
    return *made;
  }

  // Puts the scalars of a loop on the device.
  void send(const Scalars& start) {
    const std::size_t bytes = std::size_t(start.max_iterations + 1) * std::size_t(start.n_rhs) * sizeof(double);
    if (history.bytes() < bytes) history = Buffer(bytes, MemorySpace::cuda);
    if (steps.bytes() < bytes) steps = Buffer(bytes, MemorySpace::cuda);
    *glimpses[0].host = start;
    glimpses[0].host->history = reinterpret_cast<double*>(history.data());
    glimpses[0].host->steps = reinterpret_cast<double*>(steps.data());
    STAGHORN_CUDA_CHECK(cudaMemcpy(scalars(), glimpses[0].host, sizeof(Scalars), cudaMemcpyHostToDevice));
  }

  // Queues a copy of the scalars, as they are after what was queued before.
  void look(Glimpse& glimpse) {
    STAGHORN_CUDA_CHECK(
        cudaMemcpyAsync(glimpse.host, scalars(), offsetof(Scalars, cells), cudaMemcpyDeviceToHost, stream.handle));
    STAGHORN_CUDA_CHECK(cudaEventRecord(glimpse.copied, stream.handle));
  }
};

// The loop, with state.memory set. The history of all its iterations lies on the device.
CgResult loop_without_looks(const ParitySystem& system, CgState& state, const CgStop& stop, const ShowProgress& show) {
  const Scalars start = starting_scalars(system, state, stop);
  const std::shared_ptr<CudaLoop> loop = state.loop && *state.loop ? *state.loop : std::make_shared<CudaLoop>();
  if (state.loop) *state.loop = loop;
  loop->send(start);
  CudaLoopForm& form = loop->form_for(system, stop.choice);
  form.begin({state.x.data(), state.r.data(), state.p.data(), state.tmp.data()}, system.shift);

  long batch = 0;
  const Glimpse* latest = nullptr;
  const auto launch_batch = [&](Glimpse& glimpse) {
    adverse_delay(start.rank);
    form.queue(batch++);
    loop->look(glimpse);
    latest = &glimpse;
  };
  const Scalars* seen = loop->glimpses[0].host;
  if (!start.done) launch_batch(loop->glimpses[0]);
  LoopMemory& memory = *state.memory;
  const double per_e = iterations_per_e(memory.rhs);
  memory.left = false;
  bool interrupted = false, leaves = false;
  for (int turn = 0; !start.done && !interrupted && !leaves; turn = 1 - turn) {
    launch_batch(loop->glimpses[1 - turn]);  // the GPU stays busy while the host looks at the batch before
    form.await(loop->glimpses[turn].copied);
    seen = loop->glimpses[turn].host;
    made_progress();
    if (show) show({memory.iterations + long(seen->iteration), worst_ratio(*seen), per_e});
    if (seen->done) break;
    interrupted = stop.is_interrupted();
    leaves = !interrupted && stop.keeper && stop.keeper->is_due();
    int last = 1 - turn;  // of the batch that is queued already
    if (leaves && !form.ends_interval(batch)) launch_batch(loop->glimpses[last = turn]);
    if (leaves) form.await(loop->glimpses[last].copied);
    if (interrupted || leaves) seen = loop->glimpses[last].host;
  }
  if (latest) form.await(latest->copied);  // messages of a batch that changes nothing wait for other ranks, too
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(loop->stream.handle));
  if (seen->silent_rank >= 0) {
    system.d.peers()->hear();
    throw Stalled("rank " + std::to_string(start.rank) + " had no answer from rank " +
                  std::to_string(seen->silent_rank) + " for " + three_digits(patience_seconds()) + " s");
  }
  form.end(seen->iteration);

  CgResult result{results(*seen, loop->history, loop->steps, state), form.form(), {}, nullptr};
  const std::size_t n = state.r2.size();
  leaves = leaves && !seen->done;
  memory = memory_of(*seen, result.rhs, memory, stop.patient, leaves);
  state.r2.assign(seen->r2, seen->r2 + n);
  state.p2.assign(seen->p2, seen->p2 + n);
  if (seen->iteration > 0 && !(leaves && form.makes_next_direction())) {  // p as the search goes on, what x lacks
    std::vector<ExactSum> sums = sums_near(state.p2);
    state.p2 = system.d.update_direction(state.x, state.p, state.r, system.parity, {seen->pending.waiting, n},
                                         {seen->beta, n}, sums);
  }
  return result;
}

// The loop from look to look at the coefficients (iteration_bound.hpp).
CgResult cuda_conjugate_gradient_loop(const ParitySystem& system, CgState& state, const CgStop& stop,
                                      const ShowProgress& show) {
  const Activity activity("CG iterations on the GPU");
  LoopMemory own;
  LoopMemory& memory = state.memory ? *state.memory : own;
  CgState now{state.x, state.r, state.p, state.tmp, state.r2, state.p2, state.loop, &memory};
  for (;;) {
    const std::ptrdiff_t active =
        count_active(now.begun() ? memory.rhs : RunningRhs(now.r2, stop, system.shift).memory());
    CgStop until_look = stop;
    until_look.max_iterations = std::min(stop.max_iterations, next_look(now.begun() ? memory.iterations : 0));
    CgResult result = loop_without_looks(system, now, until_look, show);
    for (std::size_t i = 0; i < memory.rhs.size(); ++i) {
      if (memory.rhs[i].active) look_at_coefficients(memory.rhs[i], stop, i, system.shift);
      result.rhs[i].outcome = memory.rhs[i].done.outcome;
    }
    const std::ptrdiff_t left = count_active(memory.rhs);
    const bool goes_on = memory.iterations == until_look.max_iterations && memory.iterations < stop.max_iterations &&
                         !memory.left && !stop.is_interrupted() && left > 0 && !(stop.until_first && left < active);
    if (goes_on) continue;
    state.r2 = now.r2;
    state.p2 = now.p2;
    return result;
  }
}

}  // namespace staghorn
