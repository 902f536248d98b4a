/* How long a call of MILC takes beside Conjugate Gradient. No test: it prints times.
 *
 *   milc_overhead PRECISION X Y Z T [CALLS]
 *
 * Links are random diagonal matrices of SU(3) times MILC's phases, with long links of zeros; the source is random. Each
 * line is the best of CALLS calls that make no iteration (so that only hashes, conversion, transfer and certificate are
 * left), 100 and 200 iterations, with links unchanged; and the one call that reads links. The bytes that have to travel
 * in a call without iterations are source, guess and solution. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <quda.h>
#include <quda_milc_interface.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int n[4], precision;
static size_t volume, real_bytes;

static void put(char *field, size_t number, double value) {
  if (precision == 2)
    ((double *)(void *)field)[number] = value;
  else
    ((float *)(void *)field)[number] = (float)value;
}

static double random_number(void) { /* from 0 to 1 */
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) / 9007199254740992.0;
}

static void fill(char *fat, char *source) {
  for (size_t lex = 0; lex < volume; ++lex) {
    int x[4];
    size_t rest = lex;
    for (int mu = 0; mu < 4; ++mu) {
      x[mu] = (int)(rest % (size_t)n[mu]);
      rest /= (size_t)n[mu];
    }
    const int odd = (x[0] + x[1] + x[2] + x[3]) & 1;
    const size_t place = odd ? (lex + volume) / 2 : lex / 2;
    const int exponents[4] = {x[3], x[3] + x[0], x[3] + x[0] + x[1], x[3] == n[3] - 1};
    for (int mu = 0; mu < 4; ++mu) {
      const double a = 6.2832 * random_number(), b = 6.2832 * random_number(), angles[3] = {a, b, -a - b};
      for (int c = 0; c < 3; ++c) {
        const size_t number = 72 * place + 18 * (size_t)mu + 8 * (size_t)c;
        put(fat, number, (exponents[mu] & 1 ? -1 : 1) * cos(angles[c]));
        put(fat, number + 1, (exponents[mu] & 1 ? -1 : 1) * sin(angles[c]));
      }
    }
    for (size_t k = 0; k < 6; ++k) put(source, 6 * place + k, random_number() - 0.5);
  }
}

static char *fat, *lng, *source, *solution;
static double residual;
static double call(int iterations) {
  QudaInvertArgs_t args;
  memset(&args, 0, sizeof args);
  args.max_iter = iterations;
  args.evenodd = QUDA_EVEN_PARITY;
  double relative;
  int done = 0;
  memset(solution, 0, volume * 6 * real_bytes);
  const double start = seconds();
  qudaInvert(precision, precision, 1e-4, args, 1e-15, 0, fat, lng, source, solution, &residual, &relative, &done);
  return seconds() - start;
}
static double best(int calls, int iterations) {
  double least = 1e30;
  for (int i = 0; i < calls; ++i) {
    const double one = call(iterations);
    if (one < least) least = one;
  }
  return least;
}

int main(int argc, char **argv) {
  if (argc < 6) return 2;
  precision = atoi(argv[1]);
  real_bytes = precision == 2 ? 8 : 4;
  volume = 1;
  for (int mu = 0; mu < 4; ++mu) {
    n[mu] = atoi(argv[2 + mu]);
    volume *= (size_t)n[mu];
  }
  const int calls = argc > 6 ? atoi(argv[6]) : 5, grid[4] = {1, 1, 1, 1};
  fat = calloc(volume * 72, real_bytes);
  lng = calloc(volume * 72, real_bytes);
  memset(lng, 0, volume * 72 * real_bytes); /* as MILC does: calloc alone shares one page of zeros */
  source = calloc(volume * 6, real_bytes);
  solution = calloc(volume * 6, real_bytes);
  fill(fat, source);
  const QudaInitArgs_t init = {QUDA_SILENT, {n, grid, 0}}, telling = {QUDA_VERBOSE, {n, grid, 0}};
  qudaInit(init);
  const double first = call(0);
  fat[0] ^= 1; /* the last bit of a number */
  const double changed = call(0);
  const double none = best(calls, 0), hundred = best(calls, 100), more = best(calls, 200);
  const double iteration = (more - hundred) / 100;
  const double travelling = 3.0 * (double)(volume / 2 * 6 * real_bytes);
  printf("precision %d: first call %.4f s, links changed %.4f s\n", precision, first, changed);
  printf("no iterations %.2f ms; 200 iterations %.2f ms, %.1f us each: beside them %.2f ms\n", 1e3 * none, 1e3 * more,
         1e6 * iteration, 1e3 * (more - 200 * iteration));
  printf("vectors alone would be %.1f GB/s if nothing else took time\n", 1e-9 * travelling / none);
  qudaInit(telling); /* the time of the hashes */
  call(0);
  call(200);
  qudaFinalize();
  return 0;
}
