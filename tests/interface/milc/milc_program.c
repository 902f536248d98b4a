/* A trajectory as ks_imp_rhmc of MILC makes it with QUDA's solver: an array of sites with links and momenta among other
 * members, observables with phases in the links and without, the action of momenta, solves, links brought back into
 * SU(3). Everything is checked against the host's own arithmetic.
 *
 *   milc_program                   one process without MPI, which has no communicator
 *   milc_program GX GY GZ GT       ranks
 *   milc_program fails WHAT [GX GY GZ GT]  a call that must end the program
 *
 * Rank 0 prints the bits of all that the library returned, and what the library says of each call. */
#define _GNU_SOURCE
#include "milc_calls.h"

/* What a program of MILC has of each site: here as bytes, for both precisions. */
enum { site_bytes = 1208, link_offset = 424, mom_offset = 40 };
static char *sites;
static QudaMILCSiteArg_t site_arg(void) {
  const QudaMILCSiteArg_t arg = {sites, NULL, link_offset, NULL, mom_offset, site_bytes};
  return arg;
}

static void bring_links(int precision, const milc_convention *c) {
  guarded_memory m = make_milc_links(&l, precision);
  fill_milc_links(&l, precision, c, plain_links, 1, &m);
  for (long i = 0; i < host_volume(&l); ++i)
    memcpy(sites + i * site_bytes + link_offset, m.at + (size_t)(72 * i) * real_bytes(precision),
           72 * real_bytes(precision));
  memory_free(&m);
}

static double momentum(int precision, long global_site, int k) {
  if (k % 10 == 9) return NAN; /* the number that nobody reads */
  const double number = 3 * host_random(77 + (uint64_t)global_site, (uint64_t)k);
  return precision == 1 ? in_fp32(number) : number;
}
static void bring_momenta(int precision) {
  for (long site = 0; site < host_volume(&l); ++site) {
    int at[4];
    const long place = milc_site(&l, site, at);
    for (int k = 0; k < 40; ++k)
      put_real(sites + place * site_bytes + mom_offset + (size_t)k * real_bytes(precision), precision,
               momentum(precision, host_site(whole.n, at), k));
  }
}

static void tell(const char *what, const double *numbers, int n) {
  if (rank != 0) return;
  printf("%s", what);
  for (int i = 0; i < n; ++i) printf(" %a", numbers[i]);
  printf("\n");
  fflush(stdout);
}

static const int32_t planes[6][4] = {{0, 1, -1, -2}, {0, 2, -1, -3}, {1, 2, -2, -3},
                                     {0, 3, -1, -4}, {1, 3, -2, -4}, {2, 3, -3, -4}};
static const int32_t line[] = {3, 3, 3, 3, 3, 3, 3, 3};
/* Loops as Symanzik's action has them: a plaquette, a rectangle, a bent one; in MILC's steps, -t to -x are 4 to 7. */
enum { loop_count = 3 };
static const int32_t loops[loop_count][6] = {{0, 3, -1, -4, 0, 0}, {1, 1, 3, -2, -2, -4}, {0, 2, 3, -1, -3, -4}};
static int lengths[loop_count] = {4, 6, 6};
static int milc_loops[loop_count][6], *milc_paths[loop_count];

static int near(double a, double b) { return fabs(a - b) < 1e-14 * (1 + fabs(b)); }

static void check_plaquettes(const double *found) {
  double space = 0, time = 0;
  for (int i = 0; i < 6; ++i) *(i < 3 ? &space : &time) += creal(host_loop(&whole, plain_links, planes[i], 4)) / 3;
  CHECK(near(found[1], space) && near(found[2], time) && near(found[0], (space + time) / 2), "%g %g, not %g %g",
        found[1], found[2], space, time);
  CHECK(fabs(space) > 1e-4 && fabs(space - time) > 1e-4, "nothing that could be wrong");
}
static void check_line(const double *found) {
  const cplx mean = 3 * host_loop(&whole, plain_links, line, 8);
  CHECK(near(found[0], creal(mean)) && near(found[1], cimag(mean)) && cabs(mean) > 1e-3, "%g %g, not %g %g", found[0],
        found[1], creal(mean), cimag(mean));
}
static const double coefficients[loop_count] = {1, 0.5, -2};
static void check_traces(const double *found, double factor) {
  for (int i = 0; i < loop_count; ++i) {
    const double scale = factor * coefficients[i] * 3 * (double)host_volume(&whole);
    const cplx sum = scale * host_loop(&whole, plain_links, loops[i], lengths[i]);
    CHECK(fabs(found[2 * i] - creal(sum)) < 1e-13 * fabs(scale) &&
              fabs(found[2 * i + 1] - cimag(sum)) < 1e-13 * fabs(scale),
          "loop %d: %g, not %g", i, found[2 * i], creal(sum));
  }
}

/* In either state of the phases; the links stay as they are. */
static void measure(int precision, int phase_in) {
  const milc_convention phased = convention_from(0, 0, 0, 0), plain = {{{0}, 0}, 0, 1};
  bring_links(precision, phase_in ? &phased : &plain);
  const size_t bytes = (size_t)host_volume(&l) * site_bytes;
  char *before = malloc(bytes);
  memcpy(before, sites, bytes);
  QudaMILCSiteArg_t arg = site_arg();
  double plaquettes[3], polyakov[2], traces[2 * loop_count], c[loop_count];
  memcpy(c, coefficients, sizeof c);
  qudaPlaquettePhased(precision, plaquettes, &arg, phase_in);
  check_plaquettes(plaquettes);
  tell("plaquettes", plaquettes, 3);
  qudaPolyakovLoopPhased(precision, polyakov, 3, &arg, phase_in);
  check_line(polyakov);
  tell("line", polyakov, 2);
  qudaGaugeLoopTracePhased(precision, traces, milc_paths, lengths, c, loop_count, 6, 2.0, &arg, phase_in);
  check_traces(traces, 2.0);
  tell("loops", traces, 2 * loop_count);
  memset(plaquettes, 0, sizeof plaquettes);
  qudaGaugeMeasurementsPhased(precision, plaquettes, polyakov, 3, traces, milc_paths, lengths, c, loop_count, 6,
                              1.0 / (double)host_volume(&whole), &arg, phase_in);
  check_plaquettes(plaquettes);
  check_line(polyakov);
  check_traces(traces, 1.0 / (double)host_volume(&whole));
  CHECK(memcmp(before, sites, bytes) == 0, "links were written");

  /* The same in a field of its own. */
  guarded_memory m = make_milc_links(&l, precision);
  fill_milc_links(&l, precision, phase_in ? &phased : &plain, plain_links, 1, &m);
  memory_lock(&m);
  QudaMILCSiteArg_t field = {NULL, m.at, 12345, NULL, 0, 77};
  double again[3];
  qudaPlaquettePhased(precision, again, &field, phase_in);
  CHECK(memcmp(again, plaquettes, sizeof again) == 0, "another field, another plaquette");
  memory_free(&m);
  free(before);
}

static void momenta_have_an_action(int precision) {
  bring_momenta(precision);
  QudaMILCSiteArg_t arg = site_arg();
  const double action = qudaMomAction(precision, &arg);
  long double expected = 0;
  for (long site = 0; site < host_volume(&whole); ++site)
    for (int k = 0; k < 40; ++k) {
      const long double m = momentum(precision, site, k);
      if (k % 10 < 9) expected += (k % 10 < 6 ? m * m : m * m / 2);
      if (k % 10 == 9) expected -= 4;
    }
  CHECK(fabs(action - (double)expected) < 1e-12 * (double)host_volume(&whole), "%.17g, not %.17g", action,
        (double)expected);
  tell("action", &action, 1);
}

static cplx determinant_of(cplx u[3][3]) {
  cplx sum = 0;
  for (int k = 0; k < 3; ++k) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    sum += u[0][k] * (u[1][a] * u[2][b] - u[1][b] * u[2][a]);
  }
  return sum;
}
static void read_link(int precision, const char *from, cplx u[3][3]) {
  for (int k = 0; k < 9; ++k)
    u[k / 3][k % 3] = get_real(from + (size_t)(2 * k) * real_bytes(precision), precision) +
                      I * get_real(from + (size_t)(2 * k + 1) * real_bytes(precision), precision);
}

/* U -> s W, s the sign in U: W in SU(3), and W^dagger s U exp(-i phi) hermitian with a positive trace, 3 phi the angle
 * of det(s U): W is the unitary factor of s U over the cube root of its determinant. */
static void links_come_back_into_the_group(int precision, int phase_in) {
  const milc_convention phased = convention_from(0, 0, 0, 0), plain = {{{0}, 0}, 0, 1};
  bring_links(precision, phase_in ? &phased : &plain);
  for (long i = 0; i < host_volume(&l); ++i)
    for (int k = 0; k < 72; ++k) {
      char *at = sites + i * site_bytes + link_offset + (size_t)k * real_bytes(precision);
      put_real(at, precision, get_real(at, precision) + 1e-3 * host_random(5, (uint64_t)(72 * i + k)));
    }
  const size_t bytes = (size_t)host_volume(&l) * site_bytes;
  char *before = malloc(bytes);
  memcpy(before, sites, bytes);
  QudaMILCSiteArg_t arg = site_arg();
  if (phase_in)
    qudaUnitarizeSU3Phased(precision, 1e-6, &arg, phase_in);
  else
    qudaUnitarizeSU3(precision, 0, &arg);
  double worst = 0;
  for (long i = 0; i < host_volume(&l); ++i)
    for (int mu = 0; mu < 4; ++mu) {
      const size_t at = (size_t)(i * site_bytes + link_offset) + (size_t)(18 * mu) * real_bytes(precision);
      cplx u[3][3], w[3][3], m[3][3] = {{0}};
      read_link(precision, before + at, u);
      read_link(precision, sites + at, w);
      const cplx det = determinant_of(u);
      const double sign = creal(det) < 0 ? -1 : 1, phi = carg(sign * det) / 3;
      worst = fmax(worst, cabs(sign * determinant_of(w) - 1));
      for (int k = 0; k < 27; ++k) m[k / 9][k % 3] += conj(w[k / 3 % 3][k / 9]) * u[k / 3 % 3][k % 3];
      for (int k = 0; k < 9; ++k) {
        cplx unit = 0;
        for (int c = 0; c < 3; ++c) unit += w[k / 3][c] * conj(w[k % 3][c]);
        worst = fmax(worst, cabs(unit - (k / 3 == k % 3)));
        const cplx turn = cos(phi) - I * sin(phi);
        worst = fmax(worst, cabs(turn * m[k / 3][k % 3] - conj(turn * m[k % 3][k / 3])));
      }
      CHECK(fabs(creal(m[0][0] + m[1][1] + m[2][2]) - 3) < 0.02, "another matrix");
    }
  CHECK(worst < (precision == 2 ? 1e-14 : 1e-6), "%g", worst);
  for (size_t k = 0; k < bytes; ++k)
    if (k % site_bytes < link_offset || k % site_bytes >= link_offset + 72 * real_bytes(precision))
      CHECK(sites[k] == before[k], "byte %zu is no link's", k);
  free(before);
}

/* A heavy-quark solve of both kinds, as each step of a trajectory has them. */
static void solve_some_masses(int precision) {
  problem p = make_problem(precision, convention_from(0, 0, 0, 0));
  call c = plain_call(precision, 0);
  guarded_memory x = zero_guess(&p, 0), y = make_milc_vector(&l, precision);
  const outcome o = invert(&p, &c, &x);
  CHECK(o.residual < target && o.iterations > 10, "%g", o.residual);
  void *solutions[2] = {x.at, y.at};
  double offsets[2] = {0.1, 0.7}, targets[2] = {target, target}, none[2] = {0, 0}, residuals[2], relative[2];
  int iterations = 0;
  qudaMultishiftInvert(precision, 2, 2, offsets, args_of(&c), targets, none, p.fat.at, p.lng.at, p.source.at, solutions,
                       residuals, relative, &iterations);
  CHECK(residuals[0] < target && residuals[1] < target, "%g, %g", residuals[0], residuals[1]);
  tell("residuals", residuals, 2);
  memory_free(&x);
  memory_free(&y);
  free_problem(&p);
}

static int fail(const char *what) {
  QudaMILCSiteArg_t arg = site_arg();
  const milc_convention phased = convention_from(0, 0, 0, 0);
  double plaquettes[3], loop[2];
  if (strcmp(what, "early") != 0) connect_milc(QUDA_SUMMARIZE);
  bring_links(2, &phased);
  for (long site = 0; strcmp(what, "link") == 0 && site < host_volume(&l); ++site) {
    int at[4];
    const long place = milc_site(&l, site, at);
    if (memcmp(at, (const int[4]){3, 2, 5, 7}, sizeof at) == 0)
      memset(sites + place * site_bytes + link_offset + 2 * 144, 0, 144);
  }
  if (strcmp(what, "nan") == 0) memset(sites + link_offset, 0xff, 8);
  if (strcmp(what, "size") == 0) arg.size = 800;
  if (strcmp(what, "direction") == 0) qudaPolyakovLoopPhased(2, loop, 4, &arg, 1);
  if (strcmp(what, "open") == 0)
    qudaGaugeLoopTracePhased(2, plaquettes, milc_paths, (int[1]){3}, (double[1]){1}, 1, 6, 1, &arg, 1);
  if (strcmp(what, "link") == 0) qudaUnitarizeSU3Phased(2, 1e-10, &arg, 1);
  if (strcmp(what, "phases") == 0) qudaUnitarizeSU3(2, 1e-10, &arg);
  if (strcmp(what, "null") == 0) qudaMomAction(2, NULL);
  qudaPlaquettePhased(2, plaquettes, &arg, 1);
  printf("%s went through\n", what);
  return 0;
}

int main(int argc, char **argv) {
  make_plain_fields();
  for (int i = 0; i < loop_count; ++i) {
    milc_paths[i] = milc_loops[i];
    for (int k = 0; k < lengths[i]; ++k) milc_loops[i][k] = loops[i][k] < 0 ? 8 + loops[i][k] : loops[i][k];
  }
  l = whole;
  MPI_Comm milcs = MPI_COMM_NULL;
  const int fails = argc >= 3 && strcmp(argv[1], "fails") == 0, rest = argc - 1 - 2 * fails;
  if (rest == 4) {
    MPI_Init(&argc, &argv);
    milcs = place_ranks(argv + argc - 4);
  } else if (rest != 0) {
    return 2;
  }
  sites = malloc((size_t)host_volume(&l) * site_bytes);
  memset(sites, 0x5a, (size_t)host_volume(&l) * site_bytes);
  if (fails) return fail(argv[2]);
  connect_milc(QUDA_VERBOSE);
  for (int precision = 2; precision >= 1; --precision) {
    for (int phase_in = 0; phase_in < 2; ++phase_in) measure(precision, phase_in);
    momenta_have_an_action(precision);
    for (int phase_in = 0; phase_in < 2; ++phase_in) links_come_back_into_the_group(precision, phase_in);
    solve_some_masses(precision);
  }
  qudaFinalize();
  if (milcs != MPI_COMM_NULL) {
    MPI_Comm_free(&milcs);
    MPI_Finalize();
  }
  return end();
}
