/* staghorn_multishift from a C99 program in one process; D is the host's own.
 *
 *   many_shifts                                       the checks below; exit status 1 if one fails
 *   many_shifts X SLOPPY                              solves for the masses 0.1, 0.2 and 0.4 on even sites with links
 * and source of files `links` and `source` beside X, raw doubles */
#include <staghorn.h>

#include "hosts/checks.h"
#include "hosts/host.h"
#include "hosts/structs.h"

enum { most = 34 };
static const host_lattice lattice = {{4, 6, 4, 8}, {4, 6, 4, 8}, {0, 0, 0, 0}};
static host_structs s;
static staghorn_context *context;
static staghorn_gauge *gauge;
static double *u, *b, *x[most], *dx[most];
static staghorn_result results[most];
static const double shift[4] = {0.3, 0, 0.05, 2}, tolerance[4] = {1e-9, 1e-11, 0, 1e-5};

static int call(int n, const double *tolerances, const double *alpha, double **hops) {
  void *solutions[most], *to[most];
  for (int i = 0; i < most; ++i) {
    solutions[i] = x[i];
    to[i] = dx[i];
    staghorn_defaults(&results[i], sizeof results[i], STAGHORN_RESULT);
  }
  return staghorn_multishift(gauge, &s.request, &s.vectors, n, shift, tolerances, alpha, b, solutions, hops ? to : NULL,
                             results);
}
static void fill(double *v, double value) {
  for (long k = 0; k < 6 * host_volume(&lattice); ++k) v[k] = value;
}
static int on(int parity, long site) { return parity < 0 || host_parity(&lattice, site) == parity; }

/* |b - (A + shift) v| / |b| on a parity; halved: of A / 4. */
static double shifted_residual(const double *v, double of_shift, int parity) {
  const long V = host_volume(&lattice);
  double *a = host_zeros(&lattice), *d = host_zeros(&lattice), *dd = host_zeros(&lattice);
  for (long k = 0; k < 6 * V; ++k) a[k] = on(parity, k / 6) ? v[k] : 0;
  host_hop(&lattice, u, a, d);
  host_hop(&lattice, u, d, dd);
  const double m2 = 4 * s.request.mass * s.request.mass, factor = s.request.halved ? 0.25 : 1;
  for (long k = 0; k < 6 * V; ++k) a[k] = factor * (m2 * a[k] - dd[k]) + of_shift * a[k];
  const double distance = host_distance(&lattice, a, b, parity);
  free(a);
  free(d);
  free(dd);
  return distance;
}

static void shifts_are_solved_to_their_tolerances(void) {
  for (int halved = 0; halved < 2; ++halved)
    for (int system = STAGHORN_EVEN; system <= STAGHORN_ODD; ++system) {
      const int parity = system - STAGHORN_EVEN;
      s.request.system = system;
      s.request.halved = halved;
      for (int i = 0; i < 4; ++i) {
        fill(x[i], 9);
        fill(dx[i], 9);
      }
      CHECK(call(4, tolerance, NULL, dx) == STAGHORN_OK);
      double *d = host_zeros(&lattice);
      for (int i = 0; i < 4; ++i) {
        const double asked = tolerance[i] > 0 ? tolerance[i] : s.request.tolerance;
        const double residual = shifted_residual(x[i], shift[i], parity);
        CHECK(residual <= 1.01 * asked && fabs(residual - results[i].residual_true) < 1e-3 * residual + 1e-15);
        CHECK(results[i].residual_parity == results[i].residual_true && results[i].status == STAGHORN_OK);
        CHECK(results[i].iterations <= results[1].iterations && results[i].iterations > 3);
        for (long site = 0; site < host_volume(&lattice); ++site) {
          CHECK(on(parity, site) || x[i][6 * site + 2] == 9);
          CHECK(!on(parity, site) || dx[i][6 * site + 2] == 9);
          for (int k = 0; k < 6 && !on(parity, site); ++k) x[i][6 * site + k] = 0;
        }
        host_hop(&lattice, u, x[i], d);
        CHECK(host_distance(&lattice, dx[i], d, 1 - parity) < 1e-14);
      }
      CHECK(results[3].iterations < results[1].iterations / 2);
      free(d);
    }
  s.request.halved = 0;
}

/* x[0] += sum alpha[i] x[i], and nothing else is written. */
static void alpha_sums_onto_what_is_there(void) {
  const double alpha[4] = {0.5, -2, 3, 0.125};
  double *sum = host_zeros(&lattice);
  s.request.system = STAGHORN_EVEN;
  CHECK(call(4, NULL, NULL, NULL) == STAGHORN_OK);
  for (long k = 0; k < 6 * host_volume(&lattice); ++k) {
    sum[k] = 9;
    for (int i = 0; i < 4 && on(0, k / 6); ++i) sum[k] = fma(alpha[i], x[i][k], sum[k]);
  }
  for (int i = 0; i < 4; ++i) fill(x[i], 9);
  CHECK(call(4, NULL, alpha, NULL) == STAGHORN_OK);
  CHECK(memcmp(x[0], sum, (size_t)host_volume(&lattice) * 48) == 0);
  CHECK(x[1][0] == 9 && x[3][100] == 9 && results[3].status == STAGHORN_OK && results[3].residual_true > 0);
  CHECK(call(4, NULL, alpha, dx) == STAGHORN_E_ARGUMENT && strstr(staghorn_last_error(), "dx"));
  free(sum);
}

/* (2 m_i + D) x = b with 4 m_i^2 = 4m^2 + shift; 2m - D; halved. */
static void full_systems_have_the_mass_of_the_shift(void) {
  s.request.system = STAGHORN_FULL;
  for (int halved = 0; halved < 2; ++halved)
    for (int sign = -1; sign < 2; sign += 2) {
      s.request.halved = halved;
      s.request.sign = sign;
      CHECK(call(3, NULL, NULL, NULL) == STAGHORN_OK);
      double *y = host_zeros(&lattice);
      for (int i = 0; i < 3; ++i) {
        const double m = s.request.mass, mass = sqrt(m * m + (halved ? shift[i] : shift[i] / 4));
        host_hop(&lattice, u, x[i], y);
        for (long k = 0; k < 6 * host_volume(&lattice); ++k)
          y[k] = (halved ? 0.5 : 1) * (2 * mass * x[i][k] + sign * y[k]);
        CHECK(host_distance(&lattice, y, b, -1) <= 1.01 * s.request.tolerance);
      }
      free(y);
    }
  s.request.halved = 0;
  s.request.sign = 1;
}

/* Half fields in CPS's order, fp32 and mixed precision; a struct of results that is longer than ours. */
static void layouts_and_precisions_are_those_of_a_single_solve(void) {
  s.request.system = STAGHORN_ODD;
  s.request.sloppy = STAGHORN_FP32;
  CHECK(call(4, NULL, NULL, NULL) == STAGHORN_OK);
  for (int i = 0; i < 4; ++i) CHECK(shifted_residual(x[i], shift[i], 1) <= 1.01 * s.request.tolerance);
  s.request.sloppy = STAGHORN_NO_SLOPPY;

  CHECK(call(4, NULL, NULL, NULL) == STAGHORN_OK);
  staghorn_vectors half = s.vectors;
  half.order = STAGHORN_CPS_STAG;
  half.half = STAGHORN_ODD;
  double *in = host_zeros(&lattice), *back = host_zeros(&lattice), *there[4];
  staghorn_vectors lex = s.vectors;
  staghorn_vectors whole = half;
  whole.half = 0;
  CHECK(staghorn_convert_vectors(context, &lex, b, &whole, in) == STAGHORN_OK);
  const double *odd = in + 3 * host_volume(&lattice);
  void *solutions[4];
  struct {
    staghorn_result result;
    double more[4];
  } longer[4];
  for (int i = 0; i < 4; ++i) {
    solutions[i] = there[i] = host_zeros(&lattice);
    memset(&longer[i], 0, sizeof longer[i]);
    longer[i].result.struct_size = sizeof longer[0];
    longer[i].more[3] = 5;
  }
  CHECK(staghorn_multishift(gauge, &s.request, &half, 4, shift, NULL, NULL, odd, solutions, NULL, &longer[0].result) ==
        STAGHORN_OK);
  for (int i = 0; i < 4; ++i) {
    memcpy(in + 3 * host_volume(&lattice), there[i], (size_t)host_volume(&lattice) * 24);
    CHECK(staghorn_convert_vectors(context, &whole, in, &lex, back) == STAGHORN_OK);
    CHECK(host_distance(&lattice, back, x[i], 1) == 0);
    CHECK(longer[i].result.iterations == results[i].iterations && longer[i].more[3] == 5);
    free(there[i]);
  }
  free(in);
  free(back);
}

static int stop_at_once(void *data, int64_t iteration, double residual) {
  (void)data;
  (void)residual;
  return iteration >= 10;
}

static int say_no(void *data) {
  ++*(int *)data;
  return -1;
}

/* Neither solutions, nor D of them, nor their sum. */
static void withheld_solutions_are_not_written(void) {
  const double alpha[4] = {1, 2, 3, 4};
  int calls = 0;
  s.request.withhold = say_no;
  s.request.withhold_data = &calls;
  for (int i = 0; i < 4; ++i) {
    fill(dx[i], 8);
    fill(x[i], 9);
  }
  CHECK(call(4, NULL, NULL, dx) == STAGHORN_WITHHELD && calls == 1);
  CHECK(call(4, NULL, alpha, NULL) == STAGHORN_WITHHELD && calls == 2);
  for (int i = 0; i < 4; ++i)
    for (long k = 0; k < 6 * host_volume(&lattice); ++k) CHECK(x[i][k] == 9 && dx[i][k] == 8);
  s.request.withhold = NULL;
}

static void outcomes_and_errors(void) {
  s.request.system = STAGHORN_EVEN;
  s.request.max_iterations = 5;
  CHECK(call(4, NULL, NULL, NULL) == STAGHORN_NOT_CONVERGED && results[1].residual_true > 1e-4);
  s.request.max_iterations = 10000;
  s.request.progress = stop_at_once;
  CHECK(call(4, NULL, NULL, NULL) == STAGHORN_STOPPED);
  s.request.progress = NULL;
  double *source = b;
  b = host_zeros(&lattice);
  fill(x[2], 9);
  CHECK(call(4, NULL, NULL, NULL) == STAGHORN_OK && x[2][0] == 0 && results[2].iterations == 0);
  free(b);
  b = source;
  const double *zero = NULL, bad[4] = {1, NAN, -1, 1};
  void *solutions[4] = {x[0], x[1], x[2], NULL};
#define REFUSED(...) (staghorn_multishift(gauge, &s.request, &s.vectors, __VA_ARGS__) == STAGHORN_E_ARGUMENT)
  CHECK(REFUSED(0, shift, NULL, NULL, b, solutions, NULL, results));
  CHECK(REFUSED(34, shift, NULL, NULL, b, solutions, NULL, results));
  CHECK(REFUSED(3, NULL, NULL, NULL, b, solutions, NULL, results));
  CHECK(REFUSED(3, bad, NULL, NULL, b, solutions, NULL, results) && strstr(staghorn_last_error(), "shift"));
  CHECK(REFUSED(1, bad + 2, NULL, NULL, b, solutions, NULL, results) && strstr(staghorn_last_error(), "shift"));
  CHECK(REFUSED(3, shift, NULL, bad, b, solutions, NULL, results) && strstr(staghorn_last_error(), "alpha"));
  CHECK(REFUSED(3, shift, NULL, NULL, zero, solutions, NULL, results));
  CHECK(REFUSED(4, shift, NULL, NULL, b, solutions, NULL, results));
  CHECK(REFUSED(3, shift, NULL, NULL, b, NULL, NULL, results));
  CHECK(REFUSED(3, shift, NULL, NULL, b, solutions, NULL, NULL));
  CHECK(call(4, bad, NULL, NULL) < 0 && strstr(staghorn_last_error(), "tolerance"));
  s.request.guess = 1;
  CHECK(call(4, NULL, NULL, NULL) == STAGHORN_E_ARGUMENT && strstr(staghorn_last_error(), "guess"));
  s.request.guess = 0;
  s.request.system = STAGHORN_FULL;
  s.request.stop = STAGHORN_STOP_ON_PARITY;
  CHECK(call(4, NULL, NULL, NULL) == STAGHORN_E_UNSUPPORTED);
  s.request.stop = STAGHORN_STOP_ON_SYSTEM;
  CHECK(call(4, NULL, NULL, NULL) == STAGHORN_OK);
}

/* Fat and long links have shifts too: the shift of nothing is the single solve. */
static void improved_quarks_have_shifts(void) {
  double *naik = host_long_links(&lattice, u), *single = host_zeros(&lattice);
  const void *fat[4] = {u, NULL, NULL, NULL}, *lng[4] = {naik, NULL, NULL, NULL};
  CHECK(staghorn_gauge_update_improved(gauge, &s.links, fat, &s.links, lng) == STAGHORN_OK);
  s.request.system = STAGHORN_EVEN;
  CHECK(call(4, NULL, NULL, NULL) == STAGHORN_OK);
  const void *source[1] = {b};
  void *solution[1] = {single};
  CHECK(staghorn_solve(gauge, &s.request, &s.vectors, 1, source, solution, NULL, &s.result) == STAGHORN_OK);
  CHECK(host_distance(&lattice, x[1], single, 0) < 1e-9);
  CHECK(staghorn_gauge_update(gauge, &s.links, fat) == STAGHORN_OK);
  CHECK(call(4, NULL, NULL, NULL) == STAGHORN_OK);
  CHECK(host_distance(&lattice, x[1], single, 0) > 1e-3);
  free(naik);
  free(single);
}

static void read_beside(const char *path, const char *name, double *to, size_t count) {
  char text[4096];
  snprintf(text, sizeof text, "%s", path);
  char *slash = strrchr(text, '/');
  snprintf(slash + 1, sizeof text - (size_t)(slash + 1 - text), "%s", name);
  FILE *file = fopen(text, "rb");
  if (!file || fread(to, sizeof *to, count, file) != count) exit(2);
  fclose(file);
}

int main(int argc, char **argv) {
  s = default_structs();
  for (int mu = 0; mu < 4; ++mu) s.geometry.global[mu] = lattice.n[mu];
  s.options.threads = 1;
  u = host_links(&lattice, 1);
  b = host_vector(&lattice, 1000000);
  if (argc == 3) {
    read_beside(argv[1], "links", u, (size_t)host_volume(&lattice) * 72);
    read_beside(argv[1], "source", b, (size_t)host_volume(&lattice) * 6);
  }
  for (int i = 0; i < most; ++i) {
    x[i] = host_zeros(&lattice);
    dx[i] = host_zeros(&lattice);
  }
  const void *links[4] = {u, NULL, NULL, NULL};
  CHECK(staghorn_context_create(&context, &s.geometry, &s.options) == STAGHORN_OK);
  CHECK(staghorn_gauge_create(context, &s.links, links, &gauge) == STAGHORN_OK);
  if (argc == 3) {
    const double masses[3] = {0.1, 0.2, 0.4};
    double offsets[3];
    void *solutions[3] = {x[0], x[1], x[2]};
    for (int i = 0; i < 3; ++i) {
      offsets[i] = 4 * masses[i] * masses[i];
      staghorn_defaults(&results[i], sizeof results[i], STAGHORN_RESULT);
    }
    s.request.system = STAGHORN_EVEN;
    s.request.sloppy = atoi(argv[2]);
    CHECK(staghorn_multishift(gauge, &s.request, &s.vectors, 3, offsets, NULL, NULL, b, solutions, NULL, results) ==
          STAGHORN_OK);
    FILE *file = fopen(argv[1], "wb");
    if (!file) return 2;
    for (int i = 0; i < 3; ++i) fwrite(x[i], 48, (size_t)host_volume(&lattice), file);
    fclose(file);
  } else {
    s.request.mass = 0.2;
    shifts_are_solved_to_their_tolerances();
    alpha_sums_onto_what_is_there();
    full_systems_have_the_mass_of_the_shift();
    layouts_and_precisions_are_those_of_a_single_solve();
    withheld_solutions_are_not_written();
    outcomes_and_errors();
    improved_quarks_have_shifts();
  }
  staghorn_context_destroy(&context);
  for (int i = 0; i < most; ++i) {
    free(x[i]);
    free(dx[i]);
  }
  free(u);
  free(b);
  if (!failures) printf("ok\n");
  return failures != 0;
}
