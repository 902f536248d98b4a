/* What programs of several ranks share: the lattice cut in t, and errors that are those of all ranks. C99. */
#ifndef RANKS_H
#define RANKS_H

#include <staghorn_mpi.h>

#include "host.h"
#include "structs.h"

/* This rank's part, and a context of it: as many parts like l->n as there are ranks, in t. */
static inline void cut_in_t(host_lattice *l, host_structs *s, int rank, int ranks) {
  l->global[3] = ranks * l->n[3];
  l->origin[3] = rank * l->n[3];
  for (int mu = 0; mu < 4; ++mu) s->geometry.global[mu] = l->global[mu];
  s->geometry.grid[3] = ranks;
  s->options.threads = 1;
}

/* Whether the status is that of all ranks, and the text too. Collective. */
static inline int same_on_all_ranks(int status, const char *text) {
  char first[1000] = "";
  int both[2] = {status, -status};
  MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  snprintf(first, sizeof first, "%s", text);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  int same = both[0] == -both[1] && strncmp(first, text, sizeof first - 1) == 0;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return same;
}

#endif
