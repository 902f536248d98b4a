// Vectors of a host on their way to a GPU and back, as they lie in the host's memory: kernels convert them there, and
// only the numbers that are asked travel. Local.
#pragma once

#include <optional>

#include "solver/interface/layouts/staged_bytes.hpp"
#include "solver/interface/layouts/vector_conversion.hpp"

namespace staghorn {

// Whether the sites of either parity (`parities`) or all sites are one range of bytes in a host's buffer: then nothing
// else has to travel. Local extents, as everywhere here.
bool can_be_staged(const HostVectors& layout, const Extents& local, bool parities);

class StagedVectors {
 public:
  // As read_vector and write_vector (layouts/vector_conversion.hpp), also from buffers on the host into fields on the
  // GPU and back, if they can be staged.
  void read(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites, const void* host,
            VectorField& out);
  void write(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites, const VectorField& in,
             void* host);

 private:
  StagedBytes bytes_;
};

}  // namespace staghorn
