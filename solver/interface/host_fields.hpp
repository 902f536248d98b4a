// The layouts of a host, from the structs of staghorn.h to those of layouts/. Local.
#pragma once

#include <staghorn.h>

#include <optional>

#include "solver/interface/layouts/link_conversion.hpp"
#include "solver/interface/layouts/vector_conversion.hpp"

namespace staghorn {

// Throw Error where the layout makes no sense, or the memory is of a device that this context does not have. The values
// of the structs were checked before (structs.hpp).
HostLinks links_of_host(const staghorn_links& links);
HostVectors vectors_of_host(const staghorn_vectors& vectors);

// How the host's vectors differ from ours, in a gauge whose links say `of_links`; nothing: no gauge is at hand. Throws
// Error where the phases are those of links as given and there are none.
VectorSigns signs_of_host(const staghorn_vectors& vectors, const VectorSigns* of_links);

// The half that half vectors hold, of a system on `sites`. Throws Error where they do not go together.
void check_half(const staghorn_vectors& vectors, std::optional<Parity> sites);

}  // namespace staghorn
