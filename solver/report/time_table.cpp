#include "solver/report/time_table.hpp"

#include <algorithm>
#include <array>

#include "solver/report/setting_json.hpp"

namespace staghorn {

namespace {

// `hideable`: what of the part could be hidden at best.
TimeRow measured(const Communicator& all, const char* name, const TimeSpent& part, double hideable,
                 const char* note = "") {
  std::array<double, 3> sums{part.seconds, part.hidden, hideable};
  all.sum(sums);
  TimeRow row{name, sums[0] / all.size(), all.max(part.seconds), {}, note};
  if (sums[2] > 0) row.hidden_share = std::min(1.0, sums[1] / sums[2]);
  return row;
}

TimeRow measured(const Communicator& all, const char* name, const TimeSpent& part) {
  return measured(all, name, part, part.seconds);
}

TimeRow nothing(const char* name, const char* why) { return {name, 0.0, 0, {}, why}; }
TimeRow part_of_another(const char* name, const char* which) { return {name, {}, 0, {}, which}; }

}  // namespace

TimeTable time_table(StaggeredOperator& d, const CommunicationTimes& times, double all_seconds) {
  const Communicator& all = d.communicator();
  const bool on_gpu = d.options().cuda_device >= 0, overlap = d.options().overlap;
  if (!d.faces().kind()) return {};

  // Ranks on CPUs beside GPUs take part in every sum of the table, with nothing to copy.
  const bool mixed = all.any(on_gpu) && all.any(!on_gpu);
  const bool not_told_apart = !mixed && on_gpu && times.compute.seconds == 0;
  if (d.peers() || not_told_apart) {
    const char* inside = d.peers() ? "within the kernels" : "queued with the kernels";
    const char* all_of_it = d.peers() ? "everything: the kernels store faces themselves" : "everything";
    TimeTable table{{measured(all, "compute", {all_seconds, 0}, 0, all_of_it)}};
    for (const char* part : {"gather", "DtoH", "MPI", "HtoD"}) table.rows.push_back(part_of_another(part, inside));
    table.rows.push_back(nothing("scatter", "ghosts are read in place"));
    table.rows.push_back(part_of_another("sums", inside));
    table.rows.push_back(part_of_another("communication", inside));
    return table;
  }

  const TransportKind& kind = *d.faces().kind();
  const auto copy = [&](const char* name, const TimeSpent& spent, const TimedPart& part) {
    if (mixed) return measured(all, name, spent, spent.seconds, "of ranks on GPUs");
    if (part.how == TimedPart::none) return nothing(name, part.note);
    return part.how == TimedPart::inside_another ? part_of_another(name, part.note) : measured(all, name, spent);
  };
  const double hideable = std::min(times.compute.seconds, times.communication.seconds);
  return {
      {measured(all, "compute", times.compute, 0), measured(all, "gather", times.gather),
       copy("DtoH", times.to_host, kind.to_host),
       measured(all, "MPI", times.messages, times.messages.seconds, overlap ? kind.overlap_note : kind.messages_note),
       copy("HtoD", times.to_device, kind.to_device), nothing("scatter", "ghosts are read in place"),
       measured(all, "sums", times.sums), measured(all, "communication", times.communication, hideable)},
      on_gpu ? SampledHops::spacing : 1};
}

nlohmann::ordered_json to_json(const TimeTable& table) {
  Json json = Json::array();
  for (const TimeRow& row : table.rows)
    json.push_back({{"phase", row.part},
                    {"seconds", seconds_json(row.seconds)},
                    {"slowest", row.seconds ? seconds_json(row.slowest) : Json(nullptr)},
                    {"hidden_share", or_null(row.hidden_share)},
                    {"note", row.note}});
  return json;
}

}  // namespace staghorn
