/* Calls as MILC makes them, and what its programs share: a problem in MILC's fields, and the place of this rank. */
#ifndef MILC_CALLS_H
#define MILC_CALLS_H

#include <mpi.h>
#include <quda.h>
#include <quda_milc_interface.h>

#include "milc_fields.h"

static int failures, rank;
#define CHECK(condition, ...)                                               \
  do {                                                                      \
    if (!(condition)) {                                                     \
      printf("%s:%d: rank %d: %s: ", __FILE__, __LINE__, rank, #condition); \
      printf(__VA_ARGS__);                                                  \
      printf("\n");                                                         \
      ++failures;                                                           \
    }                                                                       \
  } while (0)

static const double mass = 0.3, target = 1e-10;
static host_lattice l; /* of this rank */
static int grid[4] = {1, 1, 1, 1};

/* What a call of MILC has to say. */
typedef struct {
  int precision, quda_precision, mixed, parity;
  double target, relative_target;
} call;
static inline call plain_call(int precision, int parity) {
  const call c = {precision, 2, 0, parity, target, 0};
  return c;
}
typedef struct {
  double residual, relative;
  int iterations;
} outcome;

/* What MILC leaves uninitialised. */
static inline QudaInvertArgs_t args_of(const call *c) {
  QudaInvertArgs_t args;
  memset(&args, 0x5a, sizeof args);
  args.max_iter = 1000;
  args.evenodd = c->parity ? QUDA_ODD_PARITY : QUDA_EVEN_PARITY;
  args.mixed_precision = c->mixed;
  args.tadpole = 0.87;
  args.naik_epsilon = -0.1;
  return args;
}

/* One set of links, and a source for them. */
typedef struct {
  int precision;
  milc_convention convention;
  guarded_memory fat, lng, source;
} problem;

/* u, lng: of the whole lattice, plain; lng NULL: naive quarks, whose long links are zero. */
static inline problem make_problem_of(int precision, milc_convention convention, const double *u, const double *lng) {
  problem p = {precision, convention, make_milc_links(&l, precision), make_zero_links(&l, precision),
               make_milc_vector(&l, precision)};
  fill_milc_links(&l, precision, &convention, u, 1, &p.fat);
  if (lng) fill_milc_links(&l, precision, &convention, lng, 3, &p.lng);
  fill_milc_vector(&l, precision, &convention, plain_source, 1, -1, &p.source);
  memory_lock(&p.fat);
  memory_lock(&p.lng);
  memory_lock(&p.source);
  return p;
}
static inline problem make_problem(int precision, milc_convention convention) {
  return make_problem_of(precision, convention, plain_links, NULL);
}
static inline void free_problem(problem *p) {
  memory_free(&p->fat);
  memory_free(&p->lng);
  memory_free(&p->source);
}

/* A first guess of zero on the parity; every byte 0x5a on the other. */
static inline guarded_memory zero_guess(const problem *p, int parity) {
  guarded_memory x = make_milc_vector(&l, p->precision);
  memset(x.at + (size_t)parity * x.bytes / 2, 0, x.bytes / 2);
  return x;
}

static inline outcome invert(const problem *p, const call *c, guarded_memory *x) {
  outcome o = {-1, -1, 0};
  qudaInvert(c->precision, c->quda_precision, mass, args_of(c), c->target, c->relative_target, p->fat.at, p->lng.at,
             p->source.at, x->at, &o.residual, &o.relative, &o.iterations);
  return o;
}

/* A build of MILC without MPI has no communicator, and says so. */
static inline void connect_milc(int verbosity) {
  int with_mpi = 0;
  MPI_Initialized(&with_mpi);
  if (!with_mpi) qudaSetMPICommHandle(NULL);
  const QudaInitArgs_t init = {(QudaVerbosity)verbosity, {whole.n, grid, 0}};
  qudaInit(init);
}

/* Puts this rank into the grid `cut`, in a communicator of MILC's own: the ranks backwards, x fastest. */
static inline MPI_Comm place_ranks(char **cut) {
  int ranks, place;
  MPI_Comm milcs;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &milcs);
  MPI_Comm_rank(milcs, &place);
  for (int mu = 0; mu < 4; ++mu) {
    grid[mu] = atoi(cut[mu]);
    l.global[mu] = whole.n[mu];
    l.n[mu] = whole.n[mu] / grid[mu];
    l.origin[mu] = place % grid[mu] * l.n[mu];
    place /= grid[mu];
  }
  qudaSetMPICommHandle(&milcs);
  return milcs;
}

static inline int end(void) {
  if (!failures && rank == 0) printf("ok\n");
  return failures != 0;
}

#endif
