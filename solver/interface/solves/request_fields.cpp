#include "solver/interface/solves/request_fields.hpp"

#include "solver/interface/structs.hpp"

namespace staghorn {

namespace {

using Request = staghorn_request;

struct Choice {
  const char* name;
  std::int32_t Request::*field;
  long first = 1, last = 0;  // none: its check is of another form
};
constexpr Choice choices[] = {{"request.system", &Request::system, STAGHORN_FULL, STAGHORN_ODD},
                              {"request.sign", &Request::sign},
                              {"request.halved", &Request::halved, 0, 1},
                              {"request.precision", &Request::precision, STAGHORN_FP64, STAGHORN_FP32},
                              {"request.sloppy", &Request::sloppy, STAGHORN_FP64, STAGHORN_AUTO_SLOPPY},
                              {"request.sloppy_reals", &Request::sloppy_reals},
                              {"request.stop", &Request::stop, STAGHORN_STOP_ON_SYSTEM, STAGHORN_STOP_ON_PARITY},
                              {"request.guess", &Request::guess, 0, 1},
                              {"request.chronological", &Request::chronological, 0, 32}};

struct Number {
  const char* name;
  double Request::*field;
};
constexpr Number numbers[] = {{"request.mass", &Request::mass},
                              {"request.tolerance", &Request::tolerance},
                              {"request.tolerance_hq", &Request::tolerance_hq}};

}  // namespace

void check(const Request& request) {
  for (const auto& [name, field, first, last] : choices)
    if (first <= last) check_choice(name, request.*field, first, last);
  if (request.sign != 1 && request.sign != -1)
    throw Error(ErrorKind::argument, "request.sign", "+1 or -1", request.sign);
  for (const auto& [name, field] : numbers) check_finite(name, request.*field);
  if (request.max_iterations < 0 && request.max_iterations != STAGHORN_NO_LIMIT)
    throw Error(ErrorKind::argument, "request.max_iterations", "a number of at least 0, or STAGHORN_NO_LIMIT",
                request.max_iterations);
  if (request.tolerance_hq < 0)
    throw Error(ErrorKind::argument, "request.tolerance_hq", "a number of at least 0", request.tolerance_hq);
}

void add(Asked& asked, const Request& request) {
  for (const Choice& choice : choices) asked.add(choice.name, request.*choice.field);
  for (const Number& number : numbers) asked.add(number.name, request.*number.field);
  asked.add("request.max_iterations", request.max_iterations);
  asked.add("request.words", in_one_line(texts_of(request.words)).c_str());
}

SolveOptions options_of(const Request& given, OptionsOf whose, const SessionOptions& asked, bool improved) {
  SolveOptions options{asked, {}, {}, {}};
  SolveRequest& request = options.request;
  request.system = given.system == STAGHORN_FULL   ? System::full
                   : given.system == STAGHORN_EVEN ? System::even
                                                   : System::odd;
  request.mass = given.mass;
  request.chronological = given.chronological;
  if (given.tolerance != 0) request.tolerance = given.tolerance;
  if (given.tolerance_hq > 0) request.tolerance_hq = given.tolerance_hq;
  if (given.max_iterations != STAGHORN_NO_LIMIT) request.max_iterations = given.max_iterations;
  if (given.stop == STAGHORN_STOP_ON_PARITY) request.stop = StopOn::parity;
  SessionOptions& session = options.session;
  if (given.precision != STAGHORN_FP64) session.precision = Precision(given.precision);
  if (given.sloppy != STAGHORN_AUTO_SLOPPY) {
    session.sloppy_auto = false;
    session.sloppy.reset();
    if (given.sloppy != STAGHORN_NO_SLOPPY) session.sloppy = Precision(given.sloppy);
  }
  check_reals("request.sloppy_reals", given.sloppy_reals, improved ? LinkKind::naik : LinkKind::thin);
  if (session.sloppy && given.sloppy_reals != 0)
    (improved ? session.sloppy_naik_links : session.sloppy_links) = form_of(given.sloppy_reals);
  set_texts(options, texts_of(given.words), whose);
  if (request.system != System::full) request.stop = StopOn::system;  // both are the same
  // Fermilab's residual of a halved operator is halved, too.
  if (request.tolerance_hq) *request.tolerance_hq *= source_scale(given, request.system);
  return options;
}

double source_scale(const Request& request, System system) {
  if (!request.halved) return 1;
  return system == System::full ? 2 : 4;
}

}  // namespace staghorn
