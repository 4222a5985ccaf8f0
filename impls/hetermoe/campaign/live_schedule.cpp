#include "impls/hetermoe/campaign/live_schedule.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "impls/elastic/watch.hpp"
#include "impls/hetermoe/live/fault_phases.hpp"
#include "impls/hetermoe/live/session.hpp"
#include "impls/hetermoe/live/worker.hpp"

namespace assay::hetermoe {
namespace {

constexpr Step steps = 12;

SessionOptions options_of(std::uint64_t seed, const std::filesystem::path& corpus,
                          const std::filesystem::path& scratch) {
    struct Shape {
        Group group;
        int groups;
    };
    constexpr std::array shapes{Shape{{2, 2}, 1}, Shape{{1, 1}, 2}, Shape{{1, 2}, 2},
                                Shape{{2, 1}, 2}};
    const auto& [group, groups] = shapes[seed % shapes.size()];
    SessionOptions options;
    options.training.model = {.layers = 2,
                              .width = 16,
                              .heads = 2,
                              .experts = 8,
                              .top_k = 2,
                              .hidden = 24,
                              .context = 16};
    options.training.sequences = 12;
    options.training.seed = seed;
    options.training.corpus = corpus.string();
    options.controller = {.layers = 2,
                          .experts = 8,
                          .group = group,
                          .groups = groups,
                          .micro_batches = 2,
                          .chunks = static_cast<int>(seed / 4 % 3),
                          .squeeze = seed % 2 == 0,
                          .times = {.old_attention = 1'000'000},
                          .steps = steps,
                          .checkpoint_every = 3};
    if (options.controller.squeeze) options.pace = PaceSettings{.window = 3};
    options.faults = random_fault_plan(
        {.workers = options.controller.new_workers() + options.controller.old_workers(),
         .steps = steps - 2,
         .faults = 1 + static_cast<int>(seed % 4),
         .joins = true,
         .hangs = true,
         .network = true,
         .data = true},
        seed, fault_phases());
    options.supervisor.heartbeat_timeout = cluster::Seconds(1.5);
    options.operation_timeout_s = 5;
    options.checkpoints = scratch;
    return options;
}

// Empty: every rule was kept.
std::string broken_rule(const SessionOptions& options, const SessionResult& result) {
    if (result.gave_up) return "";  // rightly: one kind of workers ran out
    if (!result.ok) return "the training ended early: " + result.why;
    if (static_cast<Step>(result.lineage.size()) != steps)
        return fmt::format("{} of {} steps are in the lineage", result.lineage.size(), steps);
    if (const auto broken = elastic::watch_decisions(
            Controller(options.controller), elastic::Watch({.steps = steps}), result.decisions);
        !broken.empty())
        return broken.front();
    const nn::ByteCorpus corpus(options.training.corpus);
    PlannedTraining replay(options.training, corpus);
    for (Step step = 0; step < steps; ++step) {
        const auto& committed = result.lineage[static_cast<std::size_t>(step)];
        if (committed.step != step) return fmt::format("the lineage has no step {}", step);
        replay.train(committed);
    }
    if (!agrees(result.digests, replay.digests()))
        return "the state differs from that of the same groups without faults";
    return "";
}

drive::SeedOutcome run_schedule(std::uint64_t seed, const std::filesystem::path& corpus,
                                const std::filesystem::path& scratch) {
    const auto options = options_of(seed, corpus, scratch);
    const auto& shape = options.controller;
    drive::SeedOutcome outcome;
    outcome.says = fmt::format("{} groups of {} new and {} old, {} chunks: {}", shape.groups,
                               shape.group.attention, shape.group.expert, shape.chunks,
                               to_string(options.faults));
    auto launcher = cluster::make_fork_server(worker_main);
    MemoryRecorder recorder;
    const auto result = run_training(std::move(launcher), options, recorder);
    at::set_num_threads(1);
    outcome.why = broken_rule(options, result);
    outcome.ok = outcome.why.empty();
    outcome.counts = {{"faults_planned", static_cast<long>(options.faults.faults.size())},
                      {"faults_fired", result.faults_fired},
                      {"gave_up", result.gave_up ? 1 : 0},
                      {"commits", static_cast<long>(result.lineage.size())},
                      {"discarded", result.counts.discarded},
                      {"moves", result.counts.moves},
                      {"plans", result.counts.plans},
                      {"deaths", result.counts.deaths},
                      {"joins", result.counts.joins},
                      {"leaves", result.counts.leaves},
                      {"fallbacks", result.counts.fallbacks},
                      {"retries", result.counts.retries},
                      {"evictions", result.counts.evictions}};
    for (const auto& event : recorder.events)
        if (event.kind == "fault")
            ++outcome.counts["fault." + event.detail.at("kind").get<std::string>()];
    return outcome;
}

const tensors::Provided provided(run_live_schedule, run_schedule);

}  // namespace
}  // namespace assay::hetermoe
