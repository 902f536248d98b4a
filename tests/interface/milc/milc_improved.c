/* A program that calls what MILC calls for improved quarks. It knows quda_milc_interface.h
 * alone.
 *
 *   milc_improved LINKS FILE              fat and long links, without phases, in plain order as raw doubles
 *   milc_improved LINKS FILE GX GY GZ GT  ranks; the solutions have the bits of FILE
 *
 * FILE: source, solutions on even and odd sites, as raw doubles in plain order and CPS's convention. */
#define _GNU_SOURCE
#include "milc_calls.h"

enum { solutions = 2 };

static double *expected[solutions];
static int judges; /* this process fills `expected` */
static double *fat_links, *long_links;

static void compare(const problem *p, int which, int parity, const guarded_memory *x) {
  if (judges && !expected[which]) expected[which] = plain_of_milc(p->precision, &p->convention, parity, x);
  const long wrong = milc_differences(&l, p->precision, &p->convention, expected[which], parity, x);
  CHECK(wrong == 0, "solution %d in precision %d: %ld numbers", which, p->precision, wrong);
}

static void judge(const problem *p, double shift, int parity, double allowed, double residual,
                  const guarded_memory *x) {
  CHECK(residual > 0 && residual < allowed, "%g", residual);
  if (host_volume(&l) != host_volume(&whole) || p->precision == 1) return;
  const milc_residuals own = own_residuals(2, &p->fat, &p->lng, shift, parity, &p->source, x);
  CHECK(fabs(own.l2 / residual - 1) < 1e-3, "%g, not %g", own.l2, residual);
}

static void solve_one_mass(const problem *p) {
  for (int parity = 0; parity < 2; ++parity) {
    const call c = plain_call(p->precision, parity);
    guarded_memory x = zero_guess(p, parity);
    const outcome out = invert(p, &c, &x);
    judge(p, 4 * mass * mass, parity, target, out.residual, &x);
    compare(p, parity, parity, &x);
    memory_free(&x);
  }
}

static void dslash_is_milcs(const problem *p) {
  if (host_volume(&l) != host_volume(&whole)) return;
  for (int parity = 0; parity < 2; ++parity) {
    const call c = plain_call(p->precision, parity);
    guarded_memory d = make_milc_vector(&l, p->precision);
    int iterations = 0;
    qudaDslash(p->precision, 2, args_of(&c), p->fat.at, p->lng.at, p->source.at, d.at, &iterations);
    CHECK(own_difference(p->precision, &p->fat, &p->lng, parity, &p->source, &d) < (p->precision == 2 ? 1e-14 : 1e-6),
          "precision %d", p->precision);
    memory_free(&d);
  }
}

static void run_all(void) {
  const int origins[][4] = {{0, 0, 0, 0}, {1, 0, 0, 3}, {0, 1, 1, 0}};
  connect_milc(QUDA_SUMMARIZE);
  for (int precision = 2; precision >= 1; --precision)
    for (int o = 0; o < 3; ++o) {
      const int *at = origins[o];
      problem p = make_problem_of(precision, convention_from(at[0], at[1], at[2], at[3]), fat_links, long_links);
      solve_one_mass(&p);
      dslash_is_milcs(&p);
      free_problem(&p);
    }
  qudaFinalize();
}

static int read_links(const char *path) {
  const size_t reals = 72 * (size_t)host_volume(&whole);
  fat_links = malloc(reals * 8);
  long_links = malloc(reals * 8);
  FILE *file = fopen(path, "rb");
  if (!file || fread(fat_links, 8, reals, file) != reals || fread(long_links, 8, reals, file) != reals) return 0;
  fclose(file);
  return 1;
}

static int write_solutions(const char *path) {
  const size_t reals = 6 * (size_t)host_volume(&whole);
  FILE *file = fopen(path, "wb");
  if (!file) return 2;
  fwrite(plain_source, 8, reals, file);
  for (int which = 0; which < solutions; ++which) fwrite(expected[which], 8, reals, file);
  return fclose(file) == 0 ? end() : 2;
}

static int read_solutions(const char *path) {
  const size_t reals = 6 * (size_t)host_volume(&whole);
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, (long)reals * 8, SEEK_SET) != 0) return 0;
  for (int which = 0; which < solutions; ++which) {
    expected[which] = malloc(reals * 8);
    if (fread(expected[which], 8, reals, file) != reals) return 0;
  }
  return fclose(file) == 0;
}

int main(int argc, char **argv) {
  make_plain_fields();
  if ((argc != 3 && argc != 7) || !read_links(argv[1])) return 2;
  if (argc == 3) {
    l = whole;
    judges = 1;
    run_all();
    return write_solutions(argv[2]);
  }
  if (!read_solutions(argv[2])) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm milcs = place_ranks(argv + 3);
  run_all();
  MPI_Comm_free(&milcs);
  const int status = end();
  MPI_Finalize();
  return status;
}
