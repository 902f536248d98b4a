/* The part of QUDA's own interface that MILC calls or needs the types of: enumerations, the structs that MILC fills for
 * QUDA's eigensolver, and the five functions that take them. Names, fields and arguments are those of QUDA's
 * development version of October 2024, as MILC of that time (develop, 9782cb00) uses them.
 *
 * libstaghorn_milc.so has these functions. newQuda...Param return structs with every number 0. Fields that ask for what
 * Staghorn does not have end the job with a line that names them; those of precisions on GPUs, paddings, the Krylov
 * space, its polynomial and its restarts are not read. */
#ifndef STAGHORN_QUDA_H
#define STAGHORN_QUDA_H

#include <limits.h>
#include <stddef.h>

#if defined(__GNUC__)
#define STAGHORN_MILC_API __attribute__((visibility("default")))
#else
#define STAGHORN_MILC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What nobody has set. MILC has the same line in a source of its own. */
#define QUDA_INVALID_ENUM INT_MIN

typedef enum {
  QUDA_BOOLEAN_FALSE = 0,
  QUDA_BOOLEAN_TRUE = 1,
  QUDA_BOOLEAN_NO = 0,
  QUDA_BOOLEAN_YES = 1,
  QUDA_BOOLEAN_INVALID = QUDA_INVALID_ENUM
} QudaBoolean;

/* Bytes of a real number. */
typedef enum {
  QUDA_QUARTER_PRECISION = 1,
  QUDA_HALF_PRECISION = 2,
  QUDA_SINGLE_PRECISION = 4,
  QUDA_DOUBLE_PRECISION = 8,
  QUDA_INVALID_PRECISION = QUDA_INVALID_ENUM
} QudaPrecision;

typedef enum { QUDA_EVEN_PARITY = 0, QUDA_ODD_PARITY = 1, QUDA_INVALID_PARITY = QUDA_INVALID_ENUM } QudaParity;

/* SUMMARIZE: warnings. VERBOSE: a line for each call, too. Errors are always told. */
typedef enum {
  QUDA_SILENT = 0,
  QUDA_SUMMARIZE = 1,
  QUDA_VERBOSE = 2,
  QUDA_DEBUG_VERBOSE = 3,
  QUDA_INVALID_VERBOSITY = QUDA_INVALID_ENUM
} QudaVerbosity;

typedef enum {
  QUDA_CPU_FIELD_LOCATION = 1,
  QUDA_CUDA_FIELD_LOCATION = 2,
  QUDA_INVALID_FIELD_LOCATION = QUDA_INVALID_ENUM
} QudaFieldLocation;

typedef enum {
  QUDA_MEMORY_DEVICE = 0,
  QUDA_MEMORY_DEVICE_PINNED = 1,
  QUDA_MEMORY_HOST = 2,
  QUDA_MEMORY_HOST_PINNED = 3,
  QUDA_MEMORY_MAPPED = 4,
  QUDA_MEMORY_MANAGED = 5,
  QUDA_MEMORY_INVALID = QUDA_INVALID_ENUM
} QudaMemoryType;

typedef enum {
  QUDA_CUSOLVE_EXTLIB = 0,
  QUDA_EIGEN_EXTLIB = 1,
  QUDA_MAGMA_EXTLIB = 2,
  QUDA_EXTLIB_INVALID = QUDA_INVALID_ENUM
} QudaExtLibType;

/* Of links. */
typedef enum {
  QUDA_SU3_LINKS = 0,
  QUDA_GENERAL_LINKS = 1,
  QUDA_THREE_LINKS = 2,
  QUDA_MOMENTUM_LINKS = 3,
  QUDA_WILSON_LINKS = QUDA_SU3_LINKS,
  QUDA_ASQTAD_FAT_LINKS = QUDA_GENERAL_LINKS,
  QUDA_ASQTAD_LONG_LINKS = QUDA_THREE_LINKS,
  QUDA_ASQTAD_MOM_LINKS = QUDA_MOMENTUM_LINKS,
  QUDA_ASQTAD_GENERAL_LINKS = QUDA_GENERAL_LINKS,
  QUDA_INVALID_LINKS = QUDA_INVALID_ENUM
} QudaLinkType;

typedef enum {
  QUDA_MILC_GAUGE_ORDER = 8,
  QUDA_MILC_SITE_GAUGE_ORDER = 9,
  QUDA_INVALID_GAUGE_ORDER = QUDA_INVALID_ENUM
} QudaGaugeFieldOrder;

typedef enum {
  QUDA_ANTI_PERIODIC_T = -1,
  QUDA_PERIODIC_T = 1,
  QUDA_INVALID_T_BOUNDARY = QUDA_INVALID_ENUM
} QudaTboundary;

/* Reals of a link. */
typedef enum {
  QUDA_RECONSTRUCT_NO = 18,
  QUDA_RECONSTRUCT_12 = 12,
  QUDA_RECONSTRUCT_8 = 8,
  QUDA_RECONSTRUCT_9 = 9,
  QUDA_RECONSTRUCT_13 = 13,
  QUDA_RECONSTRUCT_10 = 10,
  QUDA_RECONSTRUCT_INVALID = QUDA_INVALID_ENUM
} QudaReconstructType;

typedef enum {
  QUDA_GAUGE_FIXED_NO = 0,
  QUDA_GAUGE_FIXED_YES = 1,
  QUDA_GAUGE_FIXED_INVALID = QUDA_INVALID_ENUM
} QudaGaugeFixed;

typedef enum {
  QUDA_STAGGERED_PHASE_NO = 0,
  QUDA_STAGGERED_PHASE_MILC = 1,
  QUDA_STAGGERED_PHASE_CPS = 2,
  QUDA_STAGGERED_PHASE_TIFR = 3,
  QUDA_STAGGERED_PHASE_CHROMA = 4,
  QUDA_STAGGERED_PHASE_INVALID = QUDA_INVALID_ENUM
} QudaStaggeredPhase;

/* Of operators and solvers. */
typedef enum {
  QUDA_STAGGERED_DSLASH = 7,
  QUDA_ASQTAD_DSLASH = 8,
  QUDA_LAPLACE_DSLASH = 11,
  QUDA_INVALID_DSLASH = QUDA_INVALID_ENUM
} QudaDslashType;

typedef enum {
  QUDA_CG_INVERTER = 0,
  QUDA_BICGSTAB_INVERTER = 1,
  QUDA_GCR_INVERTER = 2,
  QUDA_MG_INVERTER = 15,
  QUDA_INVALID_INVERTER = QUDA_INVALID_ENUM
} QudaInverterType;

typedef enum {
  QUDA_MAT_SOLUTION = 0,
  QUDA_MATDAG_MAT_SOLUTION = 1,
  QUDA_MATPC_SOLUTION = 2,
  QUDA_MATPC_DAG_SOLUTION = 3,
  QUDA_MATPCDAG_MATPC_SOLUTION = 4,
  QUDA_MATPCDAG_MATPC_SHIFT_SOLUTION = 5,
  QUDA_INVALID_SOLUTION = QUDA_INVALID_ENUM
} QudaSolutionType;

typedef enum {
  QUDA_DIRECT_SOLVE = 0,
  QUDA_NORMOP_SOLVE = 1,
  QUDA_DIRECT_PC_SOLVE = 2,
  QUDA_NORMOP_PC_SOLVE = 3,
  QUDA_NORMERR_SOLVE = 4,
  QUDA_NORMERR_PC_SOLVE = 5,
  QUDA_INVALID_SOLVE = QUDA_INVALID_ENUM
} QudaSolveType;

typedef enum {
  QUDA_MATPC_EVEN_EVEN = 0,
  QUDA_MATPC_ODD_ODD = 1,
  QUDA_MATPC_EVEN_EVEN_ASYMMETRIC = 2,
  QUDA_MATPC_ODD_ODD_ASYMMETRIC = 3,
  QUDA_MATPC_INVALID = QUDA_INVALID_ENUM
} QudaMatPCType;

typedef enum { QUDA_DAG_NO = 0, QUDA_DAG_YES = 1, QUDA_DAG_INVALID = QUDA_INVALID_ENUM } QudaDagType;

typedef enum {
  QUDA_KAPPA_NORMALIZATION = 0,
  QUDA_MASS_NORMALIZATION = 1,
  QUDA_ASYMMETRIC_MASS_NORMALIZATION = 2,
  QUDA_INVALID_NORMALIZATION = QUDA_INVALID_ENUM
} QudaMassNormalization;

typedef enum {
  QUDA_PRESERVE_SOURCE_NO = 0,
  QUDA_PRESERVE_SOURCE_YES = 1,
  QUDA_PRESERVE_SOURCE_INVALID = QUDA_INVALID_ENUM
} QudaPreserveSource;

typedef enum {
  QUDA_L2_RELATIVE_RESIDUAL = 1,
  QUDA_L2_ABSOLUTE_RESIDUAL = 2,
  QUDA_HEAVY_QUARK_RESIDUAL = 4,
  QUDA_INVALID_RESIDUAL = QUDA_INVALID_ENUM
} QudaResidualType;

typedef enum { QUDA_POWER_BASIS = 0, QUDA_CHEBYSHEV_BASIS = 1, QUDA_INVALID_BASIS = QUDA_INVALID_ENUM } QudaCABasis;

typedef enum {
  QUDA_INTERNAL_DIRAC_ORDER = 0,
  QUDA_DIRAC_ORDER = 1,
  QUDA_INVALID_DIRAC_ORDER = QUDA_INVALID_ENUM
} QudaDiracFieldOrder;

typedef enum {
  QUDA_DEGRAND_ROSSI_GAMMA_BASIS = 0,
  QUDA_UKQCD_GAMMA_BASIS = 1,
  QUDA_CHIRAL_GAMMA_BASIS = 2,
  QUDA_INVALID_GAMMA_BASIS = QUDA_INVALID_ENUM
} QudaGammaBasis;

typedef enum {
  QUDA_USE_INIT_GUESS_NO = 0,
  QUDA_USE_INIT_GUESS_YES = 1,
  QUDA_USE_INIT_GUESS_INVALID = QUDA_INVALID_ENUM
} QudaUseInitGuess;

/* Of eigensolvers. */
typedef enum {
  QUDA_EIG_TR_LANCZOS = 0,
  QUDA_EIG_BLK_TR_LANCZOS = 1,
  QUDA_EIG_IR_ARNOLDI = 2,
  QUDA_EIG_BLK_IR_ARNOLDI = 3,
  QUDA_EIG_INVALID = QUDA_INVALID_ENUM
} QudaEigType;

typedef enum {
  QUDA_SPECTRUM_LM_EIG = 0,
  QUDA_SPECTRUM_SM_EIG = 1,
  QUDA_SPECTRUM_LR_EIG = 2,
  QUDA_SPECTRUM_SR_EIG = 3,
  QUDA_SPECTRUM_LI_EIG = 4,
  QUDA_SPECTRUM_SI_EIG = 5,
  QUDA_SPECTRUM_INVALID = QUDA_INVALID_ENUM
} QudaEigSpectrumType;

/* The fields that MILC sets, and no others. */
typedef struct {
  QudaLinkType type;
  int X[4]; /* local extents */
  QudaPrecision cpu_prec, cuda_prec, cuda_prec_sloppy, cuda_prec_precondition, cuda_prec_eigensolver,
      cuda_prec_refinement_sloppy;
  QudaReconstructType reconstruct, reconstruct_sloppy, reconstruct_precondition, reconstruct_eigensolver,
      reconstruct_refinement_sloppy;
  QudaGaugeFieldOrder gauge_order;
  QudaTboundary t_boundary;
  QudaGaugeFixed gauge_fix;
  QudaStaggeredPhase staggered_phase_type;
  double anisotropy, tadpole_coeff, scale;
  int ga_pad, mom_ga_pad;
} QudaGaugeParam;

typedef struct {
  QudaFieldLocation input_location, output_location;
  QudaDslashType dslash_type;
  QudaInverterType inv_type, inv_type_precondition;
  QudaSolutionType solution_type;
  QudaSolveType solve_type;
  QudaMatPCType matpc_type;
  QudaDagType dagger;
  QudaMassNormalization mass_normalization;
  QudaPreserveSource preserve_source;
  QudaResidualType residual_type;
  QudaCABasis ca_basis;
  QudaPrecision cpu_prec, cuda_prec, cuda_prec_sloppy, cuda_prec_precondition, cuda_prec_eigensolver,
      cuda_prec_refinement_sloppy;
  QudaDiracFieldOrder dirac_order;
  QudaGammaBasis gamma_basis;
  QudaUseInitGuess use_init_guess;
  QudaVerbosity verbosity, verbosity_precondition;
  QudaBoolean native_blas_lapack;
  double mass, kappa;
  double tol, tol_restart, tol_hq, tol_precondition, reliable_delta, ca_lambda_min, ca_lambda_max;
  int laplace3D, Ls, sp_pad, maxiter, maxiter_precondition, Nsteps, gcrNkrylov, pipeline;
  int use_alternative_reliable, use_sloppy_partial_accumulator, solution_accumulator_pipeline, heavy_quark_check;
} QudaInvertParam;

typedef struct {
  QudaInvertParam *invert_param;
  QudaEigType eig_type;
  QudaEigSpectrumType spectrum;
  QudaBoolean use_poly_acc, use_dagger, use_norm_op, use_pc, use_eigen_qr, compute_svd, compute_gamma5;
  QudaBoolean require_convergence, arpack_check, io_parity_inflate;
  int n_ev, n_kr, n_conv, n_ev_deflate, block_size, poly_deg, check_interval, max_restarts, batched_rotate;
  double a_min, a_max, tol, qr_tol;
  QudaPrecision save_prec;
  char arpack_logfile[512], vec_infile[256], vec_outfile[256];
} QudaEigParam;

#if defined(__GNUC__)
__extension__ typedef double _Complex StaghornMilcComplex; /* C++ has no word for it */
#else
typedef double _Complex StaghornMilcComplex;
#endif

STAGHORN_MILC_API QudaGaugeParam newQudaGaugeParam(void);
STAGHORN_MILC_API QudaInvertParam newQudaInvertParam(void);
STAGHORN_MILC_API QudaEigParam newQudaEigParam(void);
/* Fat links, then long ones, with phases in them. They are read where they lie by the next eigensolveQuda. */
STAGHORN_MILC_API void loadGaugeQuda(void *links, QudaGaugeParam *param);
/* The n_conv lowest eigenvalues of 4m^2 - D^2, ascending, and vectors of norm 1: the even half of each with
 * QUDA_MATPC_SOLUTION; with QUDA_MAT_SOLUTION whole vectors, for each eigenvalue one on even and one on odd sites.
 * tol: |K v - lambda v| of each over the largest eigenvalue of K = -D^2. Collective. */
STAGHORN_MILC_API void eigensolveQuda(void **vectors, StaghornMilcComplex *values, QudaEigParam *param);

#ifdef __cplusplus
}
#endif
#endif
