/* Links that change in place between two calls: each answer is that of a fresh start, guess and numbers included. The
 * library tells on standard output what it did about links, and nothing else stands there unless a check fails.
 *
 *   milc_changes                    one process
 *   milc_changes GX GY GZ GT        ranks; links change on one of them only
 *   milc_changes fails GX GY GZ GT  ranks; a call of two iterations, and one that a fault has to end */
#define _GNU_SOURCE
#include "milc_calls.h"

enum { most = 3 };
typedef enum { one_source, some_sources, some_masses, few_iterations, number_of_kinds } kind;
typedef struct {
  guarded_memory x[most];
  double residuals[most], relatives[most];
  int iterations;
} answer;

/* Of the even sites, by a thousand iterations or two, unless `most_iterations` are fewer. The guess is not zero. */
static answer answer_of(const problem *p, kind asked, int most_iterations) {
  answer a;
  void *sources[most], *solutions[most];
  double offsets[most] = {1e-6, 1e-3, 0.1}, targets[most] = {1e-9, 1e-9, 1e-9}, relative_targets[most] = {0, 0, 0};
  memset(a.residuals, 0, sizeof a.residuals);
  memset(a.relatives, 0, sizeof a.relatives);
  for (int i = 0; i < most; ++i) {
    a.x[i] = make_milc_vector(&l, p->precision);
    fill_milc_vector(&l, p->precision, &p->convention, plain_source, 0.1 * (i + 1), 0, &a.x[i]);
    sources[i] = p->source.at;
    solutions[i] = a.x[i].at;
  }
  const call c = plain_call(p->precision, 0);
  QudaInvertArgs_t args = args_of(&c);
  args.max_iter = most_iterations;
  if (asked == some_masses)
    qudaMultishiftInvert(p->precision, 2, most, offsets, args, targets, relative_targets, p->fat.at, p->lng.at,
                         p->source.at, solutions, a.residuals, a.relatives, &a.iterations);
  else if (asked == some_sources)
    qudaInvertMsrc(p->precision, 2, 1e-2, args, targets[0], 0, p->fat.at, p->lng.at, sources, solutions, a.residuals,
                   a.relatives, &a.iterations, most);
  else
    qudaInvert(p->precision, 2, 1e-4, args, targets[0], 0, p->fat.at, p->lng.at, sources[0], solutions[0], a.residuals,
               a.relatives, &a.iterations);
  return a;
}
static void free_answer(answer *a) {
  for (int i = 0; i < most; ++i) memory_free(&a->x[i]);
}

static void check_same(kind asked, const answer *a, const answer *b) {
  CHECK(a->iterations == b->iterations, "kind %d: %d and %d", asked, a->iterations, b->iterations);
  for (int i = 0; i < most; ++i) {
    CHECK(memcmp(a->x[i].at, b->x[i].at, a->x[i].bytes) == 0, "kind %d: solution %d", asked, i);
    CHECK(a->residuals[i] == b->residuals[i] && a->relatives[i] == b->relatives[i], "kind %d: residual %d", asked, i);
  }
}

static void change_links_on_one_rank(problem *p) {
  if (rank != 0) return; /* where there are others, the library tells on another */
  memory_unlock(&p->fat);
  char *number = p->fat.at + (72 * 101 + 18 * 2 + 4) * real_bytes(p->precision);
  if (p->precision == 2)
    *(double *)(void *)number *= 1 + 1e-7;
  else
    *(float *)(void *)number *= 1 + 1e-6f;
  memory_lock(&p->fat);
}

/* For each kind of call three lines: links unchanged, changed, and read at a fresh start. */
static void answers_are_those_of_a_fresh_start(int precision) {
  problem p = make_problem(precision, convention_from(0, 0, 0, 0));
  connect_milc(QUDA_VERBOSE);
  answer first = answer_of(&p, few_iterations, 2);
  free_answer(&first);
  for (kind asked = one_source; asked < number_of_kinds; ++asked) {
    const int most_iterations = asked == few_iterations ? 7 : 20000;
    answer before = answer_of(&p, asked, most_iterations);
    change_links_on_one_rank(&p);
    answer changed = answer_of(&p, asked, most_iterations);
    qudaFinalize();
    connect_milc(QUDA_VERBOSE);
    answer fresh = answer_of(&p, asked, most_iterations);
    check_same(asked, &changed, &fresh);
    CHECK(asked == few_iterations || changed.residuals[0] < 1e-9, "kind %d: %g", asked, changed.residuals[0]);
    CHECK(memcmp(before.x[0].at, fresh.x[0].at, fresh.x[0].bytes) != 0, "kind %d: the change makes none", asked);
    free_answer(&before);
    free_answer(&changed);
    free_answer(&fresh);
  }
  qudaFinalize();
  free_problem(&p);
}

static int fail(void) {
  problem p = make_problem(2, convention_from(0, 0, 0, 0));
  connect_milc(QUDA_VERBOSE);
  answer_of(&p, one_source, 2);
  answer_of(&p, one_source, 20000);
  printf("went through\n");
  return 0;
}

int main(int argc, char **argv) {
  make_plain_fields();
  const int fails = argc > 1 && strcmp(argv[1], "fails") == 0;
  if (argc != 1 && argc != 5 + fails) return 2;
  if (argc == 1) {
    l = whole;
    for (int precision = 1; precision <= 2; ++precision) answers_are_those_of_a_fresh_start(precision);
    return failures != 0;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm milcs = place_ranks(argv + 1 + fails);
  if (fails) return fail();
  for (int precision = 1; precision <= 2; ++precision) answers_are_those_of_a_fresh_start(precision);
  MPI_Comm_free(&milcs);
  MPI_Finalize();
  return failures != 0;
}
