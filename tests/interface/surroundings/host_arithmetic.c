/* A host that computes in another floating-point environment than the library: what calls give, and what they leave.
 *
 *   host_arithmetic MODE THREADS POOL FOLDER
 *
 * MODE   nearest, upward, downward, toward-zero, flush (subnormal numbers are zero), or traps
 * POOL   whose mode it is when calls are made: of "all" threads of OpenMP, which are there before; of the calling
 * thread "alone", where there are no others yet; or of the "others"
 *
 * Prints a hash of all that calls gave. Exit status 1 if modes or flags of a thread are not as they were. */
#define _GNU_SOURCE
#include <fenv.h>
#include <omp.h>
#include <stdint.h>

#include "../hosts/checks.h"
#include "../hosts/host.h"
#include "../hosts/structs.h"
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { most_threads = 8, all_traps = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT };
static const host_lattice l = {{4, 4, 6, 8}, {4, 4, 6, 8}, {0, 0, 0, 0}};
static const char *mode, *pool;
static int threads, rounding, calls_of_the_host;
static uint64_t hash = 14695981039346656037u;

static void add(const void *bytes, size_t count) {
  for (size_t k = 0; k < count; ++k) hash = (hash ^ ((const unsigned char *)bytes)[k]) * 1099511628211u; /* FNV-1a */
}

/* The modes of the calling thread, and the flags that it has raised. */
typedef struct {
  int rounding, traps, flags;
  unsigned flush;
} thread_modes;
static thread_modes modes_here(void) {
  thread_modes here = {fegetround(), fegetexcept(), fetestexcept(FE_ALL_EXCEPT), 0};
#if defined(__x86_64__)
  here.flush = _mm_getcsr() & 0x8040;
#endif
  return here;
}
static void set_mode(void) {
  feclearexcept(FE_ALL_EXCEPT);
  if (strcmp(mode, "traps") == 0)
    feenableexcept(all_traps);
  else
    feraiseexcept(FE_UNDERFLOW); /* which the host looks for later */
#if defined(__x86_64__)
  if (strcmp(mode, "flush") == 0) _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  fesetround(rounding);
}
static int is_default(thread_modes modes) {
  return modes.rounding == FE_TONEAREST && modes.traps == 0 && modes.flush == 0;
}

static thread_modes before[most_threads];
static void enter_host(void) {
  const int others = strcmp(pool, "alone") != 0;
  if (strcmp(pool, "others") != 0) set_mode();
  if (!others) { /* at first the library makes other threads, which are like this one; then they are there */
    const thread_modes other = {FE_TONEAREST, 0, 0, 0};
    static int first = 1;
    before[0] = modes_here();
    for (int k = 1; k < threads; ++k) before[k] = first ? before[0] : other;
    first = 0;
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() > 0) set_mode();
    before[omp_get_thread_num()] = modes_here();
  }
}
/* Back to the default, so that the checks themselves compute as they should. Threads that the library has made are like
 * those that the host would have made. */
static void leave_host(int line) {
  thread_modes after[most_threads];
#pragma omp parallel num_threads(threads)
  {
    after[omp_get_thread_num()] = modes_here();
    fesetenv(FE_DFL_ENV);
  }
  for (int k = 0; k < threads; ++k) {
    thread_modes expected = before[k];
    if (strcmp(pool, "alone") == 0 && k > 0) expected.flags = after[k].flags; /* those of a thread that is new */
    if (memcmp(&after[k], &expected, sizeof expected) != 0) {
      printf("line %d, thread %d: rounding %d traps %d flags %d flush %x, not %d %d %d %x\n", line, k,
             after[k].rounding, after[k].traps, after[k].flags, after[k].flush, expected.rounding, expected.traps,
             expected.flags, expected.flush);
      ++failures;
    }
  }
}
static int status_at(int line, int status) {
  leave_host(line);
  if (status < 0 && status != STAGHORN_E_VALUE) {
    printf("line %d: %d %s\n", line, status, staghorn_last_error());
    ++failures;
  }
  add(&status, sizeof status);
  return status;
}
#define CALL(call) (enter_host(), status_at(__LINE__, (call)))

/* A function of the host runs in the host's environment. */
static int look(void *data, int64_t iteration, double residual) {
  (void)data, (void)iteration, (void)residual;
  const thread_modes here = modes_here();
  CHECK(memcmp(&here, &before[0], sizeof here) == 0);
  ++calls_of_the_host;
  return 0;
}
static int withhold(void *data) { return look(data, 0, 0); }

static void add_result(const staghorn_result *result) {
  staghorn_result without = *result;
  without.seconds = 0;
  add(&without, sizeof without);
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  mode = argv[1];
  threads = atoi(argv[2]);
  pool = argv[3];
  rounding = strcmp(mode, "upward") == 0        ? FE_UPWARD
             : strcmp(mode, "downward") == 0    ? FE_DOWNWARD
             : strcmp(mode, "toward-zero") == 0 ? FE_TOWARDZERO
                                                : FE_TONEAREST;
  host_structs s = default_structs();
  const size_t reals = 6 * (size_t)host_volume(&l);
  double *u = host_links(&l, 1), *b = host_vector(&l, 100), *v = host_vector(&l, 200), *x = host_zeros(&l),
         *dx = host_zeros(&l), *small = host_zeros(&l), *nan = host_zeros(&l), *zero = host_zeros(&l);
  for (size_t k = 0; k < reals; ++k) small[k] = ldexp(v[k], -1060); /* subnormal numbers */
  nan[5] = NAN;
  for (int mu = 0; mu < 4; ++mu) s.geometry.global[mu] = l.n[mu];
  s.options.threads = threads;
  s.request.mass = 0.2;
  s.request.progress = look;
  s.request.withhold = withhold;
  const void *fields[4] = {u, NULL, NULL, NULL};
  staghorn_context *context = NULL;
  staghorn_gauge *gauge = NULL, *improved = NULL;
  CALL(staghorn_context_create(&context, &s.geometry, &s.options));
  CALL(staghorn_gauge_create(context, &s.links, fields, &gauge));
  staghorn_action action;
  staghorn_defaults(&action, sizeof action, STAGHORN_ACTION);
  action.quarks = STAGHORN_HISQ;
  CALL(staghorn_gauge_create_action(context, &s.links, fields, &action, &improved));
  staghorn_gauge_info info;
  staghorn_defaults(&info, sizeof info, STAGHORN_GAUGE_INFO);
  CALL(staghorn_gauge_get(improved, &info));
  add(&info, sizeof info);

  const void *sources[1] = {b}, *tiny[1] = {small}, *zeros[1] = {zero}, *nans[1] = {nan};
  void *solutions[1] = {x}, *hops[1] = {dx};
  for (int sloppy = STAGHORN_FP32; sloppy <= STAGHORN_NO_SLOPPY; ++sloppy)
    for (int k = 0; k < 2; ++k) {
      s.request.sloppy = sloppy;
      CALL(staghorn_solve(k ? improved : gauge, &s.request, &s.vectors, 1, sources, solutions, hops, &s.result));
      CHECK(s.result.residual_true > 0 && s.result.residual_true <= 1e-10);
      add_result(&s.result);
      add(x, reals * sizeof *x);
      add(dx, reals * sizeof *dx);
    }
  CHECK(calls_of_the_host > 12);
  CHECK(CALL(staghorn_solve(gauge, &s.request, &s.vectors, 1, zeros, solutions, NULL, &s.result)) == STAGHORN_OK);
  CHECK(CALL(staghorn_solve(gauge, &s.request, &s.vectors, 1, nans, solutions, NULL, &s.result)) == STAGHORN_E_VALUE);
  CALL(staghorn_hop(gauge, &s.vectors, STAGHORN_FULL, 1, tiny, hops));
  add(dx, reals * sizeof *dx);
  staghorn_vectors of_milc = s.vectors;
  of_milc.phases = STAGHORN_PHASES_MILC;
  CALL(staghorn_convert_vectors(context, &s.vectors, small, &of_milc, x));
  CHECK(memcmp(x, zero, reals * sizeof *x) != 0);
  add(x, reals * sizeof *x);

  const double shifts[2] = {0, 0.3}, alpha[2] = {0.7, 1.1};
  staghorn_result results[2] = {s.result, s.result};
  memcpy(x, v, reals * sizeof *x);
  s.request.system = STAGHORN_EVEN;
  CALL(staghorn_multishift(gauge, &s.request, &s.vectors, 2, shifts, NULL, alpha, b, solutions, NULL, results));
  for (int k = 0; k < 2; ++k) add_result(&results[k]);
  add(x, reals * sizeof *x);

  staghorn_eigen_request search;
  staghorn_eigen_info found;
  double values[2];
  char path[1024];
  staghorn_defaults(&search, sizeof search, STAGHORN_EIGEN_REQUEST);
  staghorn_defaults(&found, sizeof found, STAGHORN_EIGEN_INFO);
  search.pairs = 2;
  search.tolerance = 1e-6;
  CHECK(CALL(staghorn_eigenpairs_compute(gauge, &search, values, &found)) == STAGHORN_OK);
  add(values, sizeof values);
  snprintf(path, sizeof path, "%s/pairs.h5", argv[4]);
  CALL(staghorn_eigenpairs_write(gauge, path, STAGHORN_FP64, 1));
  CALL(staghorn_eigenpairs_read(gauge, path, &found));
  add(&found.residual, sizeof found.residual);
  CALL(staghorn_context_destroy(&context));
  CHECK(is_default(modes_here()));
  printf("%016llx\n", (unsigned long long)hash);
  return failures > 0;
}
