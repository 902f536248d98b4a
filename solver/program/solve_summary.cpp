#include "solver/program/solve_summary.hpp"

#include <omp.h>

#include <ostream>

#include "halo/thread_count.hpp"
#include "halo/watch/error_kind.hpp"
#include "solver/json/json_text.hpp"
#include "solver/machine/memory_estimate.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/report/provenance.hpp"
#include "solver/request/words/formatted.hpp"
#include "solver/session/campaign/printed_observables.hpp"

namespace staghorn {

namespace {

void print_improved(std::ostream& out, const ImprovedSummary& improved) {
  out << "           " << improved.action << " quarks";
  if (improved.u0) out << format(", u0 %.10g", *improved.u0);
  if (improved.naik_epsilon) out << format(", epsilon %.10g", *improved.naik_epsilon);
  if (!improved.phases_in_links.empty())
    out << ", long links from " << improved.long_file << ", phases " << improved.phases_in_links << " taken out";
  if (improved.smallest_singular_value)
    out << format(", smallest singular value %.4g, |det| %.4g", *improved.smallest_singular_value,
                  *improved.smallest_determinant);
  if (improved.made_on == "device")
    out << format(", made on the GPU in %.0f ms (%.2f s with transfers)", 1e3 * improved.device_seconds,
                  improved.seconds);
  out << format("\n           Naik scale %.10g, Naik links unitary to %.1e%s\n", improved.naik_scale,
                improved.naik_unitarity, improved.naik_projected ? " and then projected onto U(3)" : "");
}

const char* plural(int n) { return n == 1 ? "" : "s"; }

void print_transports(std::ostream& out, const TransportChoice& choice, const char* which) {
  if (choice.tried.empty()) return;
  out << "  " << which << "transport " << to_string(choice) << "\n";
  for (const std::string& warning : transport_warnings(choice)) out << "  warning: " << warning << "\n";
}

std::string percent(const TimeRow& row) { return row.hidden_share ? format("%.0f %%", 100 * *row.hidden_share) : "-"; }

void print_times(std::ostream& out, const TimeTable& table) {
  if (table.rows.empty()) return;
  out << "  where the time went     seconds     slowest   hidden"
      << (table.one_hop_in > 1 ? format("     (of one hop in %ld, scaled up)", table.one_hop_in) : "") << "\n";
  for (const TimeRow& row : table.rows) {
    const bool whole = row.part == "communication";
    out << format("    %-17s %11s %11s %8s", row.part.c_str(), row.seconds ? format("%.4f", *row.seconds).c_str() : "-",
                  row.seconds ? format("%.4f", row.slowest).c_str() : "-", percent(row).c_str())
        << (whole && row.hidden_share ? "     of what could be" : "") << (row.note.empty() ? "" : "     " + row.note)
        << "\n";
  }
}

void print_tuning(std::ostream& out, const LaunchTuning& tuning, const char* which) {
  if (tuning.tuned > 0) out << "  " << which << to_string(tuning) << "\n";
}

void print_deflation(std::ostream& out, const DeflationSummary& deflation) {
  out << format(
      "  %ld eigenpairs in %s%s up to %.4g, used %ld time%s in %.2f s; residuals up to %.1e, orthogonal to %.1e\n",
      deflation.pairs, to_string(deflation.precision).c_str(),
      deflation.space == MemorySpace::pinned ? " on the host" : "", deflation.largest, deflation.projections,
      plural(int(deflation.projections)), deflation.seconds, deflation.largest_residual, deflation.orthogonality);
}

void print_coarse(std::ostream& out, const CoarseSummary& coarse) {
  out << format(
      "  %lld blocks of %s with %d vectors: %ld coarse solves of %.1f iterations in %.2f s; %ld operator calls\n",
      static_cast<long long>(coarse.blocks), to_string(coarse.block).c_str(), coarse.vectors, coarse.solves,
      coarse.solves > 0 ? double(coarse.iterations) / double(coarse.solves) : 0, coarse.seconds, coarse.operator_calls);
}

std::string color_of(const RhsReport& rhs) { return rhs.color < 0 ? "-" : std::to_string(rhs.color); }

// The columns that end a line of a right-hand side.
std::string found_for(const RhsReport& rhs) {
  return format("   %16.4e   %19.4e   %20.12g%s\n", rhs.residual_iterated, rhs.residual_true, rhs.norm2,
                rhs.outcome == Outcome::certified ? "" : ("   " + to_string(rhs.outcome)).c_str());
}

void print_rhs(std::ostream& out, const SolveReport& report) {
  out << "  rhs  color  iterations   |b-Mx|/|b| by CG   in fp64, plain path            |x|^2\n";
  for (std::size_t i = 0; i < report.rhs.size(); ++i) {
    const RhsReport& rhs = report.rhs[i];
    out << format("  %3zu  %5s  %10ld", i, color_of(rhs).c_str(), rhs.iterations) << found_for(rhs);
  }
}

void print_shifts(std::ostream& out, const SolveReport& report) {
  const MultiShiftSummary& shifts = *report.multi_shift;
  if (shifts.columns > 0) {
    std::string precision = to_string(shifts.precision);
    if (shifts.sloppy_iterations > 0 && shifts.sloppy_iterations < shifts.iterations)
      precision +=
          format(" and the last %ld in %s", shifts.sloppy_iterations, to_string(*report.options.sloppy).c_str());
    out << format(
        "  multi-shift CG took %ld iterations for all, in %s, with %d column%s; then each mass was polished\n",
        shifts.iterations, precision.c_str(), shifts.columns, plural(shifts.columns));
  } else {
    out << "  no multi-shift CG: each mass was solved for itself\n";
  }
  for (const MultiShiftSummary::Group& group : shifts.groups)
    out << format("  epsilon %.10g: %zu mass%s, %ld iterations\n", group.naik_epsilon, group.masses.size(),
                  group.masses.size() == 1 ? "" : "es", group.iterations);
  if (report.rational)
    out << format("  rational function %s of %s: constant %.10g, masses sqrt(pole) / 2\n",
                  report.rational->name.c_str(), to_string(*report.request.rational).c_str(),
                  report.rational->constant);
  out << "         mass  rhs  color  done at  polished   |b-Mx|/|b| by CG   in fp64, plain path            |x|^2\n";
  const std::size_t n = report.rhs.size() / report.request.masses.size();
  for (std::size_t i = 0; i < report.rhs.size(); ++i) {
    const RhsReport& rhs = report.rhs[i];
    out << format("  %11.6g  %3zu  %5s  %7ld  %8ld", rhs.mass, i % n, color_of(rhs).c_str(), rhs.shift_iterations,
                  rhs.iterations - rhs.shift_iterations)
        << found_for(rhs);
  }
}

void print_shares(std::ostream& out, const ShareSummary& shares) {
  out << format("           shares by measurement: %.0f us an iteration, foreseen %.0f; even slabs %.0f",
                shares.measured, shares.predicted, shares.even);
  if (!shares.left_out.empty()) out << format(", all ranks %.0f", shares.of_all);
  if (shares.left_out.empty() && shares.of_fewer > 0)
    out << format(", with ranks left out %.0f%s", shares.of_fewer, shares.fewer_measured ? "" : " (foreseen)");
  out << "\n";
  for (const ShareSummary::Kind& kind : shares.kinds) {
    out << format("             %s: ", kind.device.c_str());
    if (kind.ranks > 0)
      out << format("%d rank%s with %.1f %% of the sites, %.0f us of work", kind.ranks, plural(kind.ranks),
                    100 * kind.share, kind.microseconds);
    if (kind.left_out > 0)
      out << format("%s%d rank%s left out", kind.ranks > 0 ? "; " : "", kind.left_out, plural(kind.left_out));
    out << "\n";
  }
}

}  // namespace

void print_checkpoint(std::ostream& out, const CheckpointSummary& checkpoint, const char* counted) {
  if (!checkpoint.resumed_from.empty())
    out << format("  resumed from %s after %ld %s\n", checkpoint.resumed_from.c_str(), checkpoint.resumed_iterations,
                  counted);
  if (checkpoint.written > 0)
    out << format("  %ld checkpoint%s in %s: %.2f s\n", checkpoint.written, plural(int(checkpoint.written)),
                  checkpoint.file.c_str(), checkpoint.seconds);
  for (const std::string& note : checkpoint.notes) out << "  warning: " << note << "\n";
}

double seconds_of(const std::map<std::string, double>& phases, const char* phase) {
  return phases.count(phase) ? phases.at(phase) : 0;
}

void print_machine(std::ostream& out, const Session& session) {
  const SessionOptions& options = session.options();
  const int ranks = session.communicator().size(), threads = omp_get_max_threads();
  out << "staghorn " << version() << ": " << session.device()
      << (options.blas == Blas::cublas ? ", vectors by cuBLAS, " : ", ") << describe_numbers(options) << ", " << ranks
      << " rank" << plural(ranks) << " x " << threads << " thread" << plural(threads) << std::endl;
}

void print_session(std::ostream& out, const Session& session) {
  print_machine(out, session);
  if (session.device() == "cpu")
    if (const std::string advice = advice_on_binding(session.communicator(), omp_get_max_threads()); !advice.empty())
      out << "  note: " << advice << "\n";
  const GaugeSummary& gauge = session.gauge();
  const Lattice& lattice = session.lattice();
  out << format("gauge      %s (%s), %s, grid %s\n", gauge.file.c_str(), gauge.format.c_str(),
                to_string(lattice.global()).c_str(), to_string(lattice.grid()).c_str());
  if (!all_equal(lattice.widths())) out << "           slabs " << to_string(lattice.widths()) << "\n";
  if (const auto& shares = session.options().shares.measured) print_shares(out, *shares);
  const Placement& placement = session.placement();
  if (placement.hosts > 1) out << "           " << describe(placement) << "\n";
  const std::string plurals = plural(int(gauge.checksums.size()));
  out << format("           plaquette %.10f, unitary to %.1e%s; %zu checksum%s and header value%s %s\n",
                gauge.plaquette, gauge.max_unitarity_deviation,
                gauge.reunitarized ? " and then projected onto SU(3)" : "", gauge.checksums.size(), plurals.c_str(),
                plurals.c_str(), gauge.verified() ? "verified" : "NOT VERIFIED");
  if (const ImprovedSummary* improved = session.improved()) print_improved(out, *improved);
  for (const std::string& text : unverified_checksums(gauge.checksums))
    out << "           UNVERIFIED: " << text << "\n";
  for (const std::string& warning : gauge.warnings) out << "           warning: " << warning << "\n";
  out << std::flush;
}

void print_outcome(std::ostream& out, const std::string& outcome, bool verified) {
  out << "\nCERTIFICATE  " << outcome
      << (verified ? "" : ", on UNVERIFIED INPUT: the files that were read may be damaged") << "\n";
}

void print_certificate(std::ostream& out, const SolveReport& report) {
  print_outcome(out, to_string(report.outcome), report.verified());
  for (const std::string& text : report.unverified) out << "  UNVERIFIED: " << text << "\n";
  out << "  "
      << (report.request.system == System::full ? "(2m + D) x = b"
                                                : "(4m^2 - D^2) x = b on " + report.system + " sites")
      << (report.multi_shift ? format(",  %zu masses", report.request.masses.size())
                             : format(",  m = %.10g", report.request.mass))
      << format(",  %s,  tolerance %.3g\n", to_string(report.options.boundary).c_str(), report.tolerance);
  if (report.multi_shift) {
    print_shifts(out, report);
  } else {
    print_rhs(out, report);
  }
  if (report.batch)
    out << format(
        "  %zu right-hand sides of %zu source%s took turns in %d column%s, which were %.1f %% full (%.1f %% while "
        "sources waited)\n",
        report.rhs.size(), report.sources.size(), plural(int(report.sources.size())), report.batch->columns,
        plural(report.batch->columns), 100 * report.batch->filled, 100 * report.batch->filled_while_waiting);
  if (report.spectrum)
    out << format("  A has eigenvalues from about %.3g to %.3g, condition number %.2g\n", report.spectrum->smallest,
                  report.spectrum->largest, report.spectrum->condition());
  print_observables(out, report);
  const auto seconds = [&](const char* phase) { return seconds_of(report.seconds, phase); };
  out << format("  read %.2f s, setup %.2f s, solve %.2f s (%.1f Msite iterations/s), certify %.2f s, write %.2f s\n",
                seconds("read"), seconds("setup"), seconds("solve"), report.site_iterations_per_second * 1e-6,
                seconds("certify"), seconds("write"));
  if (report.certificate == "device") out << "  certified on the GPU\n";
  if (!report.loop.empty() && report.loop != "host") {
    out << "  CG ran as " << report.loop;
    if (!report.precise_loop.empty()) out << ", in the high precision as " << report.precise_loop;
    if (!report.took_over.empty()) out << ", then " << report.took_over;
    out << "\n";
  }
  if (report.deflation) print_deflation(out, *report.deflation);
  if (report.coarse) print_coarse(out, *report.coarse);
  if (report.checkpoint) print_checkpoint(out, *report.checkpoint, "iterations");
  print_times(out, report.times);
  print_transports(out, report.transports, "");
  if (report.sloppy_transports) print_transports(out, *report.sloppy_transports, "sloppy ");
  print_tuning(out, report.tuning, "");
  if (report.sloppy_tuning) print_tuning(out, *report.sloppy_tuning, "sloppy: ");
  if (report.memory_bytes.count("peak_resident"))
    out << "  memory " << gigabytes(report.memory_bytes.at("peak_resident")) << " at its peak\n";
  if (!report.explanation.empty()) out << "  " << report.explanation << "\n";
  out << std::flush;
}

void add_failure(std::string& explanation, const char* what, const Error& failure) {
  explanation += (explanation.empty() ? "" : " ") + std::string(what) + failure.what();
}

std::string report_of_error(const Error& error) {
  return text_of_json({{"schema_version", SolveReport::schema_version},
                       {"outcome", "error"},
                       {"category", to_string(error.kind())},
                       {"explanation", in_words_of_the_program(error.what())}}) +
         "\n";
}

}  // namespace staghorn
