/* Fat and long links as MILC has them made, from links with its phases and signs in them, with its coefficients.
 *
 *   milc_links ACTION THIN FILE             one process without MPI: plain fat and long links of the whole lattice to
 * FILE milc_links ACTION THIN FILE GX GY GZ GT ranks: the links of each have the bits of FILE
 *
 * ACTION: hisq or asqtad, with a tadpole factor of 1. THIN: plain links as raw doubles. FILE: fat, then long links. */
#define _GNU_SOURCE
#include "milc_calls.h"

/* One link, Naik, 3-, 5-, 7-link staples, Lepage's. A path around n plaquettes has the sign (-1)^n of its phases. */
static const double level_1[6] = {1.0 / 8, 0, -1.0 / 16, 1.0 / 64, -1.0 / 384, 0};
static const double level_2[6] = {1, -1.0 / 24, -1.0 / 16, 1.0 / 64, -1.0 / 384, -1.0 / 8};
static const double asqtad[6] = {5.0 / 8, -1.0 / 24, -1.0 / 16, 1.0 / 64, -1.0 / 384, -1.0 / 16};

typedef struct {
  guarded_memory fat, lng;
} pair;

static pair make_links(int precision, const char *action, const double *thin, const milc_convention *c) {
  guarded_memory u = make_milc_links(&l, precision);
  pair made = {make_milc_links(&l, precision), make_milc_links(&l, precision)};
  fill_milc_links(&l, precision, c, thin, 1, &u);
  memory_lock(&u);
  const QudaFatLinkArgs_t args = {1, 1};
  if (strcmp(action, "asqtad") == 0) {
    qudaLoadKSLink(precision, args, asqtad, u.at, made.fat.at, made.lng.at);
  } else {
    const QudaHisqParams_t params = {1, 0, 1e-8, 1e-8, 5e-5};
    guarded_memory v = make_milc_links(&l, precision), w = make_milc_links(&l, precision);
    guarded_memory alone = make_milc_links(&l, precision), fat = make_milc_links(&l, precision);
    qudaHisqParamsInit(params);
    qudaLoadUnitarizedLink(precision, args, level_1, u.at, v.at, w.at);
    qudaLoadUnitarizedLink(precision, args, level_1, u.at, NULL, alone.at);
    CHECK(memcmp(w.at, alone.at, w.bytes) == 0 && memcmp(v.at, w.at, w.bytes) != 0, "V is wanted or not");
    qudaLoadKSLink(precision, args, level_2, w.at, made.fat.at, made.lng.at);
    qudaLoadKSLink(precision, args, level_2, w.at, fat.at, NULL);
    CHECK(memcmp(fat.at, made.fat.at, fat.bytes) == 0, "long links are wanted or not");
    memory_free(&v);
    memory_free(&w);
    memory_free(&alone);
    memory_free(&fat);
  }
  memory_free(&u);
  return made;
}
/* As MILC corrects HISQ links of heavy quarks: paths of one link and of three in a row. */
static void paths_without_staples(const double *thin) {
  const milc_convention c = convention_from(0, 0, 0, 0);
  const double coefficients[6] = {0.25, -0.5, 0, 0, 0, 0};
  guarded_memory u = make_milc_links(&l, 2), fat = make_milc_links(&l, 2), lng = make_milc_links(&l, 2);
  const QudaFatLinkArgs_t args = {0, 0};
  fill_milc_links(&l, 2, &c, thin, 1, &u);
  qudaLoadKSLink(2, args, coefficients, u.at, fat.at, lng.at);
  for (long k = 0; k < 72 * host_volume(&l); ++k)
    CHECK(((double *)(void *)fat.at)[k] == 0.25 * ((double *)(void *)u.at)[k], "number %ld", k);
  memory_free(&u);
  memory_free(&fat);
  memory_free(&lng);
}

static void free_pair(pair *p) {
  memory_free(&p->fat);
  memory_free(&p->lng);
}

/* Of this rank, into the whole lattice's links: signs are taken out, which is exact. */
static void take(int precision, const milc_convention *c, int steps, const guarded_memory *m, double *all) {
  for (long site = 0; site < host_volume(&l); ++site) {
    int at[4];
    const long place = milc_site(&l, site, at);
    for (int mu = 0; mu < 4; ++mu)
      for (int k = 0; k < 18; ++k)
        all[72 * host_site(whole.n, at) + 18 * mu + k] =
            creal(milc_factor(c, mu, steps, at)) *
            get_real(m->at + (size_t)(72 * place + 18 * mu + k) * real_bytes(precision), precision);
  }
}

/* Numbers that differ from `expected` on this rank's sites, where `found` is not NAN. */
static long differences(const double *found, const double *expected, double tolerance) {
  long count = 0;
  for (long k = 0; k < 144 * host_volume(&whole); ++k)
    count += !isnan(found[k]) && !(fabs(found[k] - expected[k]) <= tolerance);
  return count;
}

int main(int argc, char **argv) {
  if (argc != 4 && argc != 8) return 2;
  const size_t V = (size_t)host_volume(&whole);
  double *thin = malloc(72 * V * sizeof *thin), *found = malloc(144 * V * sizeof *found);
  double *expected = malloc(144 * V * sizeof *expected);
  FILE *file = fopen(argv[2], "rb");
  if (!file || fread(thin, sizeof *thin, 72 * V, file) != 72 * V) return 2;
  fclose(file);
  l = whole;
  MPI_Comm milcs = MPI_COMM_NULL;
  if (argc == 8) {
    MPI_Init(&argc, &argv);
    milcs = place_ranks(argv + 4);
    file = fopen(argv[3], "rb");
    if (!file || fread(expected, sizeof *expected, 144 * V, file) != 144 * V) return 2;
    fclose(file);
  }
  connect_milc(QUDA_SUMMARIZE);
  paths_without_staples(thin);
  const milc_convention c = convention_from(0, 0, 0, 0), shifted = convention_from(1, 0, 0, 3);
  for (int turn = 0; turn < 3; ++turn) { /* doubles, doubles with phases from elsewhere, floats */
    const int precision = turn < 2 ? 2 : 1;
    pair made = make_links(precision, argv[1], thin, turn == 1 ? &shifted : &c);
    for (size_t k = 0; k < 144 * V; ++k) found[k] = NAN;
    take(precision, turn == 1 ? &shifted : &c, 1, &made.fat, found);
    take(precision, turn == 1 ? &shifted : &c, 3, &made.lng, found + 72 * V);
    if (turn == 0 && argc == 4) memcpy(expected, found, 144 * V * sizeof *found);
    const long wrong = differences(found, expected, turn < 2 ? 0 : 1e-6);
    CHECK(wrong == 0, "turn %d: %ld numbers", turn, wrong);
    free_pair(&made);
  }
  qudaFinalize();
  if (milcs != MPI_COMM_NULL) {
    MPI_Comm_free(&milcs);
    MPI_Finalize();
    return end();
  }
  file = fopen(argv[3], "wb");
  if (!file || fwrite(expected, sizeof *expected, 144 * V, file) != 144 * V || fclose(file) != 0) return 2;
  return end();
}
