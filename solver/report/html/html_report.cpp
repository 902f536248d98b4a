#include "solver/report/html/html_report.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <regex>

#include "halo/watch/error.hpp"
#include "solver/json/json_text.hpp"
#include "solver/report/html/line_plot.hpp"
#include "solver/report/html/page_style.hpp"
#include "solver/report/html/report_sections.hpp"

namespace staghorn {

namespace {

using Json = nlohmann::ordered_json;
using Kind = ReadReport::Kind;

std::string section(const std::string& title, const std::string& inside) {
  return inside.empty() ? "" : "<section><h2>" + html_text(title) + "</h2>\n" + inside + "</section>\n";
}

Reports of_kind(const Reports& reports, Kind kind) {
  Reports found;
  std::copy_if(reports.begin(), reports.end(), std::back_inserter(found),
               [&](const ReadReport& report) { return report.kind == kind; });
  return found;
}

// "-" for what there was none of: a row of such cells is left out.
std::string seconds(const Json& value) { return value.is_number() && value != 0 ? words_of(value) + " s" : "-"; }
std::string megabytes(const Json& value) {
  return value.is_number() && value != 0 ? words_of(Json(value.get<double>() * 1e-6)) + " MB" : "-";
}

// Parts of a job in the order in which they pass; those of `solve` follow it.
std::vector<Row> rows_of_seconds(const Reports& reports) {
  const std::vector<std::string> order{"read",     "setup",        "convert",  "solve",   "hop_pack", "hop_interior",
                                       "hop_wait", "hop_boundary", "hop_sums", "certify", "write"};
  const auto place = [&](const Row& row) { return std::find(order.begin(), order.end(), row.head) - order.begin(); };
  std::vector<Row> rows = rows_of_object(reports, "seconds", seconds);
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return place(a) < place(b); });
  return rows;
}

// Commas may end a line.
std::string spaced(const std::string& list) { return std::regex_replace(list, std::regex(",(?! )"), ", "); }

std::string extreme(const Json& solve, const char* key, bool largest) {
  Json found;
  for (const Json& rhs : solve["rhs"])
    if (const Json value = at(rhs, key);
        value.is_number() && (found.is_null() || (largest ? value > found : value < found)))
      found = value;
  return words_of(found);
}

std::string outcome_badges(const Reports& reports) {
  std::string text;
  for (const ReadReport& report : reports) {
    const std::string outcome = report.kind == Kind::bench ? "" : words_of(at(report.json, "outcome"));
    const bool good = outcome == "certified" || outcome.empty();
    text += std::string("<p class=\"badge ") + (good ? "good" : "bad") + "\"><b>" + html_text(report.name) + "</b> " +
            html_text(outcome.empty() ? "bench " + words_of(at(report.json, "what")) : outcome) + "</p>\n";
    if (report.kind == Kind::campaign)
      for (const Json& configuration : report.json["configurations"])
        if (const Json why = at(configuration, "error"); !why.is_null())
          text += "<p class=\"why\">" + html_text(words_of(why)) + "</p>\n";
    if (const std::string why = words_of(at(report.json, "explanation")); why != "-" && !why.empty())
      text += "<p class=\"why\">" + html_text(why) + "</p>\n";
    if (at(report.json, "verified") == false)
      text += "<p class=\"why\">UNVERIFIED: a file was read without checksums that agree.</p>\n";
  }
  return text;
}

std::string asked_and_found(const Reports& solves) {
  return side_by_side(solves,
                      {row("outcome", "outcome"),
                       row("equation", "conventions/equation"),
                       row("system", "system"),
                       row("action", "action"),
                       row("mass", "mass"),
                       row("masses", "masses"),
                       row("source", "source"),
                       row("lattice", "lattice"),
                       row("precision", "precision"),
                       row("reals a link", "links"),
                       row("sloppy precision", "sloppy"),
                       row("sloppy reals a link", "sloppy_links"),
                       row("solver", "solver"),
                       {"boundary", [](const Json& j) { return spaced(words_of(at(j, "boundary"))); }},
                       row("phases", "conventions/phases"),
                       row("tolerance", "tolerance"),
                       {"largest recomputed residual", [](const Json& j) { return extreme(j, "residual_true", true); }},
                       {"right-hand sides", [](const Json& j) { return std::to_string(j["rhs"].size()); }},
                       {"most iterations", [](const Json& j) { return extreme(j, "iterations", true); }},
                       row("smallest eigenvalue of A, about", "spectrum/smallest"),
                       row("largest eigenvalue of A, about", "spectrum/largest"),
                       row("condition number", "spectrum/condition"),
                       row("eigenpairs deflated", "deflation/pairs"),
                       row("vectors of a basis of blocks", "coarse/vectors"),
                       row("products with A in it", "coarse/operator_calls"),
                       row("checkpoints written", "checkpoint/written"),
                       row("resumed from", "checkpoint/resumed_from"),
                       row("took over", "took_over")});
}

}  // namespace

std::string certificate(const ReadReport& solve) {
  const std::pair<const char*, const char*> columns[] = {{"source", "source"},
                                                         {"mass", "mass"},
                                                         {"colour", "color"},
                                                         {"outcome", "outcome"},
                                                         {"iterations", "iterations"},
                                                         {"residual by CG", "residual_iterated"},
                                                         {"recomputed in fp64", "residual_true"},
                                                         {"heavy quarks", "residual_hq"},
                                                         {"attainable", "attainable"},
                                                         {"|x|^2", "norm2"}};
  std::string text = "<tr><th>rhs</th>";
  std::vector<const char*> shown;
  for (const auto& [head, key] : columns)
    if (std::any_of(solve.json["rhs"].begin(), solve.json["rhs"].end(),
                    [&, key = key](const Json& rhs) { return !at(rhs, key).is_null(); })) {
      shown.push_back(key);
      text += cell(head, "th");
    }
  text += "</tr>\n";
  std::size_t number = 0;
  for (const Json& rhs : solve.json["rhs"]) {
    text += "<tr>" + cell(std::to_string(number++));
    for (const char* key : shown) text += cell(words_of(at(rhs, key)));
    text += "</tr>\n";
  }
  return "<h3>" + html_text(solve.name) + "</h3>\n<p>|b - " +
         (words_of(at(solve.json, "system")) == "full" ? "M" : "A") + " x| / |b|, recomputed " +
         html_text("on the " + words_of(at(solve.json, "certificate"))) +
         " in double precision with uncompressed links by the plain operator.</p>\n" + table(text);
}

namespace {

std::string phases(const ReadReport& report) {
  const Json times = at(report.json, "times");
  if (!times.is_array() || times.empty()) return "";
  std::string text = "<tr><th>phase</th><th>mean</th><th>slowest rank</th><th>hidden</th><th></th></tr>\n";
  for (const Json& phase : times)
    text += "<tr>" + cell(words_of(at(phase, "phase")), "th") + cell(seconds(at(phase, "seconds"))) +
            cell(seconds(at(phase, "slowest"))) + cell(words_of(at(phase, "hidden_share"))) +
            cell(words_of(at(phase, "note"))) + "</tr>\n";
  return "<h3>" + html_text(report.name) + ": hops and sums by phase</h3>\n" + table(text);
}

std::string speed(const Reports& solves, const Reports& benches) {
  std::string text = side_by_side(
      solves,
      {{"site iterations per second", [](const Json& j) { return words_of(at(j, "site_iterations_per_second")); }},
       {"GB/s of the iterations, at least", [](const Json& j) {
          const double rate = least_traffic(j);
          return rate > 0 ? words_of(Json(rate)) : "-";
        }}});
  for (const ReadReport& bench : benches)
    for (const ReadReport& solve : solves)
      if (const double rate = least_traffic(solve.json), stream = at(bench.json, "stream_read_gb_s").get<double>();
          rate > 0 && stream > 0 && at(bench.json, "device") == at(solve.json, "device") &&
          at(bench.json, "provenance/host") == at(solve.json, "provenance/host"))
        text += "<p>" + html_text(solve.name) + ": " + three_digits(100 * rate / stream) +
                " % of the streaming read that " + html_text(bench.name) + " measured on the same host.</p>\n";
  if (text.empty()) return text;
  return text +
         "<p>The traffic counts each link and each vector that a pass needs once. If it is more than the stream of "
         "the memory, it is one of a cache.</p>\n";
}

std::string spectra(const Reports& eigens) {
  std::string text = side_by_side(
      eigens, {row("outcome", "outcome"), row("lattice", "lattice"), row("pairs asked for", "pairs"),
               row("converged", "converged"), row("tolerance", "tolerance"),
               row("largest residual, recomputed", "certificate/largest_residual"),
               row("orthogonality", "certificate/orthogonality"), row("probe found missing", "probe/found_missing"),
               row("applications of -D^2", "calls"), row("largest eigenvalue", "largest_eigenvalue/value")});
  LinePlot plot{"pair", "eigenvalue of -D^2", false, true, {}};
  for (std::size_t k = 0; k < eigens.size(); ++k) {
    PlotCurve curve{eigens[k].name, {}, int(k) % plot_colors};
    for (const Json& value : eigens[k].json["eigenvalues"])
      curve.points.push_back({double(curve.points.size()), value.get<double>()});
    plot.curves.push_back(std::move(curve));
  }
  return text + svg_of(plot);
}

std::string links(const Reports& reports) {
  const std::string text = side_by_side(
      reports, {row("file", "gauge/file"),
                row("format", "gauge/format"),
                row("plaquette", "gauge/plaquette"),
                row("of space", "gauge/plaquette_space"),
                row("of time", "gauge/plaquette_time"),
                row("largest |U U^dagger - 1|", "gauge/max_unitarity_deviation"),
                row("re-unitarised", "gauge/reunitarized"),
                row("verified", "gauge/verified"),
                {"checksums and header values", [](const Json& json) {
                   std::string words;
                   for (const Json checks = at(json, "gauge/checksums"); const auto& [name, check] : checks.items())
                     words +=
                         (words.empty() ? "" : ", ") + name + (at(check, "match") == true ? " agrees" : " DIFFERS");
                   return words.empty() ? std::string("-") : words;
                 }}});
  return text;
}

std::string machine(const Reports& reports) {
  std::vector<Row> rows{row("device", "device"),       row("hosts", "hosts"),
                        row("ranks", "ranks"),         row("threads of each", "threads"),
                        row("grid", "grid"),           row("local lattice", "local_lattice"),
                        row("transport", "transport"), row("why", "transports/reason"),
                        row("loop", "loop"),           row("precise loop", "precise_loop")};
  for (Row& provenance : rows_of_object(reports, "provenance", words_of)) rows.push_back(std::move(provenance));
  return side_by_side(reports, rows);
}

// A report as it came, for programs that find it in the page.
std::string enclosed(const ReadReport& report) {
  std::string json = text_of_json(report.json, -1);
  for (std::size_t k = 0; (k = json.find('<', k)) != std::string::npos;) json.replace(k, 1, "\\u003c");
  return "<script type=\"application/json\" data-name=\"" + html_text(report.name) + "\">" + json + "</script>\n";
}

// The words of an exception of JSON without its code in front: "[json.exception.type_error.302] type must be ...".
std::string without_code(const std::string& words) {
  const std::size_t end = words.find("] ");
  return words.starts_with('[') && end != std::string::npos ? words.substr(end + 2) : words;
}

std::string page_of(const Reports& reports, std::span<const ObservableKind> kinds) {
  const Reports solves = of_kind(reports, Kind::solve), eigens = of_kind(reports, Kind::eigen),
                benches = of_kind(reports, Kind::bench), campaigns = of_kind(reports, Kind::campaign);
  Reports with_links = solves;
  with_links.insert(with_links.end(), eigens.begin(), eigens.end());
  std::string title = "Staghorn:", certificates, times;
  for (const ReadReport& report : reports) title += " " + report.name;
  for (const ReadReport& solve : solves) certificates += certificate(solve);
  if (!with_links.empty()) times = side_by_side(with_links, rows_of_seconds(with_links));
  for (const ReadReport& solve : solves) times += phases(solve);
  std::vector<Row> memory = rows_of_object(with_links, "memory_bytes", megabytes);
  for (Row& predicted : rows_of_object(solves, "predicted_memory_bytes", megabytes)) {
    predicted.head += ", predicted";
    memory.push_back(std::move(predicted));
  }
  std::string page = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + html_text(title) +
                     "</title>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\n" +
                     page_style + "</style></head>\n<body><h1>" + html_text(title) + "</h1>\n" +
                     outcome_badges(reports);
  page += section("Means over configurations", campaign_means(campaigns, kinds)) +
          section("Configurations", campaign_configurations(campaigns));
  if (!solves.empty()) page += section("What was asked, and what came out", asked_and_found(solves));
  page += section("Certificate", certificates) + section("Residuals", residual_plot(solves));
  if (!eigens.empty()) page += section("Eigenpairs", spectra(eigens));
  page += section("Where the time went", times);
  if (!solves.empty()) page += section("Speed", speed(solves, benches));
  if (!benches.empty()) page += section("Kernels under the roof of the memory", roofline(benches));
  if (!with_links.empty()) page += section("Memory, summed over ranks", side_by_side(with_links, memory));
  if (!solves.empty()) page += section("Observables", observables(solves, kinds));
  if (!with_links.empty()) page += section("Links", links(with_links));
  Reports with_machine = with_links;
  for (const ReadReport& campaign : campaigns)  // all of its configurations have the machine of the first
    if (std::vector<ReadReport> parts = parts_of(campaign); !parts.empty()) {
      parts[0].name = campaign.name;
      with_machine.push_back(std::move(parts[0]));
    }
  with_machine.insert(with_machine.end(), benches.begin(), benches.end());
  page += section("Machine and provenance", machine(with_machine));
  for (const ReadReport& report : reports) page += enclosed(report);
  return page + "</body></html>\n";
}

}  // namespace

std::string html_report(const std::vector<NamedReport>& reports, std::span<const ObservableKind> kinds) {
  if (reports.empty()) throw Error("report", "a report at least", "none");
  Reports read;
  for (const NamedReport& report : reports) read.push_back(read_report(report));
  try {
    return page_of(read, kinds);
  } catch (const Json::exception& error) {  // a value of another type than the schema says
    throw Error("report", "the values of docs/guide/report.schema.json", without_code(error.what()));
  }
}

}  // namespace staghorn
