#include "python/native_campaign.hpp"

#include "python/text_caster.hpp"
#include "solver/session/campaign/gauge_list.hpp"

namespace staghorn::python {

namespace nb = nanobind;

std::pair<std::string, std::string> campaign(const Process& process, const std::string& gauge,
                                             const OptionTexts& options, CampaignRequest request,
                                             const nb::object& progress) {
  for (const auto& [name, text] : options) set_option(request.options, name, text);
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

}  // namespace staghorn::python
