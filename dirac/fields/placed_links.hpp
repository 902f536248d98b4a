// Links in fp64 that came to the host or to a GPU. The host gets a copy when it asks for one. Local.
#pragma once

#include <optional>
#include <utility>

#include "dirac/fields/site_field.hpp"

namespace staghorn {

class PlacedLinks {
 public:
  // On the host at first.
  explicit PlacedLinks(LinkField here) : here_(std::move(here)) {}

  const Lattice& lattice() const { return here_.lattice(); }
  // Where they came to.
  const LinkField& as_they_came() const { return there_ ? *there_ : here_; }
  // The same, to be changed in place.
  LinkField& in_place() {
    here_is_current_ = !there_;
    return there_ ? *there_ : here_;
  }
  // On the host. The first call copies them there.
  const LinkField& on_host() const {
    if (!here_is_current_) here_ = *there_;
    here_is_current_ = true;
    return here_;
  }
  // Room for other links, which then come to `space`: host or cuda. Throws Error where there is no memory.
  LinkField& room_in(MemorySpace space) {
    if (space != MemorySpace::cuda)
      there_.reset();
    else if (!there_)
      there_.emplace(lattice(), MemorySpace::cuda);
    return in_place();
  }

  std::int64_t bytes_on_host() const { return here_.bytes(); }
  std::int64_t bytes_on_gpu() const { return there_ ? there_->bytes() : 0; }

 private:
  mutable LinkField here_;
  std::optional<LinkField> there_;
  mutable bool here_is_current_ = true;
};

}  // namespace staghorn
