/* A program that calls what MILC calls, with fields filled by MILC's formulae. It knows quda_milc_interface.h alone.
 *
 *   milc_host write FILE              one process without MPI: all checks; plain fields and solutions to FILE
 *   milc_host check FILE GX GY GZ GT  ranks: the solutions have the bits of FILE, and the checks that ranks can make
 *   milc_host reads                   one process: which calls read links, told by the library
 *   milc_host fail WHAT               one process: a call that must end the program
 *   milc_host fail-ranks              two ranks: the same
 *
 * FILE: links, source, then the solutions of `reference_cases`, as raw doubles in plain order and CPS's convention. */
#define _GNU_SOURCE
#include "milc_calls.h"

/* The solves that decide: both parities, in every precision of the iterations. */
enum { reference_cases = 6 };
static call reference_case(int precision, int which) {
  call c = plain_call(precision, which % 2);
  if (which / 2 == 1) c.quda_precision = 1;
  if (which / 2 == 2) c.mixed = 2;
  return c;
}
static double *expected[reference_cases]; /* plain solutions in fp64 */

static void solve_reference_cases(void) {
  problem p = make_problem(2, convention_from(0, 0, 0, 0));
  for (int which = 0; which < reference_cases; ++which) {
    const call c = reference_case(2, which);
    guarded_memory x = zero_guess(&p, c.parity);
    const outcome o = invert(&p, &c, &x);
    CHECK(o.residual > 0 && o.residual < target && o.iterations > 10, "%g after %d", o.residual, o.iterations);
    const milc_residuals own = own_residuals(2, &p.fat, &p.lng, 4 * mass * mass, c.parity, &p.source, &x);
    CHECK(fabs(own.l2 / o.residual - 1) < 1e-3, "%g, not %g", own.l2, o.residual);
    CHECK(fabs(own.fermilab / o.relative - 1) < 1e-3, "%g, not %g", own.fermilab, o.relative);
    expected[which] = plain_of_milc(2, &p.convention, c.parity, &x);
    memory_free(&x);
  }
  CHECK(memcmp(expected[0], expected[2], (size_t)host_volume(&whole) * 48) != 0, "fp32 did not iterate");
  CHECK(memcmp(expected[0], expected[4], (size_t)host_volume(&whole) * 48) != 0, "16 bits did not iterate");
  free_problem(&p);
}

static const int origins[][4] = {{0, 0, 0, 0}, {1, 0, 0, 3}, {0, 1, 1, 0}, {1, 1, 0, 5}};
enum { number_of_origins = sizeof origins / sizeof *origins };

/* Phases that follow the origin, fp32 and fp64 fields, the other parity of the solution. */
static void every_host_has_the_expected_bits(void) {
  for (int precision = 1; precision <= 2; ++precision)
    for (int o = 0; o < number_of_origins; ++o) {
      const int *at = origins[o];
      problem p = make_problem(precision, convention_from(at[0], at[1], at[2], at[3]));
      for (int which = 0; which < (o < 2 ? reference_cases : 2); ++which) {
        const call c = reference_case(precision, which);
        guarded_memory x = zero_guess(&p, c.parity);
        const outcome out = invert(&p, &c, &x);
        const long wrong = milc_differences(&l, precision, &p.convention, expected[which], c.parity, &x);
        CHECK(wrong == 0 && out.residual < target, "precision %d, origin %d, case %d: %ld numbers, %g", precision, o,
              which, wrong, out.residual);
        memory_free(&x);
      }
      free_problem(&p);
    }
}

/* Links change in place and the call does not say so: by signs alone, which is what another origin does. */
static void links_changed_in_place_are_seen(void) {
  for (int precision = 1; precision <= 2; ++precision) {
    problem p = make_problem(precision, convention_from(0, 0, 0, 0));
    const call c = plain_call(precision, 0);
    guarded_memory x = zero_guess(&p, 0);
    invert(&p, &c, &x);
    p.convention = convention_from(1, 0, 0, 3);
    memory_unlock(&p.fat);
    memory_unlock(&p.source);
    fill_milc_links(&l, precision, &p.convention, plain_links, 1, &p.fat);
    fill_milc_vector(&l, precision, &p.convention, plain_source, 1, -1, &p.source);
    memset(x.at, 0, x.bytes / 2);
    const outcome out = invert(&p, &c, &x);
    CHECK(out.residual < target, "%g", out.residual);
    CHECK(milc_differences(&l, precision, &p.convention, expected[0], 0, &x) == 0, "precision %d", precision);
    memory_free(&x);
    free_problem(&p);
  }
}

/* The time sign alone, so that signs change two and two; then one number, a little. MILC's own operator judges. */
static void the_smallest_change_is_seen(void) {
  problem p = make_problem(2, convention_from(0, 0, 0, 0));
  const call c = plain_call(2, 1);
  memory_unlock(&p.fat);
  double *u = (double *)(void *)p.fat.at;
  for (int turn = 0; turn < 3; ++turn) {
    if (turn == 1) {
      p.convention.phases.slice = 3;
      fill_milc_links(&l, 2, &p.convention, plain_links, 1, &p.fat);
    }
    if (turn == 2) u[72 * 101 + 18 * 2 + 4] *= 1 + 1e-7;
    guarded_memory x = zero_guess(&p, 1);
    const outcome out = invert(&p, &c, &x);
    const milc_residuals own = own_residuals(2, &p.fat, &p.lng, 4 * mass * mass, 1, &p.source, &x);
    CHECK(own.l2 < target && fabs(own.l2 / out.residual - 1) < 1e-3, "turn %d: %g, not %g", turn, own.l2, out.residual);
    memory_free(&x);
  }
  free_problem(&p);
}

/* A twist makes links complex, in place: the solution of a second propagator. */
static void twists_are_the_hosts(double **solution) {
  for (int precision = 2; precision >= 1; --precision) {
    problem p = make_problem(precision, convention_from(0, 0, 0, 0));
    const call c = plain_call(precision, 0);
    guarded_memory x = zero_guess(&p, 0);
    invert(&p, &c, &x);
    p.convention.twist = 0.25;
    memory_unlock(&p.fat);
    fill_milc_links(&l, precision, &p.convention, plain_links, 1, &p.fat);
    memset(x.at, 0, x.bytes / 2);
    const outcome out = invert(&p, &c, &x);
    CHECK(out.residual < target, "%g", out.residual);
    if (rank == 0 && host_volume(&l) == host_volume(&whole)) {
      const milc_residuals own = own_residuals(precision, &p.fat, &p.lng, 4 * mass * mass, 0, &p.source, &x);
      CHECK(own.l2 < (precision == 2 ? target : 1e-6), "%g", own.l2);
    }
    if (precision == 2 && !*solution) *solution = plain_of_milc(2, &p.convention, 0, &x);
    if (precision == 2) CHECK(milc_differences(&l, 2, &p.convention, *solution, 0, &x) == 0, "other bits with a twist");
    memory_free(&x);
    free_problem(&p);
  }
}

/* Long links of -0 are zero as well; the naive operator. */
static void negative_zeros_are_zeros(void) {
  for (int precision = 1; precision <= 2; ++precision) {
    problem p = make_problem(precision, convention_from(0, 0, 0, 0));
    memory_unlock(&p.lng);
    for (size_t k = 0; k < p.lng.bytes / real_bytes(precision); k += 3)
      put_real(p.lng.at + k * real_bytes(precision), precision, -0.0);
    const call c = plain_call(precision, 0);
    guarded_memory x = zero_guess(&p, 0);
    invert(&p, &c, &x);
    CHECK(milc_differences(&l, precision, &p.convention, expected[0], 0, &x) == 0, "precision %d", precision);
    memory_free(&x);
    free_problem(&p);
  }
}

/* D from one parity to the other, with arguments that MILC does not initialise; the other sites stay. */
static void dslash_is_milcs(void) {
  for (int precision = 1; precision <= 2; ++precision)
    for (int parity = 0; parity < 2; ++parity) {
      problem p = make_problem(precision, convention_from(1, 0, 0, 3));
      QudaInvertArgs_t args;
      memset(&args, 0x5a, sizeof args);
      args.evenodd = parity ? QUDA_ODD_PARITY : QUDA_EVEN_PARITY;
      guarded_memory d = make_milc_vector(&l, precision);
      int iterations = 77;
      qudaDslash(precision, 2, args, p.fat.at, p.lng.at, p.source.at, d.at, &iterations);
      CHECK(iterations == 0, "%d", iterations);
      const double difference = own_difference(precision, &p.fat, &p.lng, parity, &p.source, &d);
      CHECK(difference < (precision == 2 ? 1e-14 : 1e-6), "%g", difference);
      const char *other = d.at + (size_t)(1 - parity) * d.bytes / 2;
      for (size_t k = 0; k < d.bytes / 2; ++k)
        if (other[k] != 0x5a) {
          CHECK(0, "byte %zu of the other parity", k);
          break;
        }
      memory_free(&d);
      free_problem(&p);
    }
}

/* A solution as the guess: nothing is left to do, and nothing changes. */
static void a_guess_is_used(void) {
  problem p = make_problem(2, convention_from(0, 0, 0, 0));
  const call c = plain_call(2, 1);
  guarded_memory x = zero_guess(&p, 1);
  invert(&p, &c, &x);
  const outcome out = invert(&p, &c, &x);
  CHECK(out.iterations == 0 && out.residual < target, "%d iterations, %g", out.iterations, out.residual);
  CHECK(milc_differences(&l, 2, &p.convention, expected[1], 1, &x) == 0, "another solution");
  memory_free(&x);
  free_problem(&p);
}

/* Each target alone, both, and none. A weak target must not be met by far: CG stops when it is told to. */
static void every_target_is_met(void) {
  problem p = make_problem(2, convention_from(0, 0, 0, 0));
  const double targets[][2] = {{1e-5, 0}, {0, 1e-5}, {1e-3, 1e-7}, {1e-7, 1e-3}, {0, 0}};
  for (int i = 0; i < 5; ++i) {
    call c = plain_call(2, 0);
    c.target = targets[i][0];
    c.relative_target = targets[i][1];
    guarded_memory x = zero_guess(&p, 0);
    const outcome out = invert(&p, &c, &x);
    const milc_residuals own = own_residuals(2, &p.fat, &p.lng, 4 * mass * mass, 0, &p.source, &x);
    if (i < 4) {
      CHECK(c.target == 0 || (own.l2 < c.target && out.residual < c.target), "%d: %g", i, own.l2);
      CHECK(c.relative_target == 0 || own.fermilab <= c.relative_target * 1.001, "%d: %g", i, own.fermilab);
      const double margin = fmax(c.target > 0 ? out.residual / c.target : 0,
                                 c.relative_target > 0 ? out.relative / c.relative_target : 0);
      CHECK(margin > 0.1, "%d: %g and %g are far below", i, out.residual, out.relative);
      CHECK(fabs(own.fermilab / out.relative - 1) < 1e-3, "%d: %g, not %g", i, own.fermilab, out.relative);
    } else {
      CHECK(out.residual < 1e-14 && own.l2 < 1e-14, "%g, %g", out.residual, own.l2);
    }
    memory_free(&x);
  }
  free_problem(&p);
}

/* What cannot be reached is told by the residual; the host goes on. */
static void too_few_iterations_are_told(void) {
  problem p = make_problem(2, convention_from(0, 0, 0, 0));
  const call c = plain_call(2, 0);
  QudaInvertArgs_t args = args_of(&c);
  args.max_iter = 7;
  guarded_memory x = zero_guess(&p, 0);
  double residual = 0, relative = 0;
  int iterations = -1; /* links are said to be new */
  qudaInvert(2, 2, mass, args, target, 0, p.fat.at, p.lng.at, p.source.at, x.at, &residual, &relative, &iterations);
  const milc_residuals own = own_residuals(2, &p.fat, &p.lng, 4 * mass * mass, 0, &p.source, &x);
  CHECK(iterations == 7 && residual > target && fabs(own.l2 / residual - 1) < 1e-6, "%d iterations, %g", iterations,
        residual);
  memory_free(&x);
  free_problem(&p);
}

/* Several right-hand sides: the bits of each alone, and the worst of the residuals; more than fit into one call. */
static void many_sources_have_the_bits_of_one(int n) {
  for (int precision = 1; precision <= 2; ++precision) {
    problem p = make_problem(precision, convention_from(0, 1, 1, 0));
    const call c = plain_call(precision, 1);
    guarded_memory *b = malloc((size_t)n * sizeof *b), *x = malloc((size_t)n * sizeof *x);
    void **sources = malloc((size_t)n * sizeof *sources), **solutions = malloc((size_t)n * sizeof *solutions);
    for (int i = 0; i < n; ++i) {
      b[i] = make_milc_vector(&l, precision);
      fill_milc_vector(&l, precision, &p.convention, plain_source, i % 2 ? 2 : 1, -1, &b[i]); /* powers of two */
      x[i] = zero_guess(&p, 1);
      sources[i] = b[i].at;
      solutions[i] = x[i].at;
    }
    double residual[2] = {-1, -7}, relative[2] = {-1, -7};
    int iterations[2] = {0, -7};
    qudaInvertMsrc(precision, 2, mass, args_of(&c), target, 0, p.fat.at, p.lng.at, sources, solutions, residual,
                   relative, iterations, n);
    CHECK(residual[0] > 0 && residual[0] < target && iterations[0] > 10, "%g", residual[0]);
    CHECK(residual[1] == -7 && relative[1] == -7 && iterations[1] == -7, "arrays, not numbers");
    for (int i = 0; i < n; ++i) {
      double *wanted = malloc((size_t)host_volume(&whole) * 48);
      for (long k = 0; k < 6 * host_volume(&whole); ++k) wanted[k] = (i % 2 ? 2 : 1) * expected[1][k];
      CHECK(milc_differences(&l, precision, &p.convention, wanted, 1, &x[i]) == 0, "right-hand side %d", i);
      free(wanted);
      memory_free(&b[i]);
      memory_free(&x[i]);
    }
    free(b);
    free(x);
    free(sources);
    free(solutions);
    free_problem(&p);
  }
}

/* Finalised before memory is given back, with and without a solve; and again. */
static void finalize_comes_when_it_likes(void) {
  double *memory = qudaAllocatePinned(100 * sizeof *memory), *none = qudaAllocatePinned(0);
  CHECK(memory && none && (uintptr_t)memory % 4096 == 0, "%p %p", (void *)memory, (void *)none);
  qudaFinalize();
  qudaFinalize();
  memory[99] = 1;
  qudaFreePinned(memory);
  qudaFreePinned(none);
  qudaFreePinned(NULL);
  connect_milc(QUDA_SILENT);
  qudaFinalize();
  connect_milc(QUDA_SILENT);
  connect_milc(QUDA_SUMMARIZE);
  links_changed_in_place_are_seen();
}

/* Exit without a word would be a fault: none of these returns. */
static int fail(const char *what) {
  l = whole;
  if (strcmp(what, "early") != 0) connect_milc(QUDA_SUMMARIZE);
  problem p = make_problem(2, convention_from(0, 0, 0, 0));
  guarded_memory x = zero_guess(&p, 0);
  call c = plain_call(2, 0);
  if (strcmp(what, "sign") == 0) {
    memory_unlock(&p.fat);
    double *u = (double *)(void *)p.fat.at + 72 * site_milc(whole.n, (const int[4]){3, 2, 5, 7});
    for (int k = 0; k < 18; ++k) u[k] = -u[k];
  }
  if (strcmp(what, "target") == 0) c.target = 1.5;
  if (strcmp(what, "precision") == 0) c.precision = 3;
  if (strcmp(what, "null") == 0) x.at = NULL;
  if (strcmp(what, "lattice") == 0) {
    const int odd[4] = {4, 5, 6, 8};
    const QudaInitArgs_t init = {QUDA_SILENT, {odd, grid, 0}};
    qudaInit(init);
  }
  invert(&p, &c, &x);
  printf("%s went through\n", what);
  return 0;
}

static int fail_on_ranks(void) {
  grid[3] = 4;
  qudaSetMPICommHandle(&(MPI_Comm){MPI_COMM_WORLD});
  connect_milc(QUDA_SUMMARIZE);
  return 0;
}

/* Links that stay, that come back in other memory, and that change. */
static int report_reads(void) {
  l = whole;
  connect_milc(QUDA_VERBOSE);
  problem p = make_problem(2, convention_from(0, 0, 0, 0)), again = make_problem(2, convention_from(0, 0, 0, 0));
  problem in_fp32 = make_problem(1, convention_from(0, 0, 0, 0));
  const call c = plain_call(2, 0), c_fp32 = plain_call(1, 0);
  guarded_memory x = zero_guess(&p, 0), x_fp32 = zero_guess(&in_fp32, 0), d = make_milc_vector(&l, 2);
  int iterations = 0;
  invert(&p, &c, &x);     /* read */
  invert(&again, &c, &x); /* unchanged */
  qudaDslash(2, 2, args_of(&c), p.fat.at, p.lng.at, p.source.at, d.at, &iterations);
  p.convention = convention_from(0, 1, 0, 0);
  memory_unlock(&p.fat);
  fill_milc_links(&l, 2, &p.convention, plain_links, 1, &p.fat);
  invert(&p, &c, &x);                 /* read */
  invert(&p, &c, &x);                 /* unchanged */
  invert(&in_fp32, &c_fp32, &x_fp32); /* read: other numbers */
  invert(&again, &c, &x);             /* read */
  qudaFinalize();
  return 0;
}

static void checks_of_one_process(void) {
  the_smallest_change_is_seen();
  dslash_is_milcs();
  every_target_is_met();
  too_few_iterations_are_told();
  many_sources_have_the_bits_of_one(66);
}
static void checks_of_ranks(void) {
  every_host_has_the_expected_bits();
  links_changed_in_place_are_seen();
  negative_zeros_are_zeros();
  a_guess_is_used();
  many_sources_have_the_bits_of_one(3);
  finalize_comes_when_it_likes();
}

static int write_file(const char *path) {
  l = whole;
  connect_milc(QUDA_SUMMARIZE);
  double *twisted = NULL;
  solve_reference_cases();
  checks_of_one_process();
  checks_of_ranks();
  twists_are_the_hosts(&twisted);
  qudaFinalize();
  FILE *file = fopen(path, "wb");
  if (!file) return 2;
  const size_t V = (size_t)host_volume(&whole);
  fwrite(plain_links, sizeof(double), 72 * V, file);
  fwrite(plain_source, sizeof(double), 6 * V, file);
  for (int which = 0; which < reference_cases; ++which) fwrite(expected[which], sizeof(double), 6 * V, file);
  fwrite(twisted, sizeof(double), 6 * V, file);
  return fclose(file) == 0 ? end() : 2;
}

static int check_ranks(const char *path, char **cut) {
  const size_t V = (size_t)host_volume(&whole);
  double *twisted = malloc(V * 48);
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, (long)(78 * V * sizeof(double)), SEEK_SET) != 0) return 2;
  size_t found = 0;
  for (int which = 0; which < reference_cases; ++which) {
    expected[which] = malloc(V * 48);
    found += fread(expected[which], sizeof(double), 6 * V, file);
  }
  found += fread(twisted, sizeof(double), 6 * V, file);
  fclose(file);
  if (found != 6 * V * (reference_cases + 1)) return 2;

  MPI_Comm milcs = place_ranks(cut);
  connect_milc(QUDA_SUMMARIZE);
  checks_of_ranks();
  twists_are_the_hosts(&twisted);
  qudaFinalize();
  MPI_Comm_free(&milcs);
  return end();
}

int main(int argc, char **argv) {
  make_plain_fields();
  if (argc == 3 && strcmp(argv[1], "write") == 0) return write_file(argv[2]);
  if (argc == 3 && strcmp(argv[1], "fail") == 0) return fail(argv[2]);
  if (argc == 2 && strcmp(argv[1], "reads") == 0) return report_reads();
  if (argc == 2 && strcmp(argv[1], "fail-ranks") == 0) {
    MPI_Init(&argc, &argv);
    return fail_on_ranks();
  }
  if (argc != 7 || strcmp(argv[1], "check") != 0) return 2;
  MPI_Init(&argc, &argv);
  const int status = check_ranks(argv[2], argv + 3);
  MPI_Finalize();
  return status;
}
