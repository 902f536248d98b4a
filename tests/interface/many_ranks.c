/* libstaghorn.so over MPI from a C99 program: the same solution for every grid and order of ranks.
 *
 *   many_ranks GX GY GZ GT ORDER      ORDER: natural | reversed | coordinates (given, in an order of the host's own)
 *                                            | fortran (natural, by staghorn_context_create_f) | stop (rank 0 stops)
 *                                            | withhold (rank 0 does) | wrong (two ranks claim one place)
 *
 * Rank 0 prints the status and a hash of all bits of the solution, which does not depend on who holds which site. */
#include <staghorn_mpi.h>

#include "hosts/host.h"
#include "hosts/structs.h"

static int stop_on_first_rank(void *data, int64_t iteration, double residual) {
  (void)residual;
  return *(int *)data == 0 && iteration >= 20;
}

static int withhold_on_first_rank(void *data) { return *(int *)data == 0; }

static void print_warning(void *data, int level, const char *text) {
  if (*(int *)data == 0) printf("level %d: %s\n", level, text);
}

static uint64_t hash_of(const host_lattice *l, const double *v) {
  uint64_t sum = 0, all = 0;
  for (long site = 0; site < host_volume(l); ++site)
    for (int k = 0; k < 6; ++k) {
      uint64_t word;
      memcpy(&word, v + 6 * site + k, sizeof word);
      word ^= ((uint64_t)host_global_site(l, site) * 6 + (uint64_t)k) * UINT64_C(0x9e3779b97f4a7c15);
      word = (word ^ (word >> 31)) * UINT64_C(0xbf58476d1ce4e5b9);
      sum += word ^ (word >> 29);
    }
  MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char **argv) {
  int rank, ranks, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 6) return 2;
  const char *order = argv[5];

  host_structs s = default_structs();
  const int global[4] = {4, 8, 4, 8};
  for (int mu = 0; mu < 4; ++mu) {
    s.geometry.global[mu] = global[mu];
    s.geometry.grid[mu] = atoi(argv[1 + mu]);
  }
  s.options.threads = 1;
  s.options.log = print_warning;
  s.options.log_data = &rank;
  if (strcmp(order, "coordinates") == 0 || strcmp(order, "wrong") == 0) {
    int place = (ranks - rank) % ranks; /* t fastest, backwards but for rank 0 */
    if (strcmp(order, "wrong") == 0) place = 0;
    for (int mu = 3; mu >= 0; --mu) {
      s.geometry.coord[mu] = place % s.geometry.grid[mu];
      place /= s.geometry.grid[mu];
    }
  }

  MPI_Comm group;
  const int halves = strcmp(order, "halves") == 0; /* two groups side by side, each with a context of its own */
  MPI_Comm_split(MPI_COMM_WORLD, halves ? rank % 2 : 0, strcmp(order, "reversed") == 0 ? -rank : rank, &group);
  staghorn_context *context = NULL;
  staghorn_gauge *gauge = NULL;
  int status = strcmp(order, "fortran") == 0
                   ? staghorn_context_create_f(&context, (int32_t)MPI_Comm_c2f(group), &s.geometry, &s.options)
                   : staghorn_context_create_mpi(&context, group, &s.geometry, &s.options);
  MPI_Comm_free(&group); /* the context has its own */
  if (status != STAGHORN_OK) {
    if (rank == 0) printf("create %d %s\n", status, staghorn_last_error());
    MPI_Finalize();
    return 0;
  }

  host_lattice local;
  int32_t extents[4], origin[4];
  staghorn_context_local(context, extents, origin);
  for (int mu = 0; mu < 4; ++mu) {
    local.n[mu] = extents[mu];
    local.origin[mu] = origin[mu];
    local.global[mu] = global[mu];
  }
  double *u = host_links(&local, 1), *b = host_vector(&local, 1000000), *x = host_zeros(&local);
  const void *link_pointers[4] = {u, NULL, NULL, NULL}, *sources[1] = {b};
  void *solutions[1] = {x};
  status = staghorn_gauge_create(context, &s.links, link_pointers, &gauge);
  s.request.mass = 0.2;
  if (strcmp(order, "stop") == 0) {
    s.request.mass = 0.01;
    s.request.progress = stop_on_first_rank;
    s.request.progress_data = &rank;
  }
  if (strcmp(order, "withhold") == 0) {
    s.request.withhold = withhold_on_first_rank;
    s.request.withhold_data = &rank;
  }
  if (status == STAGHORN_OK)
    status = staghorn_solve(gauge, &s.request, &s.vectors, 1, sources, solutions, NULL, &s.result);
  int least, most;
  MPI_Allreduce(&status, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&status, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  const uint64_t hash = hash_of(&local, x);
  if (rank == 0 || (halves && rank == 1))
    printf("status %d %d iterations %ld hash %016llx\n", least, most, (long)s.result.iterations,
           (unsigned long long)hash);
  const int gone = staghorn_context_destroy(&context);
  if (gone != STAGHORN_OK) printf("destroy %d %s\n", gone, staghorn_last_error());
  free(u);
  free(b);
  free(x);
  MPI_Finalize();
  return 0;
}
