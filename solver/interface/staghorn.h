/* Staghorn as a C library: staggered systems M x = b on the fields of a host program, in the host's own layouts.
 *
 * A context holds ranks, device and threads. A gauge holds links in a context; hosts update it in place. Solves and
 * hops belong to a gauge. There is no other state: several contexts may work in several threads at once. One context is
 * used by one thread at a time.
 *
 * Every function that can fail returns a staghorn_status: 0, a positive outcome (x holds the best that was reached), or
 * a negative error. staghorn_last_error() tells an error in words. Nothing is printed, nothing aborts, no exception
 * leaves. Functions marked "collective" are called by all ranks of the context with the same arguments, apart from the
 * data and how it lies in memory; their status is then the same on every rank. Ranks that ask for different things get
 * STAGHORN_E_ARGUMENT, with the first difference named. If one rank fails alone, in a call of MPI or for want of
 * memory, all ranks return its error, and the context can be used again: its gauges keep their links. A rank with a
 * handle that is NULL or destroyed looks for 5 s whether others wait for it in a context of its thread: then all of
 * them return its error. Others that come later wait until its next call in their context.
 *
 * What a call writes is memory of its own: no byte of an output may belong to another output or to an input, or the
 * call is refused before it writes. Fields that interlock (members of the struct of a site), and the two parities of
 * one field, share no byte.
 *
 * Calls compute in rounding to nearest, with subnormal numbers and without traps, in all threads, whatever the host has
 * set; its modes and flags are there again afterwards, and while progress, withhold and log run.
 *
 * A child that was forked may go on with contexts of one process on the CPU, and make new ones. It has not the MPI and
 * the GPU of its parent: contexts that use them return STAGHORN_E_STATE there, and new ones STAGHORN_E_MPI or
 * STAGHORN_E_DEVICE.
 *
 * Every struct begins with struct_size. Call staghorn_defaults first, then change what differs:
 *
 *   staghorn_request request;
 *   staghorn_defaults(&request, sizeof request, STAGHORN_REQUEST);
 *
 * Arrays of four are in the order x, y, z, t. Sites of a local lattice are numbered from 0 in each direction, parity is
 * (x+y+z+t) mod 2 of the global coordinates, which local extents that are even leave the same. Pointers to fields
 * are to what `memory` says. Inputs are never written.
 *
 *   D a(x) = sum_mu eta_mu(x) [ U_mu(x) a(x+mu) - U_mu(x-mu)^dagger a(x-mu) ]
 *   eta = (1, (-1)^x, (-1)^(x+y), (-1)^(x+y+z))
 *
 *   full system    M x = b,  M = 2m + D        STAGHORN_FULL
 *   parity system  A x = b,  A = 4m^2 - D^2    STAGHORN_EVEN, STAGHORN_ODD: on the sites of that parity
 */
#ifndef STAGHORN_H
#define STAGHORN_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define STAGHORN_API __attribute__((visibility("default")))
#else
#define STAGHORN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define STAGHORN_VERSION 101 /* 10000 major + 100 minor + patch, of this header */

typedef struct staghorn_context staghorn_context;
typedef struct staghorn_gauge staghorn_gauge;
typedef struct staghorn_words staghorn_words; /* options by name */

enum staghorn_status {
  STAGHORN_OK = 0,
  /* Outcomes: x is usable, its true residual is in the result, unless withheld. Several right-hand sides: the largest
   * number. */
  STAGHORN_NOT_CONVERGED = 1, /* max_iterations are used up */
  STAGHORN_STAGNATED = 2,     /* the precision gives no better x */
  STAGHORN_BREAKDOWN = 3,     /* no direction of descent, or an overflow */
  STAGHORN_STOPPED = 4,       /* the progress function asked for it, on any rank */
  STAGHORN_WITHHELD = 5,      /* the withhold function asked for it, on any rank: outputs are as they were */
  /* Errors: outputs are as they were or hold numbers that mean nothing. */
  STAGHORN_E_ARGUMENT = -1,    /* a pointer, enum, struct_size or number that makes no sense */
  STAGHORN_E_LAYOUT = -2,      /* extents, grid, strides or ranks that do not fit together */
  STAGHORN_E_VALUE = -3,       /* NaN in a field, links that are not what they are said to be */
  STAGHORN_E_MEMORY = -4,      /* does not fit */
  STAGHORN_E_DEVICE = -5,      /* no such GPU, or CUDA failed */
  STAGHORN_E_MPI = -6,         /* MPI failed, or is not there */
  STAGHORN_E_STATE = -7,       /* a handle that was destroyed or belongs elsewhere */
  STAGHORN_E_UNSUPPORTED = -8, /* has its place here, but does not exist yet */
  STAGHORN_E_INTERNAL = -9,    /* a fault of Staghorn, not of its input */
  STAGHORN_E_FILE = -10        /* a file cannot be read or written, or does not hold what it must */
};

/* Enums are int32_t in structs, so that their size is the same for every compiler. */

/* How sites and links lie in memory. V = local volume, Nx..Nt = local extents, p = parity of the site,
 * lex = x + Nx (y + Ny (z + Nz t)). Links of LEX, EVEN_ODD_X and CPS_STAG are [site][mu], of CPS_STAG_BLOCK and QDP
 * [mu][site]. A link is [row][column][re, im], of CPS_WILSON [column][row][re, im]; a vector is [colour][re, im]. */
enum staghorn_order {
  STAGHORN_LEX = 0,           /* lex                                                     also CPS CANONICAL */
  STAGHORN_CPS_STAG = 1,      /* vectors: (t + Nt (x + Nx (y + Ny z)) + V p) / 2; links: lex, (eta U)^dagger */
  STAGHORN_CPS_WILSON = 2,    /* links: (lex - x % 2 + V p) / 2; vectors: with 1 - p for p, odd first */
  STAGHORN_EVEN_ODD_X = 3,    /* (lex + V p) / 2, rounded down                           MILC, QUDA, PyQUDA */
  STAGHORN_QDP = 4,           /* links: as EVEN_ODD_X, an array for each direction; vectors: EVEN_ODD_X */
  STAGHORN_CPS_STAG_BLOCK = 5 /* links: V mu + the site of CPS_STAG vectors, (eta U)^dagger; vectors: CPS_STAG */
};

/* Staggered phases eta. Of links: which are multiplied into them. Of vectors: in which convention the system is meant.
 */
enum staghorn_phases {
  STAGHORN_PHASES_NONE = 0,    /* links: plain U; vectors: those of the gauge's links, CPS where these have none */
  STAGHORN_PHASES_CPS = 1,     /* 1, (-1)^x, (-1)^(x+y), (-1)^(x+y+z) */
  STAGHORN_PHASES_MILC = 2,    /* (-1)^t, (-1)^(t+x), (-1)^(t+x+y), 1 */
  STAGHORN_PHASES_TIFR = 3,    /* (-1)^(y+z+t), (-1)^(z+t), (-1)^t, 1 */
  STAGHORN_PHASES_CHROMA = 4,  /* 1, (-1)^x, (-1)^(x+y), (-1)^(x+y+z), as Chroma and QDP++ name them */
  STAGHORN_PHASES_AS_GIVEN = 5 /* links carry phases, boundary signs, twists or U(1) factors: eta = 1, theta = 0 */
};

enum staghorn_sites { STAGHORN_FULL = 0, STAGHORN_EVEN = 1, STAGHORN_ODD = 2 };
enum staghorn_memory { STAGHORN_HOST = 0, STAGHORN_PINNED = 1, STAGHORN_DEVICE = 2 };
enum staghorn_precision {
  STAGHORN_FP64 = 0,
  STAGHORN_FP32 = 1,
  STAGHORN_FP16 = 2,
  STAGHORN_NO_SLOPPY = 3,  /* no mixed precision */
  STAGHORN_AUTO_SLOPPY = 4 /* as the words of context and links say; without them chosen for each solve */
};
/* Which residual the tolerance is for. PARITY: |2m b_e - D b_o - A x_e| / |2m b_e - D b_o|, as CPS stops full systems;
 * of a parity system both are the same. */
enum staghorn_limit { STAGHORN_NO_LIMIT = -1 };
enum staghorn_stop { STAGHORN_STOP_ON_SYSTEM = 0, STAGHORN_STOP_ON_PARITY = 1 };
/* Where residuals are recomputed. AUTO: on the GPU that solves if its memory has room for that, else on the host.
 * WITH_SOLVE: on the GPU, if the context has one. There vectors of the host are converted on the GPU too, if sites of a
 * parity lie together, without gaps. */
enum staghorn_certificate {
  STAGHORN_CERTIFICATE_AUTO = 0,
  STAGHORN_CERTIFICATE_HOST = 1,
  STAGHORN_CERTIFICATE_DEVICE = 2,
  STAGHORN_CERTIFICATE_WITH_SOLVE = 3
};
/* Where the eigenvectors of a GPU lie. AUTO: there if they fit beside a solve, else on the host, from where it reads
 * them each time. */
enum staghorn_eigenvector_place {
  STAGHORN_EIGENVECTORS_AUTO = 0,
  STAGHORN_EIGENVECTORS_DEVICE = 1,
  STAGHORN_EIGENVECTORS_HOST = 2
};
enum staghorn_quarks { STAGHORN_NAIVE = 0, STAGHORN_ASQTAD = 1, STAGHORN_HISQ = 2 };
/* Of momentum factors: i sin(q x), cos(q x), exp(i q x). */
enum staghorn_symmetry { STAGHORN_MOMENTUM_ODD = 1, STAGHORN_MOMENTUM_EVEN = 2, STAGHORN_MOMENTUM_BOTH = 3 };
enum staghorn_fix_stop { STAGHORN_STOP_ON_THETA = 0, STAGHORN_STOP_ON_CHANGE = 1 };
enum staghorn_group { STAGHORN_U3 = 0, STAGHORN_SU3 = 1 };
enum staghorn_device { STAGHORN_DEVICE_AUTO = -2, STAGHORN_DEVICE_CPU = -1 }; /* 0, 1, ...: that GPU */

/* Names of the structs, for staghorn_defaults. */
enum staghorn_struct {
  STAGHORN_GEOMETRY = 1,
  STAGHORN_OPTIONS = 2,
  STAGHORN_LINKS = 3,
  STAGHORN_VECTORS = 4,
  STAGHORN_REQUEST = 5,
  STAGHORN_RESULT = 6,
  STAGHORN_GAUGE_INFO = 7,
  STAGHORN_ACTION = 8,
  STAGHORN_EIGEN_REQUEST = 9,
  STAGHORN_EIGEN_INFO = 10
};

/* The lattice and its cut into local lattices. Local extents are even: where `grid` does not divide the lattice evenly,
 * the first slabs of a direction are 2 sites wider than the others. */
typedef struct {
  uint32_t struct_size;
  int32_t global[4];
  int32_t grid[4];  /* processes in each direction; default 1 1 1 1; 0 0 0 0: as leaves the least surface */
  int32_t coord[4]; /* of this process in the grid; coord[0] = -1, the default: by rank, x fastest */
} staghorn_geometry;

typedef struct {
  uint32_t struct_size;
  int32_t device;          /* staghorn_device or a number, of this rank; default CPU */
  int32_t threads;         /* of OpenMP within calls of this context; 0, the default: as the host has set them */
  int32_t certificate;     /* staghorn_certificate */
  int32_t environment;     /* 1: variables STAGHORN_... of the environment are read; default 0 */
  int32_t eigenvectors_on; /* staghorn_eigenvector_place, of those that are read */
  void *stream;            /* cudaStream_t on which device fields are ready; NULL: the default stream */
  const char *transport;   /* of faces between ranks: NULL or "auto", or a name of `staghorn solve --help` */
  const char *tuning_file; /* remembers launches of GPU kernels; NULL: nothing is written */
  void (*log)(void *data, int level, const char *text); /* NULL: no messages. level 0: a warning, 1: a note */
  void *log_data;
  const char *devices;   /* instead of device: a list as of `--device`, such as "cuda:0,cpu"; NULL: none */
  staghorn_words *words; /* options by name, which go before the fields above. Those of operator and numbers, as action
                            and precision, hold for all gauges and solves of the context that say nothing else. NULL:
                            none */
} staghorn_options;

#define STAGHORN_GENERATION_BY_CONTENT (~(uint64_t)0)

/* Links of a host: how they lie, what is multiplied into them, and the boundary condition of D. */
typedef struct {
  uint32_t struct_size;
  int32_t order, precision, memory, phases; /* FP64 or FP32 */
  int32_t boundary_in; /* 1: boundary phases of theta are multiplied into the links of the last slices */
  int32_t dagger;      /* 1: links are stored as U^dagger, phases and boundary included; orders STAG imply it */
  int32_t reals; /* of a link in the kernels: 18, 12 or 8; 0, the default: 18. Fewer: projected onto SU(3) first. Fat
                    links: 18. Naik links: 18, 13 or 9; fewer than 18: projected onto U(3) first */
  int64_t site_stride; /* bytes from site to site, of [mu][site] orders from link to link; 0: packed */
  int64_t link_offset; /* bytes from the start of a site to its first link */
  double theta[4];     /* a field gets exp(i pi theta) across the boundary in +mu; default 0 0 0 1 */
  double scale[4];     /* links of the direction are multiplied by it, and stay so in D; default 1 */
  uint64_t generation; /* not 0 and as in the last update: the links are the same, nothing is read, and eigenpairs stay.
                          STAGHORN_GENERATION_BY_CONTENT: where all else is as in the last update, a hash of their bytes
                          decides; memory of the host */
  double coefficient;  /* Naik links are that times unitary matrices; 0, the default: found from them */
  staghorn_words *words; /* of a new gauge: options of operator and numbers by name, as boundary, links, action; they go
                            before the fields above. NULL: none */
} staghorn_links;

/* Staggered quarks whose fat and Naik links the library makes from thin ones. */
typedef struct {
  uint32_t struct_size;
  int32_t quarks;      /* staghorn_quarks; default NAIVE: the thin links as they are */
  int32_t unitarize;   /* HISQ, staghorn_group of the first level; default U3, as MILC has it */
  int32_t long_reals;  /* of a Naik link in the kernels: 18, 13 or 9; 0, the default: 18 */
  double u0;           /* asqtad: tadpole factor; default 1 */
  double naik_epsilon; /* HISQ: correction for heavy quarks; default 0 */
} staghorn_action;

/* Vectors of a host. */
typedef struct {
  uint32_t struct_size;
  int32_t order, precision, memory, phases; /* FP64 or FP32 */
  int32_t half; /* 1: the buffer holds the sites of one parity only, of a system of that parity. Conversions, where no
                   system says which: 1: even, 2: odd sites */
  int64_t site_stride; /* bytes from site to site; 0: packed */
} staghorn_vectors;

/* What is solved, and how. */
typedef struct {
  uint32_t struct_size;
  int32_t system;       /* staghorn_sites; default FULL */
  int32_t sign;         /* +1: 2m + D, the default; -1: 2m - D, the dagger of the former */
  int32_t halved;       /* 1: M = m + D/2 and A = m^2 - D^2/4, as Grid and SIMULATeQCD have them */
  int32_t precision;    /* of CG's vectors: FP64, the default, or FP32; x is as good as the tolerance says either way */
  int32_t sloppy;       /* of the iterations of mixed precision: FP32, FP16, NO_SLOPPY; default AUTO_SLOPPY */
  int32_t sloppy_reals; /* of their links: 18, 12 or 8; 0: 12, of links outside SU(3) 18. Of improved quarks, of their
                           Naik links: 18, 13 or 9; 0: 13, of Naik links that are not unitary 18 */
  int32_t stop;         /* staghorn_stop */
  int32_t guess;        /* 1: x holds a first guess; default 0: x is only written */
  int32_t chronological; /* where x is zero at first: guess from up to so many earlier solutions of the gauge, of this
                            system, mass and place among the n, and keep the last ones; 0, the default, to 32 */
  double mass;           /* a m; above 0 for FULL, at least 0 for EVEN and ODD */
  double tolerance;      /* |b - M x| / |b|, or as `stop` says; default 1e-10. 0: 1e-10 in FP64, 1e-5 in FP32 */
  double tolerance_hq; /* Fermilab's relative residual, sqrt of the mean over sites of |r|^2/|x|^2; 0, the default: not
                          asked */
  /* Of CG, for each right-hand side; default STAGHORN_NO_LIMIT: it ends where it stagnates, or has taken far more than
   * its coefficients foresee */
  int64_t max_iterations;
  /* Called on every rank now and then, with iterations and largest residual over tolerance. Not 0: stop. NULL: none */
  int (*progress)(void *data, int64_t iteration, double residual_over_tolerance);
  void *progress_data;
  /* Called once on every rank when the solve has ended, whatever its outcome, and before x, dx and results are written;
   * not after an error. Not 0 on any rank: nothing is written. NULL: none */
  int (*withhold)(void *data);
  void *withhold_data;
  staghorn_words *words; /* what staghorn_request_set has set; it goes before the fields above. NULL: nothing */
} staghorn_request;

/* What came out, for one right-hand side. Residuals are relative. A source of zeros has x = 0 and residuals 0. */
typedef struct {
  uint32_t struct_size;
  int32_t status;           /* STAGHORN_OK or an outcome */
  int64_t iterations;       /* of CG */
  int64_t updates;          /* of mixed precision: residuals recomputed in `precision` */
  double residual_iterated; /* |b - M x| / |b| as CG believed */
  double residual_true;     /* the same, recomputed in fp64 with uncompressed links */
  double residual_parity;   /* of A x_e = 2m b_e - D b_o, recomputed, with STOP_ON_PARITY; of parity systems as
                               residual_true; -1 of other full systems: not computed */
  double residual_hq;       /* Fermilab's, recomputed like residual_true; of STOP_ON_PARITY on even sites */
  double source_norm2, solution_norm2;
  double seconds;          /* of the whole call */
  int64_t iterations_more; /* where it ended at a limit: about how many more it would have taken; else, and where that
                              is not known: 0 */
} staghorn_result;

typedef struct {
  uint32_t struct_size;
  int32_t naive;         /* 1: naive staggered, one step; 0: fat and Naik links */
  double plaquette[3];   /* mean Re tr U / 3 over all, spatial and temporal plaquettes; of thin links, or of fat ones
                            that the host gave */
  double link_trace[2];  /* mean tr U / 3, re and im */
  double unitarity;      /* largest |U U^dagger - 1| */
  double determinant;    /* largest |det U - 1| */
  uint64_t hash;         /* of the links in fp64, thin or fat, the same for every grid, order and number of threads */
  uint64_t loads;        /* how often links were read from the host */
  double coefficient;    /* of Naik links; 0 where there are none, and so are the next two */
  double long_unitarity; /* largest |N N^dagger - 1|, N the Naik links without it */
  uint64_t long_hash;    /* of N in fp64 */
} staghorn_gauge_info;

/* The lowest eigenpairs of K = -D^2 on even sites, which all masses share: A has the values 4m^2 + lambda. */
typedef struct {
  uint32_t struct_size;
  int32_t pairs;           /* how many, from the lowest: 1 to 1000 */
  double tolerance;        /* |K v - lambda v| of each to reach, over the largest eigenvalue of K; default 1e-10 */
  int64_t max_calls;       /* the most applications of K; default 1000000 */
  uint64_t seed;           /* of the random start vector; default 1 */
  const char *checkpoint;  /* a file for the state of the search; NULL, the default: none */
  double checkpoint_every; /* seconds between two states; default 600 */
  int32_t resume; /* 1: go on from that file, on any ranks or device, with no bit changed; begin where there is none */
  int32_t reserved; /* 0 */
  /* Called on every rank now and then, with applications of K and pairs that are missing. Not 0: stop. NULL: none */
  int (*progress)(void *data, int64_t calls, double missing);
  void *progress_data;
} staghorn_eigen_request;

/* Eigenpairs that a gauge keeps, and of staghorn_eigenpairs_compute what the search came to. */
typedef struct {
  uint32_t struct_size;
  int32_t status;           /* of a search: STAGHORN_OK or an outcome */
  int32_t pairs;            /* that are kept; 0: none */
  int32_t found;            /* of a search, also where it was not certified */
  int32_t precision;        /* of the vectors that are kept: FP64, FP32 or FP16 */
  int32_t used;             /* 1: solves use them */
  double smallest, largest; /* eigenvalues that are kept */
  double largest_of_all;    /* of a search: the upper end of the spectrum of K */
  double residual;          /* largest |K v - lambda v|, in fp64 with uncompressed links */
  double orthogonality;     /* largest |V^+ V - 1| */
  int64_t calls;            /* of a search: applications of K */
  double seconds;           /* of the search, or of reading and proving */
} staghorn_eigen_info;

STAGHORN_API int staghorn_version(void);                   /* STAGHORN_VERSION of the library */
STAGHORN_API const char *staghorn_status_text(int status); /* never NULL */
STAGHORN_API const char *staghorn_last_error(void);        /* of the last call that failed in this thread; never NULL */
/* What MPI_Get_library_version says of the MPI that this library is linked with: a communicator has to be of the same.
 * "no MPI" where the library was built without: it then takes no communicator.
 * Never NULL. */
STAGHORN_API const char *staghorn_mpi_library(void);

/* Fills *a_struct, `size` bytes of the kind `which` (staghorn_struct), with defaults, struct_size included. Local. */
STAGHORN_API int staghorn_defaults(void *a_struct, size_t size, int which);

/* A context for this process alone; no function of MPI is called, now or later. options = NULL: defaults. */
STAGHORN_API int staghorn_context_create(staghorn_context **context, const staghorn_geometry *geometry,
                                         const staghorn_options *options);
/* With a communicator of Fortran, which is duplicated, and is no intercommunicator; staghorn_mpi.h has the function for
 * C. Collective. */
STAGHORN_API int staghorn_context_create_f(staghorn_context **context, int32_t fortran_communicator,
                                           const staghorn_geometry *geometry, const staghorn_options *options);
/* Local extents and the global coordinates of the first local site. Local. */
STAGHORN_API int staghorn_context_local(const staghorn_context *context, int32_t extents[4], int32_t origin[4]);
/* Processes in each direction, as asked for or as chosen. Local. */
STAGHORN_API int staghorn_context_grid(const staghorn_context *context, int32_t grid[4]);
/* The number of the GPU on which this rank computes, or STAGHORN_DEVICE_CPU. Local. */
STAGHORN_API int staghorn_context_device(const staghorn_context *context, int32_t *device);
/* Frees it and sets *context to NULL; its gauges first. NULL in *context is fine. Collective. */
STAGHORN_API int staghorn_context_destroy(staghorn_context **context);

/* Takes links from u[0], for STAGHORN_QDP from u[0] to u[3]. The gauge keeps a copy. Collective. */
STAGHORN_API int staghorn_gauge_create(staghorn_context *context, const staghorn_links *links, const void *const u[4],
                                       staghorn_gauge **gauge);
/* Fat and Naik links of improved quarks; Naik links, coefficient times N_mu(x), lead over three steps. Phases, boundary
 * signs and the coefficient are taken out of both. Both have the same phases and theta, and belong together: N is near
 * three fat links. Phases AS_GIVEN: both are used with what they carry. Naik links that are all zero: the naive
 * operator with those fat links, which need not be in SU(3). Otherwise local extents are at least 4. Collective. */
STAGHORN_API int staghorn_gauge_create_improved(staghorn_context *context, const staghorn_links *fat_links,
                                                const void *const fat[4], const staghorn_links *naik_links,
                                                const void *const naik[4], staghorn_gauge **gauge);
/* Fat and Naik links that the library makes from thin ones, in fp64, again after every staghorn_gauge_update.
 * Collective. */
STAGHORN_API int staghorn_gauge_create_action(staghorn_context *context, const staghorn_links *links,
                                              const void *const u[4], const staghorn_action *action,
                                              staghorn_gauge **gauge);
/* Other links in the same place: vectors, transports and launches stay as they are, unless boundary, reals or the kind
 * of quarks differ. Any gauge takes any links. After an error the gauge has no links: the next update brings some.
 * Collective. */
STAGHORN_API int staghorn_gauge_update(staghorn_gauge *gauge, const staghorn_links *links, const void *const u[4]);
STAGHORN_API int staghorn_gauge_update_improved(staghorn_gauge *gauge, const staghorn_links *fat_links,
                                                const void *const fat[4], const staghorn_links *naik_links,
                                                const void *const naik[4]);
/* Links of a gauge file, or with `fat` and `long` among the words and path = NULL those of stored improved quarks.
 * words: as of staghorn_links, no_verify, dataset and eigenvectors among them; NULL: none. Collective. */
STAGHORN_API int staghorn_gauge_read(staghorn_context *context, const char *path, const staghorn_words *words,
                                     staghorn_gauge **gauge);
STAGHORN_API int staghorn_gauge_get(staghorn_gauge *gauge, staghorn_gauge_info *info); /* collective */
/* The links in use, thin or fat, projected if that was asked for, into the host's layout, host memory. Collective. */
STAGHORN_API int staghorn_gauge_links(staghorn_gauge *gauge, const staghorn_links *links, void *const u[4]);
/* What a report says of the links, file and checksums included, as JSON text; `json` and `bytes` as of staghorn_report.
 * Collective. */
STAGHORN_API int staghorn_gauge_report(staghorn_gauge *gauge, char *json, size_t *bytes);
STAGHORN_API int staghorn_gauge_destroy(staghorn_gauge **gauge); /* collective */

/* out[i] = D in[i] for n vectors, on the sites of `target`: FULL, EVEN or ODD. Other sites of out stay as they are.
 * With half vectors `in` holds the other parity. Collective. */
STAGHORN_API int staghorn_hop(staghorn_gauge *gauge, const staghorn_vectors *vectors, int target, int n,
                              const void *const *in, void *const *out);
/* Sets an option by its name, from a text: an option of `staghorn solve --help`, with underscores, and what may stand
 * behind it there; "on" or "off" for a switch. *words = NULL: new words, to be released. Local. */
STAGHORN_API int staghorn_words_set(staghorn_words **words, const char *name, const char *value);
/* Forgets them and sets *words to NULL. NULL there is fine. Local. */
STAGHORN_API int staghorn_words_release(staghorn_words **words);
/* The same for the words of a request, of which copies share what is set. STAGHORN_E_ARGUMENT and the place to look at:
 * options of links and machine, which belong to context and gauge, and what the arguments of staghorn_solve and
 * staghorn_multishift say, such as sources. Local. */
STAGHORN_API int staghorn_request_set(staghorn_request *request, const char *name, const char *value);
/* Forgets all that was set by name and sets request->words to NULL; the other fields stay. NULL there is fine. Local.
 */
STAGHORN_API int staghorn_request_release(staghorn_request *request);

/* Solves for n sources b[i], 1 to 64. Parity systems leave the other sites of full fields x[i] alone. dx[i], unless dx
 * is NULL: D x[i] of the solution; half vectors: on the sites of the other parity. results: n of them. Returns the
 * worst outcome. Collective. */
STAGHORN_API int staghorn_solve(staghorn_gauge *gauge, const staghorn_request *request, const staghorn_vectors *vectors,
                                int n, const void *const *b, void *const *x, void *const *dx, staghorn_result *results);
/* Memory of the host for n vectors of a layout, one after the other. NULL: there is none */
typedef void *(*staghorn_room)(void *data, int64_t n);
/* What the program's solve does: sources in words, several masses, rational functions, batches and observables, as the
 * words of the request say (staghorn_words_set). n = 0: the sources of these words; otherwise b[i], host memory. `room`
 * is called once on every rank and gives memory for all solutions, mass by mass; with request->guess it holds guesses.
 * staghorn_report tells of each. sign, halved and stop have their defaults. A job of batches that is STOPPED has no
 * report. Returns the worst outcome. Collective. */
STAGHORN_API int staghorn_solve_sources(staghorn_gauge *gauge, const staghorn_request *request,
                                        const staghorn_vectors *vectors, int n, const void *const *b,
                                        staghorn_room room, void *room_data);
/* (A + shift[i]) x[i] = b for n shifts, 1 to 33, by the iterations of the smallest one. A is that of the request, and
 * 4m^2 + shift[i] (halved: m^2 + shift[i]) at least 0. FULL: M x[i] = b with the mass whose 4m^2 is that. x starts from
 * zero. tolerance[i], unless tolerance is NULL: instead of the request's; 0: as good as the iterations of the smallest
 * shift make it, and as the request's says at least. With alpha, x[0] += sum alpha[i] x[i] is all that is written, and
 * dx must be NULL. results: n of them. Collective. */
STAGHORN_API int staghorn_multishift(staghorn_gauge *gauge, const staghorn_request *request,
                                     const staghorn_vectors *vectors, int n, const double *shift,
                                     const double *tolerance, const double *alpha, const void *b, void *const *x,
                                     void *const *dx, staghorn_result *results);

/* The lowest eigenpairs of the gauge's operator, found in fp64 or fp32, each proved by the plain path, and probed for
 * missing ones. The gauge keeps certified ones, and its solves use them: iterations become those of the rest of the
 * spectrum. They go where other links are taken. values, unless NULL: room for request->pairs eigenvalues, ascending;
 * it gets info->found of them. info may be NULL. Returns OK, NOT_CONVERGED (calls are used up, or pairs are missing),
 * STAGNATED (rounding leaves more than the tolerance) or STOPPED. Collective. */
STAGHORN_API int staghorn_eigenpairs_compute(staghorn_gauge *gauge, const staghorn_eigen_request *request,
                                             double *values, staghorn_eigen_info *info);
/* Finds them, writes those that were found to a file as staghorn_eigenpairs_write, and keeps none. path = NULL: no
 * file. room: for the vectors, of norm 1 and 0 on odd sites; NULL: not wanted. staghorn_report tells of the search.
 * Outcomes as above. Collective. */
STAGHORN_API int staghorn_eigenpairs_find(staghorn_gauge *gauge, const staghorn_eigen_request *request,
                                          const char *path, int storage, int replace, const staghorn_vectors *vectors,
                                          staghorn_room room, void *room_data);
/* From a file of Staghorn or MILC, in the precision of the file; of other links, action or boundary it is
 * refused, and each pair is proved again: its eigenvalue is found anew from the vector and the links, and a file that
 * says another one is refused. Collective. */
STAGHORN_API int staghorn_eigenpairs_read(staghorn_gauge *gauge, const char *path, staghorn_eigen_info *info);
/* Writes those that are kept: HDF5, or MILC's SciDAC form where the name ends in .scidac or .lime, packed where it ends
 * in .packed.scidac or .packed.lime (T a multiple of 4). storage: FP64, FP32 or FP16, of the vectors; of MILC's forms
 * FP64 or FP32. replace = 1: a file that is there is replaced. Collective. */
STAGHORN_API int staghorn_eigenpairs_write(staghorn_gauge *gauge, const char *path, int storage, int replace);
/* use = 0: solves do not use those that are kept; 1: they do, as after compute and read. Local. */
STAGHORN_API int staghorn_eigenpairs_use(staghorn_gauge *gauge, int use);
/* What is known of those that are kept; the first n values and residuals, unless NULL. Local. */
STAGHORN_API int staghorn_eigenpairs_get(staghorn_gauge *gauge, staghorn_eigen_info *info, int n, double *values,
                                         double *residuals);
/* Writes the vectors first to first + n - 1 of those that are kept, of norm 1, to v[0] to v[n-1] in the host's layout
 * and phases, memory of the host: half vectors hold the even sites, full ones zeros on odd sites. With other phases
 * than those of the links they are the vectors of that convention. Numbers are as exact as those that are kept.
 * Collective. */
STAGHORN_API int staghorn_eigenpairs_vectors(staghorn_gauge *gauge, const staghorn_vectors *vectors, int first, int n,
                                             void *const *v);
/* Forgets them. Collective. */
STAGHORN_API int staghorn_eigenpairs_release(staghorn_gauge *gauge);

/* Vectors near the null space of K, cut into blocks: `vectors` of them, by so many iterations of CG from noise of this
 * seed. block: sites of a block in each direction x, y, z, t, even, dividing the part of each rank; NULL: chosen. The
 * gauge keeps the space, and its solves work in it (solver multigrid, or deflated; the word `coarse` reads a file);
 * it goes where the links are updated. path, unless NULL: the vectors are written there, in this precision FP64, FP32
 * or FP16; replace = 1: a file that is there is replaced. staghorn_report tells of the search. Collective. */
STAGHORN_API int staghorn_coarse_find(staghorn_gauge *gauge, int vectors, const int32_t *block, int64_t iterations,
                                      uint64_t seed, const char *path, int storage, int replace);

/* For code that checks arguments before it calls the library, and finds wrong on this rank what may be right on others:
 * the collective call that other ranks of the context make, now or next, is refused, and all of them return `status`,
 * an error, and `text`, with the number of this rank in front. Ranks that all refuse get the error of the first.
 * Returns `status`. Collective, with any collective function that takes this context or a gauge in it on other ranks.
 */
STAGHORN_API int staghorn_refuse(staghorn_context *context, int status, const char *text);

/* Means over all sites x of tr P(x) / 3, for n paths of links from x back to x: 1 for links of one. Path i has
 * lengths[i] steps: mu = 0 to 3 for a step to x+mu, by U_mu(x), and -1 - mu for one to x-mu, by U_mu(x-mu)^dagger. P is
 * their product in this order; what is multiplied into the links, phases and boundary signs, is taken out as `links`
 * says. traces: real and imaginary part of each. The links need not be in SU(3); reals, generation and words are not
 * read. The same bits on any ranks. Collective. */
STAGHORN_API int staghorn_loop_traces(staghorn_context *context, const staghorn_links *links, const void *const u[4],
                                      int n, const int32_t *const *paths, const int32_t *lengths, double *traces);
/* Smearing with weights of the host: of one link, of three in a row, of 3-, 5- and 7-link staples (6, 24, 48 of them),
 * and of Lepage's straight staples of five (6), in this order. fat: for each link the sum of its paths with these
 * weights but the second. naik: the second times U_mu(x) U_mu(x+mu) U_mu(x+2mu). unitary: the matrices of U(3) nearest
 * to the fat links. NULL: not wanted. All lie as `smeared` says, whose phases and boundary signs are multiplied into
 * them. The links may be any finite matrices. In fp64 on the host; the same bits on any ranks. Collective. */
STAGHORN_API int staghorn_smear_links(staghorn_context *context, const staghorn_links *links, const void *const u[4],
                                      const double weights[6], const staghorn_links *smeared, void *const fat[4],
                                      void *const naik[4], void *const unitary[4]);
/* out = W^times in, W = sum over i of weights[i] P_i for n paths: P_i in(x) is in at the end of the path that begins in
 * x, taken back along it. Steps as of staghorn_loop_traces; 0 steps: in(x) itself. A field gets the boundary phase of
 * `links`, and no staggered phase. Whole vectors in the memory of the host, whose numbers are used as they are. Outputs
 * have memory of their own. In fp64; the same bits on any ranks. Collective. */
STAGHORN_API int staghorn_transport(staghorn_context *context, const staghorn_links *links, const void *const u[4],
                                    const staghorn_vectors *vectors, int n, const int32_t *const *paths,
                                    const int32_t *lengths, const double *weights, int times, const void *in,
                                    void *out);
/* out = eps Z_A prod_(mu in S) zeta_mu in: the operator of spin S and taste T as mesons have it at their sink, and as
 * MILC has it. S and T are sets of directions, bits 1, 2, 4, 8 for x, y, z, t; A = S xor T; zeta_mu(x) = eps(x)
 * (-1)^(x_mu), eps(x) = (-1)^(x+y+z+t), with x counted from `origin`. Z_A averages products of covariant shifts with
 * staggered phases over the orders of A. `links`, thin or smeared ones, and boundary as of a gauge; vectors are whole,
 * in the memory of the host, and in the convention of vectors.phases. In fp64; the same bits on any ranks. Collective.
 */
STAGHORN_API int staghorn_spin_taste(staghorn_context *context, const staghorn_links *links, const void *const u[4],
                                     const staghorn_vectors *vectors, int spin, int taste, const int32_t origin[4],
                                     const void *in, void *out);
/* correlators[k][t][re, im] = sum over sites x of slice t of w_k(x) antiquark(x)^dagger quark(x), w a product over x, y
 * and z of cos(q x), i sin(q x) or exp(i q x), as symmetries[k][3] says (staghorn_symmetry), q = 2 pi momenta[k][3] /
 * n, x counted from `origin`. n momenta. Whole vectors in the memory of the host, whose numbers are used as they are.
 * The same bits on any ranks. Collective. */
STAGHORN_API int staghorn_contract(staghorn_context *context, const staghorn_vectors *vectors, const void *antiquark,
                                   const void *quark, int n, const int32_t *momenta, const int32_t *symmetries,
                                   const int32_t origin[4], double *correlators);
/* Puts links into Coulomb (directions = 3) or Landau gauge (4) by over-relaxation, in place, projected onto SU(3).
 * functionals: the mean of Re tr U / 3 over links of these directions, before and after. theta, unless NULL: how far
 * they are from the gauge, the mean of tr (div A)^2 / 3. sweeps, unless NULL: how many were made. stop
 * (staghorn_fix_stop): where theta is at most the tolerance, or a sweep changes the functional by less. Returns OK or
 * NOT_CONVERGED, after max_sweeps. Host memory. The same bits on any ranks. Collective. */
STAGHORN_API int staghorn_fix_gauge(staghorn_context *context, const staghorn_links *links, void *const u[4],
                                    int directions, double relaxation, double tolerance, int stop, int max_sweeps,
                                    double functionals[2], double *theta, int *sweeps);
/* The sum over all sites of one finite number for each local site, in any order: exact, and rounded once. The same bits
 * on any ranks. Collective. */
STAGHORN_API int staghorn_site_sum(staghorn_context *context, const double *site_values, double *sum);

/* From one layout and phase convention to another; host memory. Local. */
STAGHORN_API int staghorn_convert_vectors(const staghorn_context *context, const staghorn_vectors *from, const void *in,
                                          const staghorn_vectors *to, void *out);
STAGHORN_API int staghorn_convert_links(const staghorn_context *context, const staghorn_links *from,
                                        const void *const in[4], const staghorn_links *to, void *const out[4]);

/* The extents x, y, z, t of the lattice of a gauge file: MILC, NERSC, ILDG, SciDAC or Staghorn's HDF5, as its content
 * says. Local. */
STAGHORN_API int staghorn_file_lattice(const char *path, int32_t extents[4]);
/* The same of the links that staghorn_gauge_read would read. Local. */
STAGHORN_API int staghorn_gauge_lattice(const char *path, const staghorn_words *words, int32_t extents[4]);
/* Reads the links of a gauge file of the context's lattice into the host's layout, host memory: each rank its local
 * lattice. verify = 1: a checksum that is wrong or absent is an error, and so are NaN, infinities and zeros among the
 * links. Collective. */
STAGHORN_API int staghorn_read_links(const staghorn_context *context, const char *path, int verify,
                                     const staghorn_links *links, void *const u[4]);

/* Writes n vectors, host memory and not half ones, as dataset `name` ("solution" or "source") of HDF5, or in the format
 * that the name of the file ends in: .scidac, .npy or .fnal; with every checksum of the format, in the convention of
 * vectors.phases (none: as they are). replace = 1: a file that is there is replaced. Collective. */
STAGHORN_API int staghorn_write_vectors(const staghorn_context *context, const char *path, const char *name,
                                        int replace, const staghorn_vectors *vectors, int n, const void *const *v);

/* The report of the context's last solve, or search by staghorn_eigenpairs_find, as JSON text with a final 0. *bytes:
 * room in `json` on entry, what is needed on return; json = NULL asks for that only. Local. */
STAGHORN_API int staghorn_report(const staghorn_context *context, char *json, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
