/* Fat and long links of a host in one process: what is refused, what an update changes, zero long links, actions.
 *
 *   improved_hosts                     the checks below; exit status 1 if one fails
 *   improved_hosts FAT LONG SOURCE X LX LY LZ LT MASS PHASES COEFFICIENT
 *                                      solves with raw doubles of files, lexicographic, and writes X
 *   improved_hosts action QUARKS LINKS SOURCE X LX LY LZ LT MASS
 *                                      the same from thin links */
#define _GNU_SOURCE
#include "hosts/checks.h"
#include "hosts/fake_host_fields.h"
#include "hosts/structs.h"

static host_structs s;
static staghorn_context *context;
static double *thin, *zero_links;

static staghorn_gauge *make(const double *fat, const double *naik, int *status) {
  const void *f[4] = {fat, NULL, NULL, NULL}, *n[4] = {naik, NULL, NULL, NULL};
  staghorn_gauge *gauge = NULL;
  *status = staghorn_gauge_create_improved(context, &s.links, f, &s.links, n, &gauge);
  CHECK((*status == STAGHORN_OK) == (gauge != NULL));
  return gauge;
}
static int update(staghorn_gauge *gauge, const double *fat, const double *naik) {
  const void *f[4] = {fat, NULL, NULL, NULL}, *n[4] = {naik, NULL, NULL, NULL};
  return naik ? staghorn_gauge_update_improved(gauge, &s.links, f, &s.links, n)
              : staghorn_gauge_update(gauge, &s.links, f);
}
static double *solved(staghorn_gauge *gauge) {
  double *x = host_zeros(&whole);
  const void *b[1] = {plain_source};
  void *solutions[1] = {x};
  CHECK(staghorn_solve(gauge, &s.request, &s.vectors, 1, b, solutions, NULL, &s.result) == STAGHORN_OK);
  return x;
}
static int same(double *x, double *y) {
  const int equal = memcmp(x, y, (size_t)host_volume(&whole) * 48) == 0;
  free(x);
  free(y);
  return equal;
}

/* D x by the host, antiperiodic in t. */
static double *hop(const double *fat, const double *naik, const double *x) {
  cplx *dx = calloc((size_t)host_volume(&whole) * 3, sizeof *dx);
  for (int steps = 1; steps <= (naik ? 3 : 1); steps += 2) {
    const double *u = steps == 1 ? fat : naik;
    cplx *v = malloc((size_t)host_volume(&whole) * 36 * sizeof *v);
    host h = plain_host();
    h.phases = CPS;
    h.boundary_in = 1;
    for (long k = 0; k < 36 * host_volume(&whole); ++k) {
      int at[4];
      host_coordinates(whole.n, k / 36, at);
      v[k] = link_factor(&h, (int)(k / 9 % 4), at, steps) * (u[2 * k] + I * u[2 * k + 1]);
    }
    bare_hop(&whole, v, steps, (const cplx *)(const void *)x, dx);
    free(v);
  }
  return (double *)(void *)dx;
}
/* |b - M x| / |b| by the host. */
static double residual(const double *fat, const double *naik, const double *x) {
  double *y = hop(fat, naik, x);
  for (long k = 0; k < 6 * host_volume(&whole); ++k) y[k] += 2 * s.request.mass * x[k];
  const double distance = host_distance(&whole, y, plain_source, -1);
  free(y);
  return distance;
}

static void hops_and_info_are_those_of_the_links(void) {
  int status;
  staghorn_gauge *gauge = make(plain_links, plain_long, &status);
  double *x = host_zeros(&whole), *y = hop(plain_links, plain_long, plain_source);
  const void *in[1] = {plain_source};
  void *out[1] = {x};
  CHECK(staghorn_hop(gauge, &s.vectors, STAGHORN_FULL, 1, in, out) == STAGHORN_OK);
  CHECK(host_distance(&whole, x, y, -1) < 1e-14);
  staghorn_gauge_info info;
  staghorn_defaults(&info, sizeof info, STAGHORN_GAUGE_INFO);
  CHECK(staghorn_gauge_get(gauge, &info) == STAGHORN_OK);
  CHECK(info.naive == 0 && fabs(info.coefficient / coefficient - 1) < 1e-7 && info.long_unitarity < 1e-6);
  CHECK(info.unitarity > 1e-3 && info.long_hash != 0 && info.long_hash != info.hash && info.loads == 1);
  free(x);
  free(y);
  staghorn_gauge_destroy(&gauge);
}

/* fp64/fp32 with 13 and 9 reals of a long link, and D x. */
static void mixed_precision_is_certified(void) {
  int status;
  staghorn_gauge *gauge = make(plain_links, plain_long, &status);
  s.request.sloppy = STAGHORN_FP32;
  for (int reals = 0; reals <= 13; reals += reals ? 4 : 9) {
    s.request.sloppy_reals = reals;
    double *x = host_zeros(&whole), *dx = host_zeros(&whole);
    const void *b[1] = {plain_source};
    void *solutions[1] = {x}, *hops[1] = {dx};
    CHECK(staghorn_solve(gauge, &s.request, &s.vectors, 1, b, solutions, hops, &s.result) == STAGHORN_OK);
    CHECK(s.result.updates > 0 && residual(plain_links, plain_long, x) < 1.01 * tolerance);
    double *expected = hop(plain_links, plain_long, x);
    CHECK(host_distance(&whole, dx, expected, -1) < 1e-14);
    char json[60000];
    size_t bytes = sizeof json;
    CHECK(staghorn_report(context, json, &bytes) == STAGHORN_OK);
    CHECK(strstr(json, reals == 9 ? "\"sloppy_naik_links\": 9" : "\"sloppy_naik_links\": 13"));
    free(x);
    free(dx);
    free(expected);
  }
  s.request.sloppy_reals = 12;
  const void *b[1] = {plain_source};
  void *solutions[1] = {zero_links};
  CHECK(staghorn_solve(gauge, &s.request, &s.vectors, 1, b, solutions, NULL, &s.result) == STAGHORN_E_ARGUMENT);
  CHECK(strstr(staghorn_last_error(), "sloppy_reals"));
  s.request.sloppy = STAGHORN_NO_SLOPPY;
  s.request.sloppy_reals = 0;
  staghorn_gauge_destroy(&gauge);
}

/* One gauge is thin, improved, improved with other links, and thin again: each time with the bits of a new gauge. */
static void a_gauge_takes_any_links(void) {
  int status;
  double *other_fat = malloc((size_t)host_volume(&whole) * 576),
         *other_long = malloc((size_t)host_volume(&whole) * 576);
  for (long k = 0; k < 72 * host_volume(&whole); ++k) { /* half of the long links' coefficient; fat links of 1.1 */
    other_fat[k] = 1.1 * plain_links[k];
    other_long[k] = 0.5 * plain_long[k];
  }
  const double *fat[4] = {thin, plain_links, other_fat, thin}, *naik[4] = {NULL, plain_long, other_long, NULL};
  const void *u[4] = {thin, NULL, NULL, NULL};
  staghorn_gauge *gauge = NULL;
  CHECK(staghorn_gauge_create(context, &s.links, u, &gauge) == STAGHORN_OK);
  for (int sloppy = 0; sloppy < 2; ++sloppy) {
    s.request.sloppy = sloppy ? STAGHORN_FP32 : STAGHORN_NO_SLOPPY;
    for (int i = 0; i < 4; ++i) {
      CHECK(update(gauge, fat[i], naik[i]) == STAGHORN_OK);
      staghorn_gauge *fresh = NULL;
      if (naik[i])
        fresh = make(fat[i], naik[i], &status);
      else
        CHECK(staghorn_gauge_create(context, &s.links, u, &fresh) == STAGHORN_OK);
      CHECK(same(solved(gauge), solved(fresh)));
      staghorn_gauge_destroy(&fresh);
    }
  }
  s.request.sloppy = STAGHORN_NO_SLOPPY;
  staghorn_gauge_info info;
  staghorn_defaults(&info, sizeof info, STAGHORN_GAUGE_INFO);
  s.links.generation = 5;
  for (int times = 0; times < 3; ++times) CHECK(update(gauge, plain_links, plain_long) == STAGHORN_OK);
  CHECK(staghorn_gauge_get(gauge, &info) == STAGHORN_OK && info.loads == 1 + 8 + 1);
  CHECK(update(gauge, thin, NULL) == STAGHORN_OK); /* the same generation, but of another kind */
  CHECK(staghorn_gauge_get(gauge, &info) == STAGHORN_OK && info.loads == 11 && info.naive == 1);
  s.links.generation = 0;
  CHECK(update(gauge, plain_links, thin) == STAGHORN_E_VALUE); /* is no pair */
  CHECK(staghorn_gauge_get(gauge, &info) == STAGHORN_E_STATE);
  CHECK(update(gauge, plain_links, plain_long) == STAGHORN_OK);
  free(solved(gauge));
  CHECK(s.result.residual_true <= tolerance);
  free(other_fat);
  free(other_long);
  staghorn_gauge_destroy(&gauge);
}

/* Zero long links: naive quarks with the fat ones, thin or not. */
static void zero_long_links_are_naive(void) {
  int status;
  for (int reals = 18; reals >= 8; reals -= reals > 12 ? 6 : 4) {
    s.links.reals = reals;
    staghorn_links long_links = s.links;
    long_links.reals = 0;
    const void *u[4] = {thin, NULL, NULL, NULL}, *zero[4] = {zero_links, NULL, NULL, NULL};
    staghorn_gauge *naive = NULL, *gauge = NULL;
    CHECK(staghorn_gauge_create(context, &s.links, u, &naive) == STAGHORN_OK);
    CHECK(staghorn_gauge_create_improved(context, &s.links, u, &long_links, zero, &gauge) == STAGHORN_OK);
    CHECK(same(solved(naive), solved(gauge)));
    staghorn_gauge_destroy(&naive);
    staghorn_gauge_destroy(&gauge);
  }
  s.links.reals = 0;
  staghorn_gauge *gauge = make(plain_links, zero_links, &status);
  for (int sloppy = STAGHORN_FP32; sloppy <= STAGHORN_NO_SLOPPY; ++sloppy) {
    s.request.sloppy = sloppy;
    double *x = solved(gauge);
    CHECK(residual(plain_links, NULL, x) < 1.01 * tolerance);
    free(x);
  }
  staghorn_gauge_info info;
  staghorn_defaults(&info, sizeof info, STAGHORN_GAUGE_INFO);
  CHECK(staghorn_gauge_get(gauge, &info) == STAGHORN_OK && info.naive == 1 && info.coefficient == 0);
  staghorn_gauge_destroy(&gauge);
}

static int refused(const double *fat, const double *naik, staghorn_links links, staghorn_links long_links,
                   const char *word) {
  const void *f[4] = {fat, NULL, NULL, NULL}, *n[4] = {naik, NULL, NULL, NULL};
  staghorn_gauge *gauge = NULL;
  const int status = staghorn_gauge_create_improved(context, &links, f, &long_links, n, &gauge);
  if (status >= 0 || gauge || !strstr(staghorn_last_error(), word)) {
    printf("status %d, not '%s': ", status, word);
    return 0;
  }
  return status;
}

static void what_is_no_pair_is_refused(void) {
  const size_t bytes = (size_t)host_volume(&whole) * 576;
  staghorn_links a = s.links, b = s.links;
  CHECK(refused(plain_long, plain_links, a, a, "swapped") == STAGHORN_E_VALUE);
  double *other = host_links(&whole, 77), *bad = malloc(bytes);
  CHECK(refused(plain_links, other, a, a, "no pair") == STAGHORN_E_VALUE);
  memcpy(bad, plain_long, bytes);
  bad[1234] = NAN;
  CHECK(refused(plain_links, bad, a, a, "long links") == STAGHORN_E_VALUE);
  memcpy(bad, plain_links, bytes);
  bad[4321] = INFINITY;
  CHECK(refused(bad, plain_long, a, a, "fat links") == STAGHORN_E_VALUE);
  CHECK(refused(plain_links, NULL, a, a, "naik_links") == STAGHORN_E_ARGUMENT);
  b.coefficient = 1.001 * coefficient;
  CHECK(refused(plain_links, plain_long, a, b, "coefficient") == STAGHORN_E_VALUE);
  b.coefficient = NAN;
  CHECK(refused(plain_links, plain_long, a, b, "coefficient") == STAGHORN_E_ARGUMENT);
  CHECK(refused(plain_links, plain_long, b, a, "coefficient") == STAGHORN_E_ARGUMENT);
  b = a;
  a.reals = 12;
  CHECK(refused(plain_links, plain_long, a, b, "links.reals") == STAGHORN_E_ARGUMENT);
  CHECK(refused(plain_links, plain_long, b, a, "links.reals") == STAGHORN_E_ARGUMENT);
  a.reals = 13;
  CHECK(refused(plain_links, plain_long, a, b, "links.reals") == STAGHORN_E_ARGUMENT);
  a = b;
  a.scale[2] = 1.5;
  CHECK(refused(plain_links, plain_long, a, b, "scale") == STAGHORN_E_LAYOUT);
  a = b;
  a.theta[1] = 1;
  CHECK(refused(plain_links, plain_long, a, b, "theta") == STAGHORN_E_LAYOUT);
  a = b;
  a.phases = STAGHORN_PHASES_MILC;
  CHECK(refused(plain_links, plain_long, a, b, "phases") == STAGHORN_E_LAYOUT);
  CHECK(refused(plain_links, plain_long, a, a, "determinants") == STAGHORN_E_VALUE); /* there are none in them */
  a.phases = STAGHORN_PHASES_AS_GIVEN;
  CHECK(refused(plain_links, plain_long, a, a, "`none`") == STAGHORN_E_VALUE);
  memcpy(bad, plain_long, bytes); /* long links that are not unitary: 18 reals only */
  for (long k = 0; k < 72 * host_volume(&whole); ++k) bad[k] *= 1 + 0.01 * host_random(3, (uint64_t)k / 18);
  b.reals = 13;
  CHECK(refused(plain_links, bad, s.links, b, "naik_links") == STAGHORN_E_VALUE);
  b.reals = 0;
  int status;
  staghorn_gauge *gauge = make(plain_links, bad, &status);
  s.request.sloppy = STAGHORN_FP32;
  double *x = solved(gauge);
  CHECK(residual(plain_links, bad, x) < 1.01 * tolerance);
  s.request.sloppy = STAGHORN_NO_SLOPPY;
  free(x);
  staghorn_gauge_destroy(&gauge);
  free(other);
  free(bad);
}

/* A thin gauge with an action, updated: the bits of a new one. What makes no sense is refused. */
static void actions_make_links_again_after_an_update(void) {
  double *other = host_links(&whole, 9);
  const void *first[4] = {thin, NULL, NULL, NULL}, *second[4] = {other, NULL, NULL, NULL};
  staghorn_action action;
  staghorn_defaults(&action, sizeof action, STAGHORN_ACTION);
  for (action.quarks = STAGHORN_NAIVE; action.quarks <= STAGHORN_HISQ; ++action.quarks) {
    staghorn_gauge *gauge = NULL, *fresh = NULL;
    CHECK(staghorn_gauge_create_action(context, &s.links, first, &action, &gauge) == STAGHORN_OK);
    CHECK(staghorn_gauge_create_action(context, &s.links, second, &action, &fresh) == STAGHORN_OK);
    free(solved(gauge));
    CHECK(staghorn_gauge_update(gauge, &s.links, second) == STAGHORN_OK);
    CHECK(same(solved(gauge), solved(fresh)));
    staghorn_gauge_info info;
    staghorn_defaults(&info, sizeof info, STAGHORN_GAUGE_INFO);
    CHECK(staghorn_gauge_get(gauge, &info) == STAGHORN_OK && info.naive == (action.quarks == STAGHORN_NAIVE));
    CHECK(fabs(info.coefficient - (info.naive ? 0 : -1.0 / 24)) < 1e-15);
    staghorn_gauge_destroy(&gauge);
    staghorn_gauge_destroy(&fresh);
  }
  staghorn_gauge *gauge = NULL;
  action.quarks = 3;
  CHECK(staghorn_gauge_create_action(context, &s.links, first, &action, &gauge) == STAGHORN_E_ARGUMENT && !gauge);
  action.quarks = STAGHORN_ASQTAD;
  action.u0 = 0;
  CHECK(staghorn_gauge_create_action(context, &s.links, first, &action, &gauge) == STAGHORN_E_ARGUMENT);
  CHECK(staghorn_gauge_create_action(context, &s.links, first, NULL, &gauge) == STAGHORN_E_ARGUMENT);
  action.u0 = 1;
  s.links.scale[0] = 2;
  CHECK(staghorn_gauge_create_action(context, &s.links, first, &action, &gauge) == STAGHORN_E_VALUE);
  s.links.scale[0] = 1;
  free(other);
}

static double *read_doubles(const char *path, size_t count) {
  double *values = malloc(count * sizeof *values);
  FILE *file = fopen(path, "rb");
  if (!file || fread(values, sizeof *values, count, file) != count) exit(2);
  fclose(file);
  return values;
}

static int solve_files(char **argv) {
  const int action = strcmp(argv[1], "action") == 0;
  size_t volume = 1;
  for (int mu = 0; mu < 4; ++mu) volume *= (size_t)(s.geometry.global[mu] = atoi(argv[5 + action + mu]));
  if (staghorn_context_create(&context, &s.geometry, &s.options) != STAGHORN_OK) return 2;
  double *links[2] = {read_doubles(argv[1 + 2 * action], 72 * volume), NULL}, *b = NULL;
  staghorn_gauge *gauge = NULL;
  const void *first[4] = {links[0], NULL, NULL, NULL};
  int status;
  if (action) {
    staghorn_action quarks;
    staghorn_defaults(&quarks, sizeof quarks, STAGHORN_ACTION);
    quarks.quarks = atoi(argv[2]);
    b = read_doubles(argv[4], 6 * volume);
    status = staghorn_gauge_create_action(context, &s.links, first, &quarks, &gauge);
  } else {
    links[1] = read_doubles(argv[2], 72 * volume);
    b = read_doubles(argv[3], 6 * volume);
    s.links.phases = atoi(argv[10]);
    s.links.boundary_in = s.links.phases != STAGHORN_PHASES_NONE;
    staghorn_links long_links = s.links;
    long_links.coefficient = atof(argv[11]);
    const void *second[4] = {links[1], NULL, NULL, NULL};
    status = staghorn_gauge_create_improved(context, &s.links, first, &long_links, second, &gauge);
  }
  s.request.mass = atof(argv[9 + action]);
  double *x = calloc(6 * volume, sizeof *x);
  const void *sources[1] = {b};
  void *solutions[1] = {x};
  if (status == STAGHORN_OK)
    status = staghorn_solve(gauge, &s.request, &s.vectors, 1, sources, solutions, NULL, &s.result);
  printf("status %d iterations %ld %s\n", status, (long)s.result.iterations, status < 0 ? staghorn_last_error() : "");
  FILE *file = fopen(argv[4 + action], "wb");
  if (!file || fwrite(x, sizeof *x, 6 * volume, file) != 6 * volume || fclose(file) != 0) return 2;
  free(x);
  free(b);
  for (int k = 0; k < 2; ++k) free(links[k]);
  staghorn_context_destroy(&context);
  return 0;
}

int main(int argc, char **argv) {
  s = default_structs();
  s.options.threads = 1;
  if (argc > 1) return argc == 12 || argc == 11 ? solve_files(argv) : 2;
  make_problem(0);
  thin = malloc((size_t)host_volume(&whole) * 576);
  memcpy(thin, plain_links, (size_t)host_volume(&whole) * 576);
  make_problem(1);
  zero_links = calloc((size_t)host_volume(&whole), 576);
  for (int mu = 0; mu < 4; ++mu) s.geometry.global[mu] = whole.n[mu];
  s.request.mass = mass;
  s.request.tolerance = tolerance;
  CHECK(staghorn_context_create(&context, &s.geometry, &s.options) == STAGHORN_OK);
  hops_and_info_are_those_of_the_links();
  mixed_precision_is_certified();
  a_gauge_takes_any_links();
  zero_long_links_are_naive();
  s.request.sloppy = STAGHORN_NO_SLOPPY;
  what_is_no_pair_is_refused();
  actions_make_links_again_after_an_update();
  staghorn_context_destroy(&context);
  free(thin);
  free(zero_links);
  if (!failures) printf("ok\n");
  return failures != 0;
}
