#include "solver/session/groups/group_report.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "halo/device_choice.hpp"
#include "solver/search/archive.hpp"

namespace staghorn {

namespace {

struct Named {
  std::string name{};
  double value = 0;
  void visit(const Archive& archive) {
    archive("name", name);
    archive("value", value);
  }
};

void visit(const Archive& archive, const std::string& name, std::map<std::string, double>& values) {
  std::vector<Named> list;
  for (const auto& [key, value] : values) list.push_back({key, value});
  archive(name, list);
  for (const Named& one : list) values[one.name] = one.value;
}

// All that groups add up or that one of them may lack, in both directions.
void visit(const Archive& archive, SolveReport& report) {
  archive("devices", report.devices);
  archive("solver", report.solver);
  archive("loop", report.loop);
  archive("precise_loop", report.precise_loop);
  archive("took_over", report.took_over);
  archive("certificate", report.certificate);
  archive("system", report.system);
  archive("tolerance", report.tolerance);
  visit(archive, "seconds", report.seconds);
  visit(archive, "memory_bytes", report.memory_bytes);
  visit(archive, "predicted_memory_bytes", report.predicted_memory_bytes);
  archive("site_iterations_per_second", report.site_iterations_per_second);
  SpectrumEstimate spectrum = report.spectrum.value_or(SpectrumEstimate{});
  archive("smallest", spectrum.smallest);
  archive("largest", spectrum.largest);
  if (spectrum.known()) report.spectrum = spectrum;
  if (archive.reads() ? archive.has("batch") : report.batch.has_value()) {
    if (!report.batch) report.batch.emplace();
    archive("batch", [&](const Archive& batch) {
      batch("columns", report.batch->columns);
      batch("refills", report.batch->refills);
      batch("iterations", report.batch->iterations);
      batch("filled", report.batch->filled);
      batch("filled_while_waiting", report.batch->filled_while_waiting);
    });
  }
  if (archive.reads() ? archive.has("multi_shift") : report.multi_shift.has_value()) {
    if (!report.multi_shift) report.multi_shift.emplace();
    archive("multi_shift", [&](const Archive& shifts) {
      shifts("iterations", report.multi_shift->iterations);
      shifts("sloppy_iterations", report.multi_shift->sloppy_iterations);
      shifts("columns", report.multi_shift->columns);
      shifts("precision", report.multi_shift->precision);
      shifts("groups", report.multi_shift->groups);
    });
  }
  if (archive.reads() ? archive.has("deflation") : report.deflation.has_value()) {
    if (!report.deflation) report.deflation.emplace();
    archive("deflation", [&](const Archive& deflation) {
      deflation("projections", report.deflation->projections);
      deflation("seconds", report.deflation->seconds);
    });
  }
  if (archive.reads() ? archive.has("coarse") : report.coarse.has_value()) {
    if (!report.coarse) report.coarse.emplace();
    archive("coarse", [&](const Archive& coarse) {
      coarse("solves", report.coarse->solves);
      coarse("iterations", report.coarse->iterations);
      coarse("operator_calls", report.coarse->operator_calls);
      coarse("seconds", report.coarse->seconds);
    });
  }
  if (archive.reads() ? archive.has("checkpoint") : report.checkpoint.has_value()) {
    if (!report.checkpoint) report.checkpoint.emplace();
    archive("checkpoint", [&](const Archive& checkpoint) {
      checkpoint("file", report.checkpoint->file);
      checkpoint("written", report.checkpoint->written);
      checkpoint("seconds", report.checkpoint->seconds);
      checkpoint("bytes", report.checkpoint->bytes);
      checkpoint("resumed_from", report.checkpoint->resumed_from);
      checkpoint("resumed_iterations", report.checkpoint->resumed_iterations);
      checkpoint("notes", report.checkpoint->notes);
    });
  }
}

// Groups work side by side: `beside`; solves of one group one after the other.
enum class When { beside, after };

void add_bytes(std::map<std::string, double>& bytes, const std::map<std::string, double>& more, When when) {
  for (const auto& [object, size] : more)
    bytes[object] = when == When::beside ? bytes[object] + size : std::max(bytes[object], size);
}

void add_batch(BatchSummary& batch, const BatchSummary& more) {
  const auto weight = [](const BatchSummary& of) { return double(of.columns) * double(of.iterations); };
  const double both = weight(batch) + weight(more);
  const auto mean = [&](double a, double b) { return both > 0 ? (a * weight(batch) + b * weight(more)) / both : 1; };
  batch.filled = mean(batch.filled, more.filled);
  batch.filled_while_waiting = mean(batch.filled_while_waiting, more.filled_while_waiting);
  batch.columns = std::max(batch.columns, more.columns);
  batch.iterations += more.iterations;
}

void add_shifts(MultiShiftSummary& shifts, const MultiShiftSummary& more) {
  shifts.iterations += more.iterations;
  shifts.sloppy_iterations += more.sloppy_iterations;
  shifts.columns = std::max(shifts.columns, more.columns);
  for (std::size_t k = 0; k < std::min(shifts.groups.size(), more.groups.size()); ++k) {
    shifts.groups[k].iterations += more.groups[k].iterations;
    shifts.groups[k].sloppy_iterations += more.groups[k].sloppy_iterations;
    shifts.groups[k].columns = std::max(shifts.groups[k].columns, more.groups[k].columns);
  }
}

void add_checkpoint(CheckpointSummary& checkpoint, const CheckpointSummary& more) {
  checkpoint.written += more.written;
  checkpoint.seconds = std::max(checkpoint.seconds, more.seconds);
  checkpoint.bytes += more.bytes;
  if (checkpoint.resumed_from.empty()) checkpoint.resumed_from = more.resumed_from;
  checkpoint.resumed_iterations = std::max(checkpoint.resumed_iterations, more.resumed_iterations);
  checkpoint.notes.insert(checkpoint.notes.end(), more.notes.begin(), more.notes.end());
}

void add(SolveReport& whole, const SolveReport& part, When when) {
  for (const auto text : {&SolveReport::solver, &SolveReport::loop, &SolveReport::precise_loop, &SolveReport::took_over,
                          &SolveReport::certificate, &SolveReport::system})
    if ((whole.*text).empty()) whole.*text = part.*text;
  whole.tolerance = std::max(whole.tolerance, part.tolerance);
  for (const auto& [phase, seconds] : part.seconds)
    whole.seconds[phase] = when == When::beside || phase == "read" ? std::max(whole.seconds[phase], seconds)
                                                                   : whole.seconds[phase] + seconds;
  add_bytes(whole.memory_bytes, part.memory_bytes, when);
  add_bytes(whole.predicted_memory_bytes, part.predicted_memory_bytes, when);
  whole.site_iterations_per_second = when == When::beside
                                         ? whole.site_iterations_per_second + part.site_iterations_per_second
                                         : std::max(whole.site_iterations_per_second, part.site_iterations_per_second);
  if (part.spectrum) whole.spectrum ? whole.spectrum->merge(*part.spectrum) : void(whole.spectrum = part.spectrum);
  if (part.batch) whole.batch ? add_batch(*whole.batch, *part.batch) : void(whole.batch = part.batch);
  if (part.multi_shift)
    whole.multi_shift ? add_shifts(*whole.multi_shift, *part.multi_shift) : void(whole.multi_shift = part.multi_shift);
  if (part.deflation && whole.deflation) {
    whole.deflation->projections += part.deflation->projections;
    whole.deflation->seconds = std::max(whole.deflation->seconds, part.deflation->seconds);
  }
  if (part.coarse && whole.coarse) {
    whole.coarse->solves += part.coarse->solves;
    whole.coarse->iterations += part.coarse->iterations;
    whole.coarse->operator_calls += part.coarse->operator_calls;
    whole.coarse->seconds = std::max(whole.coarse->seconds, part.coarse->seconds);
  }
  if (part.checkpoint)
    whole.checkpoint ? add_checkpoint(*whole.checkpoint, *part.checkpoint) : void(whole.checkpoint = part.checkpoint);
}

}  // namespace

void GroupReport::add(SolveReport&& report) {
  if (whole.solver.empty())
    whole = std::move(report);
  else
    staghorn::add(whole, report, When::after);
}

SolveReport merged_report(const JobGroups& groups, GroupReport&& mine, std::size_t n_rhs) {
  const Archive own;
  own("numbers", mine.numbers);
  own("rhs", mine.rhs);
  own("whole", [&](const Archive& archive) { visit(archive, mine.whole); });
  SolveReport merged = std::move(mine.whole);
  for (const auto bytes : {&SolveReport::seconds, &SolveReport::memory_bytes, &SolveReport::predicted_memory_bytes})
    (merged.*bytes).clear();
  merged.site_iterations_per_second = 0;
  merged.spectrum.reset();
  merged.batch.reset();
  merged.multi_shift.reset();
  merged.checkpoint.reset();
  merged.took_over.clear();
  if (merged.deflation) merged.deflation->projections = 0;
  if (merged.coarse) merged.coarse->solves = merged.coarse->iterations = merged.coarse->operator_calls = 0;
  merged.devices.clear();
  merged.rhs.assign(n_rhs, {});
  for (const std::string& text : groups.tell(own.text())) {
    const Archive told("the report of a group", text);
    GroupReport group;
    told("numbers", group.numbers);
    told("rhs", group.rhs);
    told("whole", [&](const Archive& archive) { visit(archive, group.whole); });
    for (std::size_t i = 0; i < group.numbers.size(); ++i) merged.rhs.at(group.numbers[i]) = std::move(group.rhs[i]);
    merged.devices.insert(merged.devices.end(), group.whole.devices.begin(), group.whole.devices.end());
    add(merged, group.whole, When::beside);
  }
  merged.device = describe_devices(merged.devices);
  merged.ranks = groups.ranks().all().size();
  merged.hosts = groups.ranks().hosts();
  return merged;
}

}  // namespace staghorn
