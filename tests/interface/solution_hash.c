/* Solves with links and sources that no arithmetic of the host rounds, and prints status and a hash of the solution. */
#include <staghorn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int n[4] = {4, 6, 4, 8};

int main(void) {
  const size_t volume = (size_t)n[0] * n[1] * n[2] * n[3];
  double *u = calloc(volume * 72, sizeof *u), *b = calloc(volume * 6, sizeof *b), *x = calloc(volume * 6, sizeof *x);
  uint64_t state = 1;
  for (size_t link = 0; link < 4 * volume; ++link) { /* permutations of colours with signs: det = 1, all exact */
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const int turn = (int)(state >> 60) % 3, sign = (int)(state >> 50) % 4;
    for (int row = 0; row < 3; ++row)
      u[18 * link + (size_t)(2 * (3 * row + (row + turn) % 3))] = sign == 3 || row == sign ? 1 : -1;
  }
  for (size_t k = 0; k < 6 * volume; ++k) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    b[k] = (double)(int)(state >> 40) / 4096.0;
  }
  staghorn_geometry geometry;
  staghorn_links links;
  staghorn_vectors vectors;
  staghorn_request request;
  staghorn_result result;
  staghorn_defaults(&geometry, sizeof geometry, STAGHORN_GEOMETRY);
  staghorn_defaults(&links, sizeof links, STAGHORN_LINKS);
  staghorn_defaults(&vectors, sizeof vectors, STAGHORN_VECTORS);
  staghorn_defaults(&request, sizeof request, STAGHORN_REQUEST);
  staghorn_defaults(&result, sizeof result, STAGHORN_RESULT);
  for (int mu = 0; mu < 4; ++mu) geometry.global[mu] = n[mu];
  request.mass = 0.125;
  request.sloppy = STAGHORN_FP32;
  staghorn_context *context = NULL;
  staghorn_gauge *gauge = NULL;
  const void *fields[4] = {u, NULL, NULL, NULL}, *sources[1] = {b};
  void *solutions[1] = {x};
  int status = staghorn_context_create(&context, &geometry, NULL);
  if (status == STAGHORN_OK) status = staghorn_gauge_create(context, &links, fields, &gauge);
  if (status == STAGHORN_OK) status = staghorn_solve(gauge, &request, &vectors, 1, sources, solutions, NULL, &result);
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t k = 0; k < 6 * volume; ++k) {
    uint64_t word;
    memcpy(&word, x + k, sizeof word);
    hash = (hash ^ word) * UINT64_C(1099511628211);
  }
  printf("%d %016llx\n", status, (unsigned long long)hash);
  staghorn_context_destroy(&context);
  free(u);
  free(b);
  free(x);
  return 0;
}
