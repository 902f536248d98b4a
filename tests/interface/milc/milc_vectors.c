/* Shifts, spin-taste operators, contractions, Gaussian smearing, solves by multigrid, eigenpairs and gauge fixing as
 * MILC calls them.
 *
 *   milc_vectors odd | zero     ends with an error of the eigensolver
 *   milc_vectors IN OUT PRECISION [GX GY GZ GT]     with a grid: on ranks, which give the bytes of one process
 *
 * IN: raw doubles of the whole lattice, links with what is multiplied into them, plain links, and two vectors. OUT: the
 * vectors that the calls made, in the order below, fixed links, contractions, then eigenvalues. */
#define _GNU_SOURCE
#define STAGHORN_QUDA_CONTRACTIONS
#include <complex.h>

#include "milc_calls.h"

enum { shifts = 5, operators = 18, smears = 3, solves = 2, pairs = 3, pairs_of_both = 5, momenta = 4 };
static const int shift_of[shifts][2] = {{0, 1}, {3, 1}, {2, 2}, {3, 2}, {3, 3}}; /* direction, symmetry */
/* spin, taste: of every number of links, all sets of directions of one and two */
static const int operator_of[operators][2] = {{15, 15}, {0, 0},  {1, 1},  {15, 14}, {15, 13}, {15, 11},
                                              {15, 7},  {0, 3},  {0, 6},  {0, 5},   {1, 8},   {2, 8},
                                              {4, 8},   {8, 15}, {0, 13}, {0, 11},  {6, 1},   {4, 11}};
static const int time_slice = 3;
static int precision;
static QudaMatPCType parity_of_pairs = QUDA_MATPC_EVEN_EVEN;

static guarded_memory of_rank(const double *v) {
  guarded_memory m = make_milc_vector(&l, precision);
  for (long site = 0; site < host_volume(&l); ++site) {
    int at[4];
    const long place = milc_site(&l, site, at);
    for (int k = 0; k < 6; ++k)
      put_real(m.at + (size_t)(6 * place + k) * real_bytes(precision), precision, v[6 * host_site(whole.n, at) + k]);
  }
  return m;
}
static guarded_memory links_of_rank(const double *u) {
  guarded_memory m = make_milc_links(&l, precision);
  for (long site = 0; site < host_volume(&l); ++site) {
    int at[4];
    const long place = milc_site(&l, site, at);
    for (int k = 0; k < 72; ++k)
      put_real(m.at + (size_t)(72 * place + k) * real_bytes(precision), precision, u[72 * host_site(whole.n, at) + k]);
  }
  return m;
}
/* Into the whole lattice's field, `reals` a site; other ranks add theirs. */
static void take(const guarded_memory *m, int reals, double *all) {
  for (long site = 0; site < host_volume(&l); ++site) {
    int at[4];
    const long place = milc_site(&l, site, at);
    for (int k = 0; k < reals; ++k)
      all[reals * host_site(whole.n, at) + k] =
          get_real(m->at + (size_t)(reals * place + k) * real_bytes(precision), precision);
  }
}

static void find_pairs(void *fat, void *lng, int both, int n, void **vectors, double _Complex *values) {
  QudaInvertParam quarks = newQudaInvertParam();
  quarks.dslash_type = QUDA_ASQTAD_DSLASH;
  quarks.solution_type = both ? QUDA_MAT_SOLUTION : QUDA_MATPC_SOLUTION;
  quarks.solve_type = both ? QUDA_DIRECT_SOLVE : QUDA_NORMOP_PC_SOLVE;
  quarks.matpc_type = parity_of_pairs;
  quarks.dagger = QUDA_DAG_NO;
  quarks.mass_normalization = QUDA_MASS_NORMALIZATION;
  quarks.mass = both ? mass : 0;
  quarks.dirac_order = QUDA_DIRAC_ORDER;
  quarks.cpu_prec = precision == 2 ? QUDA_DOUBLE_PRECISION : QUDA_SINGLE_PRECISION;
  QudaGaugeParam of_links = newQudaGaugeParam();
  of_links.gauge_order = QUDA_MILC_GAUGE_ORDER;
  of_links.t_boundary = QUDA_PERIODIC_T;
  of_links.staggered_phase_type = QUDA_STAGGERED_PHASE_MILC;
  of_links.anisotropy = 1;
  of_links.cpu_prec = quarks.cpu_prec;
  memcpy(of_links.X, l.n, sizeof of_links.X);
  of_links.type = QUDA_ASQTAD_FAT_LINKS;
  loadGaugeQuda(fat, &of_links);
  of_links.type = QUDA_ASQTAD_LONG_LINKS;
  of_links.staggered_phase_type = QUDA_STAGGERED_PHASE_NO;
  loadGaugeQuda(lng, &of_links);
  QudaEigParam search = newQudaEigParam();
  search.invert_param = &quarks;
  search.eig_type = QUDA_EIG_TR_LANCZOS;
  search.spectrum = QUDA_SPECTRUM_SR_EIG;
  search.n_conv = search.n_ev = search.n_ev_deflate = n;
  search.n_kr = 3 * n;
  search.tol = 1e-11;
  search.use_norm_op = both ? QUDA_BOOLEAN_TRUE : QUDA_BOOLEAN_FALSE;
  eigensolveQuda(vectors, values, &search);
}

int main(int argc, char **argv) {
  if (argc == 2) { /* a search on odd sites, or with links of zeros */
    precision = 2;
    l = whole;
    connect_milc(QUDA_SILENT);
    guarded_memory links = make_zero_links(&l, precision), x = make_milc_vector(&l, precision);
    void *to[1] = {x.at};
    double _Complex value;
    if (strcmp(argv[1], "odd") == 0) parity_of_pairs = QUDA_MATPC_ODD_ODD;
    find_pairs(links.at, links.at, 0, 1, to, &value);
    return 0;
  }
  if (argc != 4 && argc != 8) return 2;
  const size_t V = (size_t)host_volume(&whole), fields = shifts + operators + smears + solves + pairs + pairs_of_both;
  precision = atoi(argv[3]);
  double *in = malloc(156 * V * sizeof *in);
  double *out = calloc(6 * V * fields + 72 * V, sizeof *out);
  double correlators[momenta * 8 * 2] = {0};
  FILE *file = fopen(argv[1], "rb");
  if (!file || fread(in, sizeof *in, 156 * V, file) != 156 * V) return 2;
  fclose(file);
  l = whole;
  MPI_Comm milcs = MPI_COMM_NULL;
  if (argc == 8) {
    MPI_Init(&argc, &argv);
    milcs = place_ranks(argv + 4);
  }
  connect_milc(QUDA_SILENT);
  guarded_memory links = links_of_rank(in), plain = links_of_rank(in + 72 * V);
  guarded_memory a = of_rank(in + 144 * V), b = of_rank(in + 150 * V), c = make_milc_vector(&l, precision);
  memory_lock(&links);
  memory_lock(&a);
  memory_lock(&b);
  double *next = out;
  for (int i = 0; i < shifts; ++i, next += 6 * V) {
    qudaShift(precision, precision, links.at, a.at, c.at, shift_of[i][0], shift_of[i][1], i == 0);
    take(&c, 6, next);
  }
  for (int i = 0; i < operators; ++i, next += 6 * V) {
    qudaSpinTaste(precision, precision, links.at, a.at, c.at, operator_of[i][0], operator_of[i][1], 0);
    take(&c, 6, next);
  }
  for (int i = 0; i < smears; ++i, next += 6 * V) { /* all slices, one of them, four dimensions */
    const QudaTwoLinkQuarkSmearArgs_t args = {4, 1.5, i == 0, 0, i == 1 ? time_slice : -1, i == 2 ? 4 : 3};
    memcpy(c.at, b.at, b.bytes);
    qudaTwoLinkGaussianSmear(precision, precision, links.at, c.at, args);
    take(&c, 6, next);
  }
  qudaFreeTwoLink();
  guarded_memory none = make_zero_links(&l, precision), x[2], alone = make_milc_vector(&l, precision);
  void *sources[2] = {a.at, b.at}, *solutions[2];
  for (int i = 0; i < solves; ++i) {
    x[i] = make_milc_vector(&l, precision);
    solutions[i] = x[i].at;
  }
  QudaInvertArgs_t args;
  memset(&args, 0xff, sizeof args); /* what MILC does not set */
  args.max_iter = 2000;
  args.mixed_precision = 0;
  args.tadpole = 1;
  args.naik_epsilon = 0;
  double final[2];
  int iterations = -1;
  void *pack = qudaMultigridCreate(precision, precision, mass, args, links.at, none.at, "mg_params.txt");
  CHECK(pack != NULL, "%p", pack);
  qudaInvertMsrcMG(precision, 2, mass, args, target, 0, links.at, none.at, pack, 1, sources, solutions, final,
                   final + 1, &iterations, solves);
  CHECK(final[0] < target && iterations > 10, "%g, %d", final[0], iterations);
  for (int i = 0; i < solves; ++i, next += 6 * V) take(&x[i], 6, next);
  qudaInvertMG(precision, 2, mass, args, target, 0, links.at, none.at, pack, 0, a.at, alone.at, final, final + 1,
               &iterations);
  CHECK(final[0] < target && memcmp(alone.at, x[0].at, x[0].bytes) == 0, "%g", final[0]);
  qudaMultigridDestroy(pack);
  guarded_memory v[pairs + pairs_of_both];
  void *eigenvectors[pairs + pairs_of_both];
  double _Complex values[pairs + pairs_of_both];
  for (int i = 0; i < pairs + pairs_of_both; ++i) {
    v[i] = make_milc_vector(&l, precision);
    if (i < pairs) memset(v[i].at + v[i].bytes / 2, 0, v[i].bytes / 2); /* as it was: the other half is not written */
    eigenvectors[i] = v[i].at;
  }
  find_pairs(links.at, none.at, 0, pairs, eigenvectors, values);
  find_pairs(links.at, none.at, 1, pairs_of_both, eigenvectors + pairs, values + pairs);
  for (int i = 0; i < pairs + pairs_of_both; ++i, next += 6 * V) take(&v[i], 6, next);
  int modes[4 * momenta] = {0, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0, 0, -1, 2, 0}, source[4] = {1, 2, 0, 5};
  QudaFFTSymmType types[4 * momenta] = {QUDA_FFT_SYMM_EVEN, QUDA_FFT_SYMM_EVEN, QUDA_FFT_SYMM_EVEN, QUDA_FFT_SYMM_EO,
                                        QUDA_FFT_SYMM_ODD,  QUDA_FFT_SYMM_EVEN, QUDA_FFT_SYMM_EO,   QUDA_FFT_SYMM_EO,
                                        QUDA_FFT_SYMM_EO,   QUDA_FFT_SYMM_EVEN, QUDA_FFT_SYMM_EVEN, QUDA_FFT_SYMM_EO,
                                        QUDA_FFT_SYMM_EVEN, QUDA_FFT_SYMM_EO,   QUDA_FFT_SYMM_ODD,  QUDA_FFT_SYMM_EO};
  QudaContractArgs_t contraction = {momenta, modes, types, source, 0, 0};
  for (int twice = 0; twice < 2; ++twice) qudaContractFT(precision, &contraction, a.at, b.at, correlators);
  CHECK(contraction.flops > 0 && contraction.dtime >= 0, "%g flops", contraction.flops);
  QudaMILCSiteArg_t site = {plain.at, NULL, 0, NULL, 0, 72 * real_bytes(precision)};
  qudaGaugeFixingOVR(precision, 3, 400, 20, 1.5, precision == 2 ? 1e-12 : 1e-7, 20, 0, &site);
  take(&plain, 72, next);
  qudaFinalize();
  if (milcs != MPI_COMM_NULL) {
    MPI_Allreduce(MPI_IN_PLACE, out, (int)(6 * V * fields + 72 * V), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_free(&milcs);
    MPI_Finalize();
  }
  if (rank == 0) {
    file = fopen(argv[2], "wb");
    if (!file || fwrite(out, sizeof *out, 6 * V * fields + 72 * V, file) != 6 * V * fields + 72 * V ||
        fwrite(correlators, sizeof correlators, 1, file) != 1 || fwrite(values, sizeof values, 1, file) != 1 ||
        fclose(file) != 0)
      return 2;
  }
  return end();
}
