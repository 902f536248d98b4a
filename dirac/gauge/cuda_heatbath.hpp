// The links of a chain on the GPU: the functions of heatbath.hpp and the plaquette of gauge_observables.hpp, with the
// bits of the CPU. fp64, uncompressed, 576 bytes a site. In a build without CUDA the constructor throws.
#pragma once

#include <cstdint>

#include "dirac/gauge/gauge_observables.hpp"
#include "dirac/gauge/heatbath.hpp"
#include "halo/buffer.hpp"

namespace staghorn {

// All links of an uncut lattice of one rank, on the selected GPU, by parity, direction and site (SiteLayout's one-block
// form).
class CudaLinkField {
 public:
  // Links are zero. Throws Error where the lattice is cut, has 2^31 sites or more, or does not fit. Local.
  explicit CudaLinkField(const Lattice& lattice);

  const Lattice& lattice() const { return lattice_; }
  double* data() { return reinterpret_cast<double*>(buffer_.data()); }
  const double* data() const { return reinterpret_cast<const double*>(buffer_.data()); }

 private:
  Lattice lattice_;
  Buffer buffer_;
};

void set_cold(CudaLinkField& links);
void set_hot(CudaLinkField& links, std::uint64_t seed);
void heatbath_sweep(const Communicator& communicator, CudaLinkField& links, const HeatbathParameters& parameters,
                    std::uint32_t sweep);
Plaquette plaquette(const Communicator& communicator, const CudaLinkField& links);
// A copy on the host. Local.
LinkField on_host(const CudaLinkField& links);

}  // namespace staghorn
