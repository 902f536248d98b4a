/* Random calls of what MILC calls, many of them wrong, in any order. Errors come to `terminate`, which MILC has and
 * which leaves by longjmp here.
 *
 *   random_calls NUMBER [SEED]
 *
 * Arrays are NULL or large enough for the one lattice that can be accepted; links and vectors change in place, now and
 * then to what no host should have. Prints how many calls came back and how many ended. A call that came back must have
 * told residuals that are true. The sanitizers look for the rest. */
#define _GNU_SOURCE
#include <quda.h>
#include <quda_milc_interface.h>
#include <setjmp.h>

#include "../hosts/draws.h"
#include "milc_fields.h"

static jmp_buf way_out;
void terminate(int status) { longjmp(way_out, status); }

static int rarely(void) { return one_of(30) == 0; }
static int wrong_int(void) {
  static const int values[] = {-1, 0, 1, 2, 3, 4, 7, 64, 65, 1515870810, INT32_MAX, INT32_MIN};
  return values[one_of((int)(sizeof values / sizeof *values))];
}
static double wrong_double(void) {
  const double values[] = {-1, 0, 1, 5e-324, 1e-300, 1e300, NAN, INFINITY, 1e-30, 0.5, 1e-12};
  return values[one_of((int)(sizeof values / sizeof *values))];
}
static void *or_null(void *pointer) { return rarely() ? NULL : pointer; }

enum { most = 3 };
static struct { guarded_memory fat, lng, other, source[most], solution[most]; } fields[3]; /* by precision, 1 and 2 */

static void change_fields(int precision) {
  const double factor = one_of(3) ? 1 : 0.5;
  milc_convention c = convention_from(one_of(2), one_of(2), one_of(2), one_of(8));
  if (one_of(6) == 0) c.twist = 0.25;
  guarded_memory *fat = &fields[precision].fat;
  if (one_of(3) == 0) fill_milc_links(&whole, precision, &c, plain_links, 1, fat);
  char *somewhere = fat->at + (size_t)one_of(72 * 768) * real_bytes(precision);
  if (one_of(25) == 0) put_real(somewhere, precision, wrong_double());
  char *far = fields[precision].lng.at + (size_t)one_of(72 * 768) * real_bytes(precision);
  if (one_of(100) == 0) put_real(far, precision, wrong_double());
  if (one_of(3) == 0) memset(fields[precision].lng.at, 0, fields[precision].lng.bytes);
  for (int i = 0; i < most; ++i) {
    fill_milc_vector(&whole, precision, &c, plain_source, factor, -1, &fields[precision].source[i]);
    if (one_of(40) == 0) memset(fields[precision].source[i].at, 0, fields[precision].source[i].bytes);
    if (one_of(40) == 0)
      put_real(fields[precision].source[i].at + 6 * real_bytes(precision), precision, wrong_double());
    memset(fields[precision].solution[i].at, 0, fields[precision].solution[i].bytes);
    if (one_of(40) == 0) put_real(fields[precision].solution[i].at, precision, wrong_double());
  }
}

static QudaInvertArgs_t random_args(void) {
  QudaInvertArgs_t args;
  memset(&args, one_of(256), sizeof args);
  args.max_iter = rarely() ? wrong_int() : one_of(40);
  if (args.max_iter > 1000 && args.max_iter != 1515870810) args.max_iter = 1000;
  const int parity = rarely() ? wrong_int() : one_of(2);
  memcpy(&args.evenodd, &parity, sizeof parity);
  args.mixed_precision = rarely() ? wrong_int() : one_of(3);
  return args;
}

static void start(void) {
  static int sizes[4], machine[4];
  for (int mu = 0; mu < 4; ++mu) {
    sizes[mu] = whole.n[mu];
    machine[mu] = 1;
  }
  /* No other lattice that could be accepted: the fields are for this one. */
  static const int wrong_sizes[] = {0, -4, 3, 1 << 21, INT32_MAX, INT32_MIN};
  if (rarely()) sizes[one_of(4)] = wrong_sizes[one_of(6)];
  if (rarely()) machine[one_of(4)] = one_of(2) ? 2 : wrong_int();
  const int verbosity = rarely() ? wrong_int() : QUDA_SILENT;
  QudaInitArgs_t init = {QUDA_SILENT, {or_null(sizes), or_null(machine), rarely() ? wrong_int() : 0}};
  if (verbosity < QUDA_VERBOSE) memcpy(&init.verbosity, &verbosity, sizeof verbosity);
  if (init.layout.device > 0) init.layout.device = 0; /* the number of a GPU may be that of one */
  qudaInit(init);
}

/* Observables and links; what is in the fields is what random calls have left there. */
static void random_measurement(int held, int said) {
  guarded_memory *u = &fields[held].fat;
  QudaMILCSiteArg_t arg = {NULL, or_null(u->at), 0, or_null(u->at), 0, 0};
  if (one_of(3) == 0) { /* an array of sites that are nothing but links; 36 of their numbers are momenta, too */
    arg.site = or_null(u->at);
    arg.size = rarely() ? (size_t)one_of(72 * (int)real_bytes(held)) : 72 * real_bytes(held);
    if (rarely()) arg.mom_offset = SIZE_MAX - 7;
    if (rarely()) arg.link_offset = 4;
  }
  QudaMILCSiteArg_t *site = or_null(&arg);
  double plaquettes[3], loop[2], traces[4], factors[2] = {1, -0.5};
  int plane[4] = {0, 1, 7, 6}, back[4] = {4, 4, 3, rarely() ? wrong_int() : 3},
      lengths[2] = {4, rarely() ? wrong_int() : 4};
  if (lengths[1] > 4) lengths[1] = 4;
  int *paths[2] = {or_null(plane), back};
  const int direction = rarely() ? wrong_int() : one_of(4), n = rarely() ? wrong_int() : 2, phase_in = one_of(2);
  const QudaFatLinkArgs_t none = {0, 0};
  const double smearing[6] = {0.625, -1.0 / 24, -0.0625, 1.0 / 64, rarely() ? wrong_double() : -1.0 / 384, -0.0625};
  guarded_memory *made = &fields[held].lng;
  switch (one_of(7)) {
    case 0:
      return qudaPlaquettePhased(said, or_null(plaquettes), site, phase_in);
    case 1:
      return qudaPolyakovLoopPhased(said, or_null(loop), direction, site, phase_in);
    case 2:
      return qudaGaugeMeasurementsPhased(said, plaquettes, or_null(loop), direction, or_null(traces), paths, lengths,
                                         or_null(factors), n > 2 ? 0 : n, 4, wrong_double(), site, phase_in);
    case 3:
      (void)qudaMomAction(said, site);
      return;
    case 4:
      return qudaUnitarizeSU3Phased(said, rarely() ? wrong_double() : 1e-6, site, 1);
    case 5:
      return qudaLoadKSLink(said, none, smearing, or_null(u->at), or_null(made->at), NULL);
    default:
      return qudaLoadUnitarizedLink(said, none, smearing, or_null(u->at), one_of(2) ? made->at : NULL,
                                    one_of(2) ? or_null(fields[held].other.at) : made->at);
  }
}

static double judged, told; /* residual of the last solve, recomputed; NAN: not to be compared. And as it was told */
static void random_call(void) {
  const int held = 1 + one_of(2), said = rarely() ? wrong_int() : held;
  if (one_of(2)) change_fields(held);
  if (said == 3 - held) return; /* would be an honest call with the other fields */
  guarded_memory *fat = &fields[held].fat, *lng = &fields[held].lng;
  guarded_memory *b = fields[held].source, *x = fields[held].solution;
  const QudaInvertArgs_t args = random_args();
  const int quda = rarely() ? wrong_int() : 1 + one_of(2);
  const double mass = rarely() ? wrong_double() : 0.3;
  double targets[most], relatives[most], residuals[64], relative_residuals[64], offsets[most] = {0.36, 0.5, 1.2};
  for (int i = 0; i < most; ++i) {
    targets[i] = rarely() ? wrong_double() : one_of(3) ? 1e-6 : 0;
    relatives[i] = rarely() ? wrong_double() : one_of(3) ? 0 : 1e-5;
    if (rarely()) offsets[i] = wrong_double();
  }
  void *sources[most] = {or_null(b[0].at), b[1].at, or_null(b[2].at)};
  void *solutions[most] = {or_null(x[0].at), x[1].at, or_null(x[2].at)};
  int iterations = one_of(2) ? 0 : -1;
  int n = rarely() ? wrong_int() : 1 + one_of(most);
  if (n > most) n = 0; /* arrays hold no more */
  judged = NAN;
  switch (one_of(40)) {
    case 0:
      return qudaFinalize();
    case 1:
      return start();
    case 2:
      return qudaFreePinned(qudaAllocatePinned(rarely() ? SIZE_MAX : (size_t)one_of(10000)));
    case 3:
      return qudaSetMPICommHandle(NULL);
    default:
      break;
  }
  if (one_of(4) == 0) return random_measurement(held, said);
  switch (one_of(8)) {
    case 0:
    case 1:
      qudaDslash(said, quda, args, or_null(fat->at), or_null(lng->at), sources[0], solutions[0], or_null(&iterations));
      return;
    case 2:
      qudaInvertMsrc(said, quda, mass, args, targets[0], relatives[0], or_null(fat->at), or_null(lng->at), sources,
                     or_null(solutions), or_null(residuals), or_null(relative_residuals), or_null(&iterations), n);
      return;
    case 3:
      qudaMultishiftInvert(said, quda, n, or_null(offsets), args, targets, or_null(relatives), or_null(fat->at),
                           or_null(lng->at), sources[0], solutions, or_null(residuals), relative_residuals,
                           or_null(&iterations));
      return;
    default:
      qudaInvert(said, quda, mass, args, targets[0], relatives[0], fat->at, or_null(lng->at), sources[0], solutions[0],
                 or_null(residuals), relative_residuals, or_null(&iterations));
      if (one_of(20) || held == 1) return;
      const int parity = (int)args.evenodd;
      judged = own_residuals(2, fat, lng, 4 * mass * mass, parity, &b[0], &x[0]).l2;
      told = residuals[0];
  }
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  const long number = atol(argv[1]);
  state = argc > 2 ? (uint64_t)atol(argv[2]) : 1;
  make_plain_fields();
  for (int precision = 1; precision <= 2; ++precision) {
    fields[precision].fat = make_milc_links(&whole, precision);
    fields[precision].lng = make_zero_links(&whole, precision);
    fields[precision].other = make_zero_links(&whole, precision);
    for (int i = 0; i < most; ++i) {
      fields[precision].source[i] = make_milc_vector(&whole, precision);
      fields[precision].solution[i] = make_milc_vector(&whole, precision);
    }
    const milc_convention plain = convention_from(0, 0, 0, 0);
    fill_milc_links(&whole, precision, &plain, plain_links, 1, &fields[precision].fat);
    change_fields(precision);
  }
  if (!freopen("/dev/null", "w", stderr)) return 2; /* a line for each error */
  volatile long back = 0, ended = 0, judgements = 0, lies = 0;
  for (volatile long turn = 0; turn < number; ++turn) {
    if (setjmp(way_out)) {
      ++ended;
      continue;
    }
    if (turn % 50 == 0) start();
    random_call();
    ++back;
    if (isfinite(judged)) {
      ++judgements;
      lies += !(fabs(judged - told) < 1e-2 * judged + 1e-14);
    }
  }
  if (!setjmp(way_out)) qudaFinalize();
  printf("back %ld ended %ld judged %ld lies %ld\n", back, ended, judgements, lies);
  return lies != 0;
}
