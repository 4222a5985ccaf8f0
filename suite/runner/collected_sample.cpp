#include "suite/runner/collected_sample.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "suite/runner/scratch_folder.hpp"
#include "suite/store/storable.hpp"

namespace assay::runner {
namespace {

/// Of what cannot be stored; a sample may record thousands of metrics twice.
constexpr std::size_t most_reasons = 3;

/// What cannot be stored is a mistake of the experiment, and no reason to lose the rest.
void demand_storable(store::Sample& sample) {
    const std::set<std::string> all = store::take_out_unstorable(sample);
    if (all.empty()) return;
    std::vector<std::string> why(
        all.begin(), std::next(all.begin(), std::ptrdiff_t(std::min(all.size(), most_reasons))));
    if (all.size() > why.size())
        why.push_back(fmt::format("and {} more of this kind", all.size() - why.size()));
    if (sample.status == to_string(SampleStatus::ok))
        sample.status = to_string(SampleStatus::failed);
    sample.reason += fmt::format("{}{}", sample.reason.empty() ? "" : "; ", fmt::join(why, "; "));
}

}  // namespace

store::Sample collect_sample(SampleSpec spec, const std::string& id,
                             const std::function<void(std::string kind, nlohmann::json body)>& tell,
                             const Interruption& interruption, const SampleProgram& program,
                             const Watched& watched) {
    HardwareWatch* const watch = watched.watch;
    const ScratchFolder scratch;
    spec.scratch = scratch.path().string();
    store::Sample sample;
    sample.id = id;
    sample.spec = spec;
    sample.started = store::now_utc();
    const auto take = [&](Message&& message) {
        if (auto* metric = std::get_if<store::MetricValue>(&message)) {
            sample.metrics.push_back(std::move(*metric));
        } else if (auto* event = std::get_if<store::Event>(&message)) {
            tell("event", {{"sample", id},
                           {"t_s", event->t_s},
                           {"event", event->kind},
                           {"rank", event->rank},
                           {"detail", event->detail}});
            sample.events.push_back(std::move(*event));
        } else if (auto* series = std::get_if<store::TimeSeries>(&message)) {
            sample.series_data.push_back(std::move(*series));
        } else if (auto* table = std::get_if<store::Table>(&message)) {
            sample.tables.push_back(std::move(*table));
        } else if (auto* artifact = std::get_if<store::Artifact>(&message)) {
            sample.artifacts.push_back(std::move(*artifact));
        } else if (auto* progress = std::get_if<Progress>(&message)) {
            tell("progress",
                 {{"sample", id}, {"fraction", progress->fraction}, {"what", progress->what}});
        }
    };
    Look look;
    if (watch != nullptr) {
        look = [watch](double age_s) { return watch->look(age_s); };
        watch->begin();
    }
    const SampleEnd end = run_sample_process(spec, take, interruption, program, look);
    sample.status = to_string(end.status);
    sample.reason = end.reason;
    sample.seconds = end.seconds;
    if (watch != nullptr) {
        watch->end(end.seconds);
        watch->judge(sample, watched.on_gpus);
    }
    demand_storable(sample);
    // Gone by now, or of no use to a replay, which gets its own.
    sample.spec.scratch.clear();
    sample.spec.state.clear();
    sample.spec.shared.clear();
    return sample;
}

store::Sample run_once(const SampleSpec& spec, const Listener& listener) {
    const Interruption interruption;
    const auto tell = [&](std::string kind, nlohmann::json body) {
        listener(Notice{std::move(kind), std::move(body), 0, 0, 1, 0});
    };
    return collect_sample(spec, "", tell, interruption);
}

}  // namespace assay::runner
