/* Makes the k-th allocation of the library fail, for every k of one create, load and solve: a status each, and then a
 * solve that works.
 *
 *   failing_allocations [EVERY [RANK]]      every EVERY-th k only; under mpirun: of that rank, and all get the status
 *
 * malloc, calloc, realloc and mmap of this program stand before those of the C library. Allocations fail that
 * libstaghorn.so asks for itself or by operator new; those of other libraries do not. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <staghorn_mpi.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hosts/host.h"
#include "hosts/structs.h"

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static long calls_left = -1, counted; /* -1: count only */
static int armed, failed;

static int is_due(const void *caller) {
  if (!armed) return 0;
  armed = 0; /* dladdr may allocate */
  Dl_info info;
  const int ours = dladdr(caller, &info) && info.dli_fname &&
                   (strstr(info.dli_fname, "libstaghorn") || strstr(info.dli_fname, "libstdc++"));
  armed = 1;
  if (!ours) return 0;
  ++counted;
  if (calls_left < 0 || calls_left-- != 0) return 0;
  failed = 1;
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t size) { return is_due(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return is_due(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return is_due(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size); }
void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
  if (is_due(__builtin_return_address(0))) return MAP_FAILED;
  return (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
}

static host_lattice l = {{4, 4, 4, 4}, {4, 4, 4, 4}, {0, 0, 0, 0}};
static int rank, ranks = 1, failing = -1; /* -1: without MPI */
static double *u, *b, *x;

static int whole_run(staghorn_context **context) {
  host_structs s = default_structs();
  for (int mu = 0; mu < 4; ++mu) s.geometry.global[mu] = l.global[mu];
  s.geometry.grid[3] = ranks;
  s.options.threads = 1;
  s.request.mass = 0.5;
  s.request.sloppy = STAGHORN_FP32;
  s.request.tolerance = 1e-4; /* more iterations allocate nothing else */
  const void *fields[4] = {u, NULL, NULL, NULL}, *sources[1] = {b};
  void *solutions[1] = {x};
  staghorn_gauge *gauge = NULL;
  int status = STAGHORN_OK;
  if (!*context)
    status = failing < 0 ? staghorn_context_create(context, &s.geometry, &s.options)
                         : staghorn_context_create_mpi(context, MPI_COMM_WORLD, &s.geometry, &s.options);
  if (status == STAGHORN_OK) status = staghorn_gauge_create(*context, &s.links, fields, &gauge);
  if (status == STAGHORN_OK)
    status = staghorn_solve(gauge, &s.request, &s.vectors, 1, sources, solutions, NULL, &s.result);
  if (status == STAGHORN_OK) status = staghorn_gauge_update(gauge, &s.links, fields);
  armed = 0;
  if (gauge) staghorn_gauge_destroy(&gauge);
  return status;
}

/* Whether all ranks are of one mind. */
static int agreed(long value) {
  long both[2] = {value, -value};
  if (failing >= 0) MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  return both[0] == -both[1];
}

int main(int argc, char **argv) {
  const long every = argc > 1 ? atol(argv[1]) : 1;
  if (argc > 2) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    failing = atoi(argv[2]);
    l.global[3] = 4 * ranks;
    l.origin[3] = 4 * rank;
  }
  u = host_links(&l, 1);
  b = host_vector(&l, 100);
  x = host_zeros(&l);
  double *expected = host_zeros(&l);
  staghorn_context *context = NULL;
  if (whole_run(&context) != STAGHORN_OK) return 2;
  memcpy(expected, x, (size_t)host_volume(&l) * 48);
  staghorn_context_destroy(&context);
  counted = 0;
  armed = 1;
  if (whole_run(&context) != STAGHORN_OK) return 2;
  long all = counted;
  if (failing >= 0) MPI_Bcast(&all, 1, MPI_LONG, failing, MPI_COMM_WORLD);
  staghorn_context_destroy(&context);
  long refused = 0, survived = 0;
  for (long k = 0; k < all; k += every) {
    calls_left = failing < 0 || rank == failing ? k : -1;
    failed = 0;
    armed = 1;
    const int status = whole_run(&context);
    armed = 0;
    calls_left = -1;
    if (failing >= 0) MPI_Bcast(&failed, 1, MPI_INT, failing, MPI_COMM_WORLD);
    if (!failed) break;
    if (!agreed(status)) {
      printf("allocation %ld of %ld: rank %d has status %d\n", k, all, rank, status);
      return 1;
    }
    if (status == STAGHORN_OK)
      ++survived; /* the library can do without */
    else if (status == STAGHORN_E_MEMORY && *staghorn_last_error())
      ++refused;
    else {
      printf("allocation %ld of %ld: status %d, %s\n", k, all, status, staghorn_last_error());
      return 1;
    }
    memset(x, 0, (size_t)host_volume(&l) * 48);
    if (whole_run(&context) != STAGHORN_OK || memcmp(x, expected, (size_t)host_volume(&l) * 48) != 0) {
      printf("allocation %ld of %ld: the next solve: %s\n", k, all, staghorn_last_error());
      return 1;
    }
    staghorn_context_destroy(&context);
  }
  if (rank == 0) printf("allocations %ld refused %ld survived %ld\n", all, refused, survived);
  if (failing >= 0) MPI_Finalize();
  return refused == 0;
}
