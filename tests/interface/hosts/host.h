/* A small host program's own lattice: links, sources and D written from the formulae alone. C99, one process or a local
 * lattice of several. It knows nothing of Staghorn. */
#ifndef HOST_H
#define HOST_H

#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double complex cplx;

typedef struct {
  int n[4], global[4], origin[4]; /* local extents, global extents, first site */
} host_lattice;

static inline long host_volume(const host_lattice *l) { return (long)l->n[0] * l->n[1] * l->n[2] * l->n[3]; }
static inline long host_site(const int n[4], const int x[4]) {
  return x[0] + (long)n[0] * (x[1] + (long)n[1] * (x[2] + (long)n[2] * x[3]));
}
static inline void host_coordinates(const int n[4], long site, int x[4]) {
  for (int mu = 0; mu < 4; ++mu) {
    x[mu] = (int)(site % n[mu]);
    site /= n[mu];
  }
}
static inline long host_global_site(const host_lattice *l, long site) {
  int x[4];
  host_coordinates(l->n, site, x);
  for (int mu = 0; mu < 4; ++mu) x[mu] += l->origin[mu];
  return host_site(l->global, x);
}
static inline int host_parity(const host_lattice *l, long site) {
  int x[4];
  host_coordinates(l->n, site, x);
  int sum = 0;
  for (int mu = 0; mu < 4; ++mu) sum += x[mu] + l->origin[mu];
  return sum & 1;
}

/* The k-th number in [-1, 1) of a stream of random numbers [splitmix64]. */
static inline double host_random(uint64_t stream, uint64_t k) {
  uint64_t z = stream * UINT64_C(0xd1342543de82ef95) + (k + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return (double)(z >> 11) / 4503599627370496.0 - 1.0;
}

/* A random matrix of SU(3): two random rows made orthonormal, the third their conjugate cross product. */
static inline void host_random_su3(uint64_t stream, double *u) {
  cplx e[3][3];
  for (int k = 0; k < 6; ++k) e[k / 3][k % 3] = host_random(stream, 2 * k) + I * host_random(stream, 2 * k + 1);
  for (int row = 0; row < 2; ++row) {
    if (row == 1) {
      cplx dot = 0;
      for (int c = 0; c < 3; ++c) dot += conj(e[0][c]) * e[1][c];
      for (int c = 0; c < 3; ++c) e[1][c] -= dot * e[0][c];
    }
    double norm2 = 0;
    for (int c = 0; c < 3; ++c) norm2 += creal(e[row][c] * conj(e[row][c]));
    for (int c = 0; c < 3; ++c) e[row][c] /= sqrt(norm2);
  }
  for (int c = 0; c < 3; ++c)
    e[2][c] = conj(e[0][(c + 1) % 3] * e[1][(c + 2) % 3] - e[0][(c + 2) % 3] * e[1][(c + 1) % 3]);
  for (int k = 0; k < 9; ++k) {
    u[2 * k] = creal(e[k / 3][k % 3]);
    u[2 * k + 1] = cimag(e[k / 3][k % 3]);
  }
}

static inline double *host_links(const host_lattice *l, uint64_t seed) {
  double *u = malloc((size_t)host_volume(l) * 72 * sizeof *u);
  for (long site = 0; site < host_volume(l); ++site)
    for (int mu = 0; mu < 4; ++mu)
      host_random_su3(seed + 4 * (uint64_t)host_global_site(l, site) + (uint64_t)mu, u + 72 * site + 18 * mu);
  return u;
}
/* -1/24 times the products of three links in a row, on a lattice that one process holds. */
static inline double *host_long_links(const host_lattice *l, const double *u) {
  double *naik = malloc((size_t)host_volume(l) * 72 * sizeof *naik);
  for (long site = 0; site < host_volume(l); ++site)
    for (int mu = 0; mu < 4; ++mu) {
      cplx product[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
      int x[4];
      host_coordinates(l->n, site, x);
      for (int step = 0; step < 3; ++step, x[mu] = (x[mu] + 1) % l->n[mu]) {
        const double *link = u + 72 * host_site(l->n, x) + 18 * mu;
        cplx next[3][3] = {{0}};
        for (int k = 0; k < 27; ++k) {
          const int row = k / 9, column = k % 3, between = k / 3 % 3;
          const double *e = link + 2 * (3 * between + column);
          next[row][column] += product[row][between] * (e[0] + I * e[1]);
        }
        memcpy(product, next, sizeof product);
      }
      for (int k = 0; k < 9; ++k) {
        naik[72 * site + 18 * mu + 2 * k] = -creal(product[k / 3][k % 3]) / 24;
        naik[72 * site + 18 * mu + 2 * k + 1] = -cimag(product[k / 3][k % 3]) / 24;
      }
    }
  return naik;
}
/* The mean of tr P / 3 on a lattice that one process holds, P the product of links along a path that closes: steps mu,
 * and -1 - mu for one back. */
static inline cplx host_loop(const host_lattice *l, const double *links, const int32_t *path, int length) {
  cplx mean = 0;
  for (long site = 0; site < host_volume(l); ++site) {
    cplx p[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int x[4];
    host_coordinates(l->n, site, x);
    for (int step = 0; step < length; ++step) {
      const int back = path[step] < 0, mu = back ? -1 - path[step] : path[step];
      if (back) x[mu] = (x[mu] + l->n[mu] - 1) % l->n[mu];
      const double *u = links + 72 * host_site(l->n, x) + 18 * mu;
      cplx next[3][3] = {{0}};
      for (int k = 0; k < 27; ++k) {
        const int i = k / 9, j = k % 3, between = k / 3 % 3;
        const double *e = u + 2 * (back ? 3 * j + between : 3 * between + j);
        next[i][j] += p[i][between] * (e[0] + I * (back ? -e[1] : e[1]));
      }
      memcpy(p, next, sizeof p);
      if (!back) x[mu] = (x[mu] + 1) % l->n[mu];
    }
    mean += (p[0][0] + p[1][1] + p[2][2]) / (3.0 * (double)host_volume(l));
  }
  return mean;
}
static inline double *host_vector(const host_lattice *l, uint64_t seed) {
  double *v = malloc((size_t)host_volume(l) * 6 * sizeof *v);
  for (long site = 0; site < host_volume(l); ++site)
    for (int k = 0; k < 6; ++k) v[6 * site + k] = host_random(seed + (uint64_t)host_global_site(l, site), (uint64_t)k);
  return v;
}
static inline double *host_zeros(const host_lattice *l) { return calloc((size_t)host_volume(l) * 6, sizeof(double)); }

/* out = D in on a lattice that one process holds, antiperiodic in t:
 * D a(x) = sum_mu eta_mu(x) [ U_mu(x) a(x+mu) - U_mu(x-mu)^dagger a(x-mu) ] */
static inline void host_hop(const host_lattice *l, const double *u, const double *in, double *out) {
  for (long site = 0; site < host_volume(l); ++site) {
    int x[4], exponent = 0;
    host_coordinates(l->n, site, x);
    cplx sum[3] = {0, 0, 0};
    for (int mu = 0; mu < 4; ++mu) {
      const double eta = exponent & 1 ? -1 : 1;
      exponent += x[mu];
      for (int direction = 1; direction >= -1; direction -= 2) {
        int y[4] = {x[0], x[1], x[2], x[3]};
        double sign = direction * eta;
        y[mu] += direction;
        if (y[mu] < 0 || y[mu] >= l->n[mu]) {
          y[mu] = (y[mu] + l->n[mu]) % l->n[mu];
          if (mu == 3) sign = -sign;
        }
        const long there = host_site(l->n, y);
        const double *link = u + 72 * (direction > 0 ? site : there) + 18 * mu, *a = in + 6 * there;
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c) {
            const double *e = link + 2 * (direction > 0 ? 3 * r + c : 3 * c + r);
            const cplx element = direction > 0 ? e[0] + I * e[1] : e[0] - I * e[1];
            sum[r] += sign * element * (a[2 * c] + I * a[2 * c + 1]);
          }
      }
    }
    for (int r = 0; r < 3; ++r) {
      out[6 * site + 2 * r] = creal(sum[r]);
      out[6 * site + 2 * r + 1] = cimag(sum[r]);
    }
  }
}

/* |a - b| / |b| on the sites of a parity, or on all with parity -1. */
static inline double host_distance(const host_lattice *l, const double *a, const double *b, int parity) {
  double difference = 0, norm = 0;
  for (long site = 0; site < host_volume(l); ++site) {
    if (parity >= 0 && host_parity(l, site) != parity) continue;
    for (int k = 0; k < 6; ++k) {
      difference += (a[6 * site + k] - b[6 * site + k]) * (a[6 * site + k] - b[6 * site + k]);
      norm += b[6 * site + k] * b[6 * site + k];
    }
  }
  return sqrt(difference / norm);
}

#endif
