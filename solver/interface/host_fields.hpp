// The layouts of a host, from the structs of staghorn.h to those of layouts/. Local.
#pragma once

#include <staghorn.h>

#include <optional>

#include "solver/interface/layouts/link_conversion.hpp"
#include "solver/interface/layouts/vector_conversion.hpp"

namespace staghorn {

// Throw Error where the layout makes no sense, or the memory is of a device and `cuda_device`, of the context, is -1.
// The values of the structs were checked before (structs.hpp).
// `steps` that a link leads over: 3 of long links.
HostLinks links_of_host(const staghorn_links& links, int cuda_device, int steps = 1);
HostVectors vectors_of_host(const staghorn_vectors& vectors, int cuda_device);

// Throws Error, by the name of the argument, where a pointer is NULL or does not point to what `memory`
// (staghorn_memory) says, or to another device. On a context without a GPU all memory is the host's.
void check_memory(const char* name, const void* pointer, std::int32_t memory, int cuda_device);

// Throws Error where memory that a call writes is that of another argument, too.
void require_own_memory(const CallMemory& memory);

// A host's layout and buffers, host memory, that links are to be written to. `local`: extents. Throws Error.
void read_written_links(const staghorn_links* links, void* const* u, const Extents& local, HostLinks& layout,
                        std::array<void*, 4>& written);

// Writes `text` with a final 0 into *bytes of `json`, and what it needs into *bytes; json = NULL: that only. Throws
// Error where there is no room.
void give_text(const std::string& text, char* json, std::size_t* bytes);

// How the host's vectors differ from ours, in a gauge whose links say `of_links`; nothing: no gauge is at hand. Throws
// Error where the phases are those of links as given and there are none.
VectorSigns signs_of_host(const staghorn_vectors& vectors, const VectorSigns* of_links);

// The half that half vectors hold, of a system on `sites`. Throws Error where they do not go together.
void check_half(const staghorn_vectors& vectors, std::optional<Parity> sites);

}  // namespace staghorn
