// The table of transports: everything that the rest of the code knows of each. A new transport is one file and its line
// in transport_table.cpp (docs/development/how-to-add-a-transport.md).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halo/buffer.hpp"
#include "halo/communicator.hpp"
#include "halo/transport/transport.hpp"

namespace staghorn {

// What a transport is made for.
struct TransportSetup {
  const Communicator& communicator;  // outlives the transport
  // The messages to other ranks; those of the rank to itself, too, if the transport owns the ghosts.
  const std::vector<FaceChannel>& channels;
};

// What the table of times (solver/report/time_table.cpp) says of one part of an exchange.
struct TimedPart {
  enum { measured, none, inside_another } how = measured;
  const char* note = "";
};

struct TransportKind {
  const char* name;         // as --transport takes it
  const char* description;  // for --help: what it does, in a few words
  MemorySpace space;        // where the vectors lie whose faces it carries: host or cuda
  MemorySpace packed_in;    // where faces are packed before they leave: `space`, or pinned
  bool by_messages;         // one MPI message a face: ranks on CPUs take part in it by `mpi`
  bool owns_ghosts;         // it has buffers of its own, on the receivers: faces are stored straight into ghosts
  TimedPart to_host, to_device;
  const char* messages_note;  // on the row of messages
  const char* overlap_note;   // the same if the interior is computed meanwhile
  // Why these ranks cannot use it, or "" if they can. nullptr: any ranks can. Collective.
  std::string (*obstacle)(const Communicator&);
  // Throws Error on all ranks alike. nullptr: this build does not have it. Collective.
  std::unique_ptr<Transport> (*make)(const TransportSetup&);
};

// The transports that --transport can name, in every build. `make` is nullptr for those that this build does not have.
std::span<const TransportKind* const> transport_table();

// Carries the faces of ranks on the host to themselves. It has no name that --transport takes.
extern const TransportKind self_transport;
// Carries faces between GPUs, and those of a rank on a GPU to itself.
extern const TransportKind p2p_transport;

// What carries the faces of a rank. Where ranks on CPUs and on GPUs share a lattice, faces between two GPUs may go
// another way than those of a CPU: "p2p+staged".
struct Ways {
  const TransportKind* among_gpus;  // nullptr: as all others
  const TransportKind* others;
};
// Those of a rank whose vectors lie in `space`: `mpi` on a host among GPUs. Throws Error if there are none of that
// name, or if this build does not have them.
Ways find_ways(const std::string& name, MemorySpace space);
// The names of the transports for vectors in `space` that this build has.
std::vector<std::string> transport_names(MemorySpace space);
// The names of the ways that ranks on GPUs and ranks on CPUs can take.
std::vector<std::string> mixed_transport_names(bool several_gpus);
// For --help: name and description of every transport for vectors in `space`, whatever this build has.
std::string describe_transports(MemorySpace space);
// Whether kernels store faces straight into ghosts by the transport of that name. False if there is none.
bool stores_into_ghosts(const std::string& name);
// Why these ranks cannot use the transport or the ways of that name, or "" if they can. Collective.
std::string transport_obstacle(const Communicator& communicator, const std::string& name, MemorySpace space);

// The ranks whose vectors lie in the same space. Lives as long as `communicator`. Collective.
const Communicator& alike(const Communicator& communicator, MemorySpace space);

// make() on each rank alone, then agreement, for transports whose making is local.
template <class Make>
std::unique_ptr<Transport> made_on_all(const Communicator& communicator, Make make) {
  std::unique_ptr<Transport> made;
  communicator.agree([&] { made = make(); });
  return made;
}

}  // namespace staghorn
