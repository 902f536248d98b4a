// Fields of a host to plain fields and back, by kernels: what vector_conversion.hpp calls where
// the plain fields lie on a GPU. Results have the bits of the conversions on the host. Buffers of vectors lie where a
// GPU can reach them, and are aligned to their reals.
//
// Local. Each function returns when its work is done. Throws Error where a launch fails, or where this build has no
// CUDA.
#pragma once

#include <optional>

#include "dirac/fields/site_field.hpp"
#include "solver/interface/layouts/host_fields.hpp"

namespace staghorn {

// out(x) = host(x) / (factor sign(x)), and host(x) = factor sign(x) in(x), on `sites`; other sites stay.
void cuda_read_vector(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites,
                      const void* host, VectorField& out);
void cuda_write_vector(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites,
                       const VectorField& in, void* host);

// Reads links as read_links does. Buffers are aligned to their reals.
void cuda_read_links(const HostLinks& layout, const std::array<const void*, 4>& host, LinkField& out);

}  // namespace staghorn
