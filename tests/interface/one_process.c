/* libstaghorn.so from a C99 program in one process, without MPI: each check is a sentence, and its arithmetic is the
 * host's own. `one_process` runs all, `one_process NAME` one; exit status 1 if one fails. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <staghorn.h>
#include <sys/mman.h>

#include "hosts/checks.h"
#include "hosts/host.h"
#include "hosts/structs.h"

static const host_lattice small = {{4, 6, 8, 4}, {4, 6, 8, 4}, {0, 0, 0, 0}};

typedef struct {
  double *u, *b, *x, *y, *z;
  staghorn_context *context;
  staghorn_gauge *gauge;
  host_structs s;
} bench;

static void open_context(bench *t) {
  t->s = default_structs();
  for (int mu = 0; mu < 4; ++mu) t->s.geometry.global[mu] = small.n[mu];
  t->s.request.mass = 0.2;
  t->s.options.threads = 1;
  t->context = NULL;
  t->gauge = NULL;
  CHECK(staghorn_context_create(&t->context, &t->s.geometry, &t->s.options) == STAGHORN_OK);
}

static bench set_up(void) {
  bench t;
  memset(&t, 0, sizeof t);
  open_context(&t);
  t.u = host_links(&small, 1);
  t.b = host_vector(&small, 1000000);
  t.x = host_zeros(&small);
  t.y = host_zeros(&small);
  t.z = host_zeros(&small);
  const void *u[4] = {t.u, NULL, NULL, NULL};
  CHECK(staghorn_gauge_create(t.context, &t.s.links, u, &t.gauge) == STAGHORN_OK);
  return t;
}

static void tear_down(bench *t) {
  CHECK(staghorn_gauge_destroy(&t->gauge) == STAGHORN_OK && t->gauge == NULL);
  CHECK(staghorn_context_destroy(&t->context) == STAGHORN_OK && t->context == NULL);
  free(t->u);
  free(t->b);
  free(t->x);
  free(t->y);
  free(t->z);
}

static int solve(bench *t, const double *b, double *x, double *dx) {
  const void *sources[1] = {b};
  void *solutions[1] = {x}, *hops[1] = {dx};
  return staghorn_solve(t->gauge, &t->s.request, &t->s.vectors, 1, sources, solutions, dx ? hops : NULL, &t->s.result);
}

/* y = factor (2m + sign D) x, by the host. */
static void apply_full(const bench *t, const double *x, double factor, double sign, double *y) {
  host_hop(&small, t->u, x, y);
  for (long k = 0; k < 6 * host_volume(&small); ++k) y[k] = factor * (2 * t->s.request.mass * x[k] + sign * y[k]);
}

static void full_system_is_solved(void) {
  bench t = set_up();
  CHECK(solve(&t, t.b, t.x, t.z) == STAGHORN_OK);
  CHECK(t.s.result.residual_true <= 1e-10 && t.s.result.residual_true > 0 && t.s.result.iterations > 10);
  apply_full(&t, t.x, 1, 1, t.y);
  CHECK(host_distance(&small, t.y, t.b, -1) <= 1.01e-10);
  CHECK(host_distance(&small, t.y, t.b, -1) >= 0.99 * t.s.result.residual_true);
  host_hop(&small, t.u, t.x, t.y);
  CHECK(host_distance(&small, t.z, t.y, -1) < 1e-14); /* dx */
  double b2 = 0;
  for (long k = 0; k < 6 * host_volume(&small); ++k) b2 += t.b[k] * t.b[k];
  CHECK(fabs(t.s.result.source_norm2 / b2 - 1) < 1e-13);
  tear_down(&t);
}

/* Their squares leave the range in which sums are exact, or that of a double. */
static void norms_of_sources_of_any_size_are_told(void) {
  bench t = set_up();
  t.s.request.tolerance = 1e-6;
  double b2 = 0;
  for (long k = 0; k < 6 * host_volume(&small); ++k) b2 += t.b[k] * t.b[k];
  static const int powers[] = {-500, -490, 400, 480};
  for (int i = 0; i < 4; ++i) {
    for (long k = 0; k < 6 * host_volume(&small); ++k) t.y[k] = ldexp(t.b[k], powers[i]);
    CHECK(solve(&t, t.y, t.x, NULL) == STAGHORN_OK);
    CHECK(fabs(t.s.result.source_norm2 / ldexp(b2, 2 * powers[i]) - 1) < 1e-12);
  }
  tear_down(&t);
}

static void sign_and_factor_are_the_hosts(void) {
  for (int halved = 0; halved < 2; ++halved)
    for (int sign = -1; sign <= 1; sign += 2) {
      bench t = set_up();
      t.s.request.halved = halved;
      t.s.request.sign = sign;
      CHECK(solve(&t, t.b, t.x, t.z) == STAGHORN_OK);
      apply_full(&t, t.x, halved ? 0.5 : 1, sign, t.y);
      CHECK(host_distance(&small, t.y, t.b, -1) <= 1.01e-10);
      host_hop(&small, t.u, t.x, t.y);
      CHECK(host_distance(&small, t.z, t.y, -1) < 1e-14);
      tear_down(&t);
    }
}

static void parity_solve_leaves_the_other_half_alone(void) {
  for (int system = STAGHORN_EVEN; system <= STAGHORN_ODD; ++system)
    for (int halved = 0; halved < 2; ++halved) {
      bench t = set_up();
      const int parity = system - STAGHORN_EVEN;
      t.s.request.system = system;
      t.s.request.halved = halved;
      for (long k = 0; k < 6 * host_volume(&small); ++k) t.x[k] = t.z[k] = 9;
      CHECK(solve(&t, t.b, t.x, t.z) == STAGHORN_OK);
      for (long site = 0; site < host_volume(&small); ++site)
        for (int k = 0; k < 6; ++k) {
          if (host_parity(&small, site) != parity) CHECK(t.x[6 * site + k] == 9);
          if (host_parity(&small, site) == parity) CHECK(t.z[6 * site + k] == 9);
          if (host_parity(&small, site) != parity) t.x[6 * site + k] = 0;
        }
      /* A x = 4m^2 x - D D x */
      host_hop(&small, t.u, t.x, t.y);
      CHECK(host_distance(&small, t.z, t.y, 1 - parity) < 1e-14);
      double *dd = host_zeros(&small);
      host_hop(&small, t.u, t.y, dd);
      const double m2 = 4 * t.s.request.mass * t.s.request.mass, factor = halved ? 0.25 : 1;
      for (long k = 0; k < 6 * host_volume(&small); ++k) t.y[k] = factor * (m2 * t.x[k] - dd[k]);
      CHECK(host_distance(&small, t.y, t.b, parity) <= 1.01e-10);
      free(dd);
      tear_down(&t);
    }
}

static void stop_on_parity_is_of_the_parity_system(void) {
  bench t = set_up();
  t.s.request.stop = STAGHORN_STOP_ON_PARITY;
  t.s.request.tolerance = 1e-8;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK);
  CHECK(t.s.result.residual_parity <= 1e-8 && t.s.result.residual_parity > 0 && t.s.result.residual_true > 0);
  apply_full(&t, t.x, 1, 1, t.y);
  CHECK(fabs(host_distance(&small, t.y, t.b, -1) / t.s.result.residual_true - 1) < 1e-3);
  CHECK(host_distance(&small, t.y, t.b, 1) < 1e-14); /* the odd equation holds */
  /* From the solution: its even half is enough, and nothing is left to do. */
  t.s.request.guess = 1;
  t.s.request.tolerance = 1.1e-8;
  for (long site = 0; site < host_volume(&small); ++site)
    if (host_parity(&small, site) == 1)
      for (int k = 0; k < 6; ++k) t.x[6 * site + k] = 7;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK && t.s.result.iterations == 0);
  apply_full(&t, t.x, 1, 1, t.y);
  CHECK(host_distance(&small, t.y, t.b, 1) < 1e-14);
  t.s.request.stop = STAGHORN_STOP_ON_SYSTEM;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK && t.s.result.residual_parity == -1); /* not computed */
  tear_down(&t);
}

static void zero_source_is_a_result(void) {
  bench t = set_up();
  double *zero = host_zeros(&small);
  for (long k = 0; k < 6 * host_volume(&small); ++k) t.x[k] = t.y[k] = 3;
  const void *sources[2] = {zero, t.b};
  void *solutions[2] = {t.x, t.y};
  staghorn_result results[2];
  for (int i = 0; i < 2; ++i) staghorn_defaults(&results[i], sizeof results[i], STAGHORN_RESULT);
  t.s.request.guess = 1;
  CHECK(staghorn_solve(t.gauge, &t.s.request, &t.s.vectors, 2, sources, solutions, NULL, results) == STAGHORN_OK);
  CHECK(results[0].iterations == 0 && results[0].residual_true == 0 && results[0].solution_norm2 == 0);
  CHECK(results[1].residual_true <= 1e-10 && results[1].iterations > 0);
  for (long k = 0; k < 6 * host_volume(&small); ++k) CHECK(t.x[k] == 0);
  CHECK(solve(&t, zero, t.z, NULL) == STAGHORN_OK && t.s.result.iterations == 0);
  free(zero);
  tear_down(&t);
}

static int stop_at_50(void *data, int64_t iteration, double residual) {
  ++*(int *)data;
  return iteration >= 50 || residual < 0;
}

static void progress_function_stops_a_solve(void) {
  bench t = set_up();
  int calls = 0;
  t.s.request.mass = 0.01;
  t.s.request.progress = stop_at_50;
  t.s.request.progress_data = &calls;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_STOPPED && t.s.result.status == STAGHORN_STOPPED);
  CHECK(t.s.result.iterations == 50 && calls == 5);
  t.s.request.progress = NULL;
  t.s.request.guess = 1;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK);
  t.s.request.max_iterations = 3;
  t.s.request.guess = 0;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_NOT_CONVERGED && t.s.result.iterations == 3);
  CHECK(t.s.result.iterations_more == 0); /* too few to tell */
  tear_down(&t);
}

static void a_limit_is_none_unless_it_is_given(void) {
  bench t = set_up();
  CHECK(t.s.request.max_iterations == STAGHORN_NO_LIMIT);
  t.s.request.mass = 0.01;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK && t.s.result.iterations_more == 0);
  const int64_t whole = t.s.result.iterations, half = whole / 2;
  t.s.request.max_iterations = half;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_NOT_CONVERGED && t.s.result.iterations == half);
  CHECK(t.s.result.iterations_more > half / 4 && t.s.result.iterations_more < 4 * half);
  t.s.request.max_iterations = -2;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_E_ARGUMENT && strstr(staghorn_last_error(), "STAGHORN_NO_LIMIT"));
  /* A host that was compiled before there was such a number. */
  t.s.request.max_iterations = half;
  t.s.result.struct_size = offsetof(staghorn_result, iterations_more);
  t.s.result.iterations_more = 77;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_NOT_CONVERGED && t.s.result.iterations_more == 77);
  tear_down(&t);
}

static void masses_and_phases_that_doubles_do_not_resolve_are_refused(void) {
  bench t = set_up();
  t.s.request.mass = 2e15;
  CHECK(solve(&t, t.b, t.x, NULL) < 0 && strstr(staghorn_last_error(), "1e15"));
  t.s.links.theta[3] = 1e17;
  const void *const u[4] = {t.u};
  CHECK(staghorn_gauge_update(t.gauge, &t.s.links, u) == STAGHORN_E_ARGUMENT);
  CHECK(strstr(staghorn_last_error(), "links.theta") && strstr(staghorn_last_error(), "1048576"));
  tear_down(&t);
}

typedef struct {
  int calls, answer;
  double *x; /* that must not have been written when the function is called */
} withholder;

static int withhold(void *data) {
  withholder *own = data;
  ++own->calls;
  CHECK(own->x[0] == 9);
  return own->answer;
}

static void withheld_solutions_are_not_written(void) {
  bench t = set_up();
  withholder own = {0, 1, t.x};
  CHECK(solve(&t, t.b, t.y, NULL) == STAGHORN_OK);
  const staghorn_result known = t.s.result;
  t.s.request.withhold = withhold;
  t.s.request.withhold_data = &own;
  for (long k = 0; k < 6 * host_volume(&small); ++k) t.x[k] = t.z[k] = 9;
  memset(&t.s.result.status, 9, sizeof t.s.result - offsetof(staghorn_result, status));
  const staghorn_result untouched = t.s.result;
  CHECK(solve(&t, t.b, t.x, t.z) == STAGHORN_WITHHELD && own.calls == 1);
  for (long k = 0; k < 6 * host_volume(&small); ++k) CHECK(t.x[k] == 9 && t.z[k] == 9);
  CHECK(memcmp(&t.s.result, &untouched, sizeof untouched) == 0);
  own.answer = 0;
  CHECK(solve(&t, t.b, t.x, t.z) == STAGHORN_OK && own.calls == 2);
  CHECK(memcmp(t.x, t.y, (size_t)host_volume(&small) * 48) == 0 && t.s.result.iterations == known.iterations);
  own.answer = 1;
  t.s.request.struct_size = offsetof(staghorn_request, withhold); /* a host that does not know of it */
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK && own.calls == 2);
  t.s.request.struct_size = sizeof t.s.request;
  t.b[0] = NAN;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_E_VALUE && own.calls == 2);
  tear_down(&t);
}

static int set(bench *t, const char *name, const char *value) {
  return staghorn_request_set(&t->s.request, name, value);
}

static void options_are_set_by_name(void) {
  bench t = set_up();
  t.s.request.tolerance = 1e-6;
  t.s.request.sloppy = STAGHORN_FP32;
  t.s.request.system = STAGHORN_ODD;
  t.s.request.halved = 1;
  t.s.request.tolerance_hq = 1e-7;
  CHECK(solve(&t, t.b, t.y, NULL) == STAGHORN_OK);
  const staghorn_result known = t.s.result;
  t.s.request = default_structs().request;
  t.s.request.halved = 1;
  t.s.request.mass = 7; /* what is set by name goes before it */
  CHECK(set(&t, "mass", "0.3") == STAGHORN_OK && set(&t, "mass", "0.2") == STAGHORN_OK);
  CHECK(set(&t, "tolerance", "1e-6") == STAGHORN_OK && set(&t, "tolerance_hq", "1e-7") == STAGHORN_OK);
  CHECK(set(&t, "sloppy", "fp32") == STAGHORN_OK && set(&t, "system", "odd") == STAGHORN_OK);
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK);
  CHECK(memcmp(t.x, t.y, (size_t)host_volume(&small) * 48) == 0 && t.s.result.iterations == known.iterations);
  CHECK(t.s.result.source_norm2 == known.source_norm2 && t.s.result.residual_hq == known.residual_hq);

  const staghorn_request copy = t.s.request;
  CHECK(set(&t, "max_iterations", "5") == STAGHORN_OK); /* of the copy too */
  t.s.request = copy;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_NOT_CONVERGED && t.s.result.iterations == 5);
  CHECK(staghorn_request_release(&t.s.request) == STAGHORN_OK && t.s.request.words == NULL);
  CHECK(staghorn_request_release(&t.s.request) == STAGHORN_OK);
  t.s.request.mass = 0.2;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK && t.s.result.iterations > 5);
  t.s.request = copy;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_E_STATE && strstr(staghorn_last_error(), "request.words"));
  tear_down(&t);
}

static void options_that_are_none_of_a_call_are_refused_by_name(void) {
  bench t = set_up();
  static const char *const elsewhere[][2] = {{"masses", "staghorn_multishift"},
                                             {"rational", "alpha"},
                                             {"rational_parts", "staghorn_multishift"},
                                             {"source", "fields b"},
                                             {"color", "fields b"},
                                             {"noise_vectors", "fields b"},
                                             {"sources", "fields b"},
                                             {"batch", "fields b"},
                                             {"phases", "vectors.phases"},
                                             {"exact_low_modes", "observables"},
                                             {"boundary", "context and gauge"},
                                             {"fat", "context and gauge"},
                                             {"device", "context and gauge"}};
  for (size_t k = 0; k < sizeof elsewhere / sizeof *elsewhere; ++k) {
    CHECK(set(&t, elsewhere[k][0], "1") == STAGHORN_E_ARGUMENT);
    CHECK(strstr(staghorn_last_error(), elsewhere[k][0]) == staghorn_last_error());
    CHECK(strstr(staghorn_last_error(), elsewhere[k][1]));
  }
  CHECK(set(&t, "max_iterations", "many") == STAGHORN_E_VALUE);
  CHECK(strstr(staghorn_last_error(), "max_iterations: expected") == staghorn_last_error());
  CHECK(set(&t, "patience", "3") < 0 && strstr(staghorn_last_error(), "'patience'"));
  CHECK(set(&t, NULL, "3") == STAGHORN_E_ARGUMENT && set(&t, "mass", NULL) == STAGHORN_E_ARGUMENT);
  CHECK(t.s.request.words == NULL);
  CHECK(staghorn_request_set(NULL, "mass", "1") == STAGHORN_E_ARGUMENT);
  CHECK(staghorn_request_release(NULL) == STAGHORN_E_ARGUMENT);
  t.s.request.struct_size = offsetof(staghorn_request, words); /* an older host has no room */
  CHECK(set(&t, "mass", "1") == STAGHORN_E_ARGUMENT && strstr(staghorn_last_error(), "struct_size"));
  tear_down(&t);
}

/* sqrt of the mean of |y - b|^2 / |x|^2 over sites. */
static double heavy_quark_residual(const bench *t) {
  double sum = 0;
  for (long site = 0; site < host_volume(&small); ++site) {
    double r2 = 0, x2 = 0;
    for (int k = 0; k < 6; ++k) {
      const double r = t->y[6 * site + k] - t->b[6 * site + k];
      r2 += r * r;
      x2 += t->x[6 * site + k] * t->x[6 * site + k];
    }
    sum += x2 > 0 ? r2 / x2 : 1;
  }
  return sqrt(sum / (double)host_volume(&small));
}

static void heavy_quark_residual_is_reached(void) {
  for (int halved = 0; halved < 2; ++halved) {
    bench t = set_up();
    t.s.request.halved = halved;
    t.s.request.tolerance = 1e-3;
    CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK && t.s.result.residual_hq > 2e-6);
    t.s.request.tolerance_hq = 1e-6;
    CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK && t.s.result.residual_hq <= 1e-6);
    apply_full(&t, t.x, halved ? 0.5 : 1, 1, t.y);
    CHECK(fabs(heavy_quark_residual(&t) / t.s.result.residual_hq - 1) < 1e-6);
    tear_down(&t);
  }
}

static void earlier_solutions_are_guesses_while_links_change(void) {
  bench t = set_up();
  const void *u[4] = {t.u, NULL, NULL, NULL};
  t.s.request.chronological = 3;
  for (int step = 0; step < 4; ++step) {
    CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK);
    const int64_t guessed = t.s.result.iterations;
    apply_full(&t, t.x, 1, 1, t.y);
    CHECK(host_distance(&small, t.y, t.b, -1) <= 1.01e-10);
    t.s.request.chronological = 0;
    CHECK(solve(&t, t.b, t.y, NULL) == STAGHORN_OK);
    CHECK(step == 0 ? guessed == t.s.result.iterations : guessed < t.s.result.iterations);
    t.s.request.chronological = 3;
    /* The next links: a small rotation from the left. */
    for (long link = 0; link < 4 * host_volume(&small); ++link) {
      const double angle = 1e-4 * host_random(7, (uint64_t)link), c = cos(angle), s = sin(angle);
      double *rows = t.u + 18 * link;
      for (int k = 0; k < 6; k += 2) {
        const double re0 = rows[k], re1 = rows[6 + k];
        rows[k] = c * re0 - s * rows[k + 1];
        rows[k + 1] = s * re0 + c * rows[k + 1];
        rows[6 + k] = c * re1 + s * rows[6 + k + 1];
        rows[6 + k + 1] = -s * re1 + c * rows[6 + k + 1];
      }
    }
    CHECK(staghorn_gauge_update(t.gauge, &t.s.links, u) == STAGHORN_OK);
  }
  t.s.request.chronological = 33;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_E_ARGUMENT && strstr(staghorn_last_error(), "chronological"));
  tear_down(&t);
}

static void mixed_precision_is_certified_too(void) {
  bench t = set_up();
  t.s.request.sloppy = STAGHORN_FP32;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK && t.s.result.updates > 0);
  apply_full(&t, t.x, 1, 1, t.y);
  CHECK(host_distance(&small, t.y, t.b, -1) <= 1.01e-10);
  /* Links that change in place change in both precisions: as few iterations as a gauge made of them takes. */
  double *other = host_links(&small, 99);
  const void *u[4] = {other, NULL, NULL, NULL};
  CHECK(staghorn_gauge_update(t.gauge, &t.s.links, u) == STAGHORN_OK);
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK);
  const int64_t iterations = t.s.result.iterations, updates = t.s.result.updates;
  CHECK(staghorn_gauge_destroy(&t.gauge) == STAGHORN_OK);
  CHECK(staghorn_gauge_create(t.context, &t.s.links, u, &t.gauge) == STAGHORN_OK);
  CHECK(solve(&t, t.b, t.y, NULL) == STAGHORN_OK && t.s.result.iterations == iterations &&
        t.s.result.updates == updates);
  CHECK(memcmp(t.x, t.y, (size_t)host_volume(&small) * 48) == 0);
  free(other);
  tear_down(&t);
}

static void links_change_in_place(void) {
  bench t = set_up();
  staghorn_gauge_info info;
  staghorn_defaults(&info, sizeof info, STAGHORN_GAUGE_INFO);
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK);
  CHECK(staghorn_gauge_get(t.gauge, &info) == STAGHORN_OK);
  const uint64_t hash = info.hash;
  CHECK(info.loads == 1 && info.unitarity < 1e-14 && info.naive == 1);
  const void *u[4] = {t.u, NULL, NULL, NULL};
  t.s.links.generation = 7;
  CHECK(staghorn_gauge_update(t.gauge, &t.s.links, u) == STAGHORN_OK);
  double *other = host_links(&small, 99);
  u[0] = other;
  CHECK(staghorn_gauge_update(t.gauge, &t.s.links, u) == STAGHORN_OK); /* generation 7 again: nothing is read */
  CHECK(staghorn_gauge_get(t.gauge, &info) == STAGHORN_OK && info.loads == 2 && info.hash == hash);
  t.s.links.generation = 8;
  CHECK(staghorn_gauge_update(t.gauge, &t.s.links, u) == STAGHORN_OK);
  CHECK(staghorn_gauge_get(t.gauge, &info) == STAGHORN_OK && info.loads == 3 && info.hash != hash);
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK);
  free(t.u);
  t.u = other;
  apply_full(&t, t.x, 1, 1, t.y);
  CHECK(host_distance(&small, t.y, t.b, -1) <= 1.01e-10);
  /* Links that are refused leave a gauge without links until the next update. */
  const double kept = other[0];
  other[0] = NAN;
  t.s.links.generation = 0;
  CHECK(staghorn_gauge_update(t.gauge, &t.s.links, u) == STAGHORN_E_VALUE);
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_E_STATE);
  other[0] = kept;
  CHECK(staghorn_gauge_update(t.gauge, &t.s.links, u) == STAGHORN_OK);
  CHECK(solve(&t, t.b, t.z, NULL) == STAGHORN_OK && memcmp(t.x, t.z, (size_t)host_volume(&small) * 48) == 0);
  tear_down(&t);
}

static void hop_is_d(void) {
  bench t = set_up();
  const void *in[1] = {t.b};
  void *out[1] = {t.x};
  for (int target = STAGHORN_FULL; target <= STAGHORN_ODD; ++target) {
    for (long k = 0; k < 6 * host_volume(&small); ++k) t.x[k] = 5;
    CHECK(staghorn_hop(t.gauge, &t.s.vectors, target, 1, in, out) == STAGHORN_OK);
    host_hop(&small, t.u, t.b, t.y);
    for (long site = 0; site < host_volume(&small); ++site)
      if (target != STAGHORN_FULL && host_parity(&small, site) != target - STAGHORN_EVEN)
        for (int k = 0; k < 6; ++k) CHECK(t.x[6 * site + k] == 5);
    CHECK(host_distance(&small, t.x, t.y, target - STAGHORN_EVEN) < 1e-14);
  }
  tear_down(&t);
}

static void loops_are_traced(void) {
  bench t = set_up();
  const int32_t plane[] = {1, 3, -2, -4}, bent[] = {0, 1, 1, -1, 2, -2, -3, -2}, straight[] = {3, 3, 3, 3},
                back[] = {-1, -1, -1, -1};
  const int32_t *const paths[] = {plane, bent, straight, back}, lengths[] = {4, 8, 4, 4};
  const void *const u[4] = {t.u, NULL, NULL, NULL};
  double traces[8];
  CHECK(staghorn_loop_traces(t.context, &t.s.links, u, 4, paths, lengths, traces) == STAGHORN_OK);
  for (int i = 0; i < 4; ++i) {
    const cplx mean = host_loop(&small, t.u, paths[i], lengths[i]);
    CHECK(cabs(mean) > 1e-4 && cabs(traces[2 * i] + I * traces[2 * i + 1] - mean) < 1e-15);
  }
  const int32_t *const open_path[] = {bent};
  CHECK(staghorn_loop_traces(t.context, &t.s.links, u, 1, open_path, (const int32_t[]){7}, traces) ==
        STAGHORN_E_ARGUMENT);
  CHECK(strstr(staghorn_last_error(), "path: expected one that ends where it begins, found 1 steps in direction y"));
  t.u[100] = NAN;
  CHECK(staghorn_loop_traces(t.context, &t.s.links, u, 1, paths, lengths, traces) == STAGHORN_E_VALUE);
  tear_down(&t);
}

static void sums_over_sites_are_exact(void) {
  bench t = set_up();
  const long n = host_volume(&small);
  for (long site = 0; site < n; ++site) t.x[site] = site % 2 ? 1e15 : -1e15;
  t.x[7] += 0.25;
  double sum = 0;
  CHECK(staghorn_site_sum(t.context, t.x, &sum) == STAGHORN_OK && sum == 0.25);
  t.x[n - 1] = INFINITY;
  CHECK(staghorn_site_sum(t.context, t.x, &sum) == STAGHORN_E_VALUE && sum == 0.25);
  CHECK(staghorn_site_sum(t.context, t.x, t.x + n - 1) == STAGHORN_E_ARGUMENT);
  tear_down(&t);
}

static void report_is_json_of_the_last_solve(void) {
  bench t = set_up();
  size_t bytes = 0;
  CHECK(staghorn_report(t.context, NULL, &bytes) == STAGHORN_E_STATE);
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK);
  CHECK(staghorn_report(t.context, NULL, &bytes) == STAGHORN_OK && bytes > 100);
  char *text = malloc(bytes);
  CHECK(staghorn_report(t.context, text, &bytes) == STAGHORN_OK && strlen(text) + 1 == bytes);
  CHECK(strstr(text, "\"certified\"") != NULL);
  bytes -= 1;
  CHECK(staghorn_report(t.context, text, &bytes) == STAGHORN_E_ARGUMENT);
  free(text);
  tear_down(&t);
}

static void errors_have_a_status_and_a_text(void) {
  bench t = set_up();
  const void *u[4] = {t.u, NULL, NULL, NULL}, *none[4] = {NULL, NULL, NULL, NULL};
  staghorn_gauge *gauge = NULL, *dead = t.gauge;
  staghorn_context *context = NULL;
  CHECK(staghorn_gauge_create(t.context, NULL, u, &gauge) == STAGHORN_E_ARGUMENT &&
        strstr(staghorn_last_error(), "links"));
  CHECK(staghorn_gauge_create(t.context, &t.s.links, NULL, &gauge) == STAGHORN_E_ARGUMENT);
  CHECK(staghorn_gauge_create(t.context, &t.s.links, none, &gauge) == STAGHORN_E_ARGUMENT);
  CHECK(staghorn_gauge_create(NULL, &t.s.links, u, &gauge) == STAGHORN_E_ARGUMENT);
  CHECK(staghorn_gauge_create(t.context, &t.s.links, u, NULL) == STAGHORN_E_ARGUMENT);
  staghorn_links links = t.s.links;
  const uint32_t first_version = offsetof(staghorn_links, coefficient), sizes[] = {0, 4, first_version - 8, 100000};
  for (int k = 0; k < 4; ++k) {
    links.struct_size = sizes[k];
    CHECK(staghorn_gauge_create(t.context, &links, u, &gauge) == STAGHORN_E_ARGUMENT &&
          strstr(staghorn_last_error(), "struct_size"));
  }
  links.struct_size = first_version; /* what lies behind is not looked at */
  links.coefficient = NAN;
  CHECK(staghorn_gauge_update(t.gauge, &links, u) == STAGHORN_OK);
  staghorn_gauge_info info[1] = {{0}};
  info->struct_size = offsetof(staghorn_gauge_info, coefficient);
  info->long_hash = 77;
  CHECK(staghorn_gauge_get(t.gauge, info) == STAGHORN_OK && info->loads == 2 && info->long_hash == 77);
  struct {
    staghorn_links links;
    char more[64];
  } newer;
  memset(&newer, 0, sizeof newer);
  newer.links = t.s.links;
  newer.links.struct_size = sizeof newer;
  CHECK(staghorn_gauge_update(t.gauge, &newer.links, u) == STAGHORN_OK);
  newer.more[63] = 1;
  CHECK(staghorn_gauge_update(t.gauge, &newer.links, u) == STAGHORN_E_ARGUMENT);
  links = t.s.links;
  links.order = 77;
  CHECK(staghorn_gauge_create(t.context, &links, u, &gauge) == STAGHORN_E_ARGUMENT && gauge == NULL);
  links = t.s.links;
  links.theta[2] = NAN;
  CHECK(staghorn_gauge_create(t.context, &links, u, &gauge) == STAGHORN_E_ARGUMENT);
  t.s.request.mass = -1;
  CHECK(solve(&t, t.b, t.x, NULL) < 0 && strstr(staghorn_last_error(), "mass"));
  t.s.request.mass = 0;
  CHECK(solve(&t, t.b, t.x, NULL) < 0);
  t.s.request.mass = 0.2;
  t.s.request.tolerance_hq = -1e-6;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_E_ARGUMENT);
  t.s.request.tolerance_hq = 0;
  t.b[5] = INFINITY;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_E_VALUE);
  t.s.result.struct_size = 8;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_E_ARGUMENT);
  t.s.geometry.global[2] = 5;
  CHECK(staghorn_context_create(&context, &t.s.geometry, NULL) == STAGHORN_E_LAYOUT && context == NULL);
  t.s.geometry.global[2] = 8;
  t.s.geometry.grid[3] = 2;
  CHECK(staghorn_context_create(&context, &t.s.geometry, NULL) == STAGHORN_E_LAYOUT);
  t.s.geometry.grid[3] = 1;
  t.s.options.certificate = STAGHORN_CERTIFICATE_DEVICE;
  CHECK(staghorn_context_create(&context, &t.s.geometry, &t.s.options) == STAGHORN_E_ARGUMENT);
  t.s.options.certificate = STAGHORN_CERTIFICATE_HOST;
  t.s.options.stream = &t;
  CHECK(staghorn_context_create(&context, &t.s.geometry, &t.s.options) == STAGHORN_E_ARGUMENT);
  t.s.options.stream = NULL;
  t.s.options.device = 500;
  CHECK(staghorn_context_create(&context, &t.s.geometry, &t.s.options) == STAGHORN_E_DEVICE);
  CHECK(staghorn_context_create_f(&context, 0, &t.s.geometry, NULL) == STAGHORN_E_MPI);
  CHECK(staghorn_gauge_destroy(&gauge) == STAGHORN_OK && staghorn_gauge_destroy(NULL) == STAGHORN_E_ARGUMENT);
  CHECK(staghorn_gauge_destroy(&t.gauge) == STAGHORN_OK);
  CHECK(staghorn_gauge_destroy(&dead) == STAGHORN_E_STATE);
  for (int status = -20; status < 20; ++status) CHECK(strlen(staghorn_status_text(status)) > 0);
  tear_down(&t);
}

static void context_destroys_its_gauges(void) {
  bench t = set_up();
  staghorn_gauge *gauge = t.gauge;
  CHECK(staghorn_context_destroy(&t.context) == STAGHORN_OK);
  CHECK(staghorn_gauge_destroy(&gauge) == STAGHORN_E_STATE);
  t.gauge = NULL;
  tear_down(&t);
}

static int call_back(void *data, int64_t iteration, double residual) {
  bench *t = data;
  (void)iteration, (void)residual;
  staghorn_gauge_info info;
  staghorn_defaults(&info, sizeof info, STAGHORN_GAUGE_INFO);
  return staghorn_gauge_get(t->gauge, &info) != STAGHORN_E_STATE;
}

static void calls_from_the_progress_function_are_refused(void) {
  bench t = set_up();
  t.s.request.progress = call_back;
  t.s.request.progress_data = &t;
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK);
  tear_down(&t);
}

/* A context of the thread itself: improved links, several shifts, eigenpairs, an error, a report. */
static void work_through_a_context(int sloppy) {
  bench t = set_up();
  staghorn_action action;
  staghorn_eigen_request search;
  staghorn_gauge *improved = NULL;
  const void *u[4] = {t.u, NULL, NULL, NULL};
  const double shifts[2] = {0, 1};
  void *solutions[2] = {t.x, t.y};
  staghorn_result results[2];
  size_t bytes = 0;
  staghorn_defaults(&action, sizeof action, STAGHORN_ACTION);
  staghorn_defaults(&search, sizeof search, STAGHORN_EIGEN_REQUEST);
  for (int i = 0; i < 2; ++i) staghorn_defaults(&results[i], sizeof results[i], STAGHORN_RESULT);
  action.quarks = STAGHORN_HISQ;
  search.pairs = 2;
  search.tolerance = 1e-4;
  t.s.request.sloppy = sloppy;
  CHECK(staghorn_gauge_create_action(t.context, &t.s.links, u, &action, &improved) == STAGHORN_OK);
  CHECK(staghorn_multishift(improved, &t.s.request, &t.s.vectors, 2, shifts, NULL, NULL, t.b, solutions, NULL,
                            results) == STAGHORN_OK);
  CHECK(staghorn_eigenpairs_compute(t.gauge, &search, NULL, NULL) == STAGHORN_OK);
  CHECK(solve(&t, t.b, t.x, t.z) == STAGHORN_OK);
  CHECK(staghorn_convert_vectors(t.context, &t.s.vectors, t.x, &t.s.vectors, t.y) == STAGHORN_OK);
  CHECK(staghorn_report(t.context, NULL, &bytes) == STAGHORN_OK && bytes > 100);
  t.s.request.mass = sloppy == STAGHORN_FP32 ? -1 : -2;
  CHECK(solve(&t, t.b, t.x, NULL) < 0 && strstr(staghorn_last_error(), sloppy == STAGHORN_FP32 ? "-1" : "-2"));
  tear_down(&t);
}

static void *work_in_a_thread(void *data) {
  bench *t = data;
  for (int k = 0; k < 3; ++k) CHECK(solve(t, t->b, t->x, NULL) == STAGHORN_OK);
  work_through_a_context(t->s.request.sloppy);
  return NULL;
}

static void two_contexts_work_in_two_threads(void) {
  bench first = set_up(), second = set_up();
  pthread_t threads[2];
  second.s.request.sloppy = STAGHORN_FP32;
  pthread_create(&threads[0], NULL, work_in_a_thread, &first);
  pthread_create(&threads[1], NULL, work_in_a_thread, &second);
  for (int k = 0; k < 2; ++k) pthread_join(threads[k], NULL);
  CHECK(solve(&first, first.b, first.y, NULL) == STAGHORN_OK);
  CHECK(memcmp(first.x, first.y, (size_t)host_volume(&small) * 48) == 0);
  CHECK(solve(&second, second.b, second.y, NULL) == STAGHORN_OK);
  CHECK(memcmp(second.x, second.y, (size_t)host_volume(&small) * 48) == 0);
  tear_down(&first);
  tear_down(&second);
}

/* A copy of `bytes` that ends at the end of a page, behind which nothing may be touched. */
static void *guarded_copy(const void *from, size_t bytes, int protection) {
  const size_t page = 4096, whole = (bytes + page - 1) / page * page;
  char *pages = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *copy = pages + whole - bytes;
  memcpy(copy, from, bytes);
  mprotect(pages, whole, protection);
  mprotect(pages + whole, page, PROT_NONE);
  return copy;
}

static void inputs_are_only_read_and_nothing_behind_them(void) {
  bench t = set_up();
  const size_t bytes = (size_t)host_volume(&small) * 48;
  double *u = guarded_copy(t.u, 12 * bytes, PROT_READ), *b = guarded_copy(t.b, bytes, PROT_READ);
  double *x = guarded_copy(t.x, bytes, PROT_READ | PROT_WRITE), *dx = guarded_copy(t.x, bytes, PROT_READ | PROT_WRITE);
  staghorn_request *request = guarded_copy(&t.s.request, sizeof t.s.request, PROT_READ);
  const void *fields[4] = {u, NULL, NULL, NULL}, *sources[1] = {b}, *in[1] = {x};
  void *solutions[1] = {x}, *hops[1] = {dx};
  CHECK(staghorn_gauge_update(t.gauge, &t.s.links, fields) == STAGHORN_OK);
  CHECK(staghorn_solve(t.gauge, request, &t.s.vectors, 1, sources, solutions, hops, &t.s.result) == STAGHORN_OK);
  CHECK(staghorn_hop(t.gauge, &t.s.vectors, STAGHORN_FULL, 1, in, hops) == STAGHORN_OK);
  CHECK(staghorn_convert_vectors(t.context, &t.s.vectors, b, &t.s.vectors, x) == STAGHORN_OK &&
        memcmp(x, b, bytes) == 0);
  tear_down(&t);
}

/* The last call was refused for its memory, the text begins with these words, and x is as it was. */
static void check_shared(const bench *t, int status, const char *words) {
  const char *text = staghorn_last_error();
  CHECK(status == STAGHORN_E_ARGUMENT && strncmp(text, words, strlen(words)) == 0 && strstr(text, "found bytes of"));
  for (long k = 0; k < 6 * host_volume(&small); ++k) CHECK(t->x[k] == 9);
}

static void outputs_that_share_memory_are_refused(void) {
  bench t = set_up();
  const long reals = 6 * host_volume(&small);
  for (long k = 0; k < reals; ++k) t.x[k] = 9;
  double *room = calloc((size_t)reals, sizeof *room); /* the results lie in it */
  staghorn_result *results = (staghorn_result *)(void *)(room + reals - 40);
  results[0] = results[1] = t.s.result;
  const void *b[2] = {t.b, t.z}, *into_x[2] = {t.b, t.x};
  const struct {
    const void **b;
    void *x[2], *dx[2];
    const char *words;
  } cases[] = {{b, {t.x, t.x}, {NULL, NULL}, "x[1]: expected memory of its own"},
               {b, {t.x, t.x + reals / 2}, {NULL, NULL}, "x[1]: "},
               {b, {t.y, t.x}, {t.x, t.y + reals - 1}, "dx[0]: "},
               {b, {t.y, t.x}, {t.y + reals - 1, NULL}, "dx[0]: "},
               {into_x, {t.x, t.y}, {NULL, NULL}, "x[0]: "},
               {into_x, {t.y, t.x}, {NULL, NULL}, "x[1]: "},
               {b, {t.y, room}, {NULL, NULL}, "results: "}};
  for (int k = 0; k < 7; ++k) {
    void *const *dx = cases[k].dx[0] ? cases[k].dx : NULL;
    const int n = dx && !dx[1] ? 1 : 2;
    check_shared(&t, staghorn_solve(t.gauge, &t.s.request, &t.s.vectors, n, cases[k].b, cases[k].x, dx, results),
                 cases[k].words);
  }
  const double shifts[2] = {0, 1}, alpha[2] = {1, 1};
  void *same[2] = {t.x, t.x}, *apart[2] = {t.x, t.y}, *across[2] = {t.z, t.x + 6};
  check_shared(
      &t, staghorn_multishift(t.gauge, &t.s.request, &t.s.vectors, 2, shifts, NULL, NULL, t.b, same, NULL, results),
      "x[1]: ");
  check_shared(
      &t, staghorn_multishift(t.gauge, &t.s.request, &t.s.vectors, 2, shifts, NULL, NULL, t.b, apart, across, results),
      "dx[1]: ");
  check_shared(
      &t, staghorn_multishift(t.gauge, &t.s.request, &t.s.vectors, 2, shifts, NULL, alpha, t.x, apart, NULL, results),
      "x[0]: ");
  check_shared(&t,
               staghorn_multishift(t.gauge, &t.s.request, &t.s.vectors, 2, t.x, NULL, NULL, t.b, apart, NULL, results),
               "x[0]: ");
  check_shared(&t, staghorn_hop(t.gauge, &t.s.vectors, STAGHORN_FULL, 2, b, same), "out[1]: ");
  check_shared(&t, staghorn_hop(t.gauge, &t.s.vectors, STAGHORN_FULL, 1, into_x + 1, apart), "out[0]: ");
  check_shared(&t, staghorn_convert_vectors(t.context, &t.s.vectors, t.x, &t.s.vectors, t.x), "out: ");
  check_shared(&t, staghorn_convert_vectors(t.context, &t.s.vectors, t.x + 2, &t.s.vectors, t.x), "out: ");
  const void *u[4] = {t.u, NULL, NULL, NULL};
  void *into_u[4] = {t.u + 18, NULL, NULL, NULL}, *one[4] = {t.x, t.y, t.z, t.x};
  staghorn_links by_direction = t.s.links;
  by_direction.order = STAGHORN_QDP;
  check_shared(&t, staghorn_convert_links(t.context, &t.s.links, u, &t.s.links, into_u), "out[0]: ");
  check_shared(&t, staghorn_convert_links(t.context, &t.s.links, u, &by_direction, one), "out[");
  check_shared(&t, staghorn_read_links(t.context, "none", 1, &by_direction, one), "u[");
  staghorn_eigen_request search;
  staghorn_eigen_info info;
  staghorn_defaults(&search, sizeof search, STAGHORN_EIGEN_REQUEST);
  staghorn_defaults(&info, sizeof info, STAGHORN_EIGEN_INFO);
  search.pairs = 2;
  check_shared(&t, staghorn_eigenpairs_compute(t.gauge, &search, (double *)(void *)&search, NULL), "values: ");
  check_shared(&t, staghorn_eigenpairs_compute(t.gauge, &search, (double *)(void *)&info, &info), "info: ");
  check_shared(&t, staghorn_eigenpairs_get(t.gauge, &info, 2, t.x, t.x + 1), "residuals: ");
  int32_t extents[6];
  check_shared(&t, staghorn_context_local(t.context, extents, extents + 2), "origin: ");
  free(room);
  tear_down(&t);
}

/* A struct of a site, as MILC has it: fields interlock in memory, and share no byte. */
static void members_of_one_struct_share_nothing(void) {
  bench t = set_up();
  enum { members = 4 };
  const long reals = 6 * host_volume(&small);
  double *sites = calloc((size_t)reals * members, sizeof *sites);
  CHECK(solve(&t, t.b, t.x, t.z) == STAGHORN_OK);
  for (long k = 0; k < reals; ++k) sites[members * 6 * (k / 6) + k % 6] = t.b[k];
  staghorn_vectors vectors = t.s.vectors;
  vectors.site_stride = members * 48;
  const void *b[1] = {sites}, *in[1] = {sites + 6};
  void *x[1] = {sites + 6}, *dx[1] = {sites + 12}, *out[1] = {sites + 18}, *crossing[1] = {sites + 10};
  CHECK(staghorn_solve(t.gauge, &t.s.request, &vectors, 1, b, x, dx, &t.s.result) == STAGHORN_OK);
  CHECK(staghorn_hop(t.gauge, &vectors, STAGHORN_FULL, 1, in, out) == STAGHORN_OK);
  for (long k = 0; k < reals; ++k) {
    const double *site = sites + members * 6 * (k / 6) + k % 6;
    CHECK(site[0] == t.b[k] && site[6] == t.x[k] && site[12] == t.z[k] && site[18] == t.z[k]);
  }
  CHECK(staghorn_solve(t.gauge, &t.s.request, &vectors, 1, b, x, crossing, &t.s.result) == STAGHORN_E_ARGUMENT);
  free(sites);
  tear_down(&t);
}

/* Sites of the other parity are no part of a parity system: x and D x may lie in one field, and hops go to and fro. */
static void parities_of_one_field_share_nothing(void) {
  const int orders[] = {STAGHORN_LEX, STAGHORN_EVEN_ODD_X, STAGHORN_CPS_STAG};
  const long reals = 6 * host_volume(&small);
  for (int k = 0; k < 3; ++k)
    for (int system = STAGHORN_EVEN; system <= STAGHORN_ODD; ++system) {
      bench t = set_up();
      t.s.vectors.order = orders[k];
      t.s.request.system = system;
      CHECK(solve(&t, t.b, t.x, t.x) == STAGHORN_OK);
      CHECK(solve(&t, t.b, t.y, t.z) == STAGHORN_OK);
      for (long i = 0; i < reals; ++i) CHECK(t.x[i] == t.y[i] + t.z[i]); /* one of them is zero */
      const void *in[1] = {t.y};
      void *out[1] = {t.y};
      CHECK(staghorn_hop(t.gauge, &t.s.vectors, STAGHORN_EVEN + STAGHORN_ODD - system, 1, in, out) == STAGHORN_OK);
      CHECK(memcmp(t.x, t.y, (size_t)reals * sizeof *t.x) == 0);
      tear_down(&t);
    }
}

static void threads_of_the_host_stay_as_they_are(void) {
  int (*most)(void) = NULL;
  void (*set)(int) = NULL;
  *(void **)&most = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
  *(void **)&set = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
  CHECK(most != NULL && set != NULL);
  if (!most || !set) return;
  set(3);
  bench t = set_up(); /* a context with one thread */
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK && most() == 3);
  size_t bytes = 1 << 20;
  char *text = malloc(bytes);
  CHECK(staghorn_report(t.context, text, &bytes) == STAGHORN_OK && strstr(text, "\"threads\": 1") != NULL);
  free(text);
  t.s.request.mass = -1; /* after an error too */
  CHECK(solve(&t, t.b, t.x, NULL) < 0 && most() == 3);
  tear_down(&t);
  set(1);
}

static void mpi_is_not_touched(void) {
  bench t = set_up();
  CHECK(solve(&t, t.b, t.x, NULL) == STAGHORN_OK);
  tear_down(&t);
  int (*initialised)(int *) = NULL;
  *(void **)&initialised = dlsym(RTLD_DEFAULT, "MPI_Initialized");
  int flag = 1;
  if (strcmp(staghorn_mpi_library(), "no MPI") == 0)
    CHECK(initialised == NULL);
  else
    CHECK(initialised != NULL && initialised(&flag) == 0 && flag == 0);
}

static const struct {
  const char *name;
  void (*run)(void);
} checks[] = {
    {"full_system_is_solved", full_system_is_solved},
    {"norms_of_sources_of_any_size_are_told", norms_of_sources_of_any_size_are_told},
    {"sign_and_factor_are_the_hosts", sign_and_factor_are_the_hosts},
    {"parity_solve_leaves_the_other_half_alone", parity_solve_leaves_the_other_half_alone},
    {"stop_on_parity_is_of_the_parity_system", stop_on_parity_is_of_the_parity_system},
    {"zero_source_is_a_result", zero_source_is_a_result},
    {"progress_function_stops_a_solve", progress_function_stops_a_solve},
    {"a_limit_is_none_unless_it_is_given", a_limit_is_none_unless_it_is_given},
    {"masses_and_phases_that_doubles_do_not_resolve_are_refused",
     masses_and_phases_that_doubles_do_not_resolve_are_refused},
    {"mixed_precision_is_certified_too", mixed_precision_is_certified_too},
    {"links_change_in_place", links_change_in_place},
    {"heavy_quark_residual_is_reached", heavy_quark_residual_is_reached},
    {"earlier_solutions_are_guesses_while_links_change", earlier_solutions_are_guesses_while_links_change},
    {"hop_is_d", hop_is_d},
    {"loops_are_traced", loops_are_traced},
    {"sums_over_sites_are_exact", sums_over_sites_are_exact},
    {"report_is_json_of_the_last_solve", report_is_json_of_the_last_solve},
    {"errors_have_a_status_and_a_text", errors_have_a_status_and_a_text},
    {"context_destroys_its_gauges", context_destroys_its_gauges},
    {"options_are_set_by_name", options_are_set_by_name},
    {"options_that_are_none_of_a_call_are_refused_by_name", options_that_are_none_of_a_call_are_refused_by_name},
    {"withheld_solutions_are_not_written", withheld_solutions_are_not_written},
    {"calls_from_the_progress_function_are_refused", calls_from_the_progress_function_are_refused},
    {"inputs_are_only_read_and_nothing_behind_them", inputs_are_only_read_and_nothing_behind_them},
    {"outputs_that_share_memory_are_refused", outputs_that_share_memory_are_refused},
    {"members_of_one_struct_share_nothing", members_of_one_struct_share_nothing},
    {"parities_of_one_field_share_nothing", parities_of_one_field_share_nothing},
    {"two_contexts_work_in_two_threads", two_contexts_work_in_two_threads},
    {"threads_of_the_host_stay_as_they_are", threads_of_the_host_stay_as_they_are},
    {"mpi_is_not_touched", mpi_is_not_touched}};

int main(int argc, char **argv) {
  int ran = 0;
  for (size_t k = 0; k < sizeof checks / sizeof checks[0]; ++k) {
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
      puts(checks[k].name);
      ++ran;
    } else if (argc < 2 || strcmp(argv[1], checks[k].name) == 0) {
      const int before = failures;
      checks[k].run();
      if (failures == before) printf("ok %s\n", checks[k].name);
      ++ran;
    }
  }
  return failures > 0 || ran == 0;
}
