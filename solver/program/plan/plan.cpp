#include "solver/program/plan/plan.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <ostream>

#include "solver/request/operator_request.hpp"

namespace staghorn {

using Json = nlohmann::ordered_json;

namespace {

std::string ranks_of(const Plan& plan) {
  const char* const what = plan.shape.on_gpu ? " GPU" : " rank";
  return std::to_string(plan.ranks()) + what + (plan.ranks() == 1 ? "" : "s");
}

// How a solve of that many ranks is started on CPUs.
std::string start_of(const Machine& machine, const Plan& plan) {
  const std::string threads = std::to_string(machine.threads_per_rank);
  const std::string start = "OMP_NUM_THREADS=" + threads;
  if (plan.ranks() == 1) return start + " staghorn solve";
  const std::int64_t per_host = std::min<std::int64_t>(plan.ranks(), machine.ranks_per_host);
  return start + " mpirun -n " + std::to_string(plan.ranks()) + " --map-by ppr:" + std::to_string(per_host) +
         ":node:PE=" + threads + " staghorn solve";
}

}  // namespace

void print_table(std::ostream& out, const Machine& machine, const std::vector<Plan>& plans,
                 const std::optional<long>& iterations) {
  const SolveShape& first = plans.front().shape;
  char line[240];
  out << "machine " << machine.name << ", lattice " << to_string(first.lattice) << ", "
      << describe_numbers(first.options) << ", " << first.n_rhs << " right-hand side" << (first.n_rhs == 1 ? "" : "s")
      << "\n";
  if (!machine.has_gpus()) {
    std::snprintf(line, sizeof line, "%d rank%s a host, %d thread%s each; streaming read %.1f GB/s and %s each\n",
                  machine.ranks_per_host, machine.ranks_per_host == 1 ? "" : "s", machine.threads_per_rank,
                  machine.threads_per_rank == 1 ? "" : "s", machine.stream * 1e-9, gigabytes(machine.memory).c_str());
    out << line;
  }
  std::snprintf(line, sizeof line, "%6s %-12s %-14s %7s %12s %9s %9s %9s %7s %14s %12s %12s\n",
                machine.has_gpus() ? "GPUs" : "ranks", "grid", "local", "kernels", "us/iteration", "memory", "faces",
                "latency", "bytes", "Msite iter/s", "GPU memory", "host memory");
  out << line;
  for (const Plan& p : plans) {
    const Lattice lattice = part_of(p.shape);
    std::snprintf(line, sizeof line, "%6lld %-12s %-14s %7s %12.1f %9.1f %9.1f %9.1f %5.0f %% %14.0f %12s %12s%s\n",
                  static_cast<long long>(p.ranks()), to_string(p.shape.grid).c_str(),
                  to_string(lattice.local()).c_str(), p.kernels(), p.time.total() * 1e6, p.time.memory * 1e6,
                  p.time.communication * 1e6, p.time.latency * 1e6, 100 * p.efficiency, p.site_iterations() * 1e-6,
                  gigabytes(p.memory.device()).c_str(), gigabytes(p.memory.host()).c_str(),
                  p.fits ? "" : "  does not fit");
    out << line;
  }
  out << (machine.has_gpus() ? "kernels: the form of the loop, one kernel, or two kernels an iteration.\n"
                             : "A lattice that stays in the caches takes less time.\n")
      << "bytes: the share of the time that is spent on streaming memory; the rest is waiting.\n";
  if (iterations)
    for (const Plan& p : plans) {
      std::snprintf(line, sizeof line, "%ld iterations on %s: %.3g s\n", *iterations, ranks_of(p).c_str(),
                    double(*iterations) * p.time.total());
      out << line;
    }
  out << "memory of one rank:\n";
  for (const Plan& p : plans) {
    out << "  " << ranks_of(p) << ": ";
    const char* separator = "";
    for (const auto& [object, bytes] : p.memory.objects) {
      if (bytes == 0) continue;
      out << separator << object << " " << gigabytes(bytes) << (p.memory.on_device(object) ? "" : " (host)");
      separator = ", ";
    }
    out << "\n";
    if (!p.fits)
      out << "    does not fit into " << gigabytes(machine.memory) << "; "
          << (p.fitting.empty() ? "nothing near would" : "would fit: " + p.fitting) << "\n";
  }
  if (!machine.has_gpus()) out << "to start:\n";
  if (!machine.has_gpus())
    for (const Plan& p : plans) out << "  " << start_of(machine, p) << " ...\n";
}

void print_json(std::ostream& out, const Machine& machine, const std::vector<Plan>& plans,
                const std::optional<long>& iterations) {
  const SolveShape& first = plans.front().shape;
  Json json{{"machine", Json::parse(to_json(machine))},
            {"lattice", first.lattice},
            {"precision", to_string(first.options.precision)},
            {"action", to_string(first.options.quarks.action)},
            {"links", reals_per_link(first.options.links)},
            {"rhs", first.n_rhs},
            {"masses", first.n_masses},
            {"eigenpairs", first.eigenpairs},
            {"system", to_string(first.system)}};
  if (first.options.quarks.improved()) json["naik_links"] = reals_per_link(first.options.naik_links);
  if (first.options.sloppy) json["sloppy"] = to_string(*first.options.sloppy);
  for (const Plan& p : plans) {
    Json plan{{machine.has_gpus() ? "gpus" : "ranks", p.ranks()},
              {"grid", p.shape.grid},
              {"local_lattice", part_of(p.shape).local()},
              {"kernels", p.kernels()},
              {"microseconds", p.time.total() * 1e6},
              {"memory_microseconds", p.time.memory * 1e6},
              {"face_microseconds", p.time.communication * 1e6},
              {"latency_microseconds", p.time.latency * 1e6},
              {"efficiency", p.efficiency},
              {"site_iterations_per_second", p.site_iterations()},
              {"gpu_bytes", p.memory.device()},
              {"host_bytes", p.memory.host()},
              {"objects", p.memory.objects},
              {"fits", p.fits},
              {"would_fit", p.fitting}};
    if (!machine.has_gpus()) plan["start"] = start_of(machine, p);
    if (iterations) plan["seconds"] = double(*iterations) * p.time.total();
    json["plans"].push_back(plan);
  }
  out << json.dump(2) << "\n";
}

}  // namespace staghorn
