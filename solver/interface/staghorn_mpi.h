/* Staghorn with MPI: contexts over many processes. Everything else is in staghorn.h. */
#ifndef STAGHORN_MPI_H
#define STAGHORN_MPI_H

#ifdef STAGHORN_CPS_CONNECTION_HPP
#error "staghorn_mpi.h comes before staghorn_cps.hpp, whose Connection then takes a communicator"
#endif

#include <mpi.h>
#include <staghorn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A context over the ranks of `communicator`, which is duplicated. MPI is initialised by the host. Ranks may lie in the
 * grid in any order: geometry->coord says where this one is. Calls come from the thread that MPI was started for unless
 * MPI was started with MPI_THREAD_MULTIPLE. Collective. */
STAGHORN_API int staghorn_context_create_mpi(staghorn_context **context, MPI_Comm communicator,
                                             const staghorn_geometry *geometry, const staghorn_options *options);

#ifdef __cplusplus
}
#endif
#endif
