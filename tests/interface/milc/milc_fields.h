/* Fields as MILC has them, from its formulae alone: su3_matrix [site][mu][row][column][re, im] with phases, the time
 * sign and twists multiplied in, su3_vector [site][colour][re, im], float or double. C99. Nothing here knows of
 * Staghorn. */
#ifndef MILC_FIELDS_H
#define MILC_FIELDS_H

#include "../hosts/fake_hosts.h"

/* The whole lattice, and links and a source on it as every rank knows them: plain U without phases, x fastest, numbers
 * that float can hold. */
static const host_lattice whole = {{4, 4, 6, 8}, {4, 4, 6, 8}, {0, 0, 0, 0}};
static double *plain_links, *plain_source;

static inline void make_plain_fields(void) {
  plain_links = host_links(&whole, 1);
  plain_source = host_vector(&whole, 1000000);
  for (long k = 0; k < 72 * host_volume(&whole); ++k) plain_links[k] = in_fp32(plain_links[k]);
  for (long k = 0; k < 6 * host_volume(&whole); ++k) plain_source[k] = in_fp32(plain_source[k]);
}

/* What MILC has multiplied into its links. */
typedef struct {
  given_phases phases; /* counted from an origin; antiperiodic behind a slice of t */
  double twist;        /* the links of direction y on its last slice carry exp(i pi twist) */
  int none;            /* 1: nothing at all, as after MILC's rephase(OFF) */
} milc_convention;

static inline milc_convention convention_from(int x, int y, int z, int t) {
  milc_convention c = {{{x, y, z, t}, 0}, 0, 0};
  c.phases.slice = (2 * whole.n[3] - 1 - t) % whole.n[3]; /* the last slice, counted from the origin */
  return c;
}

static inline void put_real(char *at, int precision, double number) {
  const float rounded = (float)number;
  if (precision == 2)
    memcpy(at, &number, sizeof number);
  else
    memcpy(at, &rounded, sizeof rounded);
}
static inline double get_real(const char *at, int precision) {
  double number;
  float rounded;
  if (precision == 2) {
    memcpy(&number, at, sizeof number);
    return number;
  }
  memcpy(&rounded, at, sizeof rounded);
  return rounded;
}
static inline size_t real_bytes(int precision) { return precision == 2 ? sizeof(double) : sizeof(float); }

/* Of a link that leads over 1 or 3 steps: the phase of each step is that of its first site, along one direction. */
static inline cplx milc_factor(const milc_convention *c, int mu, int steps, const int *at) {
  cplx factor = 1;
  if (c->none) return factor;
  int x[4] = {at[0], at[1], at[2], at[3]};
  for (int step = 0; step < steps; ++step) {
    factor *= given_phase(&c->phases, mu, x);
    if (c->twist != 0 && mu == 1 && x[1] == whole.n[1] - 1) {
      const double pi = 3.14159265358979323846;
      factor *= cos(pi * c->twist) + I * sin(pi * c->twist);
    }
    x[mu] = (x[mu] + 1) % whole.n[mu];
  }
  return factor;
}

/* Visits the sites of a rank: local place in MILC's order, global coordinates, global lexicographic site. */
static inline long milc_site(const host_lattice *l, long site, int at[4]) {
  int x[4];
  host_coordinates(l->n, site, x);
  for (int mu = 0; mu < 4; ++mu) at[mu] = x[mu] + l->origin[mu];
  return site_milc(l->n, x);
}

static inline guarded_memory make_milc_links(const host_lattice *l, int precision) {
  return memory_make((size_t)host_volume(l) * 72 * real_bytes(precision));
}
static inline guarded_memory make_zero_links(const host_lattice *l, int precision) {
  guarded_memory m = make_milc_links(l, precision);
  memset(m.at, 0, m.bytes);
  return m;
}
/* u: of the whole lattice, plain. */
static inline void fill_milc_links(const host_lattice *l, int precision, const milc_convention *c, const double *u,
                                   int steps, guarded_memory *m) {
  for (long site = 0; site < host_volume(l); ++site) {
    int at[4];
    const long place = milc_site(l, site, at);
    for (int mu = 0; mu < 4; ++mu) {
      const cplx factor = milc_factor(c, mu, steps, at);
      for (int k = 0; k < 9; ++k) {
        const double *e = u + 72 * host_site(whole.n, at) + 18 * mu + 2 * k;
        const cplx element = factor * (e[0] + I * e[1]);
        char *to = m->at + (size_t)(72 * place + 18 * mu + 2 * k) * real_bytes(precision);
        put_real(to, precision, cimag(factor) == 0 ? creal(factor) * e[0] : creal(element));
        put_real(to + real_bytes(precision), precision, cimag(factor) == 0 ? creal(factor) * e[1] : cimag(element));
      }
    }
  }
}

static inline guarded_memory make_milc_vector(const host_lattice *l, int precision) { /* every byte is 0x5a */
  return memory_make((size_t)host_volume(l) * 6 * real_bytes(precision));
}
/* v: of the whole lattice, in CPS's convention; times `factor`. parity -1: all sites. */
static inline void fill_milc_vector(const host_lattice *l, int precision, const milc_convention *c, const double *v,
                                    double factor, int parity, guarded_memory *m) {
  for (long site = 0; site < host_volume(l); ++site) {
    int at[4];
    const long place = milc_site(l, site, at);
    if (parity >= 0 && host_parity(l, site) != parity) continue;
    for (int k = 0; k < 6; ++k)
      put_real(m->at + (size_t)(6 * place + k) * real_bytes(precision), precision,
               factor * given_sign(&c->phases, at) * v[6 * host_site(whole.n, at) + k]);
  }
}

/* How many numbers differ in a bit from `v` (whole lattice, CPS) rounded to the precision; on the other parity from
 * what was there before, 0x5a. */
static inline long milc_differences(const host_lattice *l, int precision, const milc_convention *c, const double *v,
                                    int parity, const guarded_memory *m) {
  long count = 0;
  for (long site = 0; site < host_volume(l); ++site) {
    int at[4];
    const long place = milc_site(l, site, at);
    for (int k = 0; k < 6; ++k) {
      char expected[8];
      memset(expected, 0x5a, sizeof expected);
      if (host_parity(l, site) == parity)
        put_real(expected, precision, given_sign(&c->phases, at) * v[6 * host_site(whole.n, at) + k]);
      count += memcmp(m->at + (size_t)(6 * place + k) * real_bytes(precision), expected, real_bytes(precision)) != 0;
    }
  }
  return count;
}

/* The vector of MILC in plain order and CPS's convention, on the sites of a parity of one process; zero elsewhere. */
static inline double *plain_of_milc(int precision, const milc_convention *c, int parity, const guarded_memory *m) {
  double *v = host_zeros(&whole);
  for (long site = 0; site < host_volume(&whole); ++site) {
    int at[4];
    const long place = milc_site(&whole, site, at);
    if (host_parity(&whole, site) != parity) continue;
    for (int k = 0; k < 6; ++k)
      v[6 * site + k] =
          given_sign(&c->phases, at) * get_real(m->at + (size_t)(6 * place + k) * real_bytes(precision), precision);
  }
  return v;
}

/* MILC's own operator in double, from its fields as they lie in memory, one process: out = D in on all sites, with fat
 * links one step and long links three steps. Fields are indexed in MILC's order. */
static inline void milc_hop(int precision, const char *fat, const char *lng, const cplx *in, cplx *out) {
  const size_t size = real_bytes(precision);
  for (long site = 0; site < host_volume(&whole); ++site) {
    int x[4];
    host_coordinates(whole.n, site, x);
    cplx sum[3] = {0, 0, 0};
    for (int steps = 1; steps <= 3; steps += 2) {
      const char *links = steps == 1 ? fat : lng;
      for (int mu = 0; mu < 4; ++mu) {
        int y[4] = {x[0], x[1], x[2], x[3]}, z[4] = {x[0], x[1], x[2], x[3]};
        y[mu] = (x[mu] + steps) % whole.n[mu];
        z[mu] = (x[mu] + 3 * whole.n[mu] - steps) % whole.n[mu];
        const cplx *a = in + 3 * site_milc(whole.n, y), *b = in + 3 * site_milc(whole.n, z);
        const char *here = links + (size_t)(72 * site_milc(whole.n, x) + 18 * mu) * size;
        const char *there = links + (size_t)(72 * site_milc(whole.n, z) + 18 * mu) * size;
        for (int r = 0; r < 3; ++r)
          for (int k = 0; k < 3; ++k) {
            const char *u = here + (size_t)(6 * r + 2 * k) * size, *w = there + (size_t)(6 * k + 2 * r) * size;
            sum[r] += (get_real(u, precision) + I * get_real(u + size, precision)) * a[k];
            sum[r] -= (get_real(w, precision) - I * get_real(w + size, precision)) * b[k];
          }
      }
    }
    for (int r = 0; r < 3; ++r) out[3 * site_milc(whole.n, x) + r] = sum[r];
  }
}

static inline cplx *complex_of_milc(int precision, const guarded_memory *m, int parity) {
  const long V = host_volume(&whole);
  cplx *v = calloc((size_t)(3 * V), sizeof *v);
  for (long k = parity * 3 * V / 2; k < (parity + 1) * 3 * V / 2; ++k) {
    const char *at = m->at + (size_t)(2 * k) * real_bytes(precision);
    v[k] = get_real(at, precision) + I * get_real(at + real_bytes(precision), precision);
  }
  return v;
}

/* |d - D in| / |D in| on a parity, D in double; one process. */
static inline double own_difference(int precision, const guarded_memory *fat, const guarded_memory *lng, int parity,
                                    const guarded_memory *in, const guarded_memory *d) {
  const long V = host_volume(&whole);
  cplx *source = complex_of_milc(precision, in, 1 - parity), *found = complex_of_milc(precision, d, parity);
  cplx *own = malloc((size_t)(3 * V) * sizeof *own);
  milc_hop(precision, fat->at, lng->at, source, own);
  double difference = 0, norm = 0;
  for (long k = parity * 3 * V / 2; k < (parity + 1) * 3 * V / 2; ++k) {
    difference += creal((found[k] - own[k]) * conj(found[k] - own[k]));
    norm += creal(own[k] * conj(own[k]));
  }
  free(source);
  free(found);
  free(own);
  return sqrt(difference / norm);
}

/* What MILC would find: |b - A x| / |b| with A = shift - D^2, and Fermilab's residual, on a parity; one process. */
typedef struct {
  double l2, fermilab;
} milc_residuals;
static inline milc_residuals own_residuals(int precision, const guarded_memory *fat, const guarded_memory *lng,
                                           double shift, int parity, const guarded_memory *b, const guarded_memory *x) {
  const long V = host_volume(&whole);
  cplx *source = complex_of_milc(precision, b, parity), *solution = complex_of_milc(precision, x, parity);
  cplx *d = malloc((size_t)(3 * V) * sizeof *d), *dd = malloc((size_t)(3 * V) * sizeof *dd);
  milc_hop(precision, fat->at, lng->at, solution, d);
  milc_hop(precision, fat->at, lng->at, d, dd);
  double r2 = 0, b2 = 0, ratio = 0;
  for (long i = parity * V / 2; i < (parity + 1) * V / 2; ++i) {
    double r2_here = 0, x2_here = 0;
    for (long k = 3 * i; k < 3 * i + 3; ++k) {
      const cplx r = source[k] - (shift * solution[k] - dd[k]);
      r2_here += creal(r * conj(r));
      x2_here += creal(solution[k] * conj(solution[k]));
      b2 += creal(source[k] * conj(source[k]));
    }
    r2 += r2_here;
    ratio += x2_here == 0 ? 1 : r2_here / x2_here;
  }
  free(source);
  free(solution);
  free(d);
  free(dd);
  const milc_residuals found = {sqrt(r2 / b2), sqrt(ratio / (double)(V / 2))};
  return found;
}

#endif
