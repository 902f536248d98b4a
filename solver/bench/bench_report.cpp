#include "solver/bench/bench_report.hpp"

#include <algorithm>
#include <ostream>
#include <set>
#include <utility>

#include "solver/report/setting_json.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

namespace {

// "18", "18+13" with Naik links, "-" where no links are read.
std::string link_reals(const BenchmarkResult& r) {
  if (!r.reads_links) return "-";
  return std::to_string(reals_per_link(r.links)) +
         (r.naik_links ? "+" + std::to_string(reals_per_link(*r.naik_links)) : "");
}

void print_times(std::ostream& out, const std::vector<BenchmarkResult>& results) {
  const auto has_times = [](const BenchmarkResult& r) { return !r.times.rows.empty(); };
  const auto first = std::find_if(results.begin(), results.end(), has_times);
  if (first == results.end()) return;
  const auto print = [&](const char* pattern, auto... values) { out << format(pattern, values...); };
  print("%-15s %-5s %5s", "microseconds", "prec", "links");
  for (const TimeRow& row : first->times.rows) print(" %15s", row.part.c_str());
  out << "   (hidden; of communication: of what could be)\n";
  for (const BenchmarkResult& r : results) {
    if (!has_times(r)) continue;
    print("%-15s %-5s %5s", r.what.c_str(), to_string(r.precision).c_str(), link_reals(r).c_str());
    for (const TimeRow& row : r.times.rows) {
      if (!row.seconds)
        print(" %15s", "-");
      else if (row.hidden_share)
        print(" %7.1f (%3.0f %%)", 1e6 * *row.seconds, 100 * *row.hidden_share);
      else
        print(" %7.1f        ", 1e6 * *row.seconds);
    }
    out << "\n";
  }
  for (const TimeRow& row : first->times.rows)
    if (!row.note.empty()) out << "  " << row.part << ": " << row.note << "\n";
  if (first->times.one_hop_in > 1) out << "  of one hop in " << first->times.one_hop_in << "\n";
}

// One line for each result that has them: faces, below them sums.
void print_faces(std::ostream& out, const std::vector<BenchmarkResult>& results) {
  const auto figure = [](double value, const char* pattern = "%.1f") {
    return value > 0 ? format(pattern, value) : "-";
  };
  const auto rate = [&](const FaceRates& f, double seconds) {
    return figure(seconds > 0 ? double(f.bytes) / seconds * 1e-9 : 0);
  };
  const auto print = [&](const char* head, const char* pattern, const auto& cells) {
    bool first = true;
    for (const BenchmarkResult& r : results) {
      if (r.faces.bytes == 0) continue;
      if (first) out << head;
      first = false;
      out << format("%-15s %-5s %5s %4d", "", to_string(r.precision).c_str(), link_reals(r).c_str(), r.rhs);
      for (const std::string& cell : cells(r.faces)) out << format(pattern, cell.c_str());
      out << "\n";
    }
  };
  print(
      "faces alone     prec  links  rhs    MB sent exchange us       GB/s  stored us       GB/s  copied us       GB/s "
      "    stored\n",
      " %10s", [&](const FaceRates& f) {
        return std::vector<std::string>{figure(1e-6 * double(f.bytes), "%.3f"),
                                        figure(1e6 * f.exchange, "%.2f"),
                                        rate(f, f.exchange),
                                        figure(1e6 * f.stored, "%.2f"),
                                        rate(f, f.stored),
                                        figure(1e6 * f.copied, "%.2f"),
                                        rate(f, f.copied),
                                        figure(f.stored > 0 ? 100 * f.copied / f.stored : 0, "%.0f %%")};
      });
  print("one global sum  prec  links  rhs  through host, us   by MPI of it   in kernels     saved by\n", " %14s",
        [&](const FaceRates& f) {
          return std::vector<std::string>{
              figure(1e6 * f.sum_through_host, "%.2f"), figure(1e6 * f.sum_by_mpi, "%.2f"),
              figure(1e6 * f.sum_in_kernels, "%.2f"),
              figure(f.sum_in_kernels > 0 ? f.sum_through_host / f.sum_in_kernels : 0, "%.1f x")};
        });
}

void add(LaunchTuning& sum, const LaunchTuning& tuning) {
  sum.tuned += tuning.tuned;
  sum.seconds += tuning.seconds;
  if (!tuning.file.empty()) sum.file = tuning.file;
  if (!tuning.not_kept.empty()) sum.not_kept = tuning.not_kept;
}

}  // namespace

void print_table(std::ostream& out, const std::vector<BenchmarkResult>& results) {
  out << format("%-24s %-5s %5s %4s %12s %9s %8s %7s %14s\n", "what", "prec", "links", "rhs", "microseconds", "GF/s",
                "GB/s", "stream", "Msite iter/s");
  for (const BenchmarkResult& r : results) {
    const std::string links = link_reals(r);
    out << format("%-24s %-5s %5s %4d %12.1f", r.what.c_str(), to_string(r.precision).c_str(), links.c_str(), r.rhs,
                  r.microseconds);
    if (r.gflops > 0) out << format(" %9.1f", r.gflops);
    if (r.gb_s > 0) out << format(" %8.1f %5.0f %%%s", r.gb_s, 100 * r.fraction_of_stream, r.in_cache ? "*" : " ");
    if (r.site_iterations_per_second > 0) out << format(" %13.2f", r.site_iterations_per_second * 1e-6);
    if (!r.loop.empty() && r.loop != "host") out << "   " << r.loop;
    out << "\n";
  }
  if (std::any_of(results.begin(), results.end(), [](const BenchmarkResult& r) { return r.in_cache; }))
    out << "*: links and vectors of one call fit into the caches, so this is no figure of the memory; take a larger "
           "lattice\n";
  print_times(out, results);
  print_faces(out, results);
}

void print_table(std::ostream& out, const std::vector<CutResult>& results, const char* ratio) {
  out << format("%-9s %5s %-10s %-12s %-5s %5s %12s %9s %10s %-10s %9s %6s %12s\n", "series", "ranks", "grid", "local",
                "prec", "links", "us/iteration", "GF/s", ratio, "transport", "floor us", "hosts", "faces within");
  for (const CutResult& r : results) {
    const std::string floor = r.floor_microseconds > 0 ? format("%.1f", r.floor_microseconds) : "-";
    out << format("%-9s %5d %-10s %-12s %-5s %5s %12.1f %9.1f %8.0f %% %-10s %9s %6d %10.0f %%\n", r.series.c_str(),
                  r.ranks, to_string(r.grid).c_str(), to_string(r.local).c_str(), to_string(r.cg.precision).c_str(),
                  link_reals(r.cg).c_str(), r.cg.microseconds, r.cg.gflops, 100 * r.efficiency, r.cg.transport.c_str(),
                  floor.c_str(), r.placement.hosts, 100 * r.placement.share_within_hosts);
  }
}

void print_transports(std::ostream& out, const std::vector<BenchmarkResult>& results) {
  std::set<std::int64_t> told;
  for (const BenchmarkResult& r : results) {
    if (r.transports.tried.empty() || !told.insert(r.transports.face_bytes).second) continue;
    out << "transport " << to_string(r.transports) << "\n";
    for (const std::string& warning : transport_warnings(r.transports)) out << "warning: " << warning << "\n";
  }
}

void print_transports(std::ostream& out, const std::vector<CutResult>& results) {
  std::set<std::string> told;
  for (const CutResult& r : results)
    for (const std::string& warning : transport_warnings(r.cg.transports))
      if (told.insert(warning).second) out << "warning: " << warning << "\n";
}

void print_tuning(std::ostream& out, const std::vector<BenchmarkResult>& results) {
  LaunchTuning sum;
  std::set<std::pair<Precision, Reconstruct>> told;  // rows of one operator repeat what it did
  for (const BenchmarkResult& r : results)
    if (told.insert({r.precision, r.links}).second) add(sum, r.tuning);
  if (sum.tuned > 0) out << to_string(sum) << "\n";
}

void print_tuning(std::ostream& out, const std::vector<CutResult>& results) {
  LaunchTuning sum;
  for (const CutResult& r : results) add(sum, r.cg.tuning);
  if (sum.tuned > 0) out << to_string(sum) << "\n";
}

Json to_json(const FaceRates& f) {
  const auto rate = [&](double seconds) {
    return positive_or_null(seconds > 0 ? double(f.bytes) / seconds * 1e-9 : 0);
  };
  const auto time = [&](double seconds) { return positive_or_null(seconds * 1e6); };
  return {{"bytes", f.bytes},
          {"exchange_microseconds", time(f.exchange)},
          {"exchange_gb_s", rate(f.exchange)},
          {"stored_microseconds", time(f.stored)},
          {"stored_gb_s", rate(f.stored)},
          {"copied_microseconds", time(f.copied)},
          {"copied_gb_s", rate(f.copied)},
          {"stored_share_of_copied", positive_or_null(f.stored > 0 ? f.copied / f.stored : 0)},
          {"sum_through_host_microseconds", time(f.sum_through_host)},
          {"sum_by_mpi_microseconds", time(f.sum_by_mpi)},
          {"sum_in_kernels_microseconds", time(f.sum_in_kernels)}};
}

Json to_json(const BenchmarkResult& r) {
  Json json{{"what", r.what},
            {"precision", to_string(r.precision)},
            {"links", r.reads_links ? Json(reals_per_link(r.links)) : Json(nullptr)},
            {"naik_links", r.naik_links ? Json(reals_per_link(*r.naik_links)) : Json(nullptr)},
            {"rhs", r.rhs},
            {"microseconds", r.microseconds},
            {"gflops", r.gflops},
            {"gb_s", r.gb_s},
            {"fraction_of_stream", r.fraction_of_stream},
            {"in_cache", r.in_cache},
            {"site_iterations_per_second", r.site_iterations_per_second},
            {"transport", r.transport},
            {"tuning", to_json(r.tuning)},
            {"loop", or_null(r.loop)}};
  if (!r.times.rows.empty()) json["times"] = to_json(r.times);
  if (r.faces.bytes > 0) json["faces"] = to_json(r.faces);
  return json;
}

Json to_json(const CutResult& r) {
  Json json = to_json(r.cg);
  json["series"] = r.series;
  json["ranks"] = r.ranks;
  json["lattice"] = r.lattice;
  json["grid"] = r.grid;
  json["local_lattice"] = r.local;
  json["efficiency"] = r.efficiency;
  json["floor_microseconds"] = positive_or_null(r.floor_microseconds);
  json["hosts"] = r.placement.hosts;
  json["mapping"] = to_string(r.placement.mapping);
  json["face_share_within_hosts"] = r.placement.share_within_hosts;
  return json;
}

}  // namespace staghorn
