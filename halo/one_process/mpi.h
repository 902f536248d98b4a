// The names of MPI that Staghorn uses, for a build without MPI: in place of MPI's header on the include path.
//
// The one process there is has no group: the duplicate of every communicator is MPI_COMM_NULL, which Communicator takes
// for a process alone. Code that asks Communicator::is_alone() first calls no function that needs a second process.
// Such a function does nothing and returns MPI_ERR_OTHER, which check_mpi makes an error.
#pragma once

#include <cstddef>
#include <cstdio>

enum MPI_Comm : int { MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_WORLD };
enum MPI_Request : int { MPI_REQUEST_NULL };
enum MPI_Datatype : int {
  MPI_DATATYPE_NULL,
  MPI_BYTE,
  MPI_CHAR,
  MPI_INT,
  MPI_INT64_T,
  MPI_UINT32_T,
  MPI_DOUBLE,
};
enum MPI_Op : int { MPI_BOR, MPI_BXOR, MPI_LOR, MPI_MAX, MPI_MIN, MPI_SUM };
enum { MPI_SUCCESS, MPI_ERR_OTHER };
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
enum { MPI_MAX_ERROR_STRING = 256, MPI_MAX_LIBRARY_VERSION_STRING = 256, MPI_MAX_PROCESSOR_NAME = 256 };
enum { MPI_ANY_SOURCE = -1, MPI_PROC_NULL = -2, MPI_KEYVAL_INVALID = -1, MPI_COMM_TYPE_SHARED = 0 };
enum { MPI_ERRORS_RETURN, MPI_INFO_NULL };
using MPI_Fint = int;
inline constexpr std::nullptr_t MPI_IN_PLACE{}, MPI_STATUS_IGNORE{}, MPI_STATUSES_IGNORE{}, MPI_COMM_NULL_COPY_FN{};

// What a process alone can do. MPI counts as not initialised, so that no host can give a communicator.
inline int MPI_Initialized(int* flag) { return *flag = 0, MPI_SUCCESS; }
inline int MPI_Finalized(int* flag) { return *flag = 0, MPI_SUCCESS; }
inline int MPI_Init_thread(int*, char***, int asked, int* provided) { return *provided = asked, MPI_SUCCESS; }
inline int MPI_Finalize() { return MPI_SUCCESS; }
inline int MPI_Comm_dup(MPI_Comm, MPI_Comm* same) { return *same = MPI_COMM_NULL, MPI_SUCCESS; }
inline MPI_Comm MPI_Comm_f2c(MPI_Fint) { return MPI_COMM_NULL; }
inline int MPI_Comm_free(MPI_Comm* freed) { return *freed = MPI_COMM_NULL, MPI_SUCCESS; }
inline int MPI_Comm_set_errhandler(MPI_Comm, int) { return MPI_SUCCESS; }
inline int MPI_Comm_rank(MPI_Comm, int* rank) { return *rank = 0, MPI_SUCCESS; }
inline int MPI_Comm_size(MPI_Comm, int* size) { return *size = 1, MPI_SUCCESS; }
inline int MPI_Get_library_version(char* text, int* length) {
  return *length = std::snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "no MPI"), MPI_SUCCESS;
}
inline int MPI_Error_string(int, char* text, int* length) {
  return *length = std::snprintf(text, MPI_MAX_ERROR_STRING, "needs several processes, and this build has no MPI"),
         MPI_SUCCESS;
}

// What needs a second process. The arguments are not looked at: a build with MPI checks their types.
inline constexpr struct NeedsSeveralProcesses {
  template <class... Arguments>
  int operator()(Arguments&&...) const {
    return MPI_ERR_OTHER;
  }
} MPI_Abort, MPI_Allgather, MPI_Allreduce, MPI_Alltoallv, MPI_Barrier, MPI_Bcast, MPI_Cancel, MPI_Comm_create_keyval,
    MPI_Comm_get_attr, MPI_Comm_set_attr, MPI_Comm_split, MPI_Comm_split_type, MPI_Comm_test_inter,
    MPI_Get_processor_name, MPI_Ibarrier, MPI_Iprobe, MPI_Irecv, MPI_Is_thread_main, MPI_Isend, MPI_Query_thread,
    MPI_Recv_init, MPI_Request_free, MPI_Request_get_status, MPI_Send_init, MPI_Sendrecv, MPI_Start, MPI_Startall,
    MPI_Test, MPI_Testall, MPI_Type_commit, MPI_Type_contiguous, MPI_Type_free, MPI_Wait, MPI_Waitall;
