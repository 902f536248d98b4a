/* Children that are forked after calls with several threads: they work, in contexts of their parent and of their own.
 *
 *   forked_host THREADS [DEVICE]
 *
 * With a device the child has none: it is refused at once, and can make a context on the CPU. Prints what is wrong. */
#define _POSIX_C_SOURCE 200809L
#include <sys/wait.h>
#include <unistd.h>

#include "../hosts/checks.h"
#include "../hosts/host.h"
#include "../hosts/structs.h"

static const host_lattice l = {{4, 4, 6, 8}, {4, 4, 6, 8}, {0, 0, 0, 0}};
static host_structs s;
static double *u, *b, *expected;

static int solve(staghorn_gauge *gauge, double *x) {
  const void *sources[1] = {b};
  void *solutions[1] = {x};
  memset(x, 0, 48 * (size_t)host_volume(&l));
  return staghorn_solve(gauge, &s.request, &s.vectors, 1, sources, solutions, NULL, &s.result);
}

/* Contexts of several sorts, in a child of its own with a limit of time. */
static void work_in_a_child(staghorn_context *context, staghorn_gauge *gauge, int on_gpu, int depth) {
  const size_t bytes = 48 * (size_t)host_volume(&l);
  double *x = host_zeros(&l);
  alarm(60); /* ends a child that waits for threads that are not there */
  const int status = solve(gauge, x);
  if (on_gpu)
    CHECK(status == STAGHORN_E_STATE && strstr(staghorn_last_error(), "forked"));
  else
    CHECK(status == STAGHORN_OK && memcmp(x, expected, bytes) == 0);
  s.request.mass = -1;
  CHECK(solve(gauge, x) < 0 && strlen(staghorn_last_error()) > 10);
  s.request.mass = 0.2;
  if (on_gpu) CHECK(staghorn_context_destroy(&context) == STAGHORN_E_STATE);

  staghorn_context *own = NULL;
  staghorn_gauge *of_own = NULL;
  const void *fields[4] = {u, NULL, NULL, NULL};
  s.options.device = STAGHORN_DEVICE_CPU;
  CHECK(staghorn_context_create(&own, &s.geometry, &s.options) == STAGHORN_OK);
  CHECK(staghorn_gauge_create(own, &s.links, fields, &of_own) == STAGHORN_OK);
  CHECK(solve(of_own, x) == STAGHORN_OK && memcmp(x, expected, bytes) == 0);
  if (depth > 0) {
    const pid_t child = fork();
    if (child == 0) {
      work_in_a_child(own, of_own, 0, depth - 1);
      _exit(failures > 0);
    }
    int ended = 1;
    CHECK(waitpid(child, &ended, 0) == child && ended == 0);
    CHECK(solve(of_own, x) == STAGHORN_OK && memcmp(x, expected, bytes) == 0);
  }
  CHECK(staghorn_context_destroy(&own) == STAGHORN_OK);
  if (!on_gpu) CHECK(staghorn_context_destroy(&context) == STAGHORN_OK);
  free(x);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  s = default_structs();
  for (int mu = 0; mu < 4; ++mu) s.geometry.global[mu] = l.n[mu];
  s.options.threads = atoi(argv[1]);
  s.request.mass = 0.2;
  if (argc > 2) s.options.device = atoi(argv[2]);
  u = host_links(&l, 1);
  b = host_vector(&l, 100);
  expected = host_zeros(&l);
  double *x = host_zeros(&l);
  const void *fields[4] = {u, NULL, NULL, NULL};
  staghorn_context *context = NULL;
  staghorn_gauge *gauge = NULL;
  CHECK(staghorn_context_create(&context, &s.geometry, &s.options) == STAGHORN_OK);
  CHECK(staghorn_gauge_create(context, &s.links, fields, &gauge) == STAGHORN_OK);
  CHECK(solve(gauge, expected) == STAGHORN_OK);
  fflush(stdout);
  for (int k = 0; k < 2; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      work_in_a_child(context, gauge, argc > 2, 1);
      fflush(stdout);
      _exit(failures > 0);
    }
    int ended = 1;
    CHECK(waitpid(child, &ended, 0) == child && ended == 0);
    CHECK(solve(gauge, x) == STAGHORN_OK && memcmp(x, expected, 48 * (size_t)host_volume(&l)) == 0);
  }
  CHECK(staghorn_context_destroy(&context) == STAGHORN_OK);
  if (failures == 0) puts("ok");
  return failures > 0;
}
