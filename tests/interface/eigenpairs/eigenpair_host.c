/* staghorn_eigenpairs_... from a C99 program in one process: eigenpair_host GAUGE FOLDER, a gauge file of 4x6x4x8 and a
 * folder to write to. Exit status 1 if a check fails. */
#include <staghorn.h>

#include "../hosts/checks.h"
#include "../hosts/host.h"
#include "../hosts/structs.h"

enum { pairs = 12 };
static const host_lattice lattice = {{4, 6, 4, 8}, {4, 6, 4, 8}, {0, 0, 0, 0}};
static host_structs s;
static staghorn_eigen_request request;
static staghorn_eigen_info info;
static staghorn_context *context;
static staghorn_gauge *gauge;
static double *u, *b, *x, values[pairs], again[pairs], residuals[pairs];
static const char *folder;

static const char *in_folder(const char *name) {
  static char path[4][1024];
  static int next;
  char *const to = path[next++ % 4];
  snprintf(to, sizeof path[0], "%s/%s", folder, name);
  return to;
}

static int64_t iterations(double mass, int sloppy) {
  const void *sources[1] = {b};
  void *solutions[1] = {x};
  s.request.mass = mass;
  s.request.sloppy = sloppy;
  s.request.system = STAGHORN_FULL;
  CHECK(staghorn_solve(gauge, &s.request, &s.vectors, 1, sources, solutions, NULL, &s.result) == STAGHORN_OK);
  double *y = host_zeros(&lattice);
  host_hop(&lattice, u, x, y);
  for (long k = 0; k < 6 * host_volume(&lattice); ++k) y[k] += 2 * mass * x[k];
  CHECK(host_distance(&lattice, y, b, -1) <= 1.01 * s.request.tolerance);
  free(y);
  return s.result.iterations;
}

static void pairs_are_found_and_shorten_solves(void) {
  CHECK(staghorn_eigenpairs_get(gauge, &info, 0, NULL, NULL) == STAGHORN_OK && info.pairs == 0 && info.used == 0);
  const int64_t without = iterations(0.01, STAGHORN_NO_SLOPPY);
  CHECK(staghorn_eigenpairs_compute(gauge, &request, values, &info) == STAGHORN_OK);
  CHECK(info.status == STAGHORN_OK && info.pairs == pairs && info.found == pairs && info.precision == STAGHORN_FP64 &&
        info.used);
  CHECK(info.smallest == values[0] && info.largest == values[pairs - 1] && info.largest_of_all > 10 &&
        info.largest_of_all <= 16.0001 * 4);
  CHECK(info.residual <= request.tolerance * info.largest_of_all && info.orthogonality < 1e-10 && info.calls > 100 &&
        info.seconds > 0);
  for (int i = 1; i < pairs; ++i) CHECK(values[i] >= values[i - 1] && values[0] > 0);
  CHECK(staghorn_eigenpairs_get(gauge, &info, pairs, again, residuals) == STAGHORN_OK &&
        memcmp(values, again, sizeof values) == 0);
  CHECK(residuals[0] > 0 && info.pairs == pairs && info.found == 0);
  const int64_t with = iterations(0.01, STAGHORN_NO_SLOPPY), mixed = iterations(0.01, STAGHORN_FP32);
  CHECK(10 * with < 9 * without && 10 * mixed < 9 * without);
  char json[200000];
  size_t bytes = sizeof json;
  CHECK(staghorn_report(context, json, &bytes) == STAGHORN_OK && strstr(json, "\"deflation\": {"));
  CHECK(staghorn_eigenpairs_use(gauge, 0) == STAGHORN_OK && iterations(0.01, STAGHORN_NO_SLOPPY) == without);
  CHECK(staghorn_eigenpairs_use(gauge, 1) == STAGHORN_OK && iterations(0.01, STAGHORN_NO_SLOPPY) == with);
}

static void pairs_are_written_and_read(void) {
  CHECK(staghorn_eigenpairs_write(gauge, in_folder("e.h5"), STAGHORN_FP64, 0) == STAGHORN_OK);
  CHECK(staghorn_eigenpairs_write(gauge, in_folder("e.h5"), STAGHORN_FP64, 0) < 0 &&
        strstr(staghorn_last_error(), "e.h5"));
  CHECK(staghorn_eigenpairs_write(gauge, in_folder("e16.h5"), STAGHORN_FP16, 1) == STAGHORN_OK);
  CHECK(staghorn_eigenpairs_write(gauge, in_folder("e.packed.lime"), STAGHORN_FP16, 0) < 0);
  CHECK(staghorn_eigenpairs_write(gauge, in_folder("e.packed.lime"), STAGHORN_FP32, 0) == STAGHORN_OK);
  const int64_t with = iterations(0.01, STAGHORN_NO_SLOPPY);
  CHECK(staghorn_eigenpairs_release(gauge) == STAGHORN_OK && staghorn_eigenpairs_release(gauge) == STAGHORN_OK);
  CHECK(iterations(0.01, STAGHORN_NO_SLOPPY) > with);
  CHECK(staghorn_eigenpairs_write(gauge, in_folder("none.h5"), STAGHORN_FP64, 0) == STAGHORN_E_STATE);
  CHECK(staghorn_eigenpairs_read(gauge, in_folder("e.h5"), &info) == STAGHORN_OK && info.pairs == pairs &&
        info.precision == STAGHORN_FP64);
  CHECK(staghorn_eigenpairs_get(gauge, &info, pairs, again, NULL) == STAGHORN_OK &&
        memcmp(values, again, sizeof values) == 0);
  CHECK(iterations(0.01, STAGHORN_NO_SLOPPY) == with);
  CHECK(staghorn_eigenpairs_read(gauge, in_folder("e.packed.lime"), &info) == STAGHORN_OK && info.pairs == pairs &&
        info.precision == STAGHORN_FP32);
  CHECK(iterations(0.01, STAGHORN_FP32) < with + 20);
  CHECK(staghorn_eigenpairs_read(gauge, in_folder("e16.h5"), &info) == STAGHORN_OK && info.precision == STAGHORN_FP16);
  CHECK(iterations(0.01, STAGHORN_FP32) < with + 20);
}

static int stop(void *data, int64_t calls, double missing) {
  ++*(int *)data;
  return calls > 100 && missing > 0;
}

static void searches_end_and_go_on(void) {
  int told = 0;
  request.progress = stop;
  request.progress_data = &told;
  CHECK(staghorn_eigenpairs_compute(gauge, &request, NULL, &info) == STAGHORN_STOPPED && told > 0 && info.pairs == 0);
  request.progress = NULL;
  request.checkpoint = in_folder("state.h5");
  request.checkpoint_every = 0;
  request.max_calls = 300;
  CHECK(staghorn_eigenpairs_compute(gauge, &request, NULL, &info) == STAGHORN_NOT_CONVERGED && info.pairs == 0);
  CHECK(staghorn_eigenpairs_compute(gauge, &request, NULL, &info) < 0 &&
        strstr(staghorn_last_error(), "exists already"));
  request.max_calls = 100000;
  request.resume = 1;
  CHECK(staghorn_eigenpairs_compute(gauge, &request, again, &info) == STAGHORN_OK &&
        memcmp(values, again, sizeof values) == 0);
  request.checkpoint = NULL;
  request.resume = 0;
}

static void what_makes_no_sense_is_refused(void) {
  CHECK(staghorn_eigenpairs_compute(NULL, &request, values, &info) == STAGHORN_E_ARGUMENT);
  CHECK(staghorn_eigenpairs_compute(gauge, NULL, values, &info) == STAGHORN_E_ARGUMENT);
  request.pairs = 0;
  CHECK(staghorn_eigenpairs_compute(gauge, &request, values, &info) < 0 && strstr(staghorn_last_error(), "pairs"));
  request.pairs = pairs;
  request.tolerance = NAN;
  CHECK(staghorn_eigenpairs_compute(gauge, &request, values, &info) < 0 && strstr(staghorn_last_error(), "tolerance"));
  request.tolerance = 1e-10;
  request.resume = 1;
  CHECK(staghorn_eigenpairs_compute(gauge, &request, values, &info) < 0 && strstr(staghorn_last_error(), "checkpoint"));
  request.resume = 0;
  CHECK(staghorn_eigenpairs_read(gauge, NULL, &info) == STAGHORN_E_ARGUMENT);
  CHECK(staghorn_eigenpairs_read(gauge, in_folder("absent.h5"), &info) < 0);
  CHECK(staghorn_eigenpairs_get(gauge, NULL, 0, NULL, NULL) == STAGHORN_E_ARGUMENT);
  CHECK(staghorn_eigenpairs_use(gauge, 2) == STAGHORN_E_ARGUMENT);
  staghorn_eigen_info small = info;
  small.struct_size = 8;
  CHECK(staghorn_eigenpairs_read(gauge, in_folder("e.h5"), &small) == STAGHORN_E_ARGUMENT &&
        strstr(staghorn_last_error(), "info"));
}

/* Vectors in memory: K v = lambda v by the host's own D, in a layout of the host, in its own phases too. */
static void vectors_are_handed_out(void) {
  staghorn_vectors halves = s.vectors;
  halves.order = STAGHORN_CPS_STAG;
  halves.half = 1;
  const long sites = host_volume(&lattice);
  double *full = host_zeros(&lattice), *half = host_zeros(&lattice), *back = host_zeros(&lattice);
  double *dv = host_zeros(&lattice), *ddv = host_zeros(&lattice);
  CHECK(staghorn_eigenpairs_read(gauge, in_folder("e.h5"), NULL) == STAGHORN_OK);
  CHECK(staghorn_eigenpairs_get(gauge, &info, pairs, again, NULL) == STAGHORN_OK);
  for (int i = 0; i < pairs; i += 5) {
    for (long k = 0; k < 6 * sites; ++k) full[k] = half[k] = 9;
    void *to_full[1] = {full}, *to_half[1] = {half};
    CHECK(staghorn_eigenpairs_vectors(gauge, &s.vectors, i, 1, to_full) == STAGHORN_OK);
    CHECK(staghorn_eigenpairs_vectors(gauge, &halves, i, 1, to_half) == STAGHORN_OK);
    host_hop(&lattice, u, full, dv);
    host_hop(&lattice, u, dv, ddv);
    double error = 0, norm = 0, odd = 0;
    for (long k = 0; k < 6 * sites; ++k) {
      const double r = -ddv[k] - again[i] * full[k];
      error += r * r;
      norm += full[k] * full[k];
      if (host_parity(&lattice, k / 6)) odd += full[k] * full[k];
    }
    CHECK(sqrt(error) < 1e-8 && fabs(norm - 1) < 1e-12 && odd == 0);
    staghorn_vectors whole = halves;
    whole.half = 0;
    CHECK(staghorn_convert_vectors(context, &s.vectors, full, &whole, back) == STAGHORN_OK && half[3 * sites] == 9);
    CHECK(memcmp(half, back, (size_t)sites * 3 * sizeof *half) == 0);
  }
  void *two[2] = {full, half};
  CHECK(staghorn_eigenpairs_vectors(gauge, &s.vectors, pairs - 1, 2, two) == STAGHORN_E_ARGUMENT);
  CHECK(staghorn_eigenpairs_vectors(gauge, &s.vectors, -1, 1, two) == STAGHORN_E_ARGUMENT);
  CHECK(staghorn_eigenpairs_vectors(gauge, &s.vectors, 0, 1, NULL) == STAGHORN_E_ARGUMENT);
  halves.half = STAGHORN_ODD;
  CHECK(staghorn_eigenpairs_vectors(gauge, &halves, 0, 1, two) == STAGHORN_E_LAYOUT);
  two[1] = full;
  CHECK(staghorn_eigenpairs_vectors(gauge, &s.vectors, 0, 2, two) == STAGHORN_E_ARGUMENT);
  CHECK(staghorn_eigenpairs_release(gauge) == STAGHORN_OK &&
        staghorn_eigenpairs_vectors(gauge, &s.vectors, 0, 1, two) == STAGHORN_E_STATE);
  free(full), free(half), free(back), free(dv), free(ddv);
}

/* A host that does not number its links: the same bytes keep the pairs, one other bit does not. */
static void links_of_the_same_content_keep_pairs(void) {
  const void *links[4] = {u, NULL, NULL, NULL};
  staghorn_gauge_info before, after;
  staghorn_defaults(&before, sizeof before, STAGHORN_GAUGE_INFO);
  after = before;
  staghorn_links by_content = s.links;
  by_content.generation = STAGHORN_GENERATION_BY_CONTENT;
  CHECK(staghorn_gauge_update(gauge, &by_content, links) == STAGHORN_OK);
  CHECK(staghorn_eigenpairs_read(gauge, in_folder("e.h5"), NULL) == STAGHORN_OK);
  CHECK(staghorn_gauge_get(gauge, &before) == STAGHORN_OK);
  double *copy = malloc((size_t)host_volume(&lattice) * 72 * sizeof *copy);
  memcpy(copy, u, (size_t)host_volume(&lattice) * 72 * sizeof *copy);
  links[0] = copy; /* the same numbers at another place */
  CHECK(staghorn_gauge_update(gauge, &by_content, links) == STAGHORN_OK && staghorn_gauge_get(gauge, &after) == 0);
  CHECK(after.loads == before.loads);
  CHECK(staghorn_eigenpairs_get(gauge, &info, 0, NULL, NULL) == STAGHORN_OK && info.pairs == pairs);
  by_content.theta[3] = 0; /* the same links with another boundary */
  CHECK(staghorn_gauge_update(gauge, &by_content, links) == STAGHORN_OK && staghorn_gauge_get(gauge, &after) == 0);
  CHECK(after.loads == before.loads + 1);
  CHECK(staghorn_eigenpairs_get(gauge, &info, 0, NULL, NULL) == STAGHORN_OK && info.pairs == 0);
  copy[71] = nextafter(copy[71], 2);
  CHECK(staghorn_gauge_update(gauge, &by_content, links) == STAGHORN_OK && staghorn_gauge_get(gauge, &after) == 0);
  CHECK(after.loads == before.loads + 2);
  free(copy);
}

/* Pairs belong to links: they go with an update, and their file is refused for other links. */
static void other_links_have_other_pairs(void) {
  CHECK(staghorn_eigenpairs_read(gauge, in_folder("e.h5"), NULL) == STAGHORN_OK);
  double *other = host_links(&lattice, 77);
  const void *links[4] = {other, NULL, NULL, NULL};
  CHECK(staghorn_gauge_update(gauge, &s.links, links) == STAGHORN_OK);
  CHECK(staghorn_eigenpairs_get(gauge, &info, 0, NULL, NULL) == STAGHORN_OK && info.pairs == 0);
  CHECK(staghorn_eigenpairs_read(gauge, in_folder("e.h5"), &info) < 0 && strstr(staghorn_last_error(), "links_hash"));
  free(other);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  folder = argv[2];
  s = default_structs();
  staghorn_defaults(&request, sizeof request, STAGHORN_EIGEN_REQUEST);
  staghorn_defaults(&info, sizeof info, STAGHORN_EIGEN_INFO);
  request.pairs = pairs;
  for (int mu = 0; mu < 4; ++mu) s.geometry.global[mu] = lattice.n[mu];
  s.options.threads = 1;
  u = host_links(&lattice, 1);
  b = host_vector(&lattice, 1000000);
  x = host_zeros(&lattice);
  CHECK(staghorn_context_create(&context, &s.geometry, &s.options) == STAGHORN_OK);
  void *room[4] = {u, NULL, NULL, NULL};
  CHECK(staghorn_read_links(context, argv[1], 1, &s.links, room) == STAGHORN_OK);
  const void *links[4] = {u, NULL, NULL, NULL};
  CHECK(staghorn_gauge_create(context, &s.links, links, &gauge) == STAGHORN_OK);
  pairs_are_found_and_shorten_solves();
  pairs_are_written_and_read();
  searches_end_and_go_on();
  what_makes_no_sense_is_refused();
  vectors_are_handed_out();
  links_of_the_same_content_keep_pairs();
  CHECK(staghorn_gauge_update(gauge, &s.links, links) == STAGHORN_OK);
  other_links_have_other_pairs();
  CHECK(staghorn_gauge_destroy(&gauge) == STAGHORN_OK && staghorn_context_destroy(&context) == STAGHORN_OK);
  if (failures == 0) printf("ok\n");
  return failures > 0;
}
