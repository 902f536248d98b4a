#include "solver/request/option_table.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "dirac/fields/vector_shape.hpp"
#include "dirac/kernels/experiments/bit_flips.hpp"
#include "halo/named_choice.hpp"
#include "halo/transport/transport_table.hpp"
#include "halo/watch/error.hpp"
#include "solver/request/eigen_request.hpp"
#include "solver/request/option_text.hpp"
#include "solver/request/words/did_you_mean.hpp"

namespace staghorn {

namespace {

template <class Field>
std::optional<std::string> text_of(const Field& value) {
  if constexpr (requires { value.has_value(); }) {
    return value ? text_of(*value) : std::nullopt;
  } else if constexpr (requires { option_text(value); }) {
    return option_text(value);
  } else {
    return to_string(value);
  }
}

// `parse`: text to value. `field` of `part`: where the value stands.
template <class Parse, class Part, class Owner, class Field>
Option row(OptionGroup group, const char* name, const char* value, std::string help, Parse parse,
           Part SolveOptions::*part, Field Owner::*field) {
  const auto set = [=](SolveOptions& options, const std::string& text) { (options.*part).*field = parse(text); };
  return {group,
          name,
          value,
          std::move(help),
          set,
          text_of((SolveOptions().*part).*field),
          std::is_base_of_v<Owner, SolveNumbers>};
}

// A row of the quarks of a session.
template <class Parse, class Field>
Option quark_row(const char* name, const char* value, std::string help, Parse parse, Field QuarkAction::*field) {
  const auto set = [=](SolveOptions& options, const std::string& text) { options.session.quarks.*field = parse(text); };
  return {OptionGroup::lattice_operator, name, value, std::move(help), set, text_of(QuarkAction().*field)};
}

Option once(const char* old_name, Option option) {
  option.old_name = old_name;
  return option;
}

Option without_default(Option option) {
  option.default_text.reset();
  return option;
}

Option by_default(const char* text, Option option) {
  option.default_text = text;
  return option;
}

// A parser of whole numbers in this range.
auto whole_number(int least, int most = std::numeric_limits<int>::max()) {
  return [=](const std::string& text) {
    const int n = parse_number<int>(text);
    if (n >= least && n <= most) return n;
    const bool ends = most < std::numeric_limits<int>::max();
    throw Error("value",
                ends ? "a number from " + std::to_string(least) + " to " + std::to_string(most)
                     : "a number of at least " + std::to_string(least),
                n);
  };
}

std::string parse_text(const std::string& text) { return text; }

// M or M:E between commas. A mass without an epsilon has that of the links.
void set_masses(SolveOptions& options, const std::string& text) {
  SolveRequest& request = options.request;
  request.masses.clear();
  request.naik_epsilons.clear();
  for (const std::string& word : parse_words(text)) {
    const std::size_t colon = word.find(':');
    request.masses.push_back(parse_number<double>(word.substr(0, colon)));
    request.naik_epsilons.emplace_back();
    if (colon != std::string::npos) request.naik_epsilons.back() = parse_number<double>(word.substr(colon + 1));
  }
  if (text.find(':') == std::string::npos) request.naik_epsilons.clear();
}

struct SloppyWord {
  std::optional<Precision> precision;
  bool is_auto = false;
  bool operator==(const SloppyWord&) const = default;
};
constexpr NamedChoice<SloppyWord, 4> sloppy_words{
    "sloppy", {{{{{}, true}, "auto"}, {{Precision::fp32}, "fp32"}, {{Precision::fp16}, "fp16"}, {{}, "none"}}}};

void set_sloppy(SolveOptions& options, const std::string& text) {
  const SloppyWord word = sloppy_words.parse(text);
  options.session.sloppy = word.precision;
  options.session.sloppy_auto = word.is_auto;
}

Reconstruct parse_fat_form(const std::string& text) {
  if (text != "18") throw Error("fat_links", "18, as fat links are not unitary", "'" + text + "'");
  return Reconstruct::none18;
}

double parse_mass(const std::string& text) {
  if (text.find(',') != std::string::npos) throw Error("mass", "a number; several are `masses`", "'" + text + "'");
  return parse_number<double>(text);
}

std::vector<Option> make_table() {
  using enum OptionGroup;
  using O = SolveOptions;
  return {
      without_default(row(problem, "mass", "M", "lattice mass a m; > 0 for the full system", parse_mass, &O::request,
                          &SolveRequest::mass)),
      {problem, "masses", "M[:E],M[:E],...",
       "several masses at once, in about the time of the smallest, instead of `mass` (multi-shift CG); the solution "
       "and the report have an entry for each mass and source, mass by mass; HISQ: E is the Naik epsilon of a mass, "
       "and "
       "masses of one epsilon go together",
       set_masses, std::nullopt},
      without_default(
          row(problem, "rational", "FILE[:NAME[:N]]",
              "instead of `mass`: f(-D^2) b on one parity, the N-th rational function NAME (MD, GR, FA) of a "
              "file of MILC",
              parse_rational, &O::request, &SolveRequest::rational)),
      row(problem, "rational_parts", "", "write the solution of each pole instead of their sum", parse_switch,
          &O::request, &SolveRequest::rational_parts),
      row(problem, "system", "full|even|odd",
          "(2m + D) x = b on all sites, or (4m^2 - D^2) x = b on one parity, where b is projected", parse_system,
          &O::request, &SolveRequest::system),
      row(problem, "source", "SOURCE",
          "point:x,y,z,t | corner-wall:t | even-wall:t | wall:t | z2-wall:t,SEED | u1-wall:t,SEED | "
          "z2-corner-wall:t,SEED | "
          "u1-corner-wall:t,SEED | z2:SEED | gaussian:SEED | file:F; operators follow "
          "it, "
          "each behind an @: spin-taste operators, as @G5-G5X or @pion5+rhoz, a momentum, as @p100, a time slice that "
          "is kept, as @t4",
          parse_source, &O::source, &SourceRequest::spec),
      by_default("all", row(problem, "color", "0|1|2|all",
                            "colour of a point or wall source; all three give the pion correlator too", parse_color,
                            &O::source, &SourceRequest::color)),
      row(problem, "noise_vectors", "N",
          "right-hand sides drawn for a noise source; the chiral condensate is averaged over them", whole_number(1),
          &O::source, &SourceRequest::noise_vectors),
      {problem, "mesons", "NAME[:pXYZ[:SYM]],...",
       "mesons of a point or wall with all three colours: spin-taste operators of MILC (pion5, rhox0, G5-G5X), "
       "all-local or all, or currents with links (conserved-x, rhoxsfn, rhoxsape); momentum in units of 2 pi / n; "
       "E, O or EO for each direction (default: E)",
       [](SolveOptions& options, const std::string& text) { options.request.mesons = parse_mesons(text); },
       std::nullopt},
      {problem, "baryons", "nucleon,delta",
       "baryons of a point or wall with all three colours: the nucleon of all masses of its quarks, Delta of equal "
       "ones",
       [](SolveOptions& options, const std::string& text) { options.request.baryons = parse_baryons(text); },
       std::nullopt},
      {problem, "pairs", "A:B,...",
       "the antiquark of `mesons` is of source A and the quark of source B, by their numbers in `sources`, from 0 "
       "(default: each source with itself)",
       [](SolveOptions& options, const std::string& text) { options.request.pairs = parse_pairs(text); }, std::nullopt},
      without_default(row(problem, "sources", "LIST|@FILE",
                          "many sources, each as for `source`: separated by `;`, or one a line in a file; `batch` of "
                          "them are solved at a time, and each solution is written when it is certified",
                          parse_text, &O::many, &ManySources::list)),
      row(problem, "phases", "cps|milc", "staggered phases in which sources and solutions are understood",
          parse_phase_convention, &O::request, &SolveRequest::phases),

      row(solver, "tolerance", "TOL",
          "relative residual |b - M x| / |b| to reach (default: 1e-10 in fp64, 1e-5 in fp32)", parse_number<double>,
          &O::request, &SolveRequest::tolerance),
      row(solver, "tolerance_hq", "TOL",
          "Fermilab's residual for heavy quarks to reach too: sqrt of the mean of |r(x)|^2 / |x(x)|^2 over sites",
          parse_number<double>, &O::request, &SolveRequest::tolerance_hq),
      row(solver, "max_iterations", "N",
          "of Conjugate Gradient, for each right-hand side (default: no number; a search ends where it stagnates, or "
          "has taken far more iterations than its coefficients foresee)",
          parse_number<long>, &O::request, &SolveRequest::max_iterations),
      without_default(row(solver, "batch", "N",
                          "right-hand sides that share links at a time; where one is done, the next takes its place "
                          "(default: all at once; with `sources` 16, or as many as memory holds)",
                          whole_number(1, max_rhs), &O::many, &ManySources::batch)),
      row(solver, "checkpoint", "F",
          "keep the state of the solve in this file, from time to time and when a signal asks for it", parse_text,
          &O::request, &SolveRequest::checkpoint),
      row(solver, "checkpoint_every", "SECONDS", "between two checkpoints", parse_number<double>, &O::request,
          &SolveRequest::checkpoint_every),
      row(solver, "resume", "",
          "go on from `checkpoint`, on any ranks, grid or device, with no bit changed; begin where there is none",
          parse_switch, &O::request, &SolveRequest::resume),
      row(solver, "chronological", "N",
          "guess from up to N earlier solutions of the session by minimum residual, and keep the last N",
          whole_number(0, 32), &O::request, &SolveRequest::chronological),
      row(lattice_operator, "eigenvectors", "F",
          "low eigenpairs of this operator from a file of `staghorn eigen` or MILC; solves take them out of the "
          "residual and need fewer iterations",
          parse_text, &O::session, &SessionOptions::eigenvectors),
      row(lattice_operator, "eigenpairs", "K",
          "where the file of `eigenvectors` does not exist: find and certify the K lowest eigenpairs, as `staghorn "
          "eigen` "
          "does, and write them to it",
          whole_number(1, EigenRequest::most_pairs), &O::session, &SessionOptions::eigenpairs),
      row(solver, "deflate", "on|off", "use the eigenpairs of `eigenvectors`, if there are any", parse_switch,
          &O::request, &SolveRequest::deflate),
      row(lattice_operator, "coarse", "F",
          "vectors of `staghorn coarse` or eigenvectors, cut into blocks; solves work in their space by coarse solves: "
          "`solver` multigrid (the default with it) or deflated",
          parse_text, &O::session, &SessionOptions::coarse),
      row(lattice_operator, "coarse_block", "x,y,z,t",
          "with `coarse`: the extents of a block (default: those of the file, else 4 in each direction)", parse_extents,
          &O::session, &SessionOptions::coarse_block),
      row(problem, "exact_low_modes", "",
          "the part that `eigenvectors` hold is exact in condensates, where noise is for the rest; pion correlators "
          "have it from all translates of the source",
          parse_switch, &O::request, &SolveRequest::exact_low_modes),
      row(solver, "recover", "",
          "after a fault: go back to the last solution that was good, pack the links again and go on", parse_switch,
          &O::request, &SolveRequest::recover),

      quark_row("action", "naive|asqtad|hisq",
                "which staggered quarks; links of asqtad and HISQ are made from thin links", parse_action,
                &QuarkAction::action),
      quark_row("u0", "U", "asqtad: tadpole factor (default: 1)", parse_number<double>, &QuarkAction::u0),
      quark_row("naik_epsilon", "E", "HISQ: correction of one-link and Naik terms for heavy quarks (default: 0)",
                parse_number<double>, &QuarkAction::naik_epsilon),
      quark_row("unitarize", "u3|su3",
                "HISQ: group onto which the first level is projected, u3 as MILC, su3 as Chroma (default: u3)",
                parse_unitarize, &QuarkAction::unitarize),
      quark_row("fat", "F", "stored fat links (SciDAC or HDF5) in place of thin ones, with `naik`", parse_text,
                &QuarkAction::fat),
      once("long", quark_row("naik", "F", "stored Naik (long) links, of three steps and with their coefficient",
                             parse_text, &QuarkAction::naik)),
      quark_row("phases_in_links", "milc|cps|none", "staggered phases in stored links (default: found from the links)",
                parse_link_phases, &QuarkAction::phases_in_links),
      row(lattice_operator, "boundary", "px,py,pz,pt",
          "boundary condition in each direction: periodic, antiperiodic, or a phase in units of pi", parse_boundary,
          &O::session, &SessionOptions::boundary),
      row(lattice_operator, "precision", "fp64|fp32",
          "of the vectors and links that CG works on; the answer is always checked in fp64", parse_precision,
          &O::session, &SessionOptions::precision),
      row(lattice_operator, "links", "18|12|8",
          "reals stored per link; 12 keeps two rows, 8 as many as SU(3) has dimensions: faster, most on GPUs; both "
          "imply `reunitarize`",
          parse_reconstruct, &O::session, &SessionOptions::links),
      {lattice_operator, "sloppy", "auto|fp32|fp16|none",
       "mixed precision: iterate in this, update in `precision` fp64 (reliable updates); auto: fp16 for one mass of at "
       "least 0.002 on at least 1,000,000 sites, or of at least 0.005 and improved quarks on at least 100,000, else "
       "fp32; "
       "none in `precision` fp32 and where `solver` or `blas` take none",
       set_sloppy, "auto", true},
      row(lattice_operator, "sloppy_links", "18|12|8", "reals per link in the iterations (default: 12)",
          parse_reconstruct, &O::session, &SessionOptions::sloppy_links),
      row(lattice_operator, "fat_links", "18", "reals stored per fat link, which is not unitary", parse_fat_form,
          &O::session, &SessionOptions::fat_links),
      row(lattice_operator, "naik_links", "18|13|9",
          "reals stored per Naik link; 13 and 9 hold unitary links and project them onto U(3)", parse_naik_form,
          &O::session, &SessionOptions::naik_links),
      row(lattice_operator, "sloppy_naik_links", "18|13|9",
          "reals per Naik link in the iterations (default: 13, or 18 where they are not unitary)", parse_naik_form,
          &O::session, &SessionOptions::sloppy_naik_links),
      row(lattice_operator, "reunitarize", "", "project the links onto SU(3) first (files hold them to 1e-7 only)",
          parse_switch, &O::session, &SessionOptions::reunitarize),
      row(lattice_operator, "dataset", "NAME",
          "of a gauge file in HDF5: the dataset that holds the links, as links or group/links (default: links)",
          parse_text, &O::session, &SessionOptions::dataset),
      row(lattice_operator, "keep_thin_links", "",
          "asqtad, HISQ: keep the thin links, for operators of `mesons` with shifts, and for `masses` of another "
          "epsilon; the program does where it needs them",
          parse_switch, &O::session, &SessionOptions::keep_thin_links),
      row(lattice_operator, "no_verify", "",
          "read files whose checksums are absent or wrong; summary and report then say that the input is unverified",
          parse_switch, &O::session, &SessionOptions::no_verify),
      row(lattice_operator, "no_probe", "",
          "read HDF5 files in this process at once; else a child meets each of them first, as the HDF5 library may "
          "crash "
          "on a damaged file. In a library call no child does, unless `no_probe` is false",
          parse_switch, &O::session, &SessionOptions::no_probe),

      row(machine, "grid", "x,y,z,t",
          "process grid, its product the number of ranks (default: the one with the least surface)", parse_extents,
          &O::session, &SessionOptions::grid),
      row(machine, "shares", "SHARES",
          "how much of a direction each slab of the grid gets, to the nearest even width: t=3:1, x=1:2,t=3:1:1; 3:1 is "
          "t=3:1; without `grid` the directions named are cut so often; auto measures what each rank can do (default: "
          "equal shares)",
          parse_asked_shares, &O::session, &SessionOptions::shares),
      row(machine, "mapping", "host|natural|reversed",
          "ranks in the grid: a box on each host, so that large faces stay within; as numbered, x fastest; or t "
          "fastest",
          parse_mapping, &O::session, &SessionOptions::mapping),
      row(machine, "loopback", "xyzt", "directions to cut although one process holds them, so that the halo code runs",
          parse_directions, &O::session, &SessionOptions::loopback),
      row(machine, "device", "auto|cpu|cuda[:n]",
          "where to compute; auto takes a GPU if there is one; with auto and cuda the ranks of a host take its GPUs in "
          "turn. A list with commas, such as cuda:0,cuda:2: the ranks of a host take its entries in turn",
          parse_text, &O::session, &SessionOptions::device),
      row(machine, "transport", "NAME",
          "how faces travel. Between CPUs: " + describe_transports(MemorySpace::host) +
              ". Between GPUs: " + describe_transports(MemorySpace::cuda) + ". auto tests all and takes the fastest",
          parse_text, &O::session, &SessionOptions::transport),
      row(machine, "overlap", "on|off", "compute interior sites while faces travel", parse_switch, &O::session,
          &SessionOptions::overlap),
      row(machine, "tuning", "on|off|again",
          "time ways to launch kernels on a GPU, once, and remember the fastest in the user's cache folder; off "
          "neither reads nor writes there; the result never depends on it (default: STAGHORN_TUNING, or on)",
          parse_tuning, &O::session, &SessionOptions::tuning),
      row(machine, "solver", "NAME",
          "the Krylov method: cg, mixed (with `sloppy`), block (right-hand sides share directions; 2 to 16 of them, "
          "also with `sloppy` fp32), flexible (with `preconditioner`), deflated or multigrid (with `coarse`) or cublas "
          "(with "
          "`blas` cublas); auto: the one "
          "that the other options ask for",
          parse_text, &O::session, &SessionOptions::solver),
      row(machine, "coarse_tolerance", "TOL",
          "with `coarse`: the relative residual of coarse solves; smaller takes fewer iterations, each of which takes "
          "longer",
          parse_number<double>, &O::session, &SessionOptions::coarse_tolerance),
      row(machine, "preconditioner", "none|chebyshev:N",
          "chebyshev:N: each iteration of CG contains N products with A that need no global sum, in the sloppy "
          "precision if there is one; the iterations are some N + 1 times fewer. For many ranks, where sums are slow",
          parse_text, &O::session, &SessionOptions::preconditioner),
      row(machine, "blas", "fused|cublas",
          "vector operations: fused into the hops, or one call of cuBLAS each, as a baseline to compare with (GPU "
          "only; alone without the promise of the same bits everywhere)",
          parse_blas, &O::session, &SessionOptions::blas),
      row(machine, "certificate", "auto|host|device",
          "where the fp64 residual of an answer is computed: on the host, or on the GPU that solves, with the same "
          "bits; auto: on that GPU if its memory has room for it",
          parse_certificate_place, &O::session, &SessionOptions::certificate),
      row(machine, "eigenvectors_on", "auto|device|host",
          "where `eigenvectors` of a GPU lie: in its memory, or on the host, from where it reads them each time they "
          "are used; auto: on the device where they fit beside the solve",
          parse_eigenvector_place, &O::session, &SessionOptions::eigenvectors_on),

      row(experiments, "slow_device", "RANK:F,...",
          "hops of these ranks take F times as long, for they wait; no bit depends on it (default: none)",
          parse_slow_ranks, &O::session, &SessionOptions::slow_device),
      {experiments, "inject", "WHAT:CALL[:SEED],...",
       "change a bit of a link, vector, halo or sum that a kernel reads after so many calls of kernels",
       [](O& options, const std::string& text) { options.session.inject = std::make_shared<BitFlips>(text); },
       std::nullopt},
  };
}

}  // namespace

const std::vector<Option>& solve_options() {
  static const std::vector<Option> table = make_table();
  return table;
}

const Option& find_option(const std::string& name) {
  for (const Option& option : solve_options())
    if (name == option.name || (*option.old_name && name == option.old_name)) return option;
  throw Error("option", "one of a session or of a solve", "'" + name + "'");
}

void set_option(SolveOptions& options, const std::string& name, const std::string& text) {
  const Option& option = find_option(name);
  try {
    option.set(options, text);
  } catch (const Error& error) {
    throw Error(error.kind(), with_did_you_mean(about_option(option.name, error.what())));
  }
}

std::string with_option_names(const std::string& message, const std::vector<std::string>& others,
                              const std::function<std::string(const std::string&)>& write) {
  const auto known = [&](const std::string& word) {
    const auto same = [&](const Option& option) { return word == option.name; };
    return std::any_of(solve_options().begin(), solve_options().end(), same) ||
           std::find(others.begin(), others.end(), word) != others.end();
  };
  std::string shown = message;
  const std::string first = message.substr(0, message.find(':'));
  if (first.size() < message.size() && known(first)) shown = write(first) + message.substr(first.size());
  for (std::size_t begin = shown.find('`'); begin != std::string::npos; begin = shown.find('`', begin + 1)) {
    const std::size_t end = shown.find('`', begin + 1);
    if (end == std::string::npos) break;
    const std::string word = shown.substr(begin + 1, end - begin - 1);
    if (known(word)) shown.replace(begin, word.size() + 2, write(word));
  }
  return shown;
}

}  // namespace staghorn
