/* The functions that MILC calls in its staggered solvers when it is built for QUDA: libstaghorn_milc.so has them.
 *
 * This header stands in the place of QUDA's own, for MILC built with WANTQUDA and WANT_FN_CG_GPU and none of the other
 * GPU options (docs/interfaces/milc.md). Names, arguments and layouts of structs are those of QUDA's interface for
 * MILC, so that MILC compiles as it is; what they mean here is said here.
 *
 *   A x = b,  A = 4m^2 - D^2 on the sites of one parity
 *   D a(x) = sum_mu F_mu(x) a(x+mu) - F_mu(x-mu)^dagger a(x-mu) + L_mu(x) a(x+3mu) - L_mu(x-3mu)^dagger a(x-3mu)
 *
 * F and L are MILC's fat and long links as they lie in its memory: [site][mu][row][column][re, im], with staggered
 * phases, boundary signs and coefficients multiplied in. Long links that are all zero: naive quarks. Vectors are
 * [site][colour][re, im]. Sites of both are even first, (x + X (y + Y (z + Z t))) / 2 + V p / 2, with the extents X, Y,
 * Z and the volume V of the local lattice and the parity p. Numbers are float or double, as `external_precision` 1 or 2
 * says. Links are never written, and may change in place between any two calls: each call hashes them. On GPUs other
 * threads do, while the call solves with the links of the last one; if they differ, it starts anew from what it was
 * given, of which nothing has been written by then.
 *
 * All functions but the two of memory are collective. An error writes one line to stderr and ends the job: by the
 * host's terminate(1) if it has such a function, as MILC has; else by MPI_Abort, or exit. A solve that does not reach
 * its target is no error: the residuals tell. */
#ifndef STAGHORN_QUDA_MILC_INTERFACE_H
#define STAGHORN_QUDA_MILC_INTERFACE_H

#include <stddef.h>

#if defined(__GNUC__)
#define STAGHORN_MILC_API __attribute__((visibility("default")))
#else
#define STAGHORN_MILC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Structs hold numbers of enums as int: what a host has not set may be anything. */
typedef enum { QUDA_EVEN_PARITY = 0, QUDA_ODD_PARITY = 1 } QudaParity;

/* SUMMARIZE: warnings. VERBOSE: a line for each call, too. Errors are always told. */
typedef enum { QUDA_SILENT = 0, QUDA_SUMMARIZE = 1, QUDA_VERBOSE = 2, QUDA_DEBUG_VERBOSE = 3 } QudaVerbosity;

typedef struct {
  const int *latsize;  /* global extents, x y z t */
  const int *machsize; /* processes in each direction; ranks are numbered x fastest. Local extents are even */
  int device;          /* of one process alone: above 0, the number of its GPU. Else a GPU is chosen, if there is one */
} QudaLayout_t;

typedef struct {
  int verbosity; /* QudaVerbosity */
  QudaLayout_t layout;
} QudaInitArgs_t;

/* Fields without a comment are not read. */
typedef struct {
  int max_iter;        /* of CG, for each right-hand side; not read by qudaDslash */
  int evenodd;         /* QudaParity: the sites of the system, or of the result of qudaDslash */
  int mixed_precision; /* iterations in 0: `quda_precision`, 1: fp32, 2: 16 bits; not read by qudaDslash */
  double boundary_phase[4];
  int make_resident_solution, use_resident_solution;
  int solver_type;
  double tadpole, naik_epsilon; /* coefficients are in the links */
} QudaInvertArgs_t;

/* Where the ranks are: a pointer to an MPI_Comm, or NULL where MILC is built without MPI. To be called before qudaInit;
 * without it MPI_COMM_WORLD. */
STAGHORN_MILC_API void qudaSetMPICommHandle(void *communicator);
/* Makes the lattice and takes the GPU. Further calls with the same sizes change nothing but the verbosity. */
STAGHORN_MILC_API void qudaInit(QudaInitArgs_t args);
/* Frees what qudaInit and solves have made. Nothing to free is fine. */
STAGHORN_MILC_API void qudaFinalize(void);

/* Memory of the host for fields, aligned to a page; before qudaInit and after qudaFinalize too. Local. */
STAGHORN_MILC_API void *qudaAllocatePinned(size_t bytes);
STAGHORN_MILC_API void qudaFreePinned(void *memory);

/* destination = D source on the sites `evenodd`, from the other ones; the others stay. *iterations is set to 0. */
STAGHORN_MILC_API void qudaDslash(int external_precision, int quda_precision, QudaInvertArgs_t args, const void *fat,
                                  const void *lng, void *source, void *destination, int *iterations);

/* Solves A x = b from the guess in `solution`, on the sites `evenodd`; the others stay. `residual` is |b - A x| / |b|,
 * `relative_residual` Fermilab's: sqrt(2/V sum_i |r_i|^2 / |x_i|^2) over the sites of the system, a term 1 where x_i is
 * zero, V the global volume. Both targets have to be met, the first one from below; 0 is a target that is not asked.
 * Both 0: as good as fp64 allows. What was reached is recomputed in fp64 with the links as they are. *iterations: those
 * of CG. `quda_precision` 1 iterates in fp32 where `mixed_precision` does not ask for 16 bits. */
STAGHORN_MILC_API void qudaInvert(int external_precision, int quda_precision, double mass, QudaInvertArgs_t args,
                                  double target_residual, double target_relative_residual, const void *fat,
                                  const void *lng, void *source, void *solution, double *residual,
                                  double *relative_residual, int *iterations);
/* The same for n right-hand sides together. Residuals and iterations are the largest of all. */
STAGHORN_MILC_API void qudaInvertMsrc(int external_precision, int quda_precision, double mass, QudaInvertArgs_t args,
                                      double target_residual, double target_relative_residual, const void *fat,
                                      const void *lng, void **sources, void **solutions, double *residual,
                                      double *relative_residual, int *iterations, int n);
/* Solves (offset[i] - D^2) x[i] = b for n offsets, at most 33, from zero. Targets and residuals are arrays of n. A
 * target of 0: as good as the iterations of the smallest offset make it, and no worse than the smallest target that is
 * asked. */
STAGHORN_MILC_API void qudaMultishiftInvert(int external_precision, int quda_precision, int n, double *offsets,
                                            QudaInvertArgs_t args, const double *target_residuals,
                                            const double *target_relative_residuals, const void *fat, const void *lng,
                                            void *source, void **solutions, double *residuals,
                                            double *relative_residuals, int *iterations);

#ifdef __cplusplus
}
#endif
#endif
