#include "solver/gauge/certificate_fields.hpp"

#include <algorithm>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

bool on_gpu(const VectorField& field) { return field.space() == MemorySpace::cuda; }

// Copies of `fields` in another space, in fields that are there already if they fit.
void copy_fields(std::vector<VectorField>& copies, std::span<const VectorField> fields, MemorySpace space) {
  if (copies.size() != fields.size() || copies[0].space() != space || copies[0].bytes() != fields[0].bytes())
    copies.clear();
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (i < copies.size())
      copies[i] = fields[i];
    else
      copies.emplace_back(fields[i], space);
}

// A copy of `links` on the GPU, in the field that is there already if there is one; none of no links.
void copy_links(std::optional<LinkField>& copy, const LinkField* links) {
  if (!links)
    copy.reset();
  else if (copy)
    *copy = *links;
  else
    copy.emplace(*links, MemorySpace::cuda);
}

}  // namespace

MemorySpace common_space(std::span<const VectorField> sources, std::span<const VectorField> solutions) {
  const bool there = on_gpu(sources[0]);
  const auto elsewhere = [&](const VectorField& field) { return on_gpu(field) != there; };
  if (std::any_of(sources.begin(), sources.end(), elsewhere) ||
      std::any_of(solutions.begin(), solutions.end(), elsewhere))
    throw Error("sources and solutions", "fields all on the host or all on the GPU", "some of each");
  return there ? MemorySpace::cuda : MemorySpace::host;
}

MemorySpace certificate_space(CertificatePlace place, MemorySpace given, bool on_gpu) {
  const bool asked = place == CertificatePlace::device;
  if (!on_gpu && (asked || given == MemorySpace::cuda))
    throw Error(asked ? "`certificate` device" : "sources on a GPU", "a GPU to compute on (device cuda)", "device cpu");
  const bool there = place == CertificatePlace::automatic ? given == MemorySpace::cuda : asked;
  return there ? MemorySpace::cuda : MemorySpace::host;
}

void CertificateFields::make(MemorySpace space, const Lattice& lattice) {
  if (residual_ && residual_->space() != space) residual_.reset();
  if (!residual_) residual_.emplace(lattice, space);
}

void CertificateFields::bring_links(const OperatorLinks& links, long generation) {
  if (generation_ == generation) return;
  const bool there = links.near.space() == MemorySpace::cuda;
  copy_links(links_, there ? nullptr : &links.near);
  copy_links(naik_, links.naik);
  generation_ = generation;
}

void CertificateFields::drop_links() {
  links_.reset();
  naik_.reset();
  generation_ = -1;
}

OperatorLinks CertificateFields::links_on_gpu(const OperatorLinks& links) const {
  const LinkField& near = links_ ? *links_ : links.near;
  return naik_ ? OperatorLinks(near, *naik_, links.naik_scale) : OperatorLinks(near);
}

CertificateFields::Brought CertificateFields::bring(std::span<const VectorField> sources,
                                                    std::span<VectorField> solutions) {
  if (on_gpu(sources[0]) == (space() == MemorySpace::cuda)) {
    sources_.clear();
    solutions_.clear();
    return {sources, solutions};
  }
  copy_fields(sources_, sources, space());
  copy_fields(solutions_, solutions, space());
  return {sources_, solutions_};
}

void CertificateFields::give_back(std::span<VectorField> given) const {
  for (std::size_t i = 0; i < solutions_.size(); ++i) given[i] = solutions_[i];
}

std::int64_t CertificateFields::bytes(MemorySpace space) const {
  std::int64_t bytes = 0;
  for (const auto* links : {&links_, &naik_})
    if (space == MemorySpace::cuda && *links) bytes += (*links)->bytes();
  if (residual_ && residual_->space() == space) bytes += residual_->bytes();
  for (const auto* fields : {&sources_, &solutions_})
    for (const VectorField& field : *fields)
      if (field.space() == space) bytes += field.bytes();
  return bytes;
}

}  // namespace staghorn
