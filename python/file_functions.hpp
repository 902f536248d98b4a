// Files of links and colour vectors as NumPy arrays, for staghorn._native.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "lattice_io/files/checksums.hpp"
#include "python/native_campaign.hpp"

namespace staghorn::python {

// {name: {stored, computed, match}}
nanobind::dict to_dict(const ChecksumResults& checksums);

// Adds read_gauge, write_gauge, read_vectors, write_vectors and generate to the module. They fail once `process` is
// gone.
void add_file_functions(nanobind::module_& module, const std::weak_ptr<Process>& process);

}  // namespace staghorn::python
