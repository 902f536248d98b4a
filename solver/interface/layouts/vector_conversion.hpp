// Vectors of a host to plain fields and back. Exact: signs and powers of two only; fp32 is rounded to, never from.
//
// `sites` is a parity, or nothing for all sites. Half fields need a parity, and hold its sites. Pointers are to the
// first site, of any alignment; on a GPU, of that of a real. Plain fields lie where the buffers of a call lie.
// Everything here is local, and throws Error where a layout makes no sense.
#pragma once

#include <optional>

#include "dirac/fields/site_field.hpp"
#include "solver/interface/layouts/host_fields.hpp"

namespace staghorn {

// out(x) = host(x) / (factor sign(x)) on `sites`; other sites of `out` stay as they are.
void read_vector(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites, const void* host,
                 VectorField& out);

// host(x) = factor sign(x) in(x) on `sites`; other sites of the host stay as they are, and so do bytes between sites.
void write_vector(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites,
                  const VectorField& in, void* host);

// to(x) = from(x) with the signs of the two phase conventions. Of half fields `sites` says which half they hold.
// `lattice`: the local lattice of this process.
void convert_vector(const Lattice& lattice, std::optional<Parity> sites, const HostVectors& from_layout,
                    const VectorSigns& from_signs, const void* from, const HostVectors& to_layout,
                    const VectorSigns& to_signs, void* to);

}  // namespace staghorn
