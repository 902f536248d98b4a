/* Two ranks of one context ask for different things: both get STAGHORN_E_ARGUMENT and one text, which names the
 * difference, and then go on together.
 *
 *   unlike_requests
 *
 * Prints each text once. */
#include "hosts/ranks.h"

static host_lattice l = {{4, 4, 4, 8}, {4, 4, 4, 4}, {0, 0, 0, 0}};
static host_structs s;
static staghorn_context *context;
static staghorn_gauge *gauge, *another;
static double *u, *b, *x;
static int rank, wrong;

static int solve(staghorn_gauge *of) {
  const void *sources[1] = {b};
  void *solutions[1] = {x};
  return staghorn_solve(of, &s.request, &s.vectors, 1, sources, solutions, NULL, &s.result);
}
static int hop(void) {
  const void *sources[1] = {b};
  void *solutions[1] = {x};
  return staghorn_hop(gauge, &s.vectors, STAGHORN_FULL, 1, sources, solutions);
}
static int update(void) {
  const void *fields[4] = {u, NULL, NULL, NULL};
  return staghorn_gauge_update(gauge, &s.links, fields);
}
static int shifts(double second) {
  const double shift[2] = {0, second};
  staghorn_result results[2];
  double *y = host_zeros(&l);
  void *solutions[2] = {x, y};
  for (int i = 0; i < 2; ++i) staghorn_defaults(&results[i], sizeof results[i], STAGHORN_RESULT);
  s.request.system = STAGHORN_EVEN;
  const int status =
      staghorn_multishift(gauge, &s.request, &s.vectors, 2, shift, NULL, NULL, b, solutions, NULL, results);
  s.request.system = STAGHORN_FULL;
  free(y);
  return status;
}

/* The call has ended as it should on both ranks, and a solve works. */
static void check_status(const char *named, int expected, int status) {
  char text[500];
  snprintf(text, sizeof text, "%s", staghorn_last_error());
  const int same = same_on_all_ranks(status, text);
  if (!same || status != expected || strncmp(text, named, strlen(named)) != 0) {
    printf("wrong: rank %d, %s: %d %s\n", rank, named, status, text);
    wrong = 1;
  } else if (rank == 0) {
    puts(text);
  }
  if (context && solve(gauge) != STAGHORN_OK) {
    printf("wrong: rank %d after %s: %s\n", rank, named, staghorn_last_error());
    wrong = 1;
  }
}

static void check_unlike(const char *named, int status) { check_status(named, STAGHORN_E_ARGUMENT, status); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  s = default_structs();
  cut_in_t(&l, &s, rank, 2);
  s.request.mass = 2;
  u = host_links(&l, 1);
  b = host_vector(&l, 100);
  x = host_zeros(&l);
  const void *fields[4] = {u, NULL, NULL, NULL};

  s.geometry.global[3] = rank ? 16 : 8;
  check_unlike("geometry.global[3]", staghorn_context_create_mpi(&context, MPI_COMM_WORLD, &s.geometry, &s.options));
  s.geometry.global[3] = 8;
  if (staghorn_context_create_mpi(&context, MPI_COMM_WORLD, &s.geometry, &s.options) != STAGHORN_OK) return 3;
  if (staghorn_gauge_create(context, &s.links, fields, &gauge) != STAGHORN_OK) return 3;
  if (staghorn_gauge_create(context, &s.links, fields, &another) != STAGHORN_OK) return 3;

  const host_structs good = s;
  s.request.tolerance = rank ? 1e-8 : 1e-10;
  const int of_tolerances = solve(gauge);
  s = good;
  check_unlike("request.tolerance: expected 1e-10 as on rank 0, found 1e-08 on rank 1", of_tolerances);
  s.request.sloppy = rank ? STAGHORN_FP32 : STAGHORN_NO_SLOPPY;
  const int of_precisions = solve(gauge);
  s = good;
  check_unlike("request.sloppy", of_precisions);
  if (rank == 0) staghorn_request_set(&s.request, "tolerance", "1e-9");
  const int of_words = solve(gauge);
  staghorn_request_release(&s.request);
  check_unlike("request.words: expected tolerance = 1e-9 as on rank 0, found nothing on rank 1", of_words);
  check_unlike("gauge", solve(rank ? another : gauge));
  check_unlike("call: expected staghorn_solve as on rank 0, found staghorn_hop on rank 1", rank ? hop() : solve(gauge));
  check_unlike("call", rank ? solve(gauge) : update());
  check_unlike("shift[1]", shifts(rank ? 0.1 : 0.2));
  s.links.theta[2] = rank;
  const int of_boundaries = update();
  s = good;
  check_unlike("links.theta[2]", of_boundaries);
  s.request.struct_size =
      rank ? 3 : s.request.struct_size; /* one that cannot be read: its own text, not a difference */
  const int of_sizes = solve(gauge);
  s = good;
  check_unlike("request.struct_size", of_sizes);

  /* What the code around one rank refuses; what both refuse; one that refuses nothing. */
  check_status("rank 1: ours", STAGHORN_E_LAYOUT,
               rank ? staghorn_refuse(context, STAGHORN_E_LAYOUT, "ours") : solve(gauge));
  check_status("rank 0: no file", STAGHORN_E_FILE,
               staghorn_refuse(context, rank ? STAGHORN_E_VALUE : STAGHORN_E_FILE, "no file"));
  check_unlike("status: expected -10 to -1, found 1", rank ? staghorn_refuse(context, 1, "well") : update());

  s.vectors.site_stride = rank ? 48 : 0; /* these may differ */
  if (solve(gauge) != STAGHORN_OK) wrong = 1;
  staghorn_context_destroy(&context);
  MPI_Finalize();
  free(u);
  free(b);
  free(x);
  return wrong;
}
