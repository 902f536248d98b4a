/* A handle that is NULL or destroyed on one rank alone, in every collective function: all ranks get one status and one
 * text, which names that rank, and go on together.
 *
 *   wrong_handles CULPRIT FOLDER      the rank, and a folder of gauge.h5 and for files
 *
 * Prints how many calls were refused. */
#define _POSIX_C_SOURCE 199309L
#include <time.h>

#include "hosts/checks.h"
#include "hosts/ranks.h"

static host_lattice l = {{2, 2, 2, 4}, {2, 2, 2, 4}, {0, 0, 0, 0}};
static host_structs s;
static staghorn_eigen_request search;
static double *u, *b, *x;
static char path[2][1024];
static int rank, ranks;

/* The collective functions that take a context, and then those that take a gauge. */
enum { of_contexts = 4, searching = 9, writing = 11, solving = 12 };
static int call(int which, staghorn_context *context, staghorn_gauge *gauge) {
  const void *links[4] = {u, NULL, NULL, NULL}, *sources[1] = {b};
  void *solutions[1] = {x}, *links_out[4] = {u, NULL, NULL, NULL};
  staghorn_gauge *made = NULL;
  staghorn_gauge_info info;
  staghorn_action action;
  const double shift = 0.1;
  staghorn_defaults(&info, sizeof info, STAGHORN_GAUGE_INFO);
  staghorn_defaults(&action, sizeof action, STAGHORN_ACTION);
  switch (which) {
    case 0:
      return staghorn_gauge_create(context, &s.links, links, &made);
    case 1:
      return staghorn_gauge_create_action(context, &s.links, links, &action, &made);
    case 2:
      return staghorn_gauge_create_improved(context, &s.links, links, &s.links, links, &made);
    case 3:
      return staghorn_read_links(context, path[0], 1, &s.links, links_out);
    case 4:
      return staghorn_gauge_update(gauge, &s.links, links);
    case 5:
      return staghorn_gauge_update_improved(gauge, &s.links, links, &s.links, links);
    case 6:
      return staghorn_gauge_get(gauge, &info);
    case 7:
      return staghorn_hop(gauge, &s.vectors, STAGHORN_FULL, 1, sources, solutions);
    case 8:
      return staghorn_multishift(gauge, &s.request, &s.vectors, 1, &shift, NULL, NULL, b, solutions, NULL, &s.result);
    case searching:
      return staghorn_eigenpairs_compute(gauge, &search, NULL, NULL);
    case 10:
      return staghorn_eigenpairs_read(gauge, path[1], NULL);
    case writing:
      return staghorn_eigenpairs_write(gauge, path[1], STAGHORN_FP64, 1);
    default:
      return staghorn_solve(gauge, &s.request, &s.vectors, 1, sources, solutions, NULL, &s.result);
  }
}

/* The status and the text are those of all ranks, and the text names the culprit. */
static void check_refused(int status, int expected, int culprit) {
  const char *text = staghorn_last_error();
  char named[32];
  snprintf(named, sizeof named, "rank %d: ", culprit);
  const int same = same_on_all_ranks(status, text);
  CHECK(same && status == expected && strncmp(text, named, strlen(named)) == 0);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int culprit = atoi(argv[1]);
  snprintf(path[0], sizeof path[0], "%s/gauge.h5", argv[2]);
  snprintf(path[1], sizeof path[1], "%s/pairs.h5", argv[2]);
  s = default_structs();
  cut_in_t(&l, &s, rank, ranks);
  staghorn_defaults(&search, sizeof search, STAGHORN_EIGEN_REQUEST);
  search.pairs = 2;
  s.request.mass = 2;
  u = host_links(&l, 1);
  b = host_vector(&l, 100);
  x = host_zeros(&l);
  const void *fields[4] = {u, NULL, NULL, NULL};

  staghorn_context *first = NULL, *second = NULL;
  staghorn_gauge *gauges[2] = {NULL, NULL}, *gone = NULL;
  CHECK(staghorn_context_create_mpi(&first, MPI_COMM_WORLD, &s.geometry, &s.options) == STAGHORN_OK);
  CHECK(staghorn_context_create_mpi(&second, MPI_COMM_WORLD, &s.geometry, &s.options) == STAGHORN_OK);
  CHECK(staghorn_gauge_create(first, &s.links, fields, &gauges[0]) == STAGHORN_OK);
  CHECK(staghorn_gauge_create(second, &s.links, fields, &gauges[1]) == STAGHORN_OK);
  CHECK(staghorn_gauge_create(second, &s.links, fields, &gone) == STAGHORN_OK);
  staghorn_gauge *const destroyed = gone;
  CHECK(staghorn_gauge_destroy(&gone) == STAGHORN_OK);
  const int solved = call(solving, NULL, gauges[0]);
  CHECK(solved == STAGHORN_OK);

  /* Nobody waits for anybody. A rank that comes late still looks for the others when they are in their next call. */
  const struct timespec late = {0, rank == culprit ? 100000000 : 0};
  nanosleep(&late, NULL);
  CHECK(call(solving, NULL, NULL) == STAGHORN_E_ARGUMENT);
  CHECK(call(solving, NULL, gauges[0]) == STAGHORN_OK && call(solving, NULL, gauges[1]) == STAGHORN_OK);

  int refused = 0;
  for (int which = 0; which <= solving && failures == 0; ++which)
    for (int k = 0; k < 2; ++k, ++refused) {                                        /* in which of two contexts */
      if (which == writing) CHECK(call(searching, NULL, gauges[k]) == STAGHORN_OK); /* there is something to write */
      const int is_gauge = which >= of_contexts, wrong = rank == culprit;
      staghorn_gauge *const bad = is_gauge && k ? destroyed : NULL;
      check_refused(call(which,
                         wrong ? NULL
                         : k   ? second
                               : first,
                         wrong ? bad : gauges[k]),
                    bad ? STAGHORN_E_STATE : STAGHORN_E_ARGUMENT, culprit);
      CHECK(call(solving, NULL, gauges[k]) == STAGHORN_OK);
    }
  CHECK(staghorn_context_destroy(&first) == STAGHORN_OK && staghorn_context_destroy(&second) == STAGHORN_OK);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("refused %d\n", refused);
  MPI_Finalize();
  free(u);
  free(b);
  free(x);
  return failures > 0;
}
