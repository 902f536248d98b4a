// The layouts of a host, from the structs of staghorn.h to those of layouts/. Local.
#pragma once

#include <staghorn.h>

#include <optional>

#include "solver/interface/layouts/link_conversion.hpp"
#include "solver/interface/layouts/vector_conversion.hpp"

namespace staghorn {

// Links of a host; `links` were checked before (structs.hpp). `steps` that a link leads over: 3 of long links. Throws
// Error where the layout makes no sense, or the memory is of a device and `cuda_device`, of the context, is -1.
HostLinks links_of_host(const staghorn_links& links, int cuda_device, int steps = 1);

// Throws Error, by the name of the argument, where a pointer is NULL or does not point to what `memory`
// (staghorn_memory) says, or to another device. On a context without a GPU all memory is the host's.
void check_memory(const char* name, const void* pointer, std::int32_t memory, int cuda_device);

// A host's layout and buffers, host memory, that links are to be written to. `local`: extents. Throws Error.
void read_written_links(const staghorn_links* links, void* const* u, const Extents& local, HostLinks& layout,
                        std::array<void*, 4>& written);

// Writes `text` with a final 0 into *bytes of `json`, and what it needs into *bytes; json = NULL: that only. Throws
// Error where there is no room.
void give_text(const std::string& text, char* json, std::size_t* bytes);

// Vectors of a host.
struct VectorsArgument {
  staghorn_vectors given{};
  HostVectors host{};
  VectorSigns signs;  // how they differ from ours

  VectorsArgument() = default;
  // Reads and checks the argument `name`, in a gauge whose links say `of_links`; nullptr: no gauge is at hand. Throws
  // Error as above, and where the phases are those of links as given and there are none.
  VectorsArgument(const staghorn_vectors* vectors, const char* name, int cuda_device, const VectorSigns* of_links);
};

// The half that half vectors hold, of a system on `sites`. Throws Error where they do not go together.
void check_half(const staghorn_vectors& vectors, std::optional<Parity> sites);

}  // namespace staghorn
