// Faces and global sums on their own.
#include <vector>

#include "dirac/kernels/kernel_table.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "solver/bench/benchmark.hpp"
#include "solver/bench/cuda_mailbox_sums.hpp"

namespace staghorn {

namespace {

// Every face of `v` stored where it goes by the packing kernel, and as many bytes of `v` copied there.
void measure_transfer(StaggeredOperator& d, const ColorVectorField& v, Parity target, double seconds,
                      FaceRates& rates) {
  constexpr int batch = 40;
  const HopView& view = d.view(target);
  const FacePointers places = d.peers()->outgoing();
  rates.stored = best_time(d.communicator(), seconds, [&] {
    for (int k = 0; k < batch; ++k) cuda_kernels().pack_faces(view, v.data(), places);
    cuda::synchronize();
  });
  rates.copied = best_time(d.communicator(), seconds, [&] {
    for (int k = 0; k < batch; ++k)
      for (int face = 0; face < 8; ++face)
        if (places[face]) cuda::queue_copy(places[face], v.data(), d.face_bytes()[face]);
    cuda::synchronize();
  });
  rates.stored /= batch;
  rates.copied /= batch;
}

void measure_sums(StaggeredOperator& d, double seconds, FaceRates& rates) {
  const std::size_t n = std::size_t(d.options().n_rhs);
  const std::vector<SumGrid> grids(n, SumGrid::for_bound(1));
  std::vector<ExactPartial> partials(n);
  std::vector<double> values(n);
  HopCall call;
  call.grids = grids.data();
  call.sums = partials.data();
  const auto add = [&] { reduce(d.communicator(), partials, grids, values); };
  rates.sum_by_mpi = best_time(d.communicator(), seconds, add);
  rates.sum_through_host = rates.sum_by_mpi;
  if (d.options().cuda_device < 0) return;
  rates.sum_through_host = best_time(d.communicator(), seconds, [&] {
    cuda_kernels().start_sums(d.view(Parity::even), call);
    cuda_kernels().finish_sums(d.view(Parity::even), call);
    add();
  });
#ifdef STAGHORN_CUDA
  if (!d.peers()) return;
  constexpr int rounds = 3000;
  cuda::MailboxSums mailboxes(d);
  rates.sum_in_kernels = best_time(d.communicator(), seconds, [&] { mailboxes.run(rounds); }) / rounds;
#endif
}

}  // namespace

FaceRates measure_faces(StaggeredOperator& d, const ColorVectorField& v, Parity target, double seconds) {
  FaceRates rates;
  for (const std::size_t bytes : d.face_bytes()) rates.bytes += std::int64_t(bytes);
  if (rates.bytes == 0) return rates;
  const bool queued = d.options().cuda_device >= 0;
  const int batch = queued ? 40 : 1;
  rates.exchange = best_time(d.communicator(), seconds, [&] {
    for (int k = 0; k < batch; ++k) d.exchange_faces(v, target);
    if (queued) cuda::synchronize();
  });
  rates.exchange /= batch;
  if (d.peers()) measure_transfer(d, v, target, seconds, rates);
  if (d.communicator().size() > 1) measure_sums(d, seconds, rates);
  return rates;
}

}  // namespace staghorn
