// What is made once for a group of ranks and kept as long as the group: an attribute of MPI's own object, so that it
// ends with it.
#pragma once

#include "halo/communicator.hpp"

namespace staghorn {

// The T that is kept with `communicator`, made by T() when first asked for. It is destroyed in MPI_Comm_free, hence on
// all ranks together, and not at all where MPI is finalised first. Local.
template <class T>
T& communicator_attribute(const Communicator& communicator) {
  static const int key = [] {
    const auto forget = [](MPI_Comm, int, void* kept, void*) {
      delete static_cast<T*>(kept);
      return MPI_SUCCESS;
    };
    int made = MPI_KEYVAL_INVALID;
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, nullptr), "MPI_Comm_create_keyval");
    return made;
  }();
  T* kept = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(communicator.handle(), key, &kept, &found), "MPI_Comm_get_attr");
  if (!found) {
    kept = new T;
    check_mpi(MPI_Comm_set_attr(communicator.handle(), key, kept), "MPI_Comm_set_attr");
  }
  return *kept;
}

}  // namespace staghorn
