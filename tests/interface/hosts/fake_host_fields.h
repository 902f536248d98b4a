/* The fields of one host, of any order and convention, thin or fat and long links, on the lattice of the tests. C99. */
#ifndef FAKE_HOST_FIELDS_H
#define FAKE_HOST_FIELDS_H

#include <staghorn.h>

#include "fake_hosts.h"

static const double pi = 3.14159265358979323846;
static const double mass = 0.3, tolerance = 1e-10;
static const host_lattice whole = {{4, 4, 6, 8}, {4, 4, 6, 8}, {0, 0, 0, 0}};

/* One host: what it has, and what it does wrong. */
typedef struct {
  int order, phases, precision, system, half, boundary_in, dagger, in_struct;
  double theta[4], scale;    /* scale: of direction t */
  int reals;                 /* of links in the kernels, of improved quarks of long links */
  given_phases given;        /* of links as given */
  int lie_order, lie_phases; /* fields are filled as these say, -1: as they should be */
  int wrong_x[4], wrong_mu;  /* a link with the wrong sign; wrong_mu = -1: none */
} host;

static inline host plain_host(void) {
  host h;
  memset(&h, 0, sizeof h);
  h.theta[3] = 1;
  h.scale = 1;
  h.given.origin[0] = 1;
  h.given.origin[3] = 3;
  h.given.slice = 2;
  h.lie_order = h.lie_phases = h.wrong_mu = -1;
  return h;
}

/* Links and source of the whole lattice, as every rank knows them: numbers that fp32 can hold. Of improved quarks the
 * links are fat ones, near thin ones, and long links are not NULL: coefficient times products of three thin ones. */
static double *plain_links, *plain_long, *plain_source;
static const double coefficient = -1.0 / 24;

static inline double *fp32_numbers(double *values, long count) {
  for (long k = 0; k < count; ++k) values[k] = in_fp32(values[k]);
  return values;
}

static inline void improve_problem(void) {
  double *thin = plain_links, *fat = host_links(&whole, 500);
  for (long k = 0; k < 72 * host_volume(&whole); ++k) fat[k] = 0.9 * thin[k] + 0.1 * fat[k];
  plain_links = fp32_numbers(fat, 72 * host_volume(&whole));
  plain_long = fp32_numbers(host_long_links(&whole, thin), 72 * host_volume(&whole));
  free(thin);
}

static inline void make_problem(int improved) {
  plain_links = fp32_numbers(host_links(&whole, 1), 72 * host_volume(&whole));
  plain_source = fp32_numbers(host_vector(&whole, 1000000), 6 * host_volume(&whole));
  if (improved) improve_problem();
}

static inline void put(char *at, int precision, double number) {
  const float rounded = (float)number;
  if (precision == STAGHORN_FP64)
    memcpy(at, &number, 8);
  else
    memcpy(at, &rounded, 4);
}
static inline int host_phases(const host *h) { return h->lie_phases >= 0 ? h->lie_phases : h->phases; }
static inline int host_order(const host *h) { return h->lie_order >= 0 ? h->lie_order : h->order; }

/* The complex number that the host multiplies into the link of so many steps from x in +mu, x global. */
static inline cplx link_factor(const host *h, int mu, const int *x, int steps) {
  int at[4] = {x[0], x[1], x[2], x[3]};
  cplx factor = 1;
  for (int step = 0; step < steps; ++step, at[mu] = (at[mu] + 1) % whole.n[mu]) {
    factor *= host_phases(h) == AS_GIVEN ? given_phase(&h->given, mu, at) : phase(host_phases(h), mu, at);
    if (h->boundary_in && at[mu] == whole.n[mu] - 1)
      factor *= h->theta[mu] == 1 ? -1 : cos(pi * h->theta[mu]) + I * sin(pi * h->theta[mu]);
  }
  if (steps == 1 && mu == h->wrong_mu && memcmp(x, h->wrong_x, sizeof h->wrong_x) == 0) factor = -factor;
  return factor;
}

static inline int size_of(const host *h) { return h->precision == STAGHORN_FP64 ? 8 : 4; }
static inline long link_stride(const host *h) {
  if (h->in_struct) return 1000;
  return (h->order == QDP || h->order == STAG_BLOCK ? 18 : 72) * size_of(h);
}
static inline long link_offset(const host *h) { return h->in_struct ? 328 : 0; }

/* The whole lattice's links `all` of so many steps, to the host. */
static inline void fill_links(const host *h, const host_lattice *l, const double *all, int steps, guarded_memory m[4]) {
  const int size = size_of(h), order = host_order(h), dagger = h->dagger || h->order == STAG || h->order == STAG_BLOCK;
  const long V = host_volume(l);
  for (int mu = 0; mu < (h->order == QDP ? 4 : 1); ++mu)
    m[mu] = memory_make((size_t)(link_stride(h) * V * (h->order == STAG_BLOCK ? 4 : 1)));
  for (long site = 0; site < V; ++site) {
    int x[4], at[4];
    host_coordinates(l->n, site, x);
    for (int mu = 0; mu < 4; ++mu) at[mu] = x[mu] + l->origin[mu];
    for (int mu = 0; mu < 4; ++mu) {
      const cplx factor = link_factor(h, mu, at, steps);
      const long place = link_place(order, l->n, x);
      char *link = m[h->order == QDP ? mu : 0].at + link_offset(h);
      if (h->order == STAG_BLOCK)
        link += (V * mu + place) * link_stride(h);
      else
        link += place * link_stride(h) + (h->order == QDP ? 0 : 18 * mu * size);
      const double *u = all + 72 * host_site(whole.n, at) + 18 * mu;
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
          const double *e = u + 2 * (dagger ? 3 * c + r : 3 * r + c);
          double re = e[0], im = e[1];
          if (cimag(factor) == 0) {
            re *= creal(factor);
            im *= creal(factor);
          } else {
            const cplx product = factor * (re + I * im);
            re = creal(product);
            im = cimag(product);
          }
          char *to = link + 2 * size * (h->order == WILSON ? 3 * c + r : 3 * r + c);
          put(to, h->precision, re);
          put(to + size, h->precision, dagger ? -im : im);
        }
    }
  }
  for (int mu = 0; mu < (h->order == QDP ? 4 : 1); ++mu) memory_lock(&m[mu]);
}

static inline int sign_at(const host *h, const int *x) {
  return host_phases(h) == AS_GIVEN ? given_sign(&h->given, x) : vector_sign(host_phases(h), x);
}
static inline long place_in_vector(const host *h, const host_lattice *l, const int *x) {
  const long place = vector_place(host_order(h), l->n, x);
  return h->half ? place % (host_volume(l) / 2) : place;
}
static inline int on_system(const host *h, const host_lattice *l, long site) {
  return h->system == STAGHORN_FULL || host_parity(l, site) == h->system - STAGHORN_EVEN;
}

static inline guarded_memory make_vector(const host *h, const host_lattice *l) {
  return memory_make((size_t)(6 * size_of(h) * host_volume(l) / (h->half ? 2 : 1)));
}

/* v of the whole lattice, in CPS's convention, to the host. */
static inline void fill_vector(const host *h, const host_lattice *l, const double *v, guarded_memory *m) {
  for (long site = 0; site < host_volume(l); ++site) {
    if (h->half && !on_system(h, l, site)) continue;
    int x[4], at[4];
    host_coordinates(l->n, site, x);
    for (int mu = 0; mu < 4; ++mu) at[mu] = x[mu] + l->origin[mu];
    for (int k = 0; k < 6; ++k)
      put(m->at + (6 * place_in_vector(h, l, x) + k) * size_of(h), h->precision,
          sign_at(h, at) * v[6 * host_site(whole.n, at) + k]);
  }
}

/* How many numbers of the host's vector differ in a bit from `v`, rounded to its precision; on other sites of a parity
 * system: from what stood there before, 0x5a. */
static inline long differences(const host *h, const host_lattice *l, const double *v, const guarded_memory *m) {
  long count = 0;
  for (long site = 0; site < host_volume(l); ++site) {
    int x[4], at[4];
    if (h->half && !on_system(h, l, site)) continue;
    host_coordinates(l->n, site, x);
    for (int mu = 0; mu < 4; ++mu) at[mu] = x[mu] + l->origin[mu];
    for (int k = 0; k < 6; ++k) {
      const char *found = m->at + (6 * place_in_vector(h, l, x) + k) * size_of(h);
      char expected[8];
      memset(expected, 0x5a, sizeof expected);
      if (on_system(h, l, site)) put(expected, h->precision, sign_at(h, at) * v[6 * host_site(whole.n, at) + k]);
      count += memcmp(found, expected, (size_t)size_of(h)) != 0;
    }
  }
  return count;
}

static inline void describe(const host *h, staghorn_links *links, staghorn_vectors *vectors,
                            staghorn_request *request) {
  staghorn_defaults(links, sizeof *links, STAGHORN_LINKS);
  staghorn_defaults(vectors, sizeof *vectors, STAGHORN_VECTORS);
  staghorn_defaults(request, sizeof *request, STAGHORN_REQUEST);
  links->order = h->order;
  links->precision = h->precision;
  links->phases = h->phases;
  links->boundary_in = h->boundary_in;
  links->dagger = h->dagger;
  links->site_stride = h->in_struct ? link_stride(h) : 0;
  links->link_offset = link_offset(h);
  links->reals = h->reals;
  memcpy(links->theta, h->theta, sizeof h->theta);
  links->scale[3] = h->scale;
  vectors->order = h->order;
  vectors->precision = h->precision;
  vectors->half = h->half;
  request->system = h->system;
  request->mass = mass;
  request->tolerance = tolerance;
}

#endif
