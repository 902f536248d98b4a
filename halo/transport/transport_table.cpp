#include "halo/transport/transport_table.hpp"

#include "halo/watch/error.hpp"

namespace staghorn {

extern const TransportKind mpi_transport, nccl_transport, staged_transport, mapped_transport, cuda_aware_transport;

namespace {

// Trials take them in this order.
constexpr const TransportKind* table[] = {
    &mpi_transport, &p2p_transport, &nccl_transport, &staged_transport, &mapped_transport, &cuda_aware_transport,
};

constexpr char plus = '+';  // between the names of two ways

const TransportKind* find(const std::string& name) {
  for (const TransportKind* kind : table)
    if (kind->name == name) return kind;
  return nullptr;
}

// Those of ranks on GPUs.
Ways named(const std::string& name) {
  const auto known = [&](const std::string& part) {
    const TransportKind* const kind = find(part);
    if (!kind || !kind->make) throw Error("unknown transport '" + name + "'");
    return kind;
  };
  const std::size_t at = name.find(plus);
  if (at == std::string::npos) return {nullptr, known(name)};
  return {known(name.substr(0, at)), known(name.substr(at + 1))};
}

}  // namespace

Ways find_ways(const std::string& name, MemorySpace space) {
  Ways ways = named(name);
  if (space == MemorySpace::host && ways.others->by_messages) ways.others = &mpi_transport;
  return ways;
}

std::span<const TransportKind* const> transport_table() { return table; }

std::vector<std::string> transport_names(MemorySpace space) {
  std::vector<std::string> names;
  for (const TransportKind* kind : table)
    if (kind->space == space && kind->make) names.push_back(kind->name);
  return names;
}

// What is packed in pinned memory goes to MPI only.
std::vector<std::string> mixed_transport_names(bool several_gpus) {
  std::vector<std::string> names, two;
  for (const TransportKind* others : table) {
    if (others->space != MemorySpace::cuda || !others->by_messages || !others->make) continue;
    names.push_back(others->name);
    for (const TransportKind* kind : table)
      if (several_gpus && kind->space == MemorySpace::cuda && !kind->by_messages && kind->make &&
          (kind->owns_ghosts || others->packed_in == MemorySpace::cuda))
        two.push_back(std::string(kind->name) + plus + others->name);
  }
  names.insert(names.end(), two.begin(), two.end());
  return names;
}

std::string describe_transports(MemorySpace space) {
  std::string text;
  for (const TransportKind* kind : table)
    if (kind->space == space)
      text += (text.empty() ? "" : ", ") + std::string(kind->name) + " (" + kind->description + ")";
  return text;
}

bool stores_into_ghosts(const std::string& name) {
  const TransportKind* const kind = find(name);
  return kind && kind->owns_ghosts;
}

std::string transport_obstacle(const Communicator& communicator, const std::string& name, MemorySpace space) {
  const auto obstacle = [](const TransportKind* kind, const Communicator& ranks) {
    return kind->obstacle ? kind->obstacle(ranks) : std::string();
  };
  const Ways ways = named(name);
  if (!ways.among_gpus) return obstacle(ways.others, communicator);
  const Communicator& like = alike(communicator, space);
  const std::string here = space == MemorySpace::cuda ? obstacle(ways.among_gpus, like) : "";
  try {
    communicator.agree([&] {
      if (!here.empty()) throw Error(here);
    });
  } catch (const LocalError&) {
    throw;
  } catch (const Error& error) {
    return error.what();
  }
  return obstacle(ways.others, communicator);
}

const Communicator& alike(const Communicator& communicator, MemorySpace space) {
  return communicator.alike(int(space));
}

}  // namespace staghorn
