#include "solver/session/many/many_observables.hpp"

#include <optional>

#include "halo/watch/stopwatch.hpp"
#include "solver/session/solve_sources.hpp"

namespace staghorn {

namespace {

std::vector<SourceRequest> requests_of(const SourceList& sources) {
  std::vector<SourceRequest> requests;
  for (const SourceList::Entry& entry : sources.entries()) requests.push_back(entry.request);
  return requests;
}

std::vector<std::size_t> numbers_of_vectors(const SourceList& sources) {
  std::vector<std::size_t> numbers;
  for (const SourceList::Entry& entry : sources.entries()) numbers.push_back(entry.n);
  return numbers;
}

}  // namespace

ManyObservables::ManyObservables(Session& session, const SourceList& sources, const SolveRequest& request)
    : communicator_(session.communicator()),
      sources_(sources),
      request_(request),
      requests_(requests_of(sources)),
      links_(measured_links(session, request, requests_)),
      low_modes_(low_modes(session.resident(), request, requests_)),
      measurements_(session.communicator(), links_, request, low_modes_, requests_, numbers_of_vectors(sources)) {}

void ManyObservables::take(std::size_t number, const VectorField& solution) {
  const std::size_t rhs = number % sources_.size(), source = sources_.entry_of(rhs);
  const Stopwatch measuring;
  std::optional<VectorField> made;
  measurements_.take(source, number / sources_.size(), rhs - sources_.entries()[source].first, solution,
                     [&]() -> const VectorField& { return made ? *made : made.emplace(sources_.make(rhs)); });
  seconds_ += measuring.seconds();
}

void ManyObservables::put_into(SolveReport& report) const {
  report.source.clear();
  if (request_.exact_low_modes) report.seconds["low_modes"] = low_modes_.seconds;
  report.observables = measurements_.results();
  if (!request_.mesons.empty() || !request_.baryons.empty()) report.seconds["mesons"] = communicator_.max(seconds_);
  for (std::size_t k = 0; k < masses_of(request_).size(); ++k)
    for (const SourceList::Entry& entry : sources_.entries())
      report.sources.push_back({entry.name, int(k * sources_.size() + entry.first), int(entry.n)});
  for (const SourceList::Entry& entry : sources_.entries())
    report.source += (report.source.empty() ? "" : "; ") + entry.name;
  for (std::size_t i = 0; i < report.rhs.size(); ++i) {
    report.rhs[i].color = sources_.color(i % sources_.size());
    report.rhs[i].source = sources_.entries()[sources_.entry_of(i % sources_.size())].name;
  }
}

}  // namespace staghorn
