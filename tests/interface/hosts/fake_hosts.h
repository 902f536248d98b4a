/* Fields of other codes, from their formulae alone: where sites and links lie, which phases they carry. C99. Nothing
 * here knows of Staghorn; the numbers of orders and phases are those of staghorn.h. */
#ifndef FAKE_HOSTS_H
#define FAKE_HOSTS_H

#include <sys/mman.h>
#include <unistd.h>

#include "host.h"

enum { LEX, STAG, WILSON, EVEN_ODD, QDP, STAG_BLOCK, ORDERS };
enum { NONE, CPS, MILC, TIFR, CHROMA, AS_GIVEN, CONVENTIONS };

/* Memory that ends where a page begins that nobody may touch: what is written or read behind it ends the program. */
typedef struct {
  char *pages, *at;
  size_t bytes, all;
} guarded_memory;

static inline guarded_memory memory_make(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), held = (bytes + page - 1) / page * page;
  guarded_memory m = {NULL, NULL, bytes, held + page};
  m.pages = mmap(NULL, m.all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(m.pages + held, page, PROT_NONE);
  m.at = m.pages + held - bytes;
  memset(m.pages, 0x5a, held);
  return m;
}
static inline void memory_lock(const guarded_memory *m) { /* read only from here on */
  mprotect(m->pages, m->all - (size_t)sysconf(_SC_PAGESIZE), PROT_READ);
}
static inline void memory_unlock(const guarded_memory *m) {
  mprotect(m->pages, m->all - (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE);
}
static inline void memory_free(guarded_memory *m) {
  munmap(m->pages, m->all);
  m->pages = m->at = NULL;
}

static inline int sign_of(int exponent) { return exponent & 1 ? -1 : 1; }
static inline double in_fp32(double number) { /* through memory: see tests/unit/layouts/layout_checks.cpp */
  volatile float rounded = (float)number;
  return rounded;
}

/* Site formulae. x: local coordinates, n: local extents, V: volume. */
static inline long site_lex(const int *n, const int *x) {
  return x[0] + n[0] * (x[1] + n[1] * (x[2] + (long)n[2] * x[3]));
}
static inline long site_stag(const int *n, const int *x) { /* CPS f_stag: FsiteOffsetChkb */
  const long V = (long)n[0] * n[1] * n[2] * n[3];
  return (x[3] + n[3] * (x[0] + n[0] * (x[1] + (long)n[1] * x[2])) + V * ((x[0] + x[1] + x[2] + x[3]) % 2)) / 2;
}
static inline long site_wilson(const int *n, const int *x, int odd_first) {
  const long V = (long)n[0] * n[1] * n[2] * n[3];
  const int p = (x[0] + x[1] + x[2] + x[3] + odd_first) % 2;
  return (x[0] - x[0] % 2 + n[0] * (x[1] + n[1] * (x[2] + (long)n[2] * x[3])) + V * p) / 2;
}
static inline long site_milc(const int *n, const int *x) { /* MILC layout_hyper_prime: node_index */
  const long V = (long)n[0] * n[1] * n[2] * n[3], i = site_lex(n, x);
  return (x[0] + x[1] + x[2] + x[3]) % 2 == 0 ? i / 2 : (i + V) / 2;
}
static inline long vector_place(int order, const int *n, const int *x) {
  switch (order) {
    case LEX:
      return site_lex(n, x);
    case STAG:
    case STAG_BLOCK:
      return site_stag(n, x);
    case WILSON:
      return site_wilson(n, x, 1);
    default:
      return site_milc(n, x);
  }
}
static inline long link_place(int order, const int *n, const int *x) {
  switch (order) {
    case LEX:
    case STAG:
      return site_lex(n, x);
    case STAG_BLOCK:
      return site_stag(n, x);
    case WILSON:
      return site_wilson(n, x, 0);
    default:
      return site_milc(n, x);
  }
}

/* Staggered phases, x global. */
static inline int phase(int convention, int mu, const int *x) {
  const int cps[4] = {0, x[0], x[0] + x[1], x[0] + x[1] + x[2]};
  const int milc[4] = {x[3], x[3] + x[0], x[3] + x[0] + x[1], 0};
  const int tifr[4] = {x[1] + x[2] + x[3], x[2] + x[3], x[3], 0};
  switch (convention) {
    case NONE:
      return 1;
    case MILC:
      return sign_of(milc[mu]);
    case TIFR:
      return sign_of(tifr[mu]);
    default:
      return sign_of(cps[mu]);
  }
}
/* What a vector of the convention is against one of CPS. */
static inline int vector_sign(int convention, const int *x) {
  const int a = x[0], b = x[1], c = x[2], d = x[3];
  if (convention == MILC) return sign_of(d * (a + b + c));
  if (convention == TIFR) return sign_of(a * b + a * c + a * d + b * c + b * d + c * d);
  return 1;
}

/* Links of which nobody knows what they carry: MILC's phases counted from an origin of their own, antiperiodic behind a
 * slice of t of their own. x global. */
typedef struct {
  int origin[4], slice;
} given_phases;

static inline int given_phase(const given_phases *given, int mu, const int *x) {
  int from[4];
  for (int nu = 0; nu < 4; ++nu) from[nu] = x[nu] + given->origin[nu];
  return phase(MILC, mu, from) * (mu == 3 && x[3] == given->slice ? -1 : 1);
}
/* What a vector of such links is against one of CPS with an antiperiodic last slice. CPS's phases counted from another
 * origin differ by a sign for each direction. */
static inline int given_sign(const given_phases *given, const int *x) {
  int from[4], before = 0, exponent = 0;
  for (int nu = 0; nu < 4; ++nu) {
    from[nu] = x[nu] + given->origin[nu];
    exponent += before * x[nu];
    before += given->origin[nu];
  }
  return vector_sign(MILC, from) * sign_of(exponent) * (x[3] > given->slice ? -1 : 1);
}

/* out += sum_mu V_mu(x) a(x + s mu) - V_mu(x - s mu)^dagger a(x - s mu): links of s steps that carry everything. One
 * process, whole lattice. */
static inline void bare_hop(const host_lattice *l, const cplx *v, int steps, const cplx *in, cplx *out) {
  for (long site = 0; site < host_volume(l); ++site) {
    int x[4];
    host_coordinates(l->n, site, x);
    cplx sum[3] = {0, 0, 0};
    for (int mu = 0; mu < 4; ++mu) {
      int y[4] = {x[0], x[1], x[2], x[3]}, z[4] = {x[0], x[1], x[2], x[3]};
      y[mu] = (x[mu] + steps) % l->n[mu];
      z[mu] = (x[mu] + l->n[mu] - steps) % l->n[mu];
      const cplx *a = in + 3 * host_site(l->n, y), *b = in + 3 * host_site(l->n, z);
      const cplx *here = v + 9 * (4 * site + mu), *there = v + 9 * (4 * host_site(l->n, z) + mu);
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) sum[r] += here[3 * r + c] * a[c] - conj(there[3 * c + r]) * b[c];
    }
    for (int r = 0; r < 3; ++r) out[3 * site + r] += sum[r];
  }
}

#endif
