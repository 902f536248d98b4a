/* Creates a context, loads links, solves and destroys, again and again: memory must not grow.
 *
 *   endurance CYCLES [mpi]
 *
 * Prints by how many kibibytes the resident memory has grown since a tenth of the cycles, of the process that grew
 * most, and by how many the communicators of MPI: a new one takes the lowest number that is free. */
#include "hosts/ranks.h"

static long resident_kibibytes(void) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[256];
  long value = -1;
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmRSS: %ld", &value) == 1) break;
  if (file) fclose(file);
  return value;
}

static long number_of_a_new_communicator(void) {
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  const long number = (long)MPI_Comm_c2f(made);
  MPI_Comm_free(&made);
  return number;
}

int main(int argc, char **argv) {
  const int cycles = argc > 1 ? atoi(argv[1]) : 0, with_mpi = argc > 2;
  int ranks = 1, rank = 0;
  if (cycles < 10) return 2;
  if (with_mpi) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  }
  host_structs s = default_structs();
  s.request.mass = 0.4;
  s.request.sloppy = STAGHORN_FP32;
  host_lattice l = {{4, 4, 4, 4}, {4, 4, 4, 4}, {0, 0, 0, 0}};
  cut_in_t(&l, &s, rank, ranks);
  double *u = host_links(&l, 1), *b = host_vector(&l, 100), *x = host_zeros(&l);
  const void *fields[4] = {u, NULL, NULL, NULL}, *sources[1] = {b};
  void *solutions[1] = {x};
  long before = 0, first = 0;
  for (int cycle = 0; cycle < cycles; ++cycle) {
    staghorn_context *context = NULL;
    staghorn_gauge *gauge = NULL;
    int status = with_mpi ? staghorn_context_create_mpi(&context, MPI_COMM_WORLD, &s.geometry, &s.options)
                          : staghorn_context_create(&context, &s.geometry, &s.options);
    if (status == STAGHORN_OK) status = staghorn_gauge_create(context, &s.links, fields, &gauge);
    if (status == STAGHORN_OK)
      status = staghorn_solve(gauge, &s.request, &s.vectors, 1, sources, solutions, NULL, &s.result);
    if (status == STAGHORN_OK) status = staghorn_gauge_update(gauge, &s.links, fields);
    if (status == STAGHORN_OK && cycle % 2) status = staghorn_gauge_destroy(&gauge);
    if (status == STAGHORN_OK) status = staghorn_context_destroy(&context);
    if (status != STAGHORN_OK) {
      printf("cycle %d: %d %s\n", cycle, status, staghorn_last_error());
      return 1;
    }
    if (cycle == cycles / 10) {
      before = resident_kibibytes();
      if (with_mpi) first = number_of_a_new_communicator();
    }
  }
  long grown = resident_kibibytes() - before, most = grown, communicators = 0;
  if (with_mpi) {
    communicators = number_of_a_new_communicator() - first;
    MPI_Allreduce(&grown, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
  }
  if (rank == 0) printf("grown %ld KiB, %ld communicators\n", most, communicators);
  free(u);
  free(b);
  free(x);
  return 0;
}
