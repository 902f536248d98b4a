/* The functions that MILC calls when it is built for QUDA: libstaghorn_milc.so has them all.
 *
 * This header stands in the place of QUDA's own (docs/interfaces/milc.md). Names, arguments and structs are those of
 * the interface for MILC in QUDA's development version of October 2024, so that MILC of that time (develop, 9782cb00)
 * compiles and links as it is. What they mean here is said here. Functions under "Not offered" end the job with one
 * line that names the function and the option of MILC to leave empty.
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

#include <quda.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Structs that MILC hands over hold numbers of enums as int: what a host has not set may be anything. */
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

/* Links or momenta of MILC, in its array of sites or in a field of their own. Sites are even first, as above. A link is
 * [row][column][re, im]; momenta have ten numbers: m01, m02 and m12, complex, then the imaginary parts m00, m11 and m22
 * of an anti-hermitian matrix, then one that is not read. Four of each for a site, x to t. */
typedef struct {
  void *site;         /* the first site of the array; NULL: fields of their own, packed */
  void *link;         /* links where `site` is NULL */
  size_t link_offset; /* bytes from the start of a site to its links */
  void *mom;          /* momenta where `site` is NULL */
  size_t mom_offset;  /* bytes from the start of a site to its momenta */
  size_t size;        /* bytes from site to site */
} QudaMILCSiteArg_t;

/* The fields of what follows are not read. */
typedef struct {
  QudaPrecision prec_ritz;
  int nev, max_search_dim, deflation_grid;
  double tol_restart;
  int eigcg_max_restarts, max_restart_num;
  double inc_tol, eigenval_tol;
  QudaExtLibType solver_ext_lib, deflation_ext_lib;
  QudaFieldLocation location_ritz;
  QudaMemoryType mem_type_ritz;
  char *vec_infile, *vec_outfile;
} QudaEigArgs_t;

typedef struct {
  int reunit_allow_svd, reunit_svd_only;
  double reunit_svd_abs_error, reunit_svd_rel_error, force_filter;
} QudaHisqParams_t;

typedef struct {
  int su3_source, use_pinned_memory;
} QudaFatLinkArgs_t;

typedef struct {
  int n_steps;
  double width;
  int compute_2link, delete_2link, t0, laplaceDim;
} QudaTwoLinkQuarkSmearArgs_t;

/* MILC 9782cb00 declares these two in a source of its own, behind this header. A MILC that expects them here compiles
 * with -DSTAGHORN_QUDA_CONTRACTIONS. */
#ifdef STAGHORN_QUDA_CONTRACTIONS
typedef enum {
  QUDA_FFT_SYMM_ODD = 1,
  QUDA_FFT_SYMM_EVEN = 2,
  QUDA_FFT_SYMM_EO = 3,
  QUDA_FFT_SYMM_INVALID = QUDA_INVALID_ENUM
} QudaFFTSymmType;

typedef struct {
  int n_mom;
  int *mom_modes;
  QudaFFTSymmType *fft_type;
  int *source_position;
  double flops, dtime;
} QudaContractArgs_t;

STAGHORN_MILC_API void qudaContractFT(int external_precision, QudaContractArgs_t *args, void *antiquark, void *quark,
                                      double *correlators);
#endif

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
STAGHORN_MILC_API void *qudaAllocateManaged(size_t bytes);
STAGHORN_MILC_API void qudaFreeManaged(void *memory);

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

/* Observables of the links in `arg`. phase_in not 0: the links hold MILC's staggered phases, counted from the origin of
 * the lattice, and the antiperiodic sign of t; both are taken out first. The same bits on any ranks.
 * Plaquettes: [0] the mean of the other two, [1] of space, [2] of time; Re tr / 3, so 1 for links of one. */
STAGHORN_MILC_API void qudaPlaquettePhased(int precision, double plaquettes[3], QudaMILCSiteArg_t *arg, int phase_in);
/* The mean of tr over all lines in `direction`, 0 to 3; so 3 for links of one. Real and imaginary part. */
STAGHORN_MILC_API void qudaPolyakovLoopPhased(int precision, double loop[2], int direction, QudaMILCSiteArg_t *arg,
                                              int phase_in);
/* traces[2 i], traces[2 i + 1] = factor coefficients[i] sum_x tr P_i(x), for n paths back to their beginning. Steps of
 * a path are 0 to 3 for +x to +t, and 4 to 7 for -t to -x. */
STAGHORN_MILC_API void qudaGaugeLoopTracePhased(int precision, double *traces, int **paths, int *lengths,
                                                double *coefficients, int n, int longest, double factor,
                                                QudaMILCSiteArg_t *arg, int phase_in);
/* All three together. */
STAGHORN_MILC_API void qudaGaugeMeasurementsPhased(int precision, double plaquettes[3], double loop[2], int direction,
                                                   double *traces, int **paths, int *lengths, double *coefficients,
                                                   int n, int longest, double factor, QudaMILCSiteArg_t *arg,
                                                   int phase_in);
/* The sum over sites and directions of |m01|^2 + |m02|^2 + |m12|^2 + (m00^2 + m11^2 + m22^2) / 2 - 4. */
STAGHORN_MILC_API double qudaMomAction(int precision, QudaMILCSiteArg_t *arg);
/* Replaces each link, without the sign that it holds if phase_in is not 0, by the matrix of SU(3) nearest to it: the
 * unitary factor of its polar decomposition over the cube root of its determinant. An error is a link that has none, or
 * whose determinant has no positive real part. `tolerance`: of |U U^dagger - 1| that remains; 1e-14 is always met. */
STAGHORN_MILC_API void qudaUnitarizeSU3Phased(int precision, double tolerance, QudaMILCSiteArg_t *arg, int phase_in);
/* With phase_in = 0. */
STAGHORN_MILC_API void qudaUnitarizeSU3(int precision, double tolerance, QudaMILCSiteArg_t *arg);

/* Fat links, and long ones unless `lng` is NULL, from links with phases and signs in them, [site][mu] as in solves:
 * sums of paths with MILC's coefficients, of one link, of three in a row (long links), of 3-, 5- and 7-link staples and
 * of Lepage's. They carry the phases of the links. In fp64, on the host. `args` is not read. */
STAGHORN_MILC_API void qudaLoadKSLink(int precision, QudaFatLinkArgs_t args, const double coefficients[6], void *links,
                                      void *fat, void *lng);
/* Fat links, unless `fat` is NULL, and the matrices of U(3) nearest to them. A fat link that has none, or none that
 * fp64 can tell, is an error. */
STAGHORN_MILC_API void qudaLoadUnitarizedLink(int precision, QudaFatLinkArgs_t args, const double coefficients[6],
                                              void *links, void *fat, void *unitarized);
/* Nothing is to be chosen: links are unitarized by one method, which keeps all digits. */
STAGHORN_MILC_API void qudaHisqParamsInit(QudaHisqParams_t params);

/* Not offered. The comment names the option of MILC that calls them. */
/* WANT_SHIFT_GPU, WANT_SPIN_TASTE_GPU, WANT_GSMEAR_GPU, WANT_GAUGEFIX_OVR_GPU; WANT_KS_CONT_GPU: qudaContractFT */
STAGHORN_MILC_API void qudaShift(int external_precision, int quda_precision, const void *links, void *source,
                                 void *destination, int direction, int symmetry, int reload);
STAGHORN_MILC_API void qudaSpinTaste(int external_precision, int quda_precision, const void *links, void *source,
                                     void *destination, int spin, int taste, int reload);
STAGHORN_MILC_API void qudaTwoLinkGaussianSmear(int external_precision, int quda_precision, void *links, void *source,
                                                QudaTwoLinkQuarkSmearArgs_t args);
STAGHORN_MILC_API void qudaFreeTwoLink(void);
STAGHORN_MILC_API void qudaGaugeFixingOVR(int precision, unsigned int direction, int steps, int verbose_interval,
                                          double relaxation, double tolerance, unsigned int unitarize_interval,
                                          unsigned int stop_theta, QudaMILCSiteArg_t *arg);
STAGHORN_MILC_API void qudaGaugeFixingFFT(int precision, unsigned int direction, int steps, int verbose_interval,
                                          double alpha, unsigned int autotune, double tolerance,
                                          unsigned int stop_theta, void *links);
/* WANT_MULTIGRID: M x = b with M = 2m + D on all sites, from zero, by CG. The file is not read. MILC 9782cb00 does not
 * call qudaInvertMsrcMG. */
STAGHORN_MILC_API void *qudaMultigridCreate(int external_precision, int quda_precision, double mass,
                                            QudaInvertArgs_t args, const void *fat, const void *lng, const char *file);
STAGHORN_MILC_API void qudaInvertMG(int external_precision, int quda_precision, double mass, QudaInvertArgs_t args,
                                    double target_residual, double target_relative_residual, const void *fat,
                                    const void *lng, void *multigrid, int rebuild, void *source, void *solution,
                                    double *residual, double *relative_residual, int *iterations);
STAGHORN_MILC_API void qudaInvertMsrcMG(int external_precision, int quda_precision, double mass, QudaInvertArgs_t args,
                                        double target_residual, double target_relative_residual, const void *fat,
                                        const void *lng, void *multigrid, int rebuild, void **sources, void **solutions,
                                        double *residual, double *relative_residual, int *iterations, int n);
STAGHORN_MILC_API void qudaMultigridDestroy(void *multigrid);
/* WANT_GF_GPU */
STAGHORN_MILC_API void qudaGaugeForce(int precision, int loop_types, double coefficients[3], double step,
                                      QudaMILCSiteArg_t *arg);
STAGHORN_MILC_API void qudaGaugeForcePhased(int precision, int loop_types, double coefficients[3], double step,
                                            QudaMILCSiteArg_t *arg, int phase_in);
STAGHORN_MILC_API void qudaUpdateU(int precision, double step, QudaMILCSiteArg_t *arg);
STAGHORN_MILC_API void qudaUpdateUPhased(int precision, double step, QudaMILCSiteArg_t *arg, int phase_in);
STAGHORN_MILC_API void qudaUpdateUPhasedPipeline(int precision, double step, QudaMILCSiteArg_t *arg, int phase_in,
                                                 int pipeline);
STAGHORN_MILC_API void qudaMomLoad(int precision, QudaMILCSiteArg_t *arg);
STAGHORN_MILC_API void qudaMomSave(int precision, QudaMILCSiteArg_t *arg);
STAGHORN_MILC_API void qudaRephase(int precision, void *links, int flag, double chemical_potential);
/* WANT_FF_GPU */
STAGHORN_MILC_API void qudaHisqForce(int precision, int terms, int naik_terms, double step, double **coefficients,
                                     void **quarks, const double level2[6], const double fat7[6], const void *w_links,
                                     const void *v_links, const void *u_links, void *momenta);
STAGHORN_MILC_API void qudaAsqtadForce(int precision, const double coefficients[6], const void *const one_link[4],
                                       const void *const naik[4], const void *links, void *momenta);
STAGHORN_MILC_API void qudaComputeOprod(int precision, int terms, int naik_terms, double **coefficients, double scale,
                                        void **quarks, void *products[3]);
/* WANT_CL_BCG_GPU, and other options of programs with Wilson quarks */
STAGHORN_MILC_API void qudaCloverInvert(int external_precision, int quda_precision, double kappa, double clover,
                                        QudaInvertArgs_t args, double target_residual, double target_relative_residual,
                                        const void *links, void *term, void *inverse, void *source, void *solution,
                                        double *residual, double *relative_residual, int *iterations);
STAGHORN_MILC_API void qudaEigCGCloverInvert(int external_precision, int quda_precision, double kappa, double clover,
                                             QudaInvertArgs_t args, double target_residual,
                                             double target_relative_residual, const void *links, void *term,
                                             void *inverse, void *source, void *solution, QudaEigArgs_t eigen,
                                             int number, int last, double *residual, double *relative_residual,
                                             int *iterations);
STAGHORN_MILC_API void qudaCloverMultishiftInvert(int external_precision, int quda_precision, int n, double *offsets,
                                                  double kappa, double clover, QudaInvertArgs_t args,
                                                  const double *target_residuals, void *source, void **solutions,
                                                  double *residuals, int *iterations);
STAGHORN_MILC_API void qudaLoadGaugeField(int external_precision, int quda_precision, QudaInvertArgs_t args,
                                          const void *links);
STAGHORN_MILC_API void qudaFreeGaugeField(void);
STAGHORN_MILC_API void qudaLoadCloverField(int external_precision, int quda_precision, QudaInvertArgs_t args,
                                           void *term, void *inverse, QudaSolutionType solution, QudaSolveType solve,
                                           double clover, int log, double *logs);
STAGHORN_MILC_API void qudaFreeCloverField(void);
STAGHORN_MILC_API void qudaCloverForce(void *momenta, double step, void **x, void **p, double *coefficients,
                                       double kappa, double ck, int n, double multiplicity, void *links, int precision,
                                       QudaInvertArgs_t args);
STAGHORN_MILC_API void qudaCloverTrace(void *out, void *unused, int mu, int nu);
STAGHORN_MILC_API void qudaCloverDerivative(void *out, void *links, void *products, int mu, int nu, double coefficient,
                                            int precision, int parity, int conjugate);
STAGHORN_MILC_API void *qudaCreateExtendedGaugeField(void *links, int geometry, int precision);
STAGHORN_MILC_API void *qudaResidentExtendedGaugeField(void *links, int geometry, int precision);
STAGHORN_MILC_API void *qudaCreateGaugeField(void *links, int geometry, int precision);
STAGHORN_MILC_API void qudaSaveGaugeField(void *links, void *from);
STAGHORN_MILC_API void qudaDestroyGaugeField(void *links);
/* No option of MILC 9782cb00 */
STAGHORN_MILC_API void qudaSetLayout(QudaLayout_t layout);
STAGHORN_MILC_API void qudaDDInvert(int external_precision, int quda_precision, double mass, QudaInvertArgs_t args,
                                    double target_residual, double target_relative_residual, const int *overlap,
                                    const void *fat, const void *lng, void *source, void *solution, double *residual,
                                    double *relative_residual, int *iterations);
STAGHORN_MILC_API void qudaEigCGInvert(int external_precision, int quda_precision, double mass, QudaInvertArgs_t args,
                                       double target_residual, double target_relative_residual, const void *fat,
                                       const void *lng, void *source, void *solution, QudaEigArgs_t eigen, int number,
                                       int last, double *residual, double *relative_residual, int *iterations);

#ifdef __cplusplus
}
#endif
#endif
