/* A host whose vectors lie on a GPU. One process.
 *
 *   device_host pointers           wrong kinds of pointers are refused; pinned memory, streams and D x
 *   device_host cycles N           create, load, solve, destroy: by how much the memory of the GPU has grown
 *   device_host faults EVERY       every EVERY-th checked call of CUDA fails, one at a time
 *   device_host speed X Y Z T N    times on this lattice, N iterations
 *
 * Exit status 1 if a check fails, 77 where there is no GPU. */
#define _GNU_SOURCE
#include <staghorn.h>
#include <time.h>

#include "hosts/device_memory.h"
#include "hosts/host.h"
#include "hosts/structs.h"

static int failures;
#define CHECK(condition, ...)                                \
  do {                                                       \
    if (!(condition)) {                                      \
      printf("%s:%d: %s: ", __FILE__, __LINE__, #condition); \
      printf(__VA_ARGS__);                                   \
      printf(" (%s)\n", staghorn_last_error());              \
      ++failures;                                            \
    }                                                        \
  } while (0)

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct {
  host_lattice l;
  host_structs s;
  size_t link_bytes, vector_bytes;
  double *u, *b, *x;
  void *there_b, *there_x; /* on the GPU */
} problem;

static problem make_problem(const int n[4], double mass) {
  problem p;
  memset(&p, 0, sizeof p);
  p.s = default_structs();
  for (int mu = 0; mu < 4; ++mu) p.l.n[mu] = p.l.global[mu] = p.s.geometry.global[mu] = n[mu];
  p.s.options.device = 0;
  p.s.request.mass = mass;
  p.link_bytes = (size_t)host_volume(&p.l) * 576;
  p.vector_bytes = (size_t)host_volume(&p.l) * 48;
  p.u = host_links(&p.l, 1);
  p.b = host_vector(&p.l, 1000000);
  p.x = host_zeros(&p.l);
  p.there_b = device_copy_of(p.b, p.vector_bytes);
  p.there_x = device_copy_of(p.x, p.vector_bytes);
  return p;
}

static int create(problem *p, staghorn_context **context, staghorn_gauge **gauge) {
  const void *fields[4] = {p->u, NULL, NULL, NULL};
  int status = STAGHORN_OK;
  if (!*context) status = staghorn_context_create(context, &p->s.geometry, &p->s.options);
  return status == STAGHORN_OK ? staghorn_gauge_create(*context, &p->s.links, fields, gauge) : status;
}

static int solve(problem *p, staghorn_gauge *gauge, int memory, const void *b, void *x, void *dx) {
  const void *sources[1] = {b};
  void *solutions[1] = {x}, *hops[1] = {dx};
  p->s.vectors.memory = memory;
  return staghorn_solve(gauge, &p->s.request, &p->s.vectors, 1, sources, solutions, dx ? hops : NULL, &p->s.result);
}

static void pointers(void) {
  const int n[4] = {4, 4, 6, 8};
  problem p = make_problem(n, 0.3);
  staghorn_context *context = NULL, *alone = NULL;
  staghorn_gauge *gauge = NULL, *of_cpu = NULL;
  void *stream = NULL;
  device_check(driver.stream(&stream, 1), "cuStreamCreate");
  p.s.options.stream = stream;
  CHECK(create(&p, &context, &gauge) == STAGHORN_OK, "create");
  double *expected = malloc(p.vector_bytes), *dx = malloc(p.vector_bytes), *found = malloc(p.vector_bytes);
  CHECK(solve(&p, gauge, STAGHORN_HOST, p.b, expected, dx) == STAGHORN_OK, "host vectors");

  void *there_dx = device_copy_of(p.x, p.vector_bytes);
  CHECK(solve(&p, gauge, STAGHORN_DEVICE, p.there_b, p.there_x, there_dx) == STAGHORN_OK, "device vectors");
  device_read(found, p.there_x, p.vector_bytes);
  CHECK(memcmp(found, expected, p.vector_bytes) == 0, "x");
  device_read(found, there_dx, p.vector_bytes);
  CHECK(memcmp(found, dx, p.vector_bytes) == 0, "D x");
  char json[100000];
  size_t room = sizeof json;
  CHECK(staghorn_report(context, json, &room) == STAGHORN_OK && strstr(json, "\"certificate\": \"device\""), "report");

  /* A source that still travels on the host's stream: the library waits for it. */
  double *pinned = pinned_copy_of(p.b, p.vector_bytes);
  void *junk = device_copy_of(NULL, (size_t)1 << 30);
  for (int i = 0; i < 20; ++i) {
    const int fill = driver.fill_async((device_address)(uintptr_t)junk, 7, (size_t)1 << 30, stream);
    device_check(fill, "cuMemsetD8Async");
    device_write(p.there_b, p.x, p.vector_bytes); /* zeros */
    for (int k = 0; k < 8; ++k)
      device_check(driver.fill_async((device_address)(uintptr_t)junk, 7, (size_t)1 << 30, stream), "cuMemsetD8Async");
    device_check(driver.to_device_async((device_address)(uintptr_t)p.there_b, pinned, p.vector_bytes, stream), "async");
    CHECK(solve(&p, gauge, STAGHORN_DEVICE, p.there_b, p.there_x, NULL) == STAGHORN_OK, "stream");
    device_read(found, p.there_x, p.vector_bytes);
    CHECK(memcmp(found, expected, p.vector_bytes) == 0, "stream, round %d", i);
  }
  device_free(junk);

  /* Stop on the residual of the even half, and the sum of several shifts. */
  p.s.request.stop = STAGHORN_STOP_ON_PARITY;
  CHECK(solve(&p, gauge, STAGHORN_HOST, p.b, p.x, NULL) == STAGHORN_OK, "stop on parity");
  const double parity = p.s.result.residual_parity, whole = p.s.result.residual_true;
  CHECK(solve(&p, gauge, STAGHORN_DEVICE, p.there_b, p.there_x, there_dx) == STAGHORN_OK, "stop on parity");
  device_read(found, p.there_x, p.vector_bytes);
  CHECK(memcmp(found, p.x, p.vector_bytes) == 0, "x of a stop on parity");
  CHECK(parity == p.s.result.residual_parity && whole == p.s.result.residual_true && whole > parity, "residuals");
  p.s.request.stop = STAGHORN_STOP_ON_SYSTEM;
  const double shift[3] = {0, 0.1, 0.7}, alpha[3] = {1.5, -0.25, 3};
  staghorn_result of_shifts[3] = {p.s.result, p.s.result, p.s.result};
  for (int memory = STAGHORN_HOST; memory <= STAGHORN_DEVICE; memory += 2) {
    void *sums[1] = {memory == STAGHORN_HOST ? (void *)p.x : p.there_x};
    p.s.vectors.memory = memory; /* onto the x of before, the same in both */
    CHECK(staghorn_multishift(gauge, &p.s.request, &p.s.vectors, 3, shift, NULL, alpha,
                              memory == STAGHORN_HOST ? (void *)p.b : p.there_b, sums, NULL, of_shifts) == STAGHORN_OK,
          "several shifts");
  }
  device_read(found, p.there_x, p.vector_bytes);
  CHECK(memcmp(found, p.x, p.vector_bytes) == 0, "the sum of several shifts");

  /* Other links, from the GPU; a NaN among them is refused. */
  double *other = host_links(&p.l, 77);
  void *there_links = device_copy_of(other, p.link_bytes);
  const void *links_here[4] = {other, NULL, NULL, NULL}, *links_there[4] = {there_links, NULL, NULL, NULL};
  for (int reals = 18; reals >= 8; reals -= reals == 18 ? 6 : 4) {
    p.s.links.reals = reals;
    p.s.request.sloppy = reals == 18 ? STAGHORN_NO_SLOPPY : STAGHORN_FP16;
    CHECK(staghorn_gauge_update(gauge, &p.s.links, links_here) == STAGHORN_OK, "links of the host");
    CHECK(solve(&p, gauge, STAGHORN_HOST, p.b, p.x, NULL) == STAGHORN_OK, "links of the host");
    staghorn_gauge_info of_host, of_gpu;
    staghorn_defaults(&of_host, sizeof of_host, STAGHORN_GAUGE_INFO);
    staghorn_defaults(&of_gpu, sizeof of_gpu, STAGHORN_GAUGE_INFO);
    CHECK(staghorn_gauge_get(gauge, &of_host) == STAGHORN_OK, "info");
    p.s.links.memory = STAGHORN_DEVICE;
    CHECK(staghorn_gauge_update(gauge, &p.s.links, links_there) == STAGHORN_OK, "links of the GPU");
    CHECK(solve(&p, gauge, STAGHORN_DEVICE, p.there_b, p.there_x, NULL) == STAGHORN_OK, "links of the GPU");
    device_read(found, p.there_x, p.vector_bytes);
    CHECK(memcmp(found, p.x, p.vector_bytes) == 0, "links of the GPU, %d reals", reals);
    CHECK(solve(&p, gauge, STAGHORN_HOST, p.b, found, NULL) == STAGHORN_OK, "judged on the host");
    CHECK(memcmp(found, p.x, p.vector_bytes) == 0, "judged on the host, %d reals", reals);
    CHECK(staghorn_gauge_get(gauge, &of_gpu) == STAGHORN_OK, "info");
    of_gpu.loads = of_host.loads;
    CHECK(memcmp(&of_gpu, &of_host, sizeof of_gpu) == 0, "info, %d reals", reals);
    CHECK(staghorn_gauge_update(gauge, &p.s.links, links_here) == STAGHORN_E_ARGUMENT, "links of the host");
    p.s.links.memory = STAGHORN_HOST;
    CHECK(staghorn_gauge_update(gauge, &p.s.links, links_there) == STAGHORN_E_ARGUMENT, "links of the GPU");
  }
  other[72 * 7 + 5] = NAN;
  device_write(there_links, other, p.link_bytes);
  p.s.links.memory = STAGHORN_DEVICE;
  CHECK(staghorn_gauge_update(gauge, &p.s.links, links_there) == STAGHORN_E_VALUE, "NaN");
  CHECK(solve(&p, gauge, STAGHORN_DEVICE, p.there_b, p.there_x, NULL) == STAGHORN_E_STATE, "no links");
  p.s.links.memory = STAGHORN_HOST;
  p.s.links.reals = 0;
  p.s.request.sloppy = STAGHORN_NO_SLOPPY;
  const void *first_links[4] = {p.u, NULL, NULL, NULL};
  CHECK(staghorn_gauge_update(gauge, &p.s.links, first_links) == STAGHORN_OK, "the links of before");
  device_free(there_links);

  memset(p.x, 0, p.vector_bytes);
  CHECK(solve(&p, gauge, STAGHORN_PINNED, pinned, p.x, NULL) == STAGHORN_E_ARGUMENT, "x is not pinned");
  double *pinned_x = pinned_copy_of(p.x, p.vector_bytes);
  CHECK(solve(&p, gauge, STAGHORN_PINNED, pinned, pinned_x, NULL) == STAGHORN_OK, "pinned");
  CHECK(memcmp(pinned_x, expected, p.vector_bytes) == 0, "pinned");
  CHECK(solve(&p, gauge, STAGHORN_DEVICE, p.there_b, p.x, NULL) == STAGHORN_E_ARGUMENT, "x of the host");
  CHECK(solve(&p, gauge, STAGHORN_DEVICE, p.b, p.there_x, NULL) == STAGHORN_E_ARGUMENT, "b of the host");
  CHECK(solve(&p, gauge, STAGHORN_HOST, p.b, p.there_x, NULL) == STAGHORN_E_ARGUMENT, "x of the device");
  CHECK(solve(&p, gauge, STAGHORN_HOST, p.there_b, p.x, NULL) == STAGHORN_E_ARGUMENT, "b of the device");
  CHECK(solve(&p, gauge, STAGHORN_DEVICE, p.there_b, p.there_x, NULL) == STAGHORN_OK, "after refusals");

  staghorn_gauge_info info, info_of_cpu;
  staghorn_defaults(&info, sizeof info, STAGHORN_GAUGE_INFO);
  staghorn_defaults(&info_of_cpu, sizeof info, STAGHORN_GAUGE_INFO);
  CHECK(staghorn_gauge_get(gauge, &info) == STAGHORN_OK, "info");
  p.s.options.device = STAGHORN_DEVICE_CPU;
  p.s.options.stream = NULL;
  CHECK(create(&p, &alone, &of_cpu) == STAGHORN_OK, "CPU");
  CHECK(solve(&p, of_cpu, STAGHORN_DEVICE, p.there_b, p.there_x, NULL) == STAGHORN_E_ARGUMENT, "vectors");
  CHECK(staghorn_gauge_get(of_cpu, &info_of_cpu) == STAGHORN_OK, "info");
  info_of_cpu.loads = info.loads;
  CHECK(memcmp(&info, &info_of_cpu, sizeof info) == 0, "plaquette, deviations or hash differ");
  CHECK(solve(&p, of_cpu, STAGHORN_HOST, p.b, p.x, NULL) == STAGHORN_OK, "CPU");
  CHECK(memcmp(p.x, expected, p.vector_bytes) == 0, "CPU and GPU differ");
  staghorn_context_destroy(&alone);
  staghorn_context_destroy(&context);
}

static void cycles(long n) {
  const int extents[4] = {4, 4, 4, 8};
  problem p = make_problem(extents, 0.4);
  p.s.request.sloppy = STAGHORN_FP32;
  size_t before = 0;
  for (long cycle = 0; cycle < n; ++cycle) {
    staghorn_context *context = NULL;
    staghorn_gauge *gauge = NULL;
    const void *fields[4] = {p.u, NULL, NULL, NULL};
    int status = create(&p, &context, &gauge);
    if (status == STAGHORN_OK) status = solve(&p, gauge, STAGHORN_DEVICE, p.there_b, p.there_x, NULL);
    if (status == STAGHORN_OK) status = staghorn_gauge_update(gauge, &p.s.links, fields);
    if (status == STAGHORN_OK) status = staghorn_context_destroy(&context);
    CHECK(status == STAGHORN_OK, "cycle %ld: %d", cycle, status);
    if (status != STAGHORN_OK) return;
    if (cycle == n / 10) before = device_free_bytes();
  }
  printf("cycles %ld grown %ld bytes of the GPU\n", n, (long)before - (long)device_free_bytes());
}

/* The k-th checked call fails, for every EVERY-th k, until none is left to fail. */
static void faults(long every) {
  const int extents[4] = {4, 4, 4, 8};
  problem p = make_problem(extents, 0.4);
  p.s.options.environment = 1;
  p.s.request.sloppy = STAGHORN_FP16;
  p.s.request.tolerance = 1e-8;
  double *expected = malloc(p.vector_bytes), *found = malloc(p.vector_bytes);
  long refused = 0, wrong = 0;
  for (long k = 0;; k += every) {
    char text[40];
    snprintf(text, sizeof text, "0:%ld", k ? k : 1000000000);
    setenv("STAGHORN_FAIL_CUDA", text, 1);
    staghorn_context *context = NULL;
    staghorn_gauge *gauge = NULL;
    const void *fields[4] = {p.u, NULL, NULL, NULL};
    int status = create(&p, &context, &gauge);
    if (status == STAGHORN_OK) status = solve(&p, gauge, STAGHORN_DEVICE, p.there_b, p.there_x, NULL);
    if (status == STAGHORN_OK) status = staghorn_gauge_update(gauge, &p.s.links, fields);
    const int failed = status != STAGHORN_OK;
    if (failed) {
      ++refused;
      if (status != STAGHORN_E_DEVICE && status != STAGHORN_E_MEMORY) {
        CHECK(0, "call %ld: %d", k, status);
        ++wrong;
      }
      status = STAGHORN_OK;
      if (!context || !gauge) {
        status = create(&p, &context, &gauge);
      } else {
        status = staghorn_gauge_update(gauge, &p.s.links, fields);
      }
      if (status == STAGHORN_OK) status = solve(&p, gauge, STAGHORN_DEVICE, p.there_b, p.there_x, NULL);
      CHECK(status == STAGHORN_OK, "call %ld: the next solve %d", k, status);
    }
    device_read(found, p.there_x, p.vector_bytes);
    if (k == 0) memcpy(expected, found, p.vector_bytes);
    CHECK(memcmp(found, expected, p.vector_bytes) == 0, "call %ld: another solution", k);
    staghorn_context_destroy(&context);
    if (failures > 5) return;
    if (k > 0 && !failed) {
      printf("faults: %ld calls of CUDA, %ld refused, %ld with another status\n", k, refused, wrong);
      return;
    }
  }
}

/* Seconds of Conjugate Gradient alone, as the report has them. */
static double seconds_of(staghorn_context *context, const char *name) {
  static char json[1000000];
  size_t room = sizeof json;
  if (staghorn_report(context, json, &room) != STAGHORN_OK) return -1;
  const char *at = strstr(json, "\"seconds\"");
  if (at) at = strstr(at, name);
  return at ? atof(strchr(at, ':') + 1) : -1;
}

static void speed(const int n[4], long iterations) {
  const double started = now();
  problem p = make_problem(n, 0.001);
  staghorn_context *context = NULL;
  staghorn_gauge *gauge = NULL;
  p.s.request.max_iterations = iterations;
  p.s.request.tolerance = 1e-15;
  printf("fields made in %.1f s\n", now() - started);
  double begin = now();
  CHECK(create(&p, &context, &gauge) == STAGHORN_OK, "create");
  printf("create context and gauge from the host      %8.2f ms\n", 1e3 * (now() - begin));
  const char *names[] = {"fp64", "fp64/fp32", "fp64/fp16"};
  const int sloppy[] = {STAGHORN_NO_SLOPPY, STAGHORN_FP32, STAGHORN_FP16};
  for (int kind = 0; kind < 3; ++kind)
    for (int memory = STAGHORN_DEVICE; memory >= STAGHORN_HOST; memory -= 2) {
      double best = 1e30, cg = 1e30, certify = 0, convert = 0;
      p.s.request.sloppy = sloppy[kind];
      for (int round = 0; round < 4; ++round) {
        begin = now();
        const int status = memory == STAGHORN_DEVICE ? solve(&p, gauge, memory, p.there_b, p.there_x, NULL)
                                                     : solve(&p, gauge, memory, p.b, p.x, NULL);
        const double took = now() - begin;
        CHECK(status >= 0, "%d", status);
        if (took < best) {
          best = took;
          cg = seconds_of(context, "\"solve\"");
          certify = seconds_of(context, "\"certify\"");
          convert = seconds_of(context, "\"convert\"");
        }
      }
      printf(
          "%-9s %-6s vectors: call %8.2f ms, CG %8.2f, certificate %6.2f, packing %6.2f: %+6.1f %% over CG, %ld "
          "iterations\n",
          names[kind], memory == STAGHORN_DEVICE ? "device" : "host", 1e3 * best, 1e3 * cg, 1e3 * certify,
          1e3 * convert, 100 * (best / cg - 1), (long)p.s.result.iterations);
    }
  /* Updates, each followed by a solve: the first makes what later ones find. */
  const void *fields_here[4] = {p.u, NULL, NULL, NULL};
  void *there_links = device_copy_of(p.u, p.link_bytes);
  const void *fields_there[4] = {there_links, NULL, NULL, NULL};
  p.s.request.max_iterations = 1;
  for (int kind = 0; kind < 3; ++kind)
    for (int memory = STAGHORN_HOST; memory <= STAGHORN_DEVICE; memory += 2) {
      p.s.request.sloppy = sloppy[kind];
      p.s.links.memory = memory;
      double best = 1e30, with_solve = 1e30;
      for (int round = 0; round < 5; ++round) {
        begin = now();
        CHECK(staghorn_gauge_update(gauge, &p.s.links, memory == STAGHORN_HOST ? fields_here : fields_there) == 0,
              "update");
        const double took = now() - begin;
        CHECK(solve(&p, gauge, STAGHORN_DEVICE, p.there_b, p.there_x, NULL) >= 0, "after an update");
        if (took < best) best = took;
        if (now() - begin < with_solve) with_solve = now() - begin;
      }
      printf("%-9s update from the %-6s %8.2f ms, with a solve of one iteration %8.2f ms\n", names[kind],
             memory == STAGHORN_HOST ? "host" : "GPU", 1e3 * best, 1e3 * with_solve);
    }
  double hops = 1e30;
  p.s.vectors.memory = STAGHORN_DEVICE;
  for (int round = 0; round < 5; ++round) {
    const void *in[1] = {p.there_b};
    void *out[1] = {p.there_x};
    begin = now();
    CHECK(staghorn_hop(gauge, &p.s.vectors, STAGHORN_FULL, 1, in, out) == STAGHORN_OK, "hop");
    if (now() - begin < hops) hops = now() - begin;
  }
  printf("hop of device vectors                       %8.2f ms\n", 1e3 * hops);
  device_free(there_links);
  p.s.links.memory = STAGHORN_HOST;
  p.s.links.generation = 5;
  const void *fields[4] = {p.u, NULL, NULL, NULL};
  staghorn_gauge_update(gauge, &p.s.links, fields);
  begin = now();
  for (int round = 0; round < 1000; ++round) staghorn_gauge_update(gauge, &p.s.links, fields);
  printf("unchanged generation                        %8.2f us\n", 1e3 * (now() - begin));
  staghorn_context_destroy(&context);
}

int main(int argc, char **argv) {
  if (!device_open()) return 77;
  if (argc == 2 && strcmp(argv[1], "pointers") == 0) {
    pointers();
  } else if (argc == 3 && strcmp(argv[1], "cycles") == 0) {
    cycles(atol(argv[2]));
  } else if (argc == 3 && strcmp(argv[1], "faults") == 0) {
    faults(atol(argv[2]));
  } else if (argc == 7 && strcmp(argv[1], "speed") == 0) {
    const int n[4] = {atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), atoi(argv[5])};
    speed(n, atol(argv[6]));
  } else {
    return 2;
  }
  if (!failures) printf("ok\n");
  return failures != 0;
}
