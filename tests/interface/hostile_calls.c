/* Random sets of arguments, most of them wrong: every call must return a status, and an error a text.
 *
 *   hostile_calls NUMBER SEED FOLDER
 *
 * FOLDER takes files and holds links.h5, a gauge file of 4^4. Pointers are NULL or to memory that is large enough for
 * any layout that can be accepted; all else is random. Most contexts are of 2^4, where a solve costs little; those of
 * 4^4 take improved quarks. Prints how often each status came, and of each function how often it was called and how
 * often it gave a result. The sanitizers look for the rest. */
#define _POSIX_C_SOURCE 200112L
#include <staghorn.h>
#include <unistd.h>

#include "hosts/host.h"
#include "hosts/hostile_structs.h"

enum { most_sites = 256, most_vectors = 4, most_pairs = 1000 };

/* One struct of each kind, and a second one of some calls. */
static union {
  staghorn_geometry geometry;
  staghorn_options options;
  staghorn_links links;
  staghorn_vectors vectors;
  staghorn_request request;
  staghorn_result results[most_vectors];
  staghorn_gauge_info info;
  staghorn_action action;
  staghorn_eigen_request eigen_request;
  staghorn_eigen_info eigen_info;
  unsigned char bytes[room + 1024];
} s[kind_count], other_vectors, long_links;
#define S(name) s[(name)-1]

static staghorn_context *context;
static staghorn_gauge *gauge;
static char *u[4], *b, *x, *y, *text;
static double *good, *source, *naik, values[most_pairs], residuals[most_pairs];
static const char *folder;

static void *or_null(void *pointer) { return one_of(40) ? pointer : NULL; }

/* A file that is there or not, or no file at all. */
static const char *path_of(const char *name) {
  static char made[1024];
  snprintf(made, sizeof made, "%s/%s", folder, name);
  return made;
}
static const char *path_to_write(void) {
  static const char *const names[] = {"pairs.h5", "pairs.h5", "pairs.lime", "none/pairs.h5", "", "state.h5"};
  if (one_of(20) == 0) return one_of(2) ? NULL : "";
  return path_of(names[one_of((int)(sizeof names / sizeof *names))]);
}
static const char *path(void) { return one_of(3) ? path_to_write() : path_of(one_of(4) ? "links.h5" : "none.h5"); }

static void damage_a_file(void) {
  FILE *file = fopen(path_of(one_of(2) ? "pairs.h5" : "pairs.lime"), "r+b");
  if (!file) return;
  fseek(file, 0, SEEK_END);
  const long bytes = ftell(file);
  if (bytes > 0 && one_of(2)) {
    fseek(file, one_of((int)bytes), SEEK_SET);
    fputc(one_of(256), file);
  } else if (bytes > 0 && ftruncate(fileno(file), one_of((int)bytes)) != 0) {
    perror("ftruncate");
  }
  fclose(file);
}

static int stop_now_and_then(void *data, int64_t iteration, double residual) {
  (void)data, (void)iteration, (void)residual;
  return one_of(50) == 0;
}
static int withhold_now_and_then(void *data) {
  (void)data;
  return one_of(20) == 0;
}
static void look_away(void *data, int level, const char *message) { (void)data, (void)level, (void)message; }

static void draw_structs(void) {
  static const char *const transports[] = {NULL, "auto", "mpi", "self", "", "nonsense"}, *const devices[] = {
                                                                                             NULL,      NULL,
                                                                                             NULL,      "cpu",
                                                                                             "",        "cuda:0,cpu",
                                                                                             "nonsense"};
  memset(s, 0, sizeof s);
  memset(&other_vectors, 0, sizeof other_vectors);
  memset(&long_links, 0, sizeof long_links);
  for (int k = 0; k < kind_count; ++k) staghorn_defaults(&s[k], kinds[k].size, kinds[k].name);
  for (int i = 1; i < most_vectors; ++i)
    staghorn_defaults(&S(STAGHORN_RESULT).results[i], sizeof(staghorn_result), STAGHORN_RESULT);
  staghorn_defaults(&other_vectors, sizeof(staghorn_vectors), STAGHORN_VECTORS);
  staghorn_defaults(&long_links, sizeof(staghorn_links), STAGHORN_LINKS);
  const int extent = one_of(4) ? 2 : 4;
  for (int mu = 0; mu < 4; ++mu) S(STAGHORN_GEOMETRY).geometry.global[mu] = extent;
  staghorn_options *options = &S(STAGHORN_OPTIONS).options;
  options->threads = 1;
  options->transport = transports[one_of(2) ? 0 : one_of(6)];
  options->devices = devices[one_of(7)];
  options->log = one_of(2) ? look_away : NULL;
  staghorn_request *request = &S(STAGHORN_REQUEST).request;
  request->mass = 0.3;
  request->max_iterations = 20;
  if (one_of(4) == 0) request->tolerance = 1e-18; /* which is not reached */
  if (one_of(20) == 0) request->stop = STAGHORN_STOP_ON_PARITY;
  request->progress = one_of(4) ? NULL : stop_now_and_then;
  request->withhold = one_of(4) ? NULL : withhold_now_and_then;
  staghorn_eigen_request *search = &S(STAGHORN_EIGEN_REQUEST).eigen_request;
  search->pairs = 1 + one_of(8);
  search->tolerance = 1e-6;
  search->max_calls = 200;
  search->progress = one_of(4) ? NULL : stop_now_and_then;
  if (one_of(4) == 0) search->checkpoint = path_to_write();
  if (one_of(4) == 0) search->checkpoint_every = hostile_double();
  if (one_of(4) == 0) search->resume = one_of(4) ? 1 : hostile_int();
  if (one_of(2)) S(STAGHORN_LINKS).links.generation = draw() % 3;
  for (int k = 0; k < kind_count; ++k)
    if (one_of(2)) spoil(&s[k], &kinds[k]);
  if (one_of(2)) spoil(&other_vectors, &kinds[STAGHORN_VECTORS - 1]);
  if (one_of(2)) spoil(&long_links, &kinds[STAGHORN_LINKS - 1]);
  if (options->threads > 2) options->threads = one_of(2) ? 1 : -5;
  if (request->max_iterations > 300 || request->max_iterations == STAGHORN_NO_LIMIT) request->max_iterations = 300;
  if (search->max_calls > 300) search->max_calls = 300;
}

static void draw_fields(void) {
  memcpy(b, source, most_sites * 48);
  memcpy(u[0], good, most_sites * 576);
  memcpy(u[2], naik, most_sites * 576);
  if (one_of(4) == 0) memset(u[2], 0, most_sites * 576);
  if (one_of(20) == 0) ((double *)(void *)u[0])[one_of(most_sites * 72)] = hostile_double();
  if (one_of(20) == 0) ((double *)(void *)b)[one_of(most_sites * 6)] = hostile_double();
}

/* Handles: that of this turn's context or gauge, or any number. */
static staghorn_context *a_context(void) {
  return one_of(60) ? context : (staghorn_context *)(uintptr_t)(16 * (uint64_t)one_of(40));
}
static staghorn_gauge *a_gauge(void) {
  return one_of(60) ? gauge : (staghorn_gauge *)(uintptr_t)(8 + 16 * (uint64_t)one_of(40));
}
static int a_number(void) { return one_of(4) ? 1 + one_of(2) : hostile_int() > 4 ? 4 : hostile_int() % 4; }

static const void *in[4], *links[4], *lng[4];
static void *out[4], *hops[4], *links_out[4];
static void draw_pointers(void) {
  char *const ins[4] = {or_null(b), b, b, b}, *const us[4] = {or_null(u[0]), or_null(u[1]), u[2], u[3]},
              *const lngs[4] = {or_null(u[2]), u[3], u[1], u[0]}, *const outs[4] = {or_null(x), y, x, y},
              *const dxs[4] = {y, x, or_null(y), x}, *const to[4] = {or_null(u[1]), u[2], u[3], u[0]};
  for (int k = 0; k < 4; ++k) {
    in[k] = ins[k];
    links[k] = us[k];
    lng[k] = lngs[k];
    out[k] = outs[k];
    hops[k] = dxs[k];
    links_out[k] = to[k];
  }
}

/* Of the functions' own arguments. */
static void *links_given(void) { return or_null(&S(STAGHORN_LINKS)); }
static void *vectors_given(void) { return or_null(&S(STAGHORN_VECTORS)); }

/* A new gauge takes the place of the last one. */
static int keep_gauge(int status, staghorn_gauge *made) {
  if (status != STAGHORN_OK || !made) return status;
  if (gauge) staghorn_gauge_destroy(&gauge);
  gauge = made;
  return status;
}
static int gauge_create(void) {
  staghorn_gauge *made = NULL;
  return keep_gauge(staghorn_gauge_create(a_context(), links_given(), or_null(links), or_null(&made)), made);
}
static int gauge_create_improved(void) {
  staghorn_gauge *made = NULL;
  return keep_gauge(staghorn_gauge_create_improved(a_context(), links_given(), or_null(links), or_null(&long_links),
                                                   or_null(lng), or_null(&made)),
                    made);
}
static int gauge_create_action(void) {
  staghorn_gauge *made = NULL;
  return keep_gauge(staghorn_gauge_create_action(a_context(), links_given(), or_null(links),
                                                 or_null(&S(STAGHORN_ACTION)), or_null(&made)),
                    made);
}
/* A new context takes the place of the last one, with a gauge, if its fields have room in ours. */
static int context_create(void) {
  staghorn_context *made = NULL;
  int32_t n[4], origin[4];
  const int status =
      staghorn_context_create(or_null(&made), or_null(&S(STAGHORN_GEOMETRY)), or_null(&S(STAGHORN_OPTIONS)));
  if (!made) return status;
  if (staghorn_context_local(made, n, origin) == STAGHORN_OK && (int64_t)n[0] * n[1] * n[2] * n[3] <= most_sites) {
    staghorn_context_destroy(&context);
    context = made;
    staghorn_links plain;
    staghorn_defaults(&plain, sizeof plain, STAGHORN_LINKS);
    const void *const fields[4] = {good, NULL, NULL, NULL};
    gauge = NULL;
    staghorn_gauge_create(context, &plain, fields, &gauge);
  } else {
    staghorn_context_destroy(&made);
  }
  return status;
}
static int context_create_f(void) {
  staghorn_context *made = NULL;
  return staghorn_context_create_f(or_null(&made), hostile_int(), or_null(&S(STAGHORN_GEOMETRY)),
                                   or_null(&S(STAGHORN_OPTIONS)));
}
static int context_local(void) {
  int32_t n[4], origin[4];
  return staghorn_context_local(a_context(), or_null(n), or_null(origin));
}
static int context_grid(void) {
  int32_t grid[4];
  return staghorn_context_grid(a_context(), or_null(grid));
}
static int context_device(void) {
  int32_t device;
  return staghorn_context_device(a_context(), or_null(&device));
}
static int context_destroy(void) { /* of one that is gone, or NULL */
  staghorn_context *gone = one_of(2) ? NULL : (staghorn_context *)(uintptr_t)(8 + 16 * (uint64_t)one_of(40));
  return staghorn_context_destroy(or_null(&gone));
}
static int gauge_destroy(void) { return one_of(4) ? staghorn_gauge_destroy(NULL) : staghorn_gauge_destroy(&gauge); }
static int gauge_update(void) { return staghorn_gauge_update(a_gauge(), links_given(), or_null(links)); }
static int gauge_update_improved(void) {
  return staghorn_gauge_update_improved(a_gauge(), links_given(), or_null(links), or_null(&long_links), or_null(lng));
}
static int gauge_get(void) { return staghorn_gauge_get(a_gauge(), or_null(&S(STAGHORN_GAUGE_INFO))); }
static int hop(void) {
  return staghorn_hop(a_gauge(), vectors_given(), one_of(5) ? one_of(3) : hostile_int(), a_number(), or_null(in),
                      or_null(out));
}
/* Pairs that the next solves use, where the gauge has links. */
static void find_pairs(void) {
  staghorn_eigen_request plain;
  staghorn_defaults(&plain, sizeof plain, STAGHORN_EIGEN_REQUEST);
  plain.pairs = 2;
  plain.tolerance = 1e-3;
  plain.max_calls = 300;
  if (gauge) staghorn_eigenpairs_compute(gauge, &plain, NULL, NULL);
}
static int request_set(void) {
  static const char *const names[] = {"mass",    "tolerance", "system", "sloppy", "solver",
                                      "deflate", "boundary",  "",       NULL},
                           *const values[] = {"0.3", "1e-3", "odd", "fp32", "block", "off", "nan", "-1", "", NULL};
  return staghorn_request_set(or_null(&S(STAGHORN_REQUEST)), names[one_of(9)], values[one_of(10)]);
}
/* Words that are good for something, or not, or were released. */
static staghorn_words *some_words(void) {
  static const char *const names[] = {"action", "boundary",     "links",  "source", "masses", "batch", "fat",
                                      "device", "eigenvectors", "phases", "color",  "",       NULL},
                           *const values[] = {"hisq",    "0,0,0,0", "12",  "point:0,0,0,0",
                                              "0.3,0.5", "2",       "cpu", "none.h5",
                                              "milc",    "1",       "",    NULL};
  staghorn_words *words = NULL;
  for (int times = one_of(3); times > 0; --times)
    staghorn_words_set(or_null(&words), names[one_of(13)], values[one_of(12)]);
  if (one_of(20) == 0) {
    staghorn_words *gone = words;
    staghorn_words_release(&words);
    return gone;
  }
  return words;
}
static int words_set(void) {
  staghorn_words *words = some_words();
  const int status = staghorn_words_set(or_null(&words), one_of(9) ? "mass" : NULL, one_of(3) ? "0.3" : "much");
  staghorn_words_release(&words);
  return status;
}
static int words_release(void) {
  staghorn_words *words = some_words();
  return staghorn_words_release(or_null(&words));
}
static void *room_for(void *data, int64_t n) {
  static char given[most_pairs * most_sites * 48];
  return one_of(9) && n <= most_pairs && !data ? given : NULL;
}
static int gauge_read(void) {
  staghorn_words *words = some_words();
  staghorn_gauge *made = NULL;
  const int status = staghorn_gauge_read(a_context(), path(), words, or_null(&made));
  staghorn_gauge_destroy(&made);
  staghorn_words_release(&words);
  return status;
}
static int gauge_lattice(void) {
  int32_t extents[4];
  staghorn_words *words = some_words();
  const int status = staghorn_gauge_lattice(path(), words, or_null(extents));
  staghorn_words_release(&words);
  return status;
}
static int gauge_links(void) { return staghorn_gauge_links(a_gauge(), links_given(), or_null(links_out)); }
static int gauge_report(void) {
  size_t bytes = one_of(2) ? 1 << 20 : (size_t)one_of(1 << 14);
  return staghorn_gauge_report(a_gauge(), or_null(text), or_null(&bytes));
}
static int solve_sources(void) {
  staghorn_words *words = S(STAGHORN_REQUEST).request.words = some_words();
  const int status = staghorn_solve_sources(a_gauge(), or_null(&S(STAGHORN_REQUEST)), vectors_given(),
                                            one_of(9) ? one_of(most_vectors) : -3, or_null(in),
                                            one_of(9) ? room_for : NULL, one_of(9) ? NULL : text);
  S(STAGHORN_REQUEST).request.words = NULL;
  staghorn_words_release(&words);
  return status;
}
static int eigenpairs_find(void) {
  return staghorn_eigenpairs_find(a_gauge(), or_null(&S(STAGHORN_EIGEN_REQUEST)), one_of(2) ? NULL : path_to_write(),
                                  one_of(4) ? one_of(3) : hostile_int(), one_of(8) ? 1 : hostile_int(), vectors_given(),
                                  one_of(3) ? room_for : NULL, NULL);
}
static int write_vectors(void) {
  return staghorn_write_vectors(a_context(), path_to_write(), one_of(9) ? "source" : NULL,
                                one_of(8) ? 1 : hostile_int(), vectors_given(), one_of(9) ? one_of(most_vectors) : -3,
                                or_null(in));
}
static int request_release(void) { return staghorn_request_release(or_null(&S(STAGHORN_REQUEST))); }
static int set_and_release(void) {
  const int status = request_set();
  staghorn_request_release(&S(STAGHORN_REQUEST).request);
  return status;
}
static int set_and_solve(void) {
  if (one_of(50) == 0) find_pairs();
  for (int times = one_of(2) ? 0 : one_of(6); times > 0; --times) request_set();
  const int status = staghorn_solve(a_gauge(), or_null(&S(STAGHORN_REQUEST)), vectors_given(), a_number(), or_null(in),
                                    or_null(out), one_of(2) ? NULL : hops, or_null(&S(STAGHORN_RESULT)));
  staghorn_request_release(&S(STAGHORN_REQUEST).request);
  return status;
}
static int multishift(void) {
  const double shifts[4] = {one_of(9) ? 0.1 : hostile_double(), 0.2, 0, one_of(9) ? 3 : hostile_double()},
               tolerances[4] = {one_of(9) ? 1e-3 : hostile_double(), 1e-2, 0, 0.1}, alpha[4] = {1, 2, -1, 0.5};
  return staghorn_multishift(a_gauge(), or_null(&S(STAGHORN_REQUEST)), vectors_given(), a_number(),
                             one_of(40) ? shifts : NULL, one_of(2) ? tolerances : NULL, one_of(3) ? NULL : alpha, in[0],
                             or_null(out), one_of(4) ? NULL : hops, or_null(&S(STAGHORN_RESULT)));
}
static int eigenpairs_compute(void) {
  return staghorn_eigenpairs_compute(a_gauge(), or_null(&S(STAGHORN_EIGEN_REQUEST)), one_of(2) ? values : NULL,
                                     one_of(4) ? &S(STAGHORN_EIGEN_INFO).eigen_info : NULL);
}
static int eigenpairs_read(void) {
  if (one_of(10) == 0) damage_a_file();
  return staghorn_eigenpairs_read(a_gauge(), path(), one_of(4) ? &S(STAGHORN_EIGEN_INFO).eigen_info : NULL);
}
static int eigenpairs_write(void) {
  if (one_of(4) == 0) find_pairs();
  return staghorn_eigenpairs_write(a_gauge(), path_to_write(), one_of(4) ? one_of(3) : hostile_int(),
                                   one_of(8) ? 1 : hostile_int());
}
static int coarse_find(void) {
  const int32_t block[4] = {one_of(2) ? 4 : 2, 2, one_of(9) ? 2 : hostile_int(), 4};
  return staghorn_coarse_find(a_gauge(), one_of(6) ? one_of(4) : hostile_int(), one_of(2) ? NULL : block,
                              one_of(6) ? one_of(9) : -1, 3, one_of(2) ? NULL : path_to_write(),
                              one_of(8) ? one_of(3) : hostile_int(), one_of(8) ? 1 : hostile_int());
}
static int eigenpairs_use(void) { return staghorn_eigenpairs_use(a_gauge(), one_of(4) ? 1 : hostile_int()); }
static int eigenpairs_get(void) {
  return staghorn_eigenpairs_get(a_gauge(), or_null(&S(STAGHORN_EIGEN_INFO)), one_of(2) ? one_of(8) : hostile_int(),
                                 one_of(2) ? values : NULL, one_of(2) ? one_of(9) ? residuals : values : NULL);
}
static int eigenpairs_release(void) { return staghorn_eigenpairs_release(a_gauge()); }
static int convert_vectors(void) {
  return staghorn_convert_vectors(a_context(), vectors_given(), in[0], or_null(&other_vectors), out[0]);
}
static int convert_links(void) {
  return staghorn_convert_links(a_context(), links_given(), links, or_null(&long_links), links_out);
}
static int loop_traces(void) {
  static const int32_t closed[] = {0, 3, -1, -4}, other[] = {2, 2, -3, -3};
  const int32_t *const paths[] = {or_null((void *)(uintptr_t)closed), other};
  int32_t lengths[] = {one_of(4) ? 4 : hostile_int(), 4};
  if (lengths[0] > 4) lengths[0] = 0;
  double traces[4];
  const int n = one_of(4) ? 2 : hostile_int();
  return staghorn_loop_traces(a_context(), links_given(), links, n > 2 ? 0 : n, or_null((void *)(uintptr_t)paths),
                              or_null(lengths), or_null(traces));
}
static int smear_links(void) {
  double weights[6] = {0.125, -1.0 / 24, 0.0625, 0.015625, one_of(4) ? 0.0025 : hostile_double(), -0.125};
  return staghorn_smear_links(a_context(), links_given(), links, or_null(weights), links_given(),
                              one_of(2) ? links_out : NULL, NULL, one_of(2) ? links_out : NULL);
}
static int eigenpairs_vectors(void) {
  return staghorn_eigenpairs_vectors(a_gauge(), vectors_given(), one_of(4) ? one_of(3) : hostile_int(), a_number(),
                                     or_null(out));
}
static int transport(void) {
  static const int32_t there[] = {0, 3, -1}, back[] = {-2};
  const int32_t *const paths[] = {or_null((void *)(uintptr_t)there), back};
  int32_t lengths[] = {one_of(4) ? 3 : hostile_int(), one_of(2)};
  if (lengths[0] > 3) lengths[0] = 0;
  const double weights[] = {0.5, one_of(9) ? -1 : hostile_double()};
  const int n = one_of(4) ? 2 : hostile_int(), times = one_of(4) ? one_of(3) : hostile_int();
  return staghorn_transport(a_context(), links_given(), links, vectors_given(), n > 2 ? 0 : n,
                            or_null((void *)(uintptr_t)paths), or_null(lengths), or_null((void *)(uintptr_t)weights),
                            times > 3 ? -1 : times, in[0], out[0]);
}
static int spin_taste(void) {
  const int32_t origin[4] = {one_of(4), one_of(9) ? 1 : hostile_int(), 0, 3};
  return staghorn_spin_taste(a_context(), links_given(), links, vectors_given(), one_of(4) ? one_of(16) : hostile_int(),
                             one_of(4) ? one_of(16) : hostile_int(), or_null((void *)(uintptr_t)origin), in[0], out[0]);
}
static int contract(void) {
  const int32_t origin[4] = {one_of(4), one_of(9) ? 1 : hostile_int(), 0, 3};
  const int32_t momenta[6] = {0, 1, one_of(9) ? -2 : hostile_int(), 0, 0, 1};
  const int32_t symmetries[6] = {1, 2, one_of(9) ? 3 : hostile_int(), 2, 2, 2};
  static double correlators[2 * 2 * 4096];
  const int n = one_of(4) ? 1 + one_of(2) : hostile_int();
  return staghorn_contract(a_context(), vectors_given(), in[0], in[1], n > 2 ? 0 : n,
                           or_null((void *)(uintptr_t)momenta), or_null((void *)(uintptr_t)symmetries),
                           or_null((void *)(uintptr_t)origin), or_null(correlators));
}
static int fix_gauge(void) {
  const int sweeps = one_of(4) ? one_of(3) : hostile_int();
  return staghorn_fix_gauge(a_context(), links_given(), links_out, one_of(4) ? 3 + one_of(2) : hostile_int(),
                            one_of(4) ? 1.5 : hostile_double(), one_of(4) ? 1e-3 : hostile_double(),
                            one_of(4) ? one_of(2) : hostile_int(), sweeps > 2 ? -1 : sweeps, or_null(values),
                            one_of(2) ? NULL : &residuals[0], NULL);
}
static int site_sum(void) {
  return staghorn_site_sum(a_context(), (const double *)(void *)or_null(source), or_null(&values[0]));
}
static int file_lattice(void) {
  int32_t extents[4];
  return staghorn_file_lattice(path(), or_null(extents));
}
static int read_links(void) {
  return staghorn_read_links(a_context(), path(), one_of(4) ? one_of(2) : hostile_int(), links_given(),
                             or_null(links_out));
}
static int refuse(void) {
  return staghorn_refuse(a_context(), one_of(2) ? STAGHORN_E_VALUE : hostile_int(), one_of(4) ? "refused" : NULL);
}
static int report(void) {
  size_t bytes = one_of(2) ? 1 << 20 : (size_t)one_of(1 << 14);
  return staghorn_report(a_context(), or_null(text), or_null(&bytes));
}
static int defaults(void) {
  const int k = one_of(kind_count);
  return one_of(2) ? staghorn_defaults(or_null(&s[k]), (size_t)one_of(200), hostile_int())
                   : staghorn_defaults(&s[k], kinds[k].size, kinds[k].name);
}

/* All functions that return a status, and how often each is called. */
static struct {
  const char *name;
  int (*call)(void);
  int weight;
  long calls, results;
} functions[] = {{"staghorn_defaults", defaults, 40, 0, 0},
                 {"staghorn_context_create", context_create, 8, 0, 0},
                 {"staghorn_context_create_f", context_create_f, 8, 0, 0},
                 {"staghorn_context_local", context_local, 10, 0, 0},
                 {"staghorn_context_grid", context_grid, 10, 0, 0},
                 {"staghorn_context_device", context_device, 10, 0, 0},
                 {"staghorn_context_destroy", context_destroy, 4, 0, 0},
                 {"staghorn_gauge_create", gauge_create, 20, 0, 0},
                 {"staghorn_gauge_create_improved", gauge_create_improved, 20, 0, 0},
                 {"staghorn_gauge_create_action", gauge_create_action, 10, 0, 0},
                 {"staghorn_gauge_read", gauge_read, 10, 0, 0},
                 {"staghorn_gauge_lattice", gauge_lattice, 10, 0, 0},
                 {"staghorn_gauge_links", gauge_links, 10, 0, 0},
                 {"staghorn_gauge_report", gauge_report, 10, 0, 0},
                 {"staghorn_words_set", words_set, 10, 0, 0},
                 {"staghorn_words_release", words_release, 4, 0, 0},
                 {"staghorn_solve_sources", solve_sources, 40, 0, 0},
                 {"staghorn_eigenpairs_find", eigenpairs_find, 10, 0, 0},
                 {"staghorn_write_vectors", write_vectors, 10, 0, 0},
                 {"staghorn_gauge_update", gauge_update, 40, 0, 0},
                 {"staghorn_gauge_update_improved", gauge_update_improved, 40, 0, 0},
                 {"staghorn_gauge_get", gauge_get, 20, 0, 0},
                 {"staghorn_gauge_destroy", gauge_destroy, 4, 0, 0},
                 {"staghorn_hop", hop, 40, 0, 0},
                 {"staghorn_request_set", set_and_release, 10, 0, 0},
                 {"staghorn_request_release", request_release, 4, 0, 0},
                 {"staghorn_solve", set_and_solve, 80, 0, 0},
                 {"staghorn_multishift", multishift, 60, 0, 0},
                 {"staghorn_coarse_find", coarse_find, 1, 0, 0},
                 {"staghorn_eigenpairs_compute", eigenpairs_compute, 20, 0, 0},
                 {"staghorn_eigenpairs_read", eigenpairs_read, 10, 0, 0},
                 {"staghorn_eigenpairs_write", eigenpairs_write, 10, 0, 0},
                 {"staghorn_eigenpairs_use", eigenpairs_use, 10, 0, 0},
                 {"staghorn_eigenpairs_get", eigenpairs_get, 20, 0, 0},
                 {"staghorn_eigenpairs_release", eigenpairs_release, 2, 0, 0},
                 {"staghorn_convert_vectors", convert_vectors, 30, 0, 0},
                 {"staghorn_convert_links", convert_links, 30, 0, 0},
                 {"staghorn_loop_traces", loop_traces, 10, 0, 0},
                 {"staghorn_smear_links", smear_links, 10, 0, 0},
                 {"staghorn_eigenpairs_vectors", eigenpairs_vectors, 10, 0, 0},
                 {"staghorn_transport", transport, 10, 0, 0},
                 {"staghorn_spin_taste", spin_taste, 10, 0, 0},
                 {"staghorn_contract", contract, 10, 0, 0},
                 {"staghorn_fix_gauge", fix_gauge, 10, 0, 0},
                 {"staghorn_site_sum", site_sum, 10, 0, 0},
                 {"staghorn_file_lattice", file_lattice, 10, 0, 0},
                 {"staghorn_read_links", read_links, 10, 0, 0},
                 {"staghorn_refuse", refuse, 10, 0, 0},
                 {"staghorn_report", report, 10, 0, 0}};
enum { function_count = sizeof functions / sizeof *functions };

static int drawn_function(void) {
  int all = 0, k = 0;
  for (int i = 0; i < function_count; ++i) all += functions[i].weight;
  for (int left = one_of(all) - functions[0].weight; left >= 0; left -= functions[k].weight) ++k;
  return k;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const long number = atol(argv[1]);
  state = (uint64_t)atol(argv[2]);
  folder = argv[3];
  const host_lattice l = {{4, 4, 4, 4}, {4, 4, 4, 4}, {0, 0, 0, 0}};
  for (int mu = 0; mu < 4; ++mu) u[mu] = calloc(1, most_sites * 4 * 1000 + 8192);
  b = calloc(1, most_sites * 1000);
  x = calloc(1, most_sites * 1000);
  y = calloc(1, most_sites * 1000);
  text = malloc(1 << 20);
  good = host_links(&l, 1);
  source = host_vector(&l, 1000);
  naik = host_long_links(&l, good);
  long counts[32] = {0};

  for (long turn = 0; turn < number; ++turn) {
    draw_structs();
    draw_fields();
    draw_pointers();
    const int which = drawn_function(), status = functions[which].call();
    if (status < STAGHORN_E_FILE || status > STAGHORN_WITHHELD || (status < 0 && !*staghorn_last_error())) {
      printf("turn %ld: %s: status %d, '%s'\n", turn, functions[which].name, status, staghorn_last_error());
      return 1;
    }
    if (status == STAGHORN_E_INTERNAL) printf("turn %ld: internal: %s\n", turn, staghorn_last_error());
    ++counts[status + 16];
    ++functions[which].calls;
    functions[which].results += status >= 0;
  }
  staghorn_context_destroy(&context);
  for (int status = STAGHORN_E_FILE; status <= STAGHORN_WITHHELD; ++status)
    printf("%d: %ld\n", status, counts[status + 16]);
  for (int k = 0; k < function_count; ++k)
    printf("%s: %ld calls, %ld results\n", functions[k].name, functions[k].calls, functions[k].results);
  for (int mu = 0; mu < 4; ++mu) free(u[mu]);
  free(b);
  free(x);
  free(y);
  free(text);
  free(good);
  free(source);
  free(naik);
  return counts[STAGHORN_E_INTERNAL + 16] > 0;
}
