// The fields of the certificate, on the host or on the GPU that solves: links in fp64, the residual, and copies of
// sources and solutions that lie elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// Where all of these lie. Throws Error if some lie on the host and some on a GPU. Local.
MemorySpace common_space(std::span<const VectorField> sources, std::span<const VectorField> solutions);

// Where a certificate runs for fields in `given`: where `place` says, or else there. Throws Error if that is a GPU and
// `on_gpu` says that the solve has none. Local.
MemorySpace certificate_space(CertificatePlace place, MemorySpace given, bool on_gpu);

class CertificateFields {
 public:
  // Makes the residual in `space`, unless it is there. Local.
  void make(MemorySpace space, const Lattice& lattice);
  // Copies those of `links` that lie on the host to the GPU, unless those of this generation are there. Local.
  void bring_links(const OperatorLinks& links, long generation);
  void drop_links();  // frees the copies

  bool made() const { return residual_.has_value(); }
  MemorySpace space() const { return residual_->space(); }
  // Whether a certificate on the GPU has all it needs for so many fields of the host.
  bool is_ready_on_gpu(std::size_t sources, std::size_t solutions) const {
    return made() && space() == MemorySpace::cuda && sources_.size() == sources && solutions_.size() == solutions;
  }
  VectorField& residual() { return *residual_; }
  // `links` on the GPU: themselves or the copies of bring_links.
  OperatorLinks links_on_gpu(const OperatorLinks& links) const;

  // The given fields, which lie in one space, or copies of them where the certificate runs. give_back writes solutions
  // to where they came from.
  struct Brought {
    std::span<const VectorField> sources;
    std::span<VectorField> solutions;
  };
  Brought bring(std::span<const VectorField> sources, std::span<VectorField> solutions);
  void give_back(std::span<VectorField> given) const;

  std::int64_t bytes(MemorySpace space) const;  // held there, this rank; the caller's own fields do not count

 private:
  std::optional<VectorField> residual_;
  std::optional<LinkField> links_, naik_;         // copies on the GPU
  long generation_ = -1;                          // of the links that are copied
  std::vector<VectorField> sources_, solutions_;  // copies
};

}  // namespace staghorn
