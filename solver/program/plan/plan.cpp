#include "solver/program/plan/plan.hpp"

#include <algorithm>
#include <limits>
#include <ostream>

#include "halo/communicator.hpp"
#include "halo/one_process/launched_together.hpp"
#include "solver/json/json_text.hpp"
#include "solver/machine/memory_check.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

using Json = nlohmann::ordered_json;

namespace {

MemoryBudget budget_of(const Machine& machine) {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  return machine.has_gpus() ? MemoryBudget{unlimited, machine.memory} : MemoryBudget{machine.memory, unlimited};
}

bool on_gpus(const Plan& plan) { return !plan.unlike() && plan.kinds.front().machine.has_gpus(); }

std::string ranks_of(const Plan& plan) {
  return std::to_string(plan.ranks()) + (on_gpus(plan) ? " GPU" : " rank") + (plan.ranks() == 1 ? "" : "s");
}

// "32x32x32x8", or "t=54:10" where slabs are not equal.
std::string cut_of(const Plan& plan) {
  const Lattice first = part_of(plan.shape, 0);
  return all_equal(first.widths()) ? to_string(first.local()) : to_string(first.widths());
}

// How a solve on this grid and these slabs is started on CPUs, or on ranks of several kinds.
std::string start_of(const Plan& plan) {
  std::string options;
  if (const SlabWidths widths = part_of(plan.shape).widths(); !all_equal(widths)) {
    for (const int n : plan.shape.grid) options += (options.empty() ? " --grid " : ",") + std::to_string(n);
    options += " --shares " + to_string(widths);
  }
  const std::string ranks = std::to_string(plan.ranks());
  const bool hydra = built_with_mpi && !mpi_library().starts_with("Open MPI");  // of MPICH and Intel MPI
  if (plan.unlike()) {
    std::string devices;
    for (const PlannedKind& kind : plan.kinds)
      devices += (devices.empty() ? "" : ",") + std::string(kind.machine.has_gpus() ? "cuda" : "cpu");
    return (hydra ? "mpiexec -bind-to none -n " : "mpirun --bind-to none -n ") + ranks + " staghorn solve --device " +
           devices + options;
  }
  const Machine& machine = plan.kinds.front().machine;
  const std::string threads = std::to_string(machine.threads_per_rank), start = "OMP_NUM_THREADS=" + threads;
  if (plan.ranks() == 1) return start + " staghorn solve";
  const std::int64_t per_host = std::min<std::int64_t>(plan.ranks(), machine.ranks_per_host);
  const std::string mapping =
      hydra ? " mpiexec -n " + ranks + " -ppn " + std::to_string(per_host) + " -bind-to core:" + threads
            : " mpirun -n " + ranks + " --map-by ppr:" + std::to_string(per_host) + ":node:PE=" + threads;
  return start + mapping + " staghorn solve" + options;
}

double largest_of(const Plan& plan, double (MemoryEstimate::*bytes)() const) {
  double largest = 0;
  for (const PlannedKind& kind : plan.kinds) largest = std::max(largest, (kind.memory.*bytes)());
  return largest;
}

void print_objects(std::ostream& out, const PlannedKind& kind) {
  const char* separator = "";
  for (const auto& [object, bytes] : kind.memory.objects) {
    if (bytes == 0) continue;
    out << separator << object << " " << gigabytes(bytes) << (kind.memory.on_device(object) ? "" : " (host)");
    separator = ", ";
  }
  out << "\n";
  if (!kind.fits)
    out << "    does not fit into " << gigabytes(kind.machine.memory) << "; "
        << (kind.fitting.empty() ? "nothing near would" : "would fit: " + kind.fitting) << "\n";
}

// `--stripes`: seconds to read the links, and what they rest on.
void print_reading(std::ostream& out, const std::vector<Plan>& plans) {
  if (plans.front().reading.empty()) return;
  const FileSystem& files = plans.front().reading.front().first;
  out << format("reading links of %s:\n",
                gigabytes(double(volume(plans.front().shape.lattice)) * plans.front().file_bytes_per_site).c_str());
  for (const Plan& p : plans)
    for (const auto& [from, time] : p.reading)
      out << format(
          "  %s, %d stripe%s: %.3g s, bound by the %s; requests of %.3g MB, %.3g s of latency, %.3g s of messages\n",
          ranks_of(p).c_str(), from.stripes, from.stripes == 1 ? "" : "s", time.total(),
          time.by_stripes ? "stripes" : "ranks", time.request * 1e-6, time.latency, time.travel);
  out << format(
      "  assumed: %.3g GB/s a stripe, %.3g GB/s a rank, %.3g ms a request; the file is in no cache, and no other job "
      "reads\n",
      files.stripe_rate * 1e-9, files.rank_rate * 1e-9, files.request_latency * 1e3);
}

}  // namespace

Plan make_plan(std::span<const Machine> kinds, const SolveShape& shape) {
  Plan plan;
  plan.shape = shape;
  const std::vector<IterationTime> times = iteration_times(kinds, shape, default_loop_choice());
  double bytes = 0, streams = 0;
  const bool both = std::any_of(kinds.begin(), kinds.end(), [](const Machine& kind) { return kind.has_gpus(); }) &&
                    std::any_of(kinds.begin(), kinds.end(), [](const Machine& kind) { return !kind.has_gpus(); });
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    SolveShape of_kind = shape;
    of_kind.on_gpu = kinds[k].has_gpus();
    of_kind.unlike_ranks = both;
    of_kind.rank = int(k);
    PlannedKind& kind = plan.kinds.emplace_back(PlannedKind{kinds[k], 0, part_of(of_kind), {}, {}, true, ""});
    for (std::size_t rank = k; rank < times.size(); rank += kinds.size()) {
      ++kind.ranks;
      bytes += times[rank].memory * kinds[k].stream;
      streams += kinds[k].stream;
      if (times[rank].total() > kind.time.total()) kind.time = times[rank];
      if (const Lattice part = part_of(shape, int(rank)); part.local_volume() > kind.part.local_volume()) {
        kind.part = part;
        of_kind.rank = int(rank);
      }
    }
    if (of_kind.on_gpu && !both && of_kind.options.certificate == CertificatePlace::automatic) {
      of_kind.options.certificate = CertificatePlace::device;
      if (!fits(estimate_memory(of_kind), budget_of(kinds[k]))) of_kind.options.certificate = CertificatePlace::host;
    }
    const bool fits_on_device = fits(estimate_memory(of_kind), budget_of(kinds[k]));
    of_kind.eigenvectors_on_host =
        of_kind.on_gpu && eigenvectors_go_to_host(shape.options.eigenvectors_on, fits_on_device);
    kind.memory = estimate_memory(of_kind);
    kind.fits = fits(kind.memory, budget_of(kinds[k]));
    if (!kind.fits) kind.fitting = in_words_of_the_program(what_would_fit(of_kind, budget_of(kinds[k])));
    if (kind.time.total() > plan.time.total()) plan.time = kind.time;
  }
  plan.efficiency = bytes / streams / plan.time.total();
  return plan;
}

bool Plan::all_fit() const {
  return std::all_of(kinds.begin(), kinds.end(), [](const PlannedKind& kind) { return kind.fits; });
}

void print_table(std::ostream& out, std::span<const Machine> machines, const std::vector<Plan>& plans,
                 const std::optional<long>& iterations) {
  const SolveShape& first = plans.front().shape;
  const bool unlike = machines.size() > 1, gpus = !unlike && machines.front().has_gpus();
  out << "machine " << machines.front().name;
  for (const Machine& machine : machines.subspan(1)) out << " + " << machine.name;
  out << ", lattice " << to_string(first.lattice) << ", " << describe_numbers(first.options) << ", " << first.n_rhs
      << " right-hand side" << (first.n_rhs == 1 ? "" : "s") << "\n";
  for (const Machine& machine : machines)
    if (!machine.has_gpus())
      out << format("%d rank%s a host, %d thread%s each; streaming read %.1f GB/s and %s each\n",
                    machine.ranks_per_host, machine.ranks_per_host == 1 ? "" : "s", machine.threads_per_rank,
                    machine.threads_per_rank == 1 ? "" : "s", machine.stream * 1e-9, gigabytes(machine.memory).c_str());
  out << format("%6s %-12s %-14s %7s %12s %9s %9s %9s %7s %14s %12s %12s%s\n", gpus ? "GPUs" : "ranks", "grid", "local",
                "kernels", "us/iteration", "memory", "faces", "latency", "bytes", "Msite iter/s", "GPU memory",
                "host memory", unlike ? "  slabs" : "");
  for (const Plan& p : plans) {
    out << format("%6lld %-12s %-14s %7s %12.1f %9.1f %9.1f %9.1f %5.0f %% %14.0f %12s %12s%s%s\n",
                  static_cast<long long>(p.ranks()), to_string(p.shape.grid).c_str(), cut_of(p).c_str(), p.kernels(),
                  p.time.total() * 1e6, p.time.memory * 1e6, p.time.communication * 1e6, p.time.latency * 1e6,
                  100 * p.efficiency, p.site_iterations() * 1e-6,
                  gigabytes(largest_of(p, &MemoryEstimate::device)).c_str(),
                  gigabytes(largest_of(p, &MemoryEstimate::host)).c_str(), unlike ? ("  " + p.cut).c_str() : "",
                  p.all_fit() ? "" : "  does not fit");
  }
  out << (gpus ? "kernels: the form of the loop, one kernel, or two kernels an iteration.\n"
               : "A lattice that stays in the caches takes less time.\n")
      << "bytes: the share of the time that is spent on streaming memory; the rest is waiting.\n";
  if (iterations)
    for (const Plan& p : plans) {
      out << format("%ld iterations on %s%s%s: %.3g s\n", *iterations, ranks_of(p).c_str(), unlike ? ", " : "",
                    p.cut.c_str(), double(*iterations) * p.time.total());
    }
  print_reading(out, plans);
  out << "memory of one rank:\n";
  for (const Plan& p : plans)
    for (const PlannedKind& kind : p.kinds) {
      out << "  " << ranks_of(p);
      if (unlike) {
        out << format(", %s, %d on %s with %s, %.1f us", p.cut.c_str(), kind.ranks, kind.machine.name.c_str(),
                      to_string(kind.part.local()).c_str(), kind.time.total() * 1e6);
      }
      out << ": ";
      print_objects(out, kind);
    }
  if (gpus) return;
  out << "to start:\n";
  for (const Plan& p : plans)
    if (!on_gpus(p)) out << "  " << start_of(p) << " ...\n";
  if (!built_with_mpi && std::any_of(plans.begin(), plans.end(), [](const Plan& p) { return p.ranks() > 1; }))
    out << "  this build of Staghorn has no MPI: several ranks need one that has\n";
}

void print_json(std::ostream& out, std::span<const Machine> machines, const std::vector<Plan>& plans,
                const std::optional<long>& iterations) {
  const SolveShape& first = plans.front().shape;
  Json json{{"lattice", first.lattice},
            {"precision", to_string(first.options.precision)},
            {"action", to_string(first.options.quarks.action)},
            {"links", reals_per_link(first.options.links)},
            {"rhs", first.n_rhs},
            {"masses", first.n_masses},
            {"eigenpairs", first.eigenpairs},
            {"system", to_string(first.system)}};
  if (machines.size() == 1) json["machine"] = json_of_text("machine", to_json(machines.front()), "a machine");
  for (const Machine& machine : machines)
    json["machines"].push_back(json_of_text("machine", to_json(machine), "a machine"));
  if (first.options.quarks.improved()) json["naik_links"] = reals_per_link(first.options.naik_links);
  if (first.options.sloppy) json["sloppy"] = to_string(*first.options.sloppy);
  for (const Plan& p : plans) {
    const PlannedKind& of_rank_0 = p.kinds.front();
    Json plan{{on_gpus(p) ? "gpus" : "ranks", p.ranks()},
              {"grid", p.shape.grid},
              {"local_lattice", of_rank_0.part.local()},
              {"widths", of_rank_0.part.widths()},
              {"kernels", p.kernels()},
              {"microseconds", p.time.total() * 1e6},
              {"memory_microseconds", p.time.memory * 1e6},
              {"face_microseconds", p.time.communication * 1e6},
              {"latency_microseconds", p.time.latency * 1e6},
              {"efficiency", p.efficiency},
              {"site_iterations_per_second", p.site_iterations()},
              {"gpu_bytes", largest_of(p, &MemoryEstimate::device)},
              {"host_bytes", largest_of(p, &MemoryEstimate::host)},
              {"objects", of_rank_0.memory.objects},
              {"fits", p.all_fit()},
              {"would_fit", of_rank_0.fitting}};
    if (machines.size() > 1) {
      plan["slabs"] = p.cut;
      for (const PlannedKind& kind : p.kinds)
        plan["kinds"].push_back({{"machine", kind.machine.name},
                                 {"ranks", kind.ranks},
                                 {"local_lattice", kind.part.local()},
                                 {"microseconds", kind.time.total() * 1e6},
                                 {"gpu_bytes", kind.memory.device()},
                                 {"host_bytes", kind.memory.host()},
                                 {"objects", kind.memory.objects},
                                 {"fits", kind.fits},
                                 {"would_fit", kind.fitting}});
    }
    if (!on_gpus(p)) plan["start"] = start_of(p);
    if (iterations) plan["seconds"] = double(*iterations) * p.time.total();
    for (const auto& [from, time] : p.reading)
      plan["reading"].push_back({{"stripes", from.stripes},
                                 {"seconds", time.total()},
                                 {"bytes", double(volume(first.lattice)) * p.file_bytes_per_site},
                                 {"bound_by", time.by_stripes ? "stripes" : "ranks"},
                                 {"request_bytes", time.request},
                                 {"byte_seconds", time.bytes},
                                 {"latency_seconds", time.latency},
                                 {"message_seconds", time.travel}});
    json["plans"].push_back(plan);
  }
  out << text_of_json(std::move(json)) << "\n";
}

}  // namespace staghorn
