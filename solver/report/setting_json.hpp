// JSON of what reports share: links, quarks, transports. Private to this folder, where JSON is known.
#pragma once

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "solver/json/json_text.hpp"
#include "solver/report/run_setting.hpp"

namespace staghorn {

struct CoarseSummary;

using Json = nlohmann::ordered_json;  // keeps the order in which a reader wants the keys

template <class Number>
Json or_null(const std::optional<Number>& value) {
  return value ? Json(*value) : Json(nullptr);
}
// Seconds in whole nanoseconds, as clocks tell them: sums and differences of times have more digits, which mean
// nothing.
inline Json seconds_json(double seconds) { return std::round(seconds * 1e9) / 1e9; }
inline Json seconds_json(const std::optional<double>& seconds) {
  return seconds ? seconds_json(*seconds) : Json(nullptr);
}
Json seconds_json(const std::map<std::string, double>& parts);
Json bytes_json(const std::map<std::string, double>& objects);  // in whole bytes
inline Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
inline Json positive_or_null(double number) { return number > 0 ? Json(number) : Json(nullptr); }

Json checksums_json(const std::map<std::string, ChecksumResult>& checksums);
Json gauge_json(const GaugeSummary& gauge);
// `resumed`: the name of what was counted before the solve went on. Null without checkpoints.
Json checkpoint_json(const std::optional<CheckpointSummary>& checkpoint, const char* resumed);
Json coarse_json(const std::optional<CoarseSummary>& coarse);  // null without a basis of blocks
// What `shares auto` found; null where it was not asked for.
Json shares_json(const SessionOptions& options);
Json transports_json(const TransportChoice& choice);
// What tuning the launches of an operator did:
// {"mode": "on", "tuned": 3, "remembered": 0, "seconds": 0.2, "file": ..., "not_kept": null, "launches": {"hop": ...}}
Json to_json(const LaunchTuning& tuning);
// Lattice, grid, and the part of each rank.
void add_cut(Json& json, const RunSetting& setting);
// Action and parameters at the top level, as for naive quarks, and what only improved ones have.
void add_action(Json& json, const RunSetting& setting);

}  // namespace staghorn
