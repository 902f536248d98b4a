// An object that is made once for a group of ranks and lives as long as the group. It is an attribute of MPI's
// communicator, or is kept by the Communicator of a process alone.
#pragma once

#include "halo/communicator.hpp"

namespace staghorn {

// The T of `communicator`. The first call makes it by T(). MPI_Comm_free destroys it, on all ranks together. If MPI is
// finalised before that, it is not destroyed. Local.
template <class T>
T& communicator_attribute(const Communicator& communicator) {
  if (communicator.is_alone()) {
    static const char key_alone = 0;
    std::shared_ptr<void>& kept = communicator.kept_alone(&key_alone);
    if (!kept) kept = std::make_shared<T>();
    return *static_cast<T*>(kept.get());
  }
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
