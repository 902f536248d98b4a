/* A program that calls what MILC calls for improved quarks and for several masses. It knows quda_milc_interface.h
 * alone.
 *
 *   milc_improved naive FILE              several masses of naive quarks, one process
 *   milc_improved LINKS FILE              fat and long links, without phases, in plain order as raw doubles
 *   milc_improved LINKS FILE GX GY GZ GT  ranks; the solutions have the bits of FILE
 *
 * FILE: source, solutions of a single mass on even and odd sites, of the masses together on even sites with one target
 * for each, and with a target for the first only; raw doubles in plain order and CPS's convention. */
#define _GNU_SOURCE
#include "milc_calls.h"

enum { masses = 3, solutions = 2 + 2 * masses };
static const double offsets[masses] = {4 * 0.3 * 0.3, 4 * 0.5 * 0.5, 4 * 1.25 * 1.25};

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
  CHECK(fabs(own.l2 - residual) < 1e-3 * residual + 1e-15, "%g, not %g", own.l2, residual);
}

static void solve_one_mass(const problem *p) {
  for (int parity = 0; parity < 2; ++parity) {
    const call c = plain_call(p->precision, parity);
    guarded_memory x = zero_guess(p, parity);
    const outcome out = invert(p, &c, &x);
    judge(p, offsets[0], parity, target, out.residual, &x);
    compare(p, parity, parity, &x);
    memory_free(&x);
  }
}

/* All masses together, each with the target, or as unmixed builds of MILC ask: the first only. Others then go on as
 * long as the first. What is there at first does not count. */
static void solve_all_masses(const problem *p, int first_only) {
  const call c = plain_call(p->precision, 0);
  guarded_memory x[masses];
  void *fields[masses];
  double shift[masses], targets[masses], relative_targets[masses] = {0, 0, 0}, residuals[masses], relatives[masses];
  int iterations = -1;
  for (int i = 0; i < masses; ++i) {
    x[i] = make_milc_vector(&l, p->precision);
    fields[i] = x[i].at;
    shift[i] = offsets[i];
    targets[i] = i > 0 && first_only ? 0 : target;
  }
  qudaMultishiftInvert(p->precision, 2, masses, shift, args_of(&c), targets, relative_targets, p->fat.at, p->lng.at,
                       p->source.at, fields, residuals, relatives, &iterations);
  CHECK(iterations > 10, "%d", iterations);
  for (int i = 0; i < masses; ++i) {
    judge(p, offsets[i], 0, target, residuals[i], &x[i]);
    CHECK(i == 0 || !first_only || residuals[i] < 0.1 * residuals[0], "%g of %d", residuals[i], i);
    CHECK(i == 0 || first_only || residuals[i] > 0.1 * target, "%g of %d", residuals[i], i);
    compare(p, 2 + masses * first_only + i, 0, &x[i]);
    memory_free(&x[i]);
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
      for (int first_only = 0; first_only < 2; ++first_only) solve_all_masses(&p, first_only);
      dslash_is_milcs(&p);
      free_problem(&p);
    }
  qudaFinalize();
}

static int read_links(const char *path) {
  const size_t reals = 72 * (size_t)host_volume(&whole);
  if (strcmp(path, "naive") == 0) {
    fat_links = plain_links;
    return 1;
  }
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
