#include "python/native_session.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "halo/watch/error.hpp"
#include "lattice_io/files/output_file.hpp"
#include "python/text_caster.hpp"
#include "solver/gauge/gauge.hpp"
#include "solver/request/option_table.hpp"
#include "solver/session/campaign/gauge_list.hpp"
#include "solver/session/low_modes/find_eigenpairs.hpp"
#include "solver/session/many/solve_many.hpp"
#include "solver/session/solve_sources.hpp"

namespace staghorn::python {

namespace nb = nanobind;

namespace {

SolveOptions read_options(const OptionTexts& texts) {
  SolveOptions options;
  for (const auto& [name, text] : texts) set_option(options, name, text);
  return options;
}

std::unique_ptr<Session> make_session(const Communicator& communicator,
                                      const std::variant<std::string, ComplexArray>& gauge, const OptionTexts& texts) {
  const SessionOptions options = read_options(texts).session;
  if (const auto* path = std::get_if<std::string>(&gauge))
    return std::make_unique<Session>(communicator, *path, options);
  const ComplexArray& links = std::get<ComplexArray>(gauge);
  const Lattice lattice = whole_lattice(extents_of(links, 0), options.loopback);
  return std::make_unique<Session>(communicator, LinkField(views<Links>(lattice, links.data(), 1).front()), options);
}

void require_lattice(const Lattice& lattice, const ComplexArray& array, const char* what) {
  const Extents found = extents_of(array, 1);
  if (found != lattice.global()) throw Error(what, "lattice " + to_string(lattice.global()), to_string(found));
}

// Marks a session as at work, with the interpreter's lock held. Throws Error where it is: a function that a solve
// calls, or another thread, would use its vectors.
class Turn {
 public:
  explicit Turn(bool& busy) : busy_(busy) {
    if (busy) throw Error(ErrorKind::state, "session", "one call at a time", "another that has not ended");
    busy_ = true;
  }
  ~Turn() { busy_ = false; }
  Turn(const Turn&) = delete;

 private:
  bool& busy_;
};

// What a solve calls while it runs: asks for interrupts, and tells the caller's function where there is one. The
// object must outlive the solve, which runs without the interpreter.
std::function<void(const CgProgress&)> listener(const nb::object& progress) {
  return [&progress](const CgProgress& at) {
    check_interrupt(at);
    if (at.iteration % 16 != 0 || progress.is_none()) return;
    const nb::gil_scoped_acquire interpreter;
    progress(at.iteration, at.worst_ratio);
  };
}

// Solutions side by side in memory.
class SolutionArray final : public SolutionSink {
 public:
  SolutionArray(std::byte* data, std::size_t bytes_each) : data_(data), bytes_(bytes_each) {}
  void take(std::size_t number, const VectorField& x) override {
    std::memcpy(data_ + number * bytes_, x.data(), bytes_);
  }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

}  // namespace

void check_interrupt(const CgProgress& progress) {
  if (progress.iteration % 16 != 0) return;
  const nb::gil_scoped_acquire interpreter;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

std::pair<std::string, std::string> campaign(const Process& process, const std::string& gauge,
                                             const OptionTexts& options, CampaignRequest request,
                                             const nb::object& progress) {
  request.options = read_options(options);
  CampaignPart shown;
  const auto tell = [&](const CampaignPart& part, const CgProgress& at) {
    check_interrupt(at);
    if (at.iteration % 16 != 0 || progress.is_none()) return;
    const nb::gil_scoped_acquire interpreter;
    progress(part.gauge, part.number, part.of, at.iteration, at.worst_ratio, part.words);
  };
  CampaignWatch watch;
  watch.part_begins = [&](const CampaignPart& part) { tell(shown = part, {}); };
  watch.progress = [&](const CgProgress& at) { tell(shown, at); };
  watch.part_ends = [&](const CampaignPart& part) { tell(part, {}); };
  const CampaignAnswer answer = without_interpreter([&] {
    request.gauges = read_gauge_list(process.communicator, gauge);
    return run_campaign(process.communicator, request, watch);
  });
  return {answer.json, answer.table};
}

NativeSession::NativeSession(std::shared_ptr<Process> process, const std::variant<std::string, ComplexArray>& gauge,
                             const OptionTexts& options)
    : process_(std::move(process)),
      session_(without_interpreter([&] { return make_session(process_->communicator, gauge, options); })) {}

NumpyArray NativeSession::links() const {
  Buffer numbers = without_interpreter([&] {
    const LinkField& links = session_->links();
    return copied(links.data(), std::size_t(links.bytes()));
  });
  return to_array(std::move(numbers), {}, session_->lattice().global(), {4, 3, 3});
}

std::pair<NumpyArray, std::string> NativeSession::solve(const std::variant<std::string, ComplexArray>& source,
                                                        const std::optional<ComplexArray>& guess,
                                                        const OptionTexts& options, const nb::object& progress) {
  const Turn turn(busy_);
  const Lattice& lattice = session_->lattice();
  if (SolveOptions asked = read_options(options); asked.many.asked()) return solve_many_of(source, asked, progress);
  Buffer solved;
  SolvedSources answer;
  without_interpreter([&] {
    SolveOptions asked = read_options(options);
    SourceSet sources;
    if (const auto* words = std::get_if<std::string>(&source)) {
      set_option(asked, "source", *words);
      sources = make_sources(session_->communicator(), lattice, asked.source, session_->options().no_verify);
    } else {
      const ComplexArray& array = std::get<ComplexArray>(source);
      require_lattice(lattice, array, "source");
      sources.request.spec.kind = SourceKind::file;
      sources.name = "array";
      sources.fields = views<ColorVector<double>>(lattice, array.data(), array.shape(0));
      sources.colors.assign(sources.fields.size(), -1);
    }
    const std::size_t n = std::max<std::size_t>(asked.request.masses.size(), 1) * sources.fields.size(),
                      bytes = n * std::size_t(lattice.local_volume()) * sizeof(ColorVector<double>);
    if (guess) {
      require_lattice(lattice, *guess, "guess");
      if (guess->shape(0) != n) throw Error("guess", std::to_string(n) + " vectors", std::to_string(guess->shape(0)));
    }
    if (asked.request.rational) {  // how many fields there are depends on the file
      answer = solve_sources(*session_, asked.request, sources, {}, listener(progress));
      solved = Buffer(answer.solutions.size() * std::size_t(answer.solutions[0].bytes()));
      for (std::size_t i = 0; i < answer.solutions.size(); ++i)
        std::memcpy(solved.data() + i * std::size_t(answer.solutions[0].bytes()), answer.solutions[i].data(),
                    std::size_t(answer.solutions[0].bytes()));
    } else {
      solved = guess ? copied(guess->data(), bytes) : Buffer(bytes);
      answer = solve_sources(*session_, asked.request, sources, views<ColorVector<double>>(lattice, solved.data(), n),
                             listener(progress));
    }
  });
  return {to_array(std::move(solved), {answer.solutions.size()}, lattice.global(), {3}), to_json(answer.report)};
}

std::pair<std::optional<NumpyArray>, std::string> NativeSession::eigen(const EigenRequest& request, bool with_vectors,
                                                                       const std::optional<EigenpairOutput>& output) {
  const Turn turn(busy_);
  FoundEigenpairs found;
  std::optional<Buffer> vectors;
  const Lattice& lattice = session_->lattice();
  without_interpreter([&] {
    ClaimedNames names(session_->communicator());
    if (output) {
      require_writable(*output, lattice);
      names.claim(output->path, output->force);
    }
    found = find_eigenpairs(session_->resident(), request, [](const EigenProgress&) { check_interrupt({0, 1}); });
    if (output) write_eigenpairs(session_->resident(), found, *output);
    if (with_vectors) {
      const std::size_t bytes = std::size_t(lattice.local_volume()) * sizeof(ColorVector<double>);
      vectors.emplace(found.pairs.count() * bytes);
      VectorField plain(lattice);
      std::size_t i = 0;
      for (const ColorVectorField& block : found.pairs.blocks)
        for (int rhs = 0; rhs < block.n_rhs(); ++rhs) {
          block.unpack_exactly(found.pairs.parity, rhs, plain);
          std::memcpy(vectors->data() + i++ * bytes, plain.data(), bytes);
        }
    }
  });
  const std::string report = to_json(found.report);
  if (!vectors) return {std::nullopt, report};
  return {to_array(std::move(*vectors), {found.pairs.count()}, lattice.global(), {3}), report};
}

std::pair<NumpyArray, std::string> NativeSession::solve_many_of(const std::variant<std::string, ComplexArray>& source,
                                                                SolveOptions& asked, const nb::object& progress) {
  const Lattice& lattice = session_->lattice();
  const Communicator& alone = session_->communicator();
  std::optional<SourceList> sources;
  Buffer solved;
  std::size_t n_solutions = 0;
  SolveReport report;
  without_interpreter([&] {
    if (const auto* words = std::get_if<std::string>(&source)) {
      if (!words->empty()) set_option(asked, "source", *words);
      sources.emplace(
          alone, lattice,
          asked.many.list ? read_source_list(alone, *asked.many.list, asked.source) : std::vector{asked.source},
          asked.request.system, session_->options().no_verify);
    } else {
      const ComplexArray& array = std::get<ComplexArray>(source);
      require_lattice(lattice, array, "source");
      sources.emplace(alone, lattice, "array", views<ColorVector<double>>(lattice, array.data(), array.shape(0)),
                      asked.request.system);
    }
    n_solutions = std::max<std::size_t>(asked.request.masses.size(), 1) * sources->size();
    const std::size_t bytes = std::size_t(lattice.local_volume()) * sizeof(ColorVector<double>);
    solved = Buffer(n_solutions * bytes);
    SolutionArray array(solved.data(), bytes);
    report = solve_many(*session_, asked.request, asked.many, *sources, &array, listener(progress));
  });
  return {to_array(std::move(solved), {n_solutions}, lattice.global(), {3}), to_json(report)};
}

}  // namespace staghorn::python
