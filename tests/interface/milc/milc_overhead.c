/* How long a call of MILC takes beside Conjugate Gradient. No test: it prints times.
 *
 *   milc_overhead PRECISION X Y Z T [CALLS]
 *
 * Links are random diagonal matrices of SU(3) times MILC's phases, with long links of zeros; the source is random. With
 * hashes of links first, and beside the solve: the best of CALLS calls with links unchanged that make no iteration, 100
 * and 200 iterations, calls that read links, and what the library tells of a call. Then the parts of a call without
 * hashes, by the report of the library; what is left are vectors that travel and are converted. Where there is a GPU,
 * beside the rate of its bus. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <quda.h>
#include <quda_milc_interface.h>
#include <staghorn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../hosts/device_memory.h"

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

/* Beside the iterations, which take `iteration` each; 0: the time of 200 without that of 100, which is returned. Where
 * a hash is made beside them that would be too little: a call of 100 may wait for it. */
static double time_calls(const char *hashes, int calls, double iteration) {
  const int grid[4] = {1, 1, 1, 1};
  const QudaInitArgs_t init = {QUDA_SILENT, {n, grid, 0}}, telling = {QUDA_VERBOSE, {n, grid, 0}};
  setenv("STAGHORN_MILC_HASH", hashes, 1);
  qudaInit(init);
  const double first = call(0);
  call(200);
  fat[0] ^= 1; /* the last bit of a number */
  const double changed = call(200);
  const double none = best(calls, 0), hundred = best(calls, 100), more = best(calls, 200);
  if (iteration == 0) iteration = (more - hundred) / 100;
  printf(
      "hashes %s: first call %.1f ms; links unchanged: no iterations %.2f ms, 200 iterations %.2f ms, %.1f us each: "
      "beside them %.2f ms; links changed: beside them %.2f ms\n",
      hashes, 1e3 * first, 1e3 * none, 1e3 * more, 1e6 * iteration, 1e3 * (more - 200 * iteration),
      1e3 * (changed - 200 * iteration));
  qudaInit(telling);
  call(200);
  qudaFinalize();
  return iteration;
}

/* Seconds of a part of the last solve, of which the report of a context tells. */
static double seconds_of(const char *report, const char *part) {
  const char *const parts = strstr(report, "\n  \"seconds\": {"), *const found = parts ? strstr(parts, part) : NULL;
  return found ? strtod(found + strlen(part), NULL) : 0;
}

static void require(int status) {
  if (status >= 0) return;
  printf("%s\n", staghorn_last_error());
  exit(1);
}

/* The solve that qudaInvert asks for, by the library itself. Returns the seconds of the best call that its parts leave:
 * vectors, with a guess or without. Prints the parts. */
static double time_vectors(staghorn_context *context, staghorn_gauge *gauge, int guess, int calls) {
  staghorn_request request;
  staghorn_vectors vectors;
  staghorn_result result;
  staghorn_defaults(&request, sizeof request, STAGHORN_REQUEST);
  staghorn_defaults(&vectors, sizeof vectors, STAGHORN_VECTORS);
  staghorn_defaults(&result, sizeof result, STAGHORN_RESULT);
  vectors.order = STAGHORN_EVEN_ODD_X;
  vectors.precision = precision == 2 ? STAGHORN_FP64 : STAGHORN_FP32;
  request.system = STAGHORN_EVEN;
  request.mass = 1e-4;
  request.tolerance = 1e-15;
  request.guess = guess;
  request.max_iterations = 200;
  if (precision == 1) request.sloppy = STAGHORN_FP32;
  const char *const names[4] = {"\"setup\": ", "\"convert\": ", "\"solve\": ", "\"certify\": "};
  double parts[4] = {0}, whole = 1e30, left = 0;
  for (int i = 0; i < calls; ++i) {
    static char report[1 << 16];
    size_t bytes = sizeof report;
    const void *sources[1] = {source};
    void *solutions[1] = {solution};
    memset(solution, 0, volume * 6 * real_bytes);
    require(staghorn_solve(gauge, &request, &vectors, 1, sources, solutions, NULL, &result));
    require(staghorn_report(context, report, &bytes));
    if (result.seconds >= whole) continue;
    left = whole = result.seconds;
    for (int k = 0; k < 4; ++k) left -= parts[k] = seconds_of(report, names[k]);
  }
  printf(
      "without hashes, guess %d: %.2f ms: set-up %.2f, forms of kernels %.2f, iterations %.2f, certificate %.2f, "
      "vectors %.2f\n",
      guess, 1e3 * whole, 1e3 * parts[0], 1e3 * parts[1], 1e3 * parts[2], 1e3 * parts[3], 1e3 * left);
  return left;
}

static void time_parts(int calls) {
  staghorn_geometry geometry;
  staghorn_options options;
  staghorn_links links;
  staghorn_defaults(&geometry, sizeof geometry, STAGHORN_GEOMETRY);
  staghorn_defaults(&options, sizeof options, STAGHORN_OPTIONS);
  staghorn_defaults(&links, sizeof links, STAGHORN_LINKS);
  memcpy(geometry.global, n, sizeof n);
  options.device = STAGHORN_DEVICE_AUTO;
  options.environment = 1;
  options.certificate = STAGHORN_CERTIFICATE_WITH_SOLVE;
  links.order = STAGHORN_EVEN_ODD_X;
  links.precision = precision == 2 ? STAGHORN_FP64 : STAGHORN_FP32;
  links.phases = STAGHORN_PHASES_AS_GIVEN;
  staghorn_context *context = NULL;
  staghorn_gauge *gauge = NULL;
  const void *const u[4] = {fat, NULL, NULL, NULL};
  require(staghorn_context_create(&context, &geometry, &options));
  require(staghorn_gauge_create(context, &links, u, &gauge));
  const double vector = (double)(volume / 2 * 6 * real_bytes);
  const double two = time_vectors(context, gauge, 0, calls), three = time_vectors(context, gauge, 1, calls);
  printf("vectors: %.1f MB each; source and solution %.1f GB/s, guess %.1f GB/s\n", 1e-6 * vector, 2e-9 * vector / two,
         1e-9 * vector / (three - two));
  staghorn_context_destroy(&context);
}

/* The bus: the best of copies of pinned memory, of the size of a vector. */
static void time_bus(int calls) {
  if (!device_open()) return;
  const size_t bytes = volume / 2 * 6 * real_bytes;
  void *const pinned = pinned_copy_of(source, bytes), *const there = device_copy_of(NULL, bytes);
  double to = 1e30, from = 1e30;
  for (int i = 0; i < calls; ++i) {
    const double start = seconds();
    device_write(there, pinned, bytes);
    const double middle = seconds();
    device_read(pinned, there, bytes);
    const double end = seconds();
    if (middle - start < to) to = middle - start;
    if (end - middle < from) from = end - middle;
  }
  printf("bus: %.1f GB/s to the GPU, %.1f GB/s from it\n", 1e-9 * (double)bytes / to, 1e-9 * (double)bytes / from);
  device_free(there);
  driver.unpin(pinned);
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
  const int calls = argc > 6 ? atoi(argv[6]) : 5;
  fat = calloc(volume * 72, real_bytes);
  lng = calloc(volume * 72, real_bytes);
  memset(lng, 0, volume * 72 * real_bytes); /* as MILC does: calloc alone shares one page of zeros */
  source = calloc(volume * 6, real_bytes);
  solution = calloc(volume * 6, real_bytes);
  fill(fat, source);
  printf("precision %d, %dx%dx%dx%d\n", precision, n[0], n[1], n[2], n[3]);
  time_calls("beside", calls, time_calls("first", calls, 0));
  time_parts(calls);
  time_bus(calls);
  return 0;
}
