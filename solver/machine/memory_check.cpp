#include "solver/machine/memory_check.hpp"

#include <algorithm>
#include <optional>

#include "halo/host_mapping.hpp"
#include "halo/watch/error.hpp"
#include "solver/request/operator_request.hpp"

namespace staghorn {

namespace {

constexpr int most_ranks = 4096;  // no suggestion has more

std::string count(int n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

// The most right-hand sides, fewer than in `shape`, that fit; 0 if not even one does.
int most_rhs(SolveShape shape, const MemoryBudget& budget) {
  while (--shape.n_rhs > 0)
    if (fits(estimate_memory(shape), budget)) break;
  return shape.n_rhs;
}

// The smallest process grid that leaves each rank a part that fits.
std::optional<Extents> smallest_grid(SolveShape shape, const MemoryBudget& budget) {
  shape.widths = {};
  shape.rank = 0;
  for (int ranks = int(volume(shape.grid)) + 1; ranks <= most_ranks; ++ranks) {
    if (volume(shape.lattice) / 16 % ranks != 0) continue;  // a suggestion divides evenly
    try {
      shape.grid = choose_process_grid(shape.lattice, ranks, 0, smallest_extent(stencil_of(shape.options)));
    } catch (const Error&) {
      continue;  // this number of ranks does not divide the extents
    }
    if (fits(estimate_memory(shape), budget)) return shape.grid;
  }
  return std::nullopt;
}

// ", slabs t=12:10:10", where slabs are not equal.
std::string uneven(const SolveShape& shape) {
  const SlabWidths widths = part_of(shape).widths();
  return all_equal(widths) ? "" : ", slabs " + to_string(widths);
}

std::string object_list(const MemoryEstimate& estimate, bool on_device) {
  std::string list;
  for (const auto& [object, bytes] : estimate.objects)
    if (bytes > 0 && estimate.on_device(object) == on_device)
      list += (list.empty() ? "" : ", ") + object + " " + gigabytes(bytes);
  return list;
}

MemoryBudget budget_of(const Communicator& communicator, int cuda_device, const MemoryBudget& held,
                       GpuMemory counted = GpuMemory::free) {
  const AvailableMemory available = available_memory(communicator, cuda_device, counted);
  return {std::min(available.host + held.host, available.host_limit),
          std::min(available.device + held.device, available.device_limit)};
}

}  // namespace

bool fits(const MemoryEstimate& estimate, const MemoryBudget& budget) {
  return estimate.host() <= budget.host && estimate.device() <= budget.device;
}

std::string what_would_fit(const SolveShape& shape, const MemoryBudget& budget) {
  std::string list;
  const auto add = [&](const std::string& text) { list += (list.empty() ? "" : "; ") + text; };
  if (const int n_rhs = most_rhs(shape, budget)) add(count(n_rhs, "right-hand side") + " at a time");
  if (shape.on_gpu && shape.eigenpairs > 0 && !shape.eigenvectors_on_host) {
    SolveShape smaller = shape;
    smaller.eigenvectors_on_host = true;
    if (fits(estimate_memory(smaller), budget)) add("eigenvectors on the host (`eigenvectors_on` host)");
  }
  if (shape.options.sloppy) {
    SolveShape smaller = shape;
    smaller.options.sloppy.reset();
    smaller.options.sloppy_links.reset();
    smaller.options.sloppy_naik_links.reset();
    if (fits(estimate_memory(smaller), budget)) add("fp64 throughout (`sloppy` none)");
  }
  for (const Reconstruct links : {Reconstruct::row12, Reconstruct::su3_8}) {
    if (shape.options.quarks.improved()) break;  // fat links are not unitary
    if (reals_per_link(links) >= reals_per_link(shape.options.links)) continue;
    SolveShape smaller = shape;
    smaller.options.links = links;
    const std::string reals = to_string(links), what = reals + " reals a link (`links` " + reals + ")";
    const bool whole = fits(estimate_memory(smaller), budget);
    const int n_rhs = !whole && list.empty() ? most_rhs(smaller, budget) : 0;
    if (!whole && n_rhs == 0) continue;
    add(whole ? what : what + " with " + count(n_rhs, "right-hand side") + " at a time");
    break;
  }
  if (const std::optional<Extents> grid = smallest_grid(shape, budget))
    add(std::to_string(volume(*grid)) + (shape.on_gpu ? " GPUs" : " ranks") + " with as much memory each (grid " +
        to_string(*grid) + ")");
  return list;
}

int most_rhs_that_fit(const Communicator& communicator, const SolveShape& shape, int cuda_device,
                      const MemoryBudget& held) {
  SolveShape more = shape;
  ++more.n_rhs;
  const int here = std::max(1, most_rhs(more, budget_of(communicator, cuda_device, held)));
  return int(-communicator.max(-double(here)));
}

bool fits_on_all(const Communicator& communicator, const SolveShape& shape, int cuda_device, const MemoryBudget& held) {
  return !communicator.any(!fits(estimate_memory(shape), budget_of(communicator, cuda_device, held)));
}

bool eigenvectors_go_to_host(const Communicator& communicator, const SolveShape& shape, int cuda_device) {
  const EigenvectorPlace place = shape.options.eigenvectors_on;
  const bool any_gpu = communicator.any(cuda_device >= 0);
  if (place == EigenvectorPlace::device && !any_gpu)
    throw Error("eigenvectors_on", "host or auto, as no GPU computes", "device");
  return any_gpu && eigenvectors_go_to_host(place, fits_on_all(communicator, shape, cuda_device));
}

void require_memory(const Communicator& communicator, const SolveShape& shape, int cuda_device,
                    const MemoryBudget& held, GpuMemory counted) {
  const MemoryBudget budget = budget_of(communicator, cuda_device, held, counted);
  communicator.agree([&] {
    const MemoryEstimate estimate = estimate_memory(shape);
    if (fits(estimate, budget)) return;
    const bool device = estimate.device() > budget.device;
    std::string text = "memory: " + count(shape.n_rhs, "right-hand side") + " on " + to_string(shape.lattice) +
                       " with grid " + to_string(shape.grid) + uneven(shape) + " would take " +
                       gigabytes(device ? estimate.device() : estimate.host()) + " of " + (device ? "GPU" : "host") +
                       " memory for each rank (" + object_list(estimate, device);
    if (!device && estimate.packing + estimate.pieces > 0) text += ", and room to pack them";
    text += "), and " + gigabytes(device ? budget.device : budget.host) + " are there. ";
    const std::string fitting = what_would_fit(shape, budget);
    throw Error(ErrorKind::memory,
                text + (fitting.empty() ? "Neither would fewer right-hand sides, links of 12 reals or " +
                                              std::to_string(most_ranks) + " ranks fit."
                                        : "This would fit: " + fitting + "."));
  });
}

}  // namespace staghorn
