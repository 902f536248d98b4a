/* Makes the k-th call of MPI of one rank fail, for every k of one create, load and solve on one rank or several: one
 * status and one text on all ranks, and then a solve that gives the same bits.
 *
 *   failing_messages RANK [EVERY [FIRST [FOLDER]]]   calls of that rank: every EVERY-th k, from FIRST, and the last
 *   failing_messages shared RANK ...                 calls of CUDA; all ranks share GPU 0
 *   failing_messages each|p2p|nccl RANK ...          calls of CUDA; each rank has a GPU of its own; that transport
 *
 * With a folder for their file eigenpairs are found, written and read too, and the solve uses them; pairs that were
 * written before the failure are not found again for the solve behind it. Prints how many calls there are, and in which
 * function they failed. */
#define _POSIX_C_SOURCE 200112L
#include "hosts/ranks.h"

enum { creating, loading, searching, writing, reading, solving, asking, finished };

static host_lattice l = {{4, 4, 4, 4}, {4, 4, 4, 4}, {0, 0, 0, 0}};
static double *u, *b, *x;
static host_structs s;
static staghorn_eigen_request search;
static char pairs[1024]; /* their file; empty: none */
static int rank, ranks;

/* `searches`: finds the pairs, else they are those of the file. */
static int whole_run(staghorn_context **context, staghorn_gauge **gauge, int searches, int *where) {
  const void *fields[4] = {u, NULL, NULL, NULL}, *sources[1] = {b};
  void *solutions[1] = {x};
  staghorn_gauge_info info;
  int status = STAGHORN_OK;
  *where = creating;
  if (!*context) status = staghorn_context_create_mpi(context, MPI_COMM_WORLD, &s.geometry, &s.options);
  if (status == STAGHORN_OK) *where = loading;
  if (status == STAGHORN_OK && !*gauge) status = staghorn_gauge_create(*context, &s.links, fields, gauge);
  if (status == STAGHORN_OK && *pairs && searches) {
    *where = searching;
    status = staghorn_eigenpairs_compute(*gauge, &search, NULL, NULL);
    if (status == STAGHORN_OK) *where = writing;
    if (status == STAGHORN_OK) status = staghorn_eigenpairs_write(*gauge, pairs, STAGHORN_FP64, 1);
  }
  if (status == STAGHORN_OK && *pairs) {
    *where = reading;
    status = staghorn_eigenpairs_read(*gauge, pairs, NULL);
  }
  if (status == STAGHORN_OK) *where = solving;
  if (status == STAGHORN_OK)
    status = staghorn_solve(*gauge, &s.request, &s.vectors, 1, sources, solutions, NULL, &s.result);
  if (status == STAGHORN_OK) *where = asking;
  staghorn_defaults(&info, sizeof info, STAGHORN_GAUGE_INFO);
  if (status == STAGHORN_OK) status = staghorn_gauge_get(*gauge, &info);
  if (status == STAGHORN_OK) *where = finished;
  return status;
}

/* The next k. A search has most calls: it is passed in large steps, and what the last of them left out follows. Solves
 * behind it are passed in larger steps than those without. */
static int next_call(int k, int every, int failed_in) {
  enum { in_a_search = 16, in_a_solve = 4 };
  static int beyond;
  if (beyond && failed_in == solving) return k + in_a_solve * every;
  if (!*pairs || beyond || failed_in < searching) return k + every;
  if (failed_in == searching) return k + in_a_search * every;
  beyond = 1;
  return k - (in_a_search - 1) * every;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char *const kind = argc > 1 ? argv[1] : "";
  const int of_cuda = *kind && !strchr("0123456789", *kind);
  argv += of_cuda, argc -= of_cuda;
  if (argc < 2) return 2;
  const int failing = atoi(argv[1]), from = argc > 3 ? atoi(argv[3]) : 1;
  int every = argc > 2 ? atoi(argv[2]) : 1;
  if (argc > 4) snprintf(pairs, sizeof pairs, "%s/pairs.h5", argv[4]);
  for (int mu = 0; mu < 3 && *pairs; ++mu) l.n[mu] = l.global[mu] = 2; /* a search calls MPI often */
  s = default_structs();
  cut_in_t(&l, &s, rank, ranks);
  s.options.environment = 1;
  if (of_cuda) s.options.device = strcmp(kind, "shared") == 0 ? 0 : rank;
  if (strcmp(kind, "p2p") == 0 || strcmp(kind, "nccl") == 0) s.options.transport = kind;
  s.request.mass = 4; /* a few iterations: calls of all kinds, and few of each */
  s.request.sloppy = STAGHORN_FP32;
  s.request.tolerance = 1e-6;
  staghorn_defaults(&search, sizeof search, STAGHORN_EIGEN_REQUEST);
  search.pairs = 1;
  search.tolerance = 1e-2;
  u = host_links(&l, 1);
  b = host_vector(&l, 100);
  x = host_zeros(&l);
  const size_t bytes = (size_t)host_volume(&l) * 48;
  double *expected = host_zeros(&l);
  staghorn_context *context = NULL;
  staghorn_gauge *gauge = NULL;
  int where, wrong = whole_run(&context, &gauge, 1, &where) != STAGHORN_OK;
  memcpy(expected, x, bytes);
  staghorn_context_destroy(&context);

  const char *const fault = of_cuda ? "STAGHORN_FAIL_CUDA" : "STAGHORN_FAIL_MPI";
  enum { enough = 3, a_few = 12, most_ends = 8 };
  int counts[finished + 1] = {0}, k = from;
  int well = 0; /* runs in a row in which no call failed */
  int ends = 0; /* how often the last call was passed */
  while (!wrong) {
    char text[32], found[1000] = "";
    snprintf(text, sizeof text, "%d:%d", failing, k);
    setenv(fault, text, 1);
    gauge = NULL;
    const int status = whole_run(&context, &gauge, 1, &where);
    setenv(fault, "", 1);
    if (status < 0) snprintf(found, sizeof found, "%s", staghorn_last_error());
    const int failed_in = where;
    if (of_cuda && rank == failing) fprintf(stderr, "k %d: step %d: %s\n", k, where, found);
    ++counts[failed_in];
    if (!same_on_all_ranks(status, found)) {
      printf("k %d: rank %d: status %d, %s\n", k, rank, status, found);
      wrong = 1;
      break;
    }
    well = status == STAGHORN_OK ? well + 1 : 0;
    if (status == STAGHORN_OK && of_cuda) { /* or it failed in the test of a transport, which was left out then */
      wrong = memcmp(x, expected, bytes) != 0;
      MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      if (wrong) printf("k %d: rank %d: other bits\n", k, rank);
      staghorn_context_destroy(&context);
      if (well == enough) break; /* how often a GPU is asked whether it is done is not the same each time */
      k += every;
      continue;
    }
    if (status == STAGHORN_OK) { /* there is no such call: halve the step until the last one is found */
      staghorn_context_destroy(&context);
      if (every == 1) {
        if (counts[asking] > 0 || ends++ == most_ends) break;
        k -= a_few; /* on a busy machine runs differ by some calls: the last ones are tried again */
        continue;
      }
      k -= every / 2;
      every = (every + 1) / 2;
      continue;
    }
    char named[32];
    if (ranks == 1)
      snprintf(named, sizeof named, "MPI_");
    else
      snprintf(named, sizeof named, "rank %d: %s", failing, of_cuda ? "" : "MPI_");
    const int expected_status =
        of_cuda ? status == STAGHORN_E_DEVICE || status == STAGHORN_E_MEMORY : status == STAGHORN_E_MPI;
    if (!expected_status || !strstr(found, named)) {
      if (rank == 0) printf("k %d: status %d, %s\n", k, status, found);
      wrong = 1;
    }
    memset(x, 0, bytes);
    if (whole_run(&context, &gauge, failed_in <= writing, &where) != STAGHORN_OK || memcmp(x, expected, bytes) != 0) {
      printf("k %d: rank %d: the next solve: %d %s\n", k, rank, where, staghorn_last_error());
      wrong = 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (context && staghorn_context_destroy(&context) != STAGHORN_OK) wrong = 1;
    k = next_call(k, every, failed_in);
  }
  if (context) staghorn_context_destroy(&context);
  if (rank == 0)
    printf("calls %d failed creating %d loading %d searching %d writing %d reading %d solving %d asking %d\n", k - 1,
           counts[creating], counts[loading], counts[searching], counts[writing], counts[reading], counts[solving],
           counts[asking]);
  MPI_Finalize();
  free(u);
  free(b);
  free(x);
  free(expected);
  return wrong;
}
