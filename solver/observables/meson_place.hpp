// Where mesons are contracted: on the GPU that solves, if solutions, shifted fields and thin links fit beside what is
// there already, else on the host. The bits are the same.
#pragma once

#include <memory>
#include <optional>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

class MesonPlace {
 public:
  // cuda_device: of the fields of a session, -1 for the host. Local.
  explicit MesonPlace(int cuda_device) : cuda_device_(cuda_device) {}

  // Decides at its first call, and all ranks alike: `fields` vectors, and `thin` links or none, are asked for. Call it
  // when solves have what they need. Collective.
  MemorySpace choose(const Communicator& communicator, const Lattice& lattice, int fields, bool thin);
  // What choose said; the host before. Local.
  MemorySpace chosen() const { return chosen_.value_or(MemorySpace::host); }
  // The thin links there, copied at the first call. Local.
  const LinkField& thin(const LinkField& on_host);

 private:
  int cuda_device_;
  std::optional<MemorySpace> chosen_;
  std::optional<LinkField> thin_;
};

}  // namespace staghorn
