// Files of links and colour vectors as NumPy arrays, for staghorn._native.
#pragma once

#include <nanobind/nanobind.h>

namespace staghorn::python {

// Adds read_gauge, write_gauge, read_vectors, write_vectors and generate to the module.
void add_file_functions(nanobind::module_& module);

}  // namespace staghorn::python
