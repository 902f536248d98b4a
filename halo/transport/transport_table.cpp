#include "halo/transport/transport_table.hpp"

#include "halo/watch/error.hpp"

namespace staghorn {

extern const TransportKind mpi_transport, nccl_transport, staged_transport, mapped_transport, cuda_aware_transport;

namespace {

// Trials take them in this order.
constexpr const TransportKind* table[] = {
    &mpi_transport, &p2p_transport, &nccl_transport, &staged_transport, &mapped_transport, &cuda_aware_transport,
};

}  // namespace

std::span<const TransportKind* const> transport_table() { return table; }

const TransportKind& find_transport(const std::string& name, MemorySpace space) {
  for (const TransportKind* kind : table)
    if (kind->name == name && kind->make)
      return space == MemorySpace::host && kind->by_messages ? mpi_transport : *kind;
  throw Error("unknown transport '" + name + "'");
}

std::vector<std::string> transport_names(MemorySpace space) {
  std::vector<std::string> names;
  for (const TransportKind* kind : table)
    if (kind->space == space && kind->make) names.push_back(kind->name);
  return names;
}

std::vector<std::string> mixed_transport_names() {
  std::vector<std::string> names;
  for (const TransportKind* kind : table)
    if (kind->space == MemorySpace::cuda && kind->by_messages && kind->make) names.push_back(kind->name);
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
  for (const TransportKind* kind : table)
    if (kind->name == name) return kind->owns_ghosts;
  return false;
}

std::string transport_obstacle(const Communicator& communicator, const std::string& name) {
  for (const TransportKind* kind : table)
    if (kind->name == name && kind->obstacle) return kind->obstacle(communicator);
  return {};
}

}  // namespace staghorn
