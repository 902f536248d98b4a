#include "solver/machine/machine_model.hpp"

#include <algorithm>
#include <cmath>

#include "dirac/stencil/hop_cost.hpp"
#include "halo/host_mapping.hpp"
#include "halo/transport/transport_table.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/files/text_file.hpp"
#include "solver/json/json_text.hpp"
#include "solver/krylov/cg_recurrences.hpp"
#include "solver/request/operator_request.hpp"

namespace staghorn {

namespace {

using Json = nlohmann::ordered_json;

// h200: stream, link between GPUs, latencies measured on one host of eight (docs/performance.md), memory as the driver
// reports it. The network is an assumption: one 400 Gbit/s adapter for each GPU, 5 us a message. h100: its stream was
// measured. All else of the others follows from datasheets, as stream and link of h200 are 95 % and 80 % of theirs.
const Machine built_in[] = {{"h200", 4550e9, 149e9, 8, 360e9, 1.25e-6, 50e9, 5e-6, 1e-6, 6e-6, 0},
                            {"h100", 3030e9, 85e9, 8, 360e9, 1.25e-6, 50e9, 5e-6, 1e-6, 6e-6, 0},
                            {"a100", 1940e9, 85e9, 8, 240e9, 1.25e-6, 25e9, 5e-6, 1e-6, 6e-6, 0},
                            {"b200", 7600e9, 191e9, 8, 720e9, 1.25e-6, 50e9, 5e-6, 1e-6, 6e-6, 0}};

constexpr const char* of_cpus = "threads_per_rank";

struct Key {
  const char* name;
  double Machine::*value;
  double unit;
  bool may_be_zero;
};
constexpr Key keys[] = {{"stream_gb_s", &Machine::stream, 1e9, false},
                        {"memory_gb", &Machine::memory, 1e9, false},
                        {"host_gb_s", &Machine::host_bandwidth, 1e9, false},
                        {"host_latency_us", &Machine::host_latency, 1e-6, true},
                        {"network_gb_s", &Machine::network_bandwidth, 1e9, false},
                        {"network_latency_us", &Machine::network_latency, 1e-6, true},
                        {"kernel_latency_us", &Machine::kernel_latency, 1e-6, true},
                        {"phase_latency_us", &Machine::phase_latency, 1e-6, true}};

Machine parse_machine(const std::string& file, const std::string& text) {
  constexpr const char* expected = "a JSON object that describes a machine";
  const Json json = json_of_text(file, text, expected);
  if (!json.is_object()) throw FileError(file, expected, "something else");
  const auto number = [&](const std::string& key, bool may_be_zero) {
    if (!json.contains(key)) throw FileError(file, "the key " + key, "none");
    const double value = json[key].is_number() ? json[key].get<double>() : -1;
    if (value < 0 || (value == 0 && !may_be_zero))
      throw FileError(file, key + " as a positive number", text_of_json(json[key], -1));
    return value;
  };
  const bool has_gpus = !json.contains(of_cpus);
  const char* const per_host = has_gpus ? "gpus_per_host" : "ranks_per_host";
  for (const auto& item : json.items()) {
    const auto same = [&](const Key& key) { return item.key() == key.name; };
    if (item.key() != "name" && item.key() != per_host && item.key() != of_cpus &&
        std::none_of(std::begin(keys), std::end(keys), same))
      throw FileError(file, "keys of a machine (`staghorn plan --json` shows them)", "'" + item.key() + "'");
  }
  Machine machine;
  machine.name = json.contains("name") && json["name"].is_string() ? json["name"].get<std::string>() : file;
  const auto count = [&](const std::string& key) {
    const double value = number(key, false);
    if (value < 1 || value > 65536 || value != std::floor(value))
      throw FileError(file, key + " from 1 to 65536", text_of_json(json[key], -1));
    return int(value);
  };
  machine.ranks_per_host = count(per_host);
  if (!has_gpus) machine.threads_per_rank = count(of_cpus);
  for (const Key& key : keys) machine.*key.value = number(key.name, key.may_be_zero) * key.unit;
  return machine;
}

// Seconds until the last of this rank's faces has arrived at its neighbour.
double face_seconds(const Machine& machine, const Lattice& lattice, const Placement& placement, int depth,
                    double bytes_per_site) {
  double to_host = 0, to_network = 0;
  for (int mu = 0; mu < 4; ++mu) {
    if (lattice.grid()[mu] == 1) continue;
    const double face = depth * double(lattice.local_volume() / lattice.local()[mu]) / 2 * bytes_per_site;
    for (const int direction : {+1, -1}) {
      const bool same_host =
          placement.host_of[lattice.neighbour_rank(mu, direction)] == placement.host_of[lattice.rank()];
      (same_host ? to_host : to_network) += face;
    }
  }
  const double host = to_host > 0 ? machine.host_latency + to_host / machine.host_bandwidth : 0;
  const double network = to_network > 0 ? machine.network_latency + to_network / machine.network_bandwidth : 0;
  return std::max(host, network);
}

// The share of sites all of whose neighbours are local.
double interior_share(const Lattice& lattice, int depth) {
  double share = 1;
  for (int mu = 0; mu < 4; ++mu)
    if (lattice.grid()[mu] > 1) share *= double(std::max(0, lattice.local()[mu] - 2 * depth)) / lattice.local()[mu];
  return share;
}

// The slowest messages, and the host with the most ranks, of all kinds.
Machine with_messages_of_all(std::span<const Machine> kinds) {
  Machine slowest = kinds.front();
  for (const Machine& kind : kinds.subspan(1)) {
    slowest.host_bandwidth = std::min(slowest.host_bandwidth, kind.host_bandwidth);
    slowest.host_latency = std::max(slowest.host_latency, kind.host_latency);
    slowest.ranks_per_host += kind.ranks_per_host;
  }
  return slowest;
}

}  // namespace

Machine assumed_cpus(double stream, double memory, int ranks_per_host, int threads_per_rank) {
  // Messages through shared memory, one adapter of 100 Gbit/s for each rank, and barriers of threads.
  return {"here", stream, memory, ranks_per_host, 5e9, 2e-6, 12.5e9, 5e-6, 3e-6, 10e-6, threads_per_rank};
}

Machine find_machine(const Communicator& communicator, const std::string& name_or_file) {
  std::string names;
  for (const Machine& machine : built_in) {
    if (name_or_file == machine.name) return machine;
    names += machine.name + ", ";
  }
  if (!file_exists(communicator, name_or_file))
    throw Error("machine", names + "here, or a file that describes one", "'" + name_or_file + "'");
  return parse_machine(name_or_file, read_text_file(communicator, name_or_file));
}

std::string to_json(const Machine& machine) {
  Json json{{"name", machine.name}};
  json[machine.has_gpus() ? "gpus_per_host" : "ranks_per_host"] = machine.ranks_per_host;
  if (!machine.has_gpus()) json[of_cpus] = machine.threads_per_rank;
  for (const Key& key : keys) json[key.name] = machine.*key.value / key.unit;
  return text_of_json(std::move(json));
}

std::vector<IterationTime> iteration_times(std::span<const Machine> kinds, const SolveShape& shape, LoopChoice asked) {
  const bool mixed = shape.options.sloppy.has_value();
  const Precision precision = mixed ? *shape.options.sloppy : shape.options.precision;
  const HopForm form = operator_options(iterated_options(shape.options), shape.n_rhs, -1).form();
  const int depth = depth_of(form.stencil);
  const HopCost cost = hop_cost(precision, form, shape.n_rhs);
  const Machine messages = with_messages_of_all(kinds);
  const int ranks = int(volume(shape.grid)), hosts = (ranks + messages.ranks_per_host - 1) / messages.ranks_per_host;
  const std::string& transport = shape.options.transport;
  const bool by_p2p = hosts == 1 && kinds.size() == 1 && (transport == "auto" || stores_into_ghosts(transport));

  double slowest_faces = 0;
  std::int64_t largest = 0;
  std::vector<int> host_of_rank(std::size_t(ranks), 0);
  for (int rank = 0; rank < ranks; ++rank) host_of_rank[std::size_t(rank)] = rank / messages.ranks_per_host;
  const Placement placement = place_ranks(part_of(shape, 0).widths(), host_of_rank, Mapping::host);
  for (int rank = 0; rank < ranks; ++rank) {
    const Lattice part = part_of(shape, rank);
    slowest_faces = std::max(slowest_faces, face_seconds(messages, part, placement, depth, cost.vector));
    largest = std::max(largest, part.local_volume());
  }

  const double hop = cost.hop_with_beta(), residual = cost.residual_with_beta() + cost.growth() / 2;
  constexpr double refresh = 1.0 / cg_refresh_interval;
  const double sum_over_hosts = std::ceil(std::log2(hosts)) * messages.network_latency;
  std::vector<IterationTime> times;
  for (int rank = 0; rank < ranks; ++rank) {
    const Machine& machine = kinds[std::size_t(rank) % kinds.size()];
    const Lattice part = part_of(shape, rank);
    const double sites = double(part.local_volume()) / 2;
    IterationTime time;
    time.one_kernel = machine.has_gpus() && (ranks == 1 || by_p2p) && takes_one_kernel(asked, shape.n_rhs, largest);
    for (const double bytes : {hop, residual}) {
      const double memory = bytes * sites / machine.stream;
      time.memory += memory;
      time.communication += std::max(0.0, slowest_faces - interior_share(part, depth) * memory);
    }
    time.memory += refresh * cost.direction() * sites / machine.stream;
    time.latency = (2 + refresh) * (ranks == 1 ? machine.kernel_latency : machine.phase_latency + sum_over_hosts);
    times.push_back(time);
  }
  return times;
}

IterationTime iteration_time(std::span<const Machine> kinds, const SolveShape& shape, LoopChoice asked) {
  const std::vector<IterationTime> times = iteration_times(kinds, shape, asked);
  return *std::max_element(times.begin(), times.end(),
                           [](const IterationTime& a, const IterationTime& b) { return a.total() < b.total(); });
}

}  // namespace staghorn
