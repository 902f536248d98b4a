/* Codes with fields of their own: every order x phases x precision x full or half, on ranks in an order of their own.
 *
 *   fake_hosts GX GY GZ GT      ranks lie in the grid backwards, t fastest; 1 1 1 1: one process without MPI's help
 *   fake_hosts improved GX ...  the same with fat and long links
 *   fake_hosts device GX ...    as the first, with all fields in the memory of GPU 0, and D of the source there
 *   fake_hosts improved-device  the same with fat and long links
 *   fake_hosts dump FILE        links, source and solution of the plain host, as raw doubles, for NumPy
 *
 * The solution of each host has the bits of the plain one's: lexicographic fields, no phases, one process. Hosts that
 * lie about order or phases do not. Sources and links lie on pages that cannot be written. Exit status 1 if a check
 * fails, 77 where there is no GPU. */
#define _GNU_SOURCE
#include <staghorn_mpi.h>

#include "hosts/device_memory.h"
#include "hosts/fake_host_fields.h"

static int failures, rank;
static int on_gpu; /* fields lie there, and contexts compute there */
#define CHECK(condition, ...)                                               \
  do {                                                                      \
    if (!(condition)) {                                                     \
      printf("%s:%d: rank %d: %s: ", __FILE__, __LINE__, rank, #condition); \
      printf(__VA_ARGS__);                                                  \
      printf(" (%s)\n", staghorn_last_error());                             \
      ++failures;                                                           \
    }                                                                       \
  } while (0)

/* The memory itself, or a copy on the GPU, which `give_back` copies home where it was changed and frees. */
static void *placed(const guarded_memory *m) {
  if (!m->at) return NULL;
  return on_gpu ? device_copy_of(m->at, m->bytes) : m->at;
}
static void give_back(void *there, guarded_memory *changed) {
  if (!on_gpu || !there) return;
  if (changed) device_read(changed->at, there, changed->bytes);
  device_free(there);
}

/* D of the source is the same from either memory. */
static void hop_is_that_of_the_host(staghorn_gauge *gauge, const staghorn_vectors *vectors, const host *h,
                                    const host_lattice *l, const guarded_memory *b, const void *there) {
  const int targets[3] = {STAGHORN_FULL, STAGHORN_ODD, STAGHORN_EVEN};
  guarded_memory here = make_vector(h, l), found = make_vector(h, l);
  void *out = placed(&found);
  staghorn_vectors of_host = *vectors;
  of_host.memory = STAGHORN_HOST;
  const void *from[1] = {b->at}, *from_there[1] = {there};
  void *to[1] = {here.at}, *to_there[1] = {out};
  int status = staghorn_hop(gauge, &of_host, targets[h->system], 1, from, to);
  CHECK(status == STAGHORN_OK, "%d: hop of the host", status);
  status = staghorn_hop(gauge, vectors, targets[h->system], 1, from_there, to_there);
  CHECK(status == STAGHORN_OK, "%d: hop on the GPU", status);
  give_back(out, &found);
  CHECK(memcmp(here.at, found.at, here.bytes) == 0, "D differs");
  memory_free(&here);
  memory_free(&found);
}

/* Solves for a host; x receives the solution as it lies in its memory. Returns the status. */
static int solve(staghorn_context *context, const host *h, const host_lattice *l, guarded_memory *x) {
  staghorn_links links;
  staghorn_vectors vectors;
  staghorn_request request;
  staghorn_result result;
  staghorn_gauge *gauge = NULL;
  describe(h, &links, &vectors, &request);
  staghorn_defaults(&result, sizeof result, STAGHORN_RESULT);
  guarded_memory u[4] = {{0}}, v[4] = {{0}};
  fill_links(h, l, plain_links, 1, u);
  void *there[4] = {placed(&u[0]), placed(&u[1]), placed(&u[2]), placed(&u[3])};
  const void *pointers[4] = {there[0], there[1], there[2], there[3]};
  int status;
  links.memory = vectors.memory = on_gpu ? STAGHORN_DEVICE : STAGHORN_HOST;
  if (plain_long) {
    staghorn_links long_links = links;
    links.reals = 0;
    fill_links(h, l, plain_long, 3, v);
    void *long_there[4] = {placed(&v[0]), placed(&v[1]), placed(&v[2]), placed(&v[3])};
    const void *long_pointers[4] = {long_there[0], long_there[1], long_there[2], long_there[3]};
    status = staghorn_gauge_create_improved(context, &links, pointers, &long_links, long_pointers, &gauge);
    for (int mu = 0; mu < 4; ++mu) give_back(long_there[mu], NULL);
  } else {
    status = staghorn_gauge_create(context, &links, pointers, &gauge);
  }
  *x = make_vector(h, l);
  if (status == STAGHORN_OK) {
    guarded_memory b = make_vector(h, l);
    fill_vector(h, l, plain_source, &b);
    memory_lock(&b);
    void *source = placed(&b), *solution = placed(x);
    const void *sources[1] = {source};
    void *solutions[1] = {solution};
    if (on_gpu) hop_is_that_of_the_host(gauge, &vectors, h, l, &b, source);
    status = staghorn_solve(gauge, &request, &vectors, 1, sources, solutions, NULL, &result);
    give_back(source, NULL);
    give_back(solution, x);
    if (status == STAGHORN_OK) CHECK(result.residual_true <= tolerance, "%g", result.residual_true);
    staghorn_gauge_destroy(&gauge);
    memory_free(&b);
  }
  for (int mu = 0; mu < 4; ++mu) {
    give_back(there[mu], NULL);
    if (u[mu].pages) memory_free(&u[mu]);
    if (v[mu].pages) memory_free(&v[mu]);
  }
  return status;
}

static staghorn_context *one_process(void) {
  staghorn_geometry geometry;
  staghorn_options options;
  staghorn_context *context = NULL;
  staghorn_defaults(&geometry, sizeof geometry, STAGHORN_GEOMETRY);
  staghorn_defaults(&options, sizeof options, STAGHORN_OPTIONS);
  for (int mu = 0; mu < 4; ++mu) geometry.global[mu] = whole.n[mu];
  options.threads = 1;
  if (on_gpu) options.device = 0;
  const int status = staghorn_context_create(&context, &geometry, &options);
  CHECK(status == STAGHORN_OK, "%d", status);
  return context;
}

/* The plain solutions of the three systems, which decide. */
static double *plain_solution[3];
static void solve_plainly(void) {
  staghorn_context *alone = one_process();
  for (int system = STAGHORN_FULL; system <= STAGHORN_ODD; ++system) {
    host h = plain_host();
    h.system = system;
    guarded_memory x;
    const int status = solve(alone, &h, &whole, &x);
    CHECK(status == STAGHORN_OK, "system %d: %d", system, status);
    plain_solution[system] = malloc(x.bytes);
    memcpy(plain_solution[system], x.at, x.bytes);
    memory_free(&x);
  }
  staghorn_context_destroy(&alone);
}

static const char *named(const host *h) {
  static char text[200];
  snprintf(text, sizeof text, "order %d phases %d precision %d system %d half %d boundary_in %d dagger %d struct %d",
           h->order, h->phases, h->precision, h->system, h->half, h->boundary_in, h->dagger, h->in_struct);
  return text;
}

static void solution_has_the_plain_bits(staghorn_context *context, const host *h, const host_lattice *l) {
  guarded_memory x;
  const int status = solve(context, h, l, &x);
  CHECK(status == STAGHORN_OK, "%d %s", status, named(h));
  const long wrong = differences(h, l, plain_solution[h->system], &x);
  CHECK(wrong == 0, "%ld numbers, %s", wrong, named(h));
  memory_free(&x);
}

/* Every order x phases x precision; half or full, dagger and strides go round, and on several ranks the system and
 * precision too. */
static void all_hosts(staghorn_context *context, const host_lattice *l, int all_systems) {
  int round = 0, solved = 0;
  for (int order = LEX; order < ORDERS; ++order)
    for (int convention = NONE; convention < CONVENTIONS; ++convention)
      for (int precision = STAGHORN_FP64; precision <= STAGHORN_FP32; ++precision)
        for (int system = STAGHORN_FULL; system <= STAGHORN_ODD; ++system) {
          host h = plain_host();
          h.order = order;
          h.phases = convention;
          h.precision = precision;
          h.system = system;
          h.half = system != STAGHORN_FULL && order != LEX && round % 4 != 3;
          h.boundary_in = convention != AS_GIVEN && round % 2 == 0;
          h.dagger = round % 5 == 0;
          h.in_struct = round % 3 == 0;
          ++round;
          if (!all_systems && (system != (order + convention) % 3 || precision != order % 2)) continue;
          solution_has_the_plain_bits(context, &h, l);
          ++solved;
        }
  CHECK(solved == (all_systems ? 216 : 36), "%d", solved);
}

/* The source of the point sources below, and the plain solution of it. */
static void use_point_source(double **source, double **solution) {
  *source = plain_source;
  *solution = plain_solution[STAGHORN_FULL];
  plain_source = host_zeros(&whole);
  plain_source[6 * 5 + 2] = 1;
  plain_solution[STAGHORN_FULL] = NULL;
}

/* The solution of a host with plain fields in one process. */
static double *solve_alone(const host *h) {
  const int fields_on_gpu = on_gpu;
  on_gpu = 0;
  staghorn_context *alone = one_process();
  guarded_memory x;
  const int status = solve(alone, h, &whole, &x);
  CHECK(status == STAGHORN_OK, "%d", status);
  double *copy = malloc(x.bytes);
  memcpy(copy, x.at, x.bytes);
  memory_free(&x);
  staghorn_context_destroy(&alone);
  on_gpu = fields_on_gpu;
  return copy;
}

/* Phases from every corner of a hypercube, and every antiperiodic slice: one solution, but for signs. Signs are taken
 * out, so that 12 reals will do. */
static void links_as_given_have_the_plain_bits(staghorn_context *context, const host_lattice *l, int every) {
  double *source, *solution;
  use_point_source(&source, &solution);
  for (int reals = 18; reals >= 12; reals -= plain_long ? 5 : 6) {
    host plain = plain_host();
    plain.reals = reals;
    plain_solution[STAGHORN_FULL] = solve_alone(&plain);
    for (int i = 0; i < 16 + whole.n[3]; i += every) {
      host h = plain_host();
      h.order = EVEN_ODD;
      h.phases = AS_GIVEN;
      h.reals = reals;
      for (int mu = 0; mu < 4; ++mu) h.given.origin[mu] = i < 16 ? i >> mu & 1 : 0;
      h.given.slice = i < 16 ? 7 : i - 16;
      solution_has_the_plain_bits(context, &h, l);
    }
    free(plain_solution[STAGHORN_FULL]);
  }
  free(plain_source);
  plain_source = source;
  plain_solution[STAGHORN_FULL] = solution;
}

/* Fields of one host become those of the next, to the last bit. */
static void fields_are_converted(staghorn_context *context, const host_lattice *l) {
  for (int i = 0; i < 2 * ORDERS * AS_GIVEN; ++i)
    for (int step = 1; step < 2 * ORDERS * AS_GIVEN; step += 7) {
      host h[2];
      staghorn_links links[2];
      staghorn_vectors vectors[2];
      staghorn_request request;
      guarded_memory u[2][4] = {{{0}}}, v[2];
      for (int k = 0; k < 2; ++k) {
        const int which = (i + k * step) % (2 * ORDERS * AS_GIVEN);
        h[k] = plain_host();
        h[k].order = which % ORDERS;
        h[k].phases = which / ORDERS % AS_GIVEN;
        h[k].precision = which / ORDERS / AS_GIVEN;
        h[k].boundary_in = which % 2;
        h[k].dagger = which % 3 == 0;
        h[k].in_struct = which % 5 == 0;
      }
      if (i % 3 && h[0].order != LEX && h[1].order != LEX) {
        h[0].half = h[1].half = 1;
        h[0].system = h[1].system = i % 3;
      }
      for (int k = 0; k < 2; ++k) {
        describe(&h[k], &links[k], &vectors[k], &request);
        vectors[k].phases = h[k].phases; /* no gauge says it */
        if (h[k].half) vectors[k].half = h[k].system;
        fill_links(&h[k], l, plain_links, 1, u[k]);
        v[k] = make_vector(&h[k], l);
        fill_vector(&h[k], l, plain_source, &v[k]);
        memory_lock(&v[k]);
      }
      guarded_memory out[4], w = make_vector(&h[1], l);
      const void *in[4];
      void *written[4];
      for (int mu = 0; mu < 4; ++mu) {
        out[mu] = memory_make(u[1][mu].bytes ? u[1][mu].bytes : 8);
        in[mu] = u[0][mu].at;
        written[mu] = out[mu].at;
      }
      int status = staghorn_convert_links(context, &links[0], in, &links[1], written);
      CHECK(status == STAGHORN_OK, "%d from %d to %d", status, i, i + step);
      status = staghorn_convert_vectors(context, &vectors[0], v[0].at, &vectors[1], w.at);
      CHECK(status == STAGHORN_OK, "%d from %d to %d", status, i, i + step);
      CHECK(memcmp(w.at, v[1].at, w.bytes) == 0, "vectors from %d to %d", i, i + step);
      for (int mu = 0; mu < (h[1].order == QDP ? 4 : 1); ++mu)
        CHECK(memcmp(out[mu].at, u[1][mu].at, u[1][mu].bytes) == 0, "links from %d to %d", i, i + step);
      for (int mu = 0; mu < 4; ++mu) {
        memory_free(&out[mu]);
        for (int k = 0; k < 2; ++k)
          if (u[k][mu].pages) memory_free(&u[k][mu]);
      }
      memory_free(&w);
      for (int k = 0; k < 2; ++k) memory_free(&v[k]);
    }
}

/* A host that lies does not get the plain solution: the test above would see it. */
static void lies_are_seen(staghorn_context *context, const host_lattice *l) {
  const int lies[][4] = {/* order, phases; as filled */
                         {STAG, CPS, EVEN_ODD, -1}, {EVEN_ODD, MILC, WILSON, -1}, {LEX, CPS, -1, NONE},
                         {LEX, MILC, -1, CPS},      {LEX, CPS, -1, TIFR},         {STAG_BLOCK, CPS, EVEN_ODD, -1}};
  for (unsigned i = 0; i < sizeof lies / sizeof lies[0]; ++i) {
    host h = plain_host();
    h.order = lies[i][0];
    h.phases = lies[i][1];
    h.lie_order = lies[i][2];
    h.lie_phases = lies[i][3];
    h.boundary_in = 1;
    guarded_memory x;
    const int status = solve(context, &h, l, &x);
    const long wrong = differences(&h, l, plain_solution[h.system], &x);
    CHECK(status != STAGHORN_OK || wrong > host_volume(l), "lie %u: %ld", i, wrong);
    memory_free(&x);
  }
}

/* One wrong sign among links as given: refused on every rank, and the link is named. */
static void a_wrong_sign_is_refused(staghorn_context *context, const host_lattice *l) {
  const int where[][5] = {{0, 0, 0, 0, 3}, {3, 2, 5, 7, 0}, {1, 3, 2, 3, 1}, {2, 1, 0, 4, 2}};
  for (int i = 0; i < 4; ++i) {
    host h = plain_host();
    h.order = EVEN_ODD;
    h.phases = AS_GIVEN;
    memcpy(h.wrong_x, where[i], sizeof h.wrong_x);
    h.wrong_mu = where[i][4];
    guarded_memory x;
    const int status = solve(context, &h, l, &x);
    char name[60];
    snprintf(name, sizeof name, "U_%c at (%d, %d, %d, %d)", "xyzt"[where[i][4]], where[i][0], where[i][1], where[i][2],
             where[i][3]);
    CHECK(status == STAGHORN_E_VALUE && strstr(staghorn_last_error(), name), "%d, not %s", status, name);
    memory_free(&x);
  }
}

/* The links `u` of so many steps with everything multiplied into them. */
static cplx *all_in_one(const host *h, const double *u, int steps) {
  cplx *v = malloc((size_t)host_volume(&whole) * 36 * sizeof *v);
  host full = *h;
  full.boundary_in = 1;
  full.phases = CPS;
  for (long site = 0; site < host_volume(&whole); ++site) {
    int at[4];
    host_coordinates(whole.n, site, at);
    for (int mu = 0; mu < 4; ++mu)
      for (int k = 0; k < 9; ++k) {
        const double *e = u + 72 * site + 18 * mu + 2 * k;
        v[9 * (4 * site + mu) + k] = link_factor(&full, mu, at, steps) * (mu == 3 ? h->scale : 1) * (e[0] + I * e[1]);
      }
  }
  return v;
}

/* Twists and factors round: the host's own operator decides. |b - M x| / |b| with V = everything multiplied together.
 */
static double own_residual(const host *h, const double *x) {
  const long V = host_volume(&whole);
  cplx *v = all_in_one(h, plain_links, 1), *dx = calloc((size_t)V * 3, sizeof *dx);
  bare_hop(&whole, v, 1, (const cplx *)(const void *)x, dx);
  free(v);
  if (plain_long) {
    v = all_in_one(h, plain_long, 3);
    bare_hop(&whole, v, 3, (const cplx *)(const void *)x, dx);
    free(v);
  }
  double r2 = 0, b2 = 0;
  for (long k = 0; k < 3 * V; ++k) {
    const cplx b = plain_source[2 * k] + I * plain_source[2 * k + 1], a = x[2 * k] + I * x[2 * k + 1];
    const cplx r = b - (2 * mass * a + dx[k]);
    r2 += creal(r * conj(r));
    b2 += creal(b * conj(b));
  }
  free(dx);
  return sqrt(r2 / b2);
}

static void twists_and_factors_are_the_hosts(void) {
  staghorn_context *alone = one_process();
  for (int i = 0; i < (plain_long ? 2 : 6); ++i) { /* no factors of improved quarks */
    host h = plain_host();
    h.boundary_in = i % 2;         /* the twist in the links, or not */
    h.phases = i % 2 ? CPS : NONE; /* vectors are CPS's either way */
    if (i < 4) h.theta[1] = 0.3;
    if (i >= 2) h.scale = 1.7;
    guarded_memory x;
    const int status = solve(alone, &h, &whole, &x);
    CHECK(status == STAGHORN_OK, "%d of %d", status, i);
    h.reals = 12;
    guarded_memory y;
    if (!plain_long && (h.scale != 1 || h.boundary_in)) {
      const int refused = solve(alone, &h, &whole, &y);
      CHECK(refused == STAGHORN_E_VALUE && strstr(staghorn_last_error(), "links.reals"), "%d of %d", refused, i);
      memory_free(&y);
    }
    const double residual = own_residual(&h, (const double *)(const void *)x.at);
    CHECK(residual < 1.1 * tolerance, "%g of %d", residual, i);
    host other = h;
    other.theta[1] = -h.theta[1];
    other.scale = 1.7 + 1 - h.scale;
    CHECK(own_residual(&other, (const double *)(const void *)x.at) > 1e-2, "%d: another host is solved as well", i);
    memory_free(&x);
  }
  staghorn_context_destroy(&alone);
}

/* Phases that are no signs, and factors, in MILC's order on any ranks: the bits of one process with plain fields. */
static void twists_have_the_bits_of_one_process(staghorn_context *context, const host_lattice *l) {
  double *solution = plain_solution[STAGHORN_FULL];
  for (int i = 0; i < 4; ++i) {
    host h = plain_host();
    h.theta[1] = 0.3;
    h.boundary_in = i % 2;
    h.scale = i / 2 ? 1.7 : 1;
    plain_solution[STAGHORN_FULL] = solve_alone(&h);
    h.order = EVEN_ODD;
    h.phases = MILC;
    h.dagger = i / 2;
    solution_has_the_plain_bits(context, &h, l);
    free(plain_solution[STAGHORN_FULL]);
  }
  plain_solution[STAGHORN_FULL] = solution;
}

static int dump(const char *path) {
  FILE *file = fopen(path, "wb");
  if (!file) return 2;
  const size_t V = (size_t)host_volume(&whole);
  fwrite(plain_links, sizeof(double), 72 * V, file);
  fwrite(plain_source, sizeof(double), 6 * V, file);
  for (int system = 0; system < 3; ++system) fwrite(plain_solution[system], sizeof(double), 6 * V, file);
  return fclose(file) == 0 && !failures ? 0 : 1;
}

/* The context over all ranks, which lie in the grid backwards, t fastest. */
static staghorn_context *over_ranks(char **grid, int ranks, host_lattice *l) {
  staghorn_geometry geometry;
  staghorn_options options;
  staghorn_context *context = NULL;
  staghorn_defaults(&geometry, sizeof geometry, STAGHORN_GEOMETRY);
  staghorn_defaults(&options, sizeof options, STAGHORN_OPTIONS);
  options.threads = 1;
  if (on_gpu) options.device = 0;
  int place = ranks - 1 - rank;
  for (int mu = 3; mu >= 0; --mu) {
    geometry.global[mu] = whole.n[mu];
    geometry.grid[mu] = atoi(grid[mu]);
    geometry.coord[mu] = place % geometry.grid[mu];
    place /= geometry.grid[mu];
  }
  const int status = staghorn_context_create_mpi(&context, MPI_COMM_WORLD, &geometry, &options);
  CHECK(status == STAGHORN_OK, "%d", status);
  for (int mu = 0; mu < 4; ++mu) {
    l->global[mu] = whole.n[mu];
    l->n[mu] = whole.n[mu] / geometry.grid[mu];
    l->origin[mu] = geometry.coord[mu] * l->n[mu];
  }
  return context;
}

int main(int argc, char **argv) {
  const int improved = argc > 1 && strncmp(argv[1], "improved", 8) == 0;
  const int device = argc > 1 && strstr(argv[1], "device") != NULL, words = improved || device;
  make_problem(improved);
  solve_plainly();
  if (argc == 3 && strcmp(argv[1], "dump") == 0) return dump(argv[2]);
  if (argc != 5 + words) return 2;
  if (device && !device_open()) return 77;
  on_gpu = device;
  int ranks, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  host_lattice l;
  staghorn_context *context = ranks == 1 ? one_process() : over_ranks(argv + 1 + words, ranks, &l);
  if (ranks == 1) l = whole;
  if (context) {
    all_hosts(context, &l, ranks == 1 && !words);
    links_as_given_have_the_plain_bits(context, &l, ranks == 1 && !words ? 1 : 11);
    lies_are_seen(context, &l);
    if (!improved) {
      if (!device) fields_are_converted(context, &l);
      a_wrong_sign_is_refused(context, &l);
      if (ranks <= 2) twists_have_the_bits_of_one_process(context, &l);
    }
    if (ranks == 1) twists_and_factors_are_the_hosts();
    staghorn_context_destroy(&context);
  }
  MPI_Finalize();
  if (!failures && rank == 0) printf("ok\n");
  return failures != 0;
}
