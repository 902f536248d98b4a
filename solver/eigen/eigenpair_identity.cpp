#include "solver/eigen/eigenpair_identity.hpp"

#include "halo/watch/error.hpp"
#include "lattice_io/files/checksums.hpp"
#include "solver/request/option_text.hpp"

namespace staghorn {

EigenpairIdentity identity_of_options(const SessionOptions& options) {
  const QuarkAction& quarks = options.quarks;
  const bool stored = quarks.stored() || quarks.in_memory;
  EigenpairIdentity identity = {{"boundary", to_string(options.boundary)},
                                {"action", stored ? "stored" : to_string(quarks.action)}};
  if (stored) return identity;
  if (quarks.action == Action::asqtad) identity["u0"] = option_text(quarks.u0.value_or(1));
  if (quarks.action == Action::hisq) {
    identity["naik_epsilon"] = option_text(quarks.naik_epsilon.value_or(0));
    identity["unitarize"] = to_string(quarks.unitarize.value_or(Unitarize::u3));
  }
  return identity;
}

std::string hash_text(std::uint64_t hash) {
  return hexadecimal(std::uint32_t(hash >> 32)) + hexadecimal(std::uint32_t(hash));
}

void require_belongs(const EigenvectorHeader& header, const Extents& extents, const EigenpairIdentity& expected,
                     bool projected) {
  if (header.extents != extents)
    throw FileError(header.path + ": eigenvectors", "a lattice of " + to_string(extents), to_string(header.extents));
  if (is_milc(header.format)) return;
  for (const auto& [name, value] : expected) {
    const auto entry = header.fields.find(name);
    if (entry != header.fields.end() && entry->second == value) continue;
    std::string what = header.path + ": " + name + " that its eigenpairs belong to";
    if (name == "links_hash")
      what += projected ? " (here of links projected onto SU(3), as links of 12 or 8 reals and reunitarize are)"
                        : " (here of links as they are in their file; with links of 12 or 8 reals they are projected)";
    throw FileError(what, value, entry == header.fields.end() ? "none" : entry->second);
  }
}

}  // namespace staghorn
