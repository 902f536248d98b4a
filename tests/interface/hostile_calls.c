/* Random sets of arguments, most of them wrong: every call must return a status, and an error a text.
 *
 *   hostile_calls NUMBER [SEED]
 *
 * Pointers are NULL or to memory that is large enough for any layout that can be accepted; everything else is random.
 * Prints how often each status came. The sanitizers look for the rest. */
#include <staghorn.h>

#include "hosts/host.h"

enum { room = 4096 }; /* behind each struct, for sizes that lie */
static uint64_t state;

static uint64_t draw(void) {
  state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = state;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}
static int one_of(int n) { return (int)(draw() % (uint64_t)n); }

static int32_t hostile_int(void) {
  static const int32_t values[] = {0, 1, 2, 3, 4, 5, 6, 8, 12, 18, -1, -2, 7, 64, 65, 1000, INT32_MAX, INT32_MIN};
  return values[one_of((int)(sizeof values / sizeof *values))];
}
static int64_t hostile_long(void) {
  static const int64_t values[] = {0, 0, 0, -1, 1, 4, 8, 24, 48, 56, 288, 576, 584, 1000, INT64_MAX, INT64_MIN};
  return values[one_of((int)(sizeof values / sizeof *values))];
}
static double hostile_double(void) {
  static const double values[] = {0, 1, -1, 0.1, 0.3, 1e-10, 1e-3, 1e300, 5e-324, 2, 1.7};
  const int k = one_of(13);
  return k == 11 ? NAN : k == 12 ? INFINITY : values[k];
}

/* Spoils a few fields of a struct of `size` bytes. Offsets of each width are multiples of it. */
static void spoil(void *a_struct, size_t size, size_t ints, size_t longs_from, size_t doubles_from, size_t doubles_to) {
  unsigned char *bytes = a_struct;
  for (int times = one_of(4); times > 0; --times) {
    const int what = one_of(8);
    if (what == 0) {
      static const uint32_t sizes[] = {0, 4, 8, 100, 3000, 4096, 4097, UINT32_MAX};
      const uint32_t wrong = one_of(3) ? (uint32_t)(size + 8 * (size_t)one_of(20) - 16) : sizes[one_of(8)];
      memcpy(bytes, &wrong, sizeof wrong);
    } else if (what < 5 && ints > 4) {
      const int32_t value = hostile_int();
      memcpy(bytes + 4 + 4 * (size_t)one_of((int)(ints / 4) - 1), &value, sizeof value);
    } else if (what == 5 && longs_from) {
      const int64_t value = hostile_long();
      memcpy(bytes + longs_from, &value, sizeof value);
    } else if (doubles_to > doubles_from) {
      const double value = hostile_double();
      memcpy(bytes + doubles_from + 8 * (size_t)one_of((int)((doubles_to - doubles_from) / 8)), &value, sizeof value);
    }
  }
  if (one_of(50) == 0) bytes[size + (size_t)one_of(64)] = 1;
}

static void *or_null(void *pointer) { return one_of(40) ? pointer : NULL; }

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  const long number = atol(argv[1]);
  state = argc > 2 ? (uint64_t)atol(argv[2]) : 1;
  const host_lattice l = {{4, 4, 4, 4}, {4, 4, 4, 4}, {0, 0, 0, 0}};
  const size_t volume = (size_t)host_volume(&l), link_bytes = volume * 4 * 1000 + 8192, vector_bytes = volume * 1000;
  char *u[4], *b = malloc(vector_bytes), *x = malloc(vector_bytes), *y = malloc(vector_bytes), *text = malloc(1 << 20);
  double *good = host_links(&l, 1), *source = host_vector(&l, 1000), *naik = host_long_links(&l, good);
  for (int mu = 0; mu < 4; ++mu) u[mu] = calloc(1, link_bytes);
  memset(x, 0, vector_bytes);
  union {
    staghorn_geometry geometry;
    staghorn_options options;
    staghorn_links links;
    staghorn_vectors vectors;
    staghorn_request request;
    staghorn_result results[4];
    staghorn_gauge_info info;
    unsigned char bytes[room + 256];
    staghorn_action action;
  } *s = calloc(10, sizeof *s); /* geometry, options, links, vectors, request, results, info, action, other vectors,
                                   long links */
  long counts[32] = {0};
  staghorn_context *context = NULL;
  staghorn_gauge *gauge = NULL;

  for (long turn = 0; turn < number; ++turn) {
    memset(s, 0, 10 * sizeof *s);
    for (int k = 0; k < 8; ++k) {
      static const size_t sizes[8] = {sizeof(staghorn_geometry),   sizeof(staghorn_options), sizeof(staghorn_links),
                                      sizeof(staghorn_vectors),    sizeof(staghorn_request), sizeof(staghorn_result),
                                      sizeof(staghorn_gauge_info), sizeof(staghorn_action)};
      staghorn_defaults(&s[k], sizes[k], k + 1);
    }
    staghorn_defaults(&s[8], sizeof(staghorn_vectors), STAGHORN_VECTORS);
    staghorn_defaults(&s[9], sizeof(staghorn_links), STAGHORN_LINKS);
    for (int i = 1; i < 4; ++i) staghorn_defaults(&s[5].results[i], sizeof(staghorn_result), STAGHORN_RESULT);
    for (int mu = 0; mu < 4; ++mu) s[0].geometry.global[mu] = l.n[mu];
    s[1].options.threads = 1;
    s[4].request.mass = 0.3;
    s[4].request.max_iterations = 20;
    memcpy(b, source, volume * 48);
    memcpy(u[0], good, volume * 576);
    memcpy(u[2], naik, volume * 576);
    if (one_of(4) == 0) memset(u[2], 0, volume * 576);
    if (one_of(20) == 0) ((double *)(void *)u[0])[one_of((int)volume * 72)] = hostile_double();
    if (one_of(20) == 0) ((double *)(void *)b)[one_of((int)volume * 6)] = hostile_double();
    if (one_of(2)) spoil(&s[0], sizeof(staghorn_geometry), sizeof(staghorn_geometry), 0, 0, 0);
    if (one_of(2)) spoil(&s[1], sizeof(staghorn_options), 24, 0, 0, 0);
    if (one_of(2)) spoil(&s[2], sizeof(staghorn_links), 32, one_of(2) ? 32 : 40, 48, 112);
    if (one_of(2)) spoil(&s[3], sizeof(staghorn_vectors), 24, 24, 0, 0);
    if (one_of(2)) spoil(&s[4], sizeof(staghorn_request), 40, 64, 40, 64);
    if (one_of(3) == 0) spoil(&s[5], sizeof(staghorn_result), 8, 0, 0, 0);
    if (one_of(3) == 0) spoil(&s[6], sizeof(staghorn_gauge_info), 8, 0, 0, 0);
    if (one_of(2)) spoil(&s[7], sizeof(staghorn_action), 16, 0, 16, 32);
    if (one_of(2)) spoil(&s[8], sizeof(staghorn_vectors), 24, 24, 0, 0);
    if (one_of(2)) spoil(&s[9], sizeof(staghorn_links), 32, one_of(2) ? 32 : 40, 48, 112);
    if (s[1].options.threads > 2) s[1].options.threads = one_of(2) ? 1 : -5;
    if (s[4].request.max_iterations > 1000) s[4].request.max_iterations = 1000;
    const void *in[4] = {or_null(b), b, b, b}, *links[4] = {or_null(u[0]), or_null(u[1]), u[2], u[3]},
               *long_links[4] = {or_null(u[2]), u[3], u[1], u[0]};
    void *out[4] = {or_null(x), y, x, y}, *hops[4] = {y, x, or_null(y), x},
         *links_out[4] = {or_null(u[1]), u[2], u[3], u[0]};
    const int n = one_of(4) ? 1 + one_of(2) : hostile_int() > 4 ? 4 : hostile_int() % 4;
    staghorn_context *a_context = one_of(60) ? context : (staghorn_context *)(uintptr_t)(16 * (uint64_t)one_of(40));
    staghorn_gauge *a_gauge = one_of(60) ? gauge : (staghorn_gauge *)(uintptr_t)(8 + 16 * (uint64_t)one_of(40));
    size_t bytes = (size_t)one_of(1 << 20);
    int32_t extents[4], origin[4];
    int status = STAGHORN_OK;
    switch (one_of(18)) {
      case 0:
        if (context && one_of(10)) break;
        if (context) staghorn_context_destroy(&context);
        gauge = NULL;
        status = staghorn_context_create(or_null(&context), or_null(&s[0]), or_null(&s[1]));
        if (context && staghorn_context_local(context, extents, origin) == STAGHORN_OK &&
            memcmp(extents, l.n, sizeof extents) != 0)
          staghorn_context_destroy(&context); /* our buffers are for one lattice */
        break;
      case 1:
        if (gauge && one_of(4)) break;
        if (gauge) staghorn_gauge_destroy(&gauge);
        status = staghorn_gauge_create(a_context, or_null(&s[2]), or_null(links), or_null(&gauge));
        break;
      case 15:
      case 16: {
        const double shifts[4] = {one_of(9) ? 0.1 : hostile_double(), 0.2, 0, one_of(9) ? 3 : hostile_double()};
        const double tolerances[4] = {one_of(9) ? 1e-3 : hostile_double(), 1e-2, 0, 0.1}, alpha[4] = {1, 2, -1, 0.5};
        status = staghorn_multishift(a_gauge, or_null(&s[4]), or_null(&s[3]), n, one_of(40) ? shifts : NULL,
                                     one_of(2) ? tolerances : NULL, one_of(3) ? NULL : alpha, in[0], or_null(out),
                                     one_of(4) ? NULL : hops, or_null(&s[5]));
        break;
      }
      case 12:
        if (gauge && one_of(4)) break;
        if (gauge) staghorn_gauge_destroy(&gauge);
        status = one_of(3) ? staghorn_gauge_create_improved(a_context, or_null(&s[2]), or_null(links), or_null(&s[9]),
                                                            or_null(long_links), or_null(&gauge))
                           : staghorn_gauge_create_action(a_context, or_null(&s[2]), or_null(links), or_null(&s[7]),
                                                          or_null(&gauge));
        break;
      case 13:
      case 14:
        status = staghorn_gauge_update_improved(a_gauge, or_null(&s[2]), or_null(links), or_null(&s[9]),
                                                or_null(long_links));
        break;
      case 2:
      case 3:
        status = staghorn_gauge_update(a_gauge, or_null(&s[2]), or_null(links));
        break;
      case 4:
        status = staghorn_gauge_get(a_gauge, or_null(&s[6]));
        break;
      case 5:
      case 6:
      case 7:
        status = staghorn_solve(a_gauge, or_null(&s[4]), or_null(&s[3]), n, or_null(in), or_null(out),
                                one_of(2) ? NULL : hops, or_null(&s[5]));
        break;
      case 8:
        status =
            staghorn_hop(a_gauge, or_null(&s[3]), one_of(5) ? one_of(3) : hostile_int(), n, or_null(in), or_null(out));
        break;
      case 9:
        status = staghorn_convert_vectors(a_context, or_null(&s[3]), in[0], or_null(&s[8]), out[0]);
        break;
      case 10:
        status = staghorn_convert_links(a_context, or_null(&s[2]), links, or_null(&s[2]), links_out);
        break;
      case 11:
        status = staghorn_report(a_context, or_null(text), or_null(&bytes));
        break;
      default:
        status = one_of(2) ? staghorn_defaults(or_null(&s[one_of(10)]), (size_t)one_of(200), hostile_int())
                           : staghorn_context_local(a_context, or_null(extents), or_null(origin));
    }
    if (status < STAGHORN_E_FILE || status > STAGHORN_STOPPED || (status < 0 && !*staghorn_last_error())) {
      printf("turn %ld: status %d, '%s'\n", turn, status, staghorn_last_error());
      return 1;
    }
    if (status == STAGHORN_E_INTERNAL) printf("turn %ld: internal: %s\n", turn, staghorn_last_error());
    ++counts[status + 16];
  }
  staghorn_context_destroy(&context);
  for (int status = STAGHORN_E_FILE; status <= STAGHORN_STOPPED; ++status)
    printf("%d: %ld\n", status, counts[status + 16]);
  for (int mu = 0; mu < 4; ++mu) free(u[mu]);
  free(b);
  free(x);
  free(y);
  free(text);
  free(good);
  free(source);
  free(naik);
  free(s);
  return counts[STAGHORN_E_INTERNAL + 16] > 0;
}
