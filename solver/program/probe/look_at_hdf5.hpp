// The program as a child of itself, or of a host, that meets an HDF5 file first (halo/child/bounded_child.hpp). A
// damaged file may end it, and nothing else. Local.
#pragma once

namespace staghorn {

// Words: path, names of datasets, number of the file descriptor that takes the catalogue. Walks as a reader will, and
// reads once what the library must read. Returns the exit status.
int look_at_hdf5(int n_words, char** words);

}  // namespace staghorn
