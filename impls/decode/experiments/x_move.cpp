// What it costs a request to go on in another engine.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "impls/decode/experiments/experiments.hpp"
#include "impls/decode/experiments/modelled_gpu.hpp"
#include "impls/decode/experiments/process_moves.hpp"
#include "impls/decode/experiments/sample_runs.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::decode {
namespace {

constexpr int requests = 16, new_tokens = 64;
constexpr double most_late = 0.05;  // of the time that a run takes

Departure departure_of(const std::string& variant) {
    if (variant == "tokens") return Departure::tokens;
    if (variant == "with_kv") return Departure::with_kv;
    return Departure::sigkill;
}

void simulate(std::span<const BatchJob> jobs, int blocks, Departure departure, Recorder& recorder) {
    BatchRunOptions options = on_modelled_gpu(blocks);
    const BatchRun stays = run_batch(jobs, options);
    options.move_at = stays.steps - new_tokens / 2;
    options.move_cache = departure == Departure::with_kv;
    const BatchRun moved = run_batch(jobs, options);
    double lost_s = moved.step_s - stays.step_s;
    const StepCost cost = modelled_gpu_cost();
    // The first engine makes no step any more that would count its own transfers.
    if (departure == Departure::with_kv) lost_s += moved.exported_blocks * cost.block_s;
    // It is known at once.
    if (departure == Departure::sigkill) lost_s += into_a_step_s();
    recorder.metric("lost_s", lost_s);
    recorder.metric("computed_again",
                    static_cast<double>(moved.computed_tokens - stays.computed_tokens));
    recorder.metric("same_bits", same_tokens(moved, stays) ? 1 : 0);
}

void emulate(std::span<const BatchJob> jobs, int blocks, Departure departure, Recorder& recorder) {
    const ProcessRun stays = run_in_processes(jobs, blocks, Departure::none);
    const ProcessRun moved = run_in_processes(jobs, blocks, departure);
    for (const ProcessRun* const run : {&stays, &moved})
        if (run->late_s > most_late * run->seconds)
            throw SampleError(
                SampleStatus::invalid,
                fmt::format("{:.1f} % of a run is lateness, more than {:.0f} %: this machine is "
                            "too slow, or too busy",
                            100 * run->late_s / run->seconds, 100 * most_late));
    recorder.metric("lost_s", moved.seconds - stays.seconds);
    recorder.metric("computed_again", moved.computed_again);
    if (moved.noticed_s) recorder.metric("noticed_s", *moved.noticed_s);
    recorder.metric("late_s", stays.late_s + moved.late_s);
    recorder.metric("same_bits", same_tokens(moved.answers, stays.answers) ? 1 : 0);
}

void run(const SampleSpec& spec, Recorder& recorder) {
    const auto length = static_cast<int>(integer_axis(spec, "length"));
    const auto jobs = random_jobs(requests, length, 0, new_tokens, spec.seed);
    const int blocks = blocks_for_all(jobs, modelled_context);
    (spec.provenance == Provenance::emulated ? emulate : simulate)(
        jobs, blocks, departure_of(spec.variant), recorder);
}

}  // namespace

Experiment x_move() {
    Experiment experiment;
    experiment.id = "decode/x_move";
    experiment.title = "Requests that go on in another engine";
    experiment.source = "our own; no paper's";
    experiment.says =
        "16 requests; those that have not ended when the last of them has half of its 64 new "
        "tokens go on in another engine: with their tokens alone, whose keys and values the second "
        "engine computes, or with these "
        "too (with_kv, over 16 lanes of PCIe 4.0 to the host's memory and back); or the first "
        "engine is killed in the middle of a step (sigkill), and they go on from the tokens that "
        "were heard. Lost is the time beyond that of the same requests that stay. The second "
        "engine stands by with its weights loaded. LLaMA2-7B's shape on an A100 at its profile's "
        "peaks: in virtual time (simulated), or with engines that are processes whose steps end "
        "when the modelled ones would (emulated), where the kill is a SIGKILL.";
    experiment.axes = {{"length",
                        "prompt tokens of each",
                        {std::int64_t{128}, std::int64_t{512}, std::int64_t{2048}},
                        true}};
    experiment.variants = {"tokens", "with_kv", "sigkill"};
    const std::vector<Provenance> emulated{Provenance::emulated};
    experiment.metrics = {
        {"lost_s", "s", "of all requests together", Direction::lower, true, {}, {}, emulated},
        {"computed_again",
         "count",
         "tokens fed a second time",
         Direction::lower,
         true,
         {},
         {},
         emulated},
        {"noticed_s",
         "s",
         "from the signal until the death is known; sigkill",
         Direction::lower,
         false,
         {},
         emulated},
        {"late_s",
         "s",
         "by which steps ended too late; beyond 5 % of a run's time the sample is invalid",
         Direction::lower,
         false,
         {},
         emulated},
        {"same_bits", "bool", "ids and log-probabilities are those of requests that stay",
         Direction::higher, true}};
    experiment.profiles = simulated_profiles(0.2);
    for (ProfilePlan& plan : experiment.profiles) {
        plan.provenances.push_back(Provenance::emulated);
        const bool toy = plan.profile == Profile::toy;
        plan.seconds_of[Provenance::emulated] = toy ? 4 : 17;
        if (toy)
            plan.axes_of[Provenance::emulated] = {
                {"length", {std::int64_t{128}, std::int64_t{512}}}};
    }
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "lost_s",
                         .x = "length",
                         .panels = {},
                         .x_title = "prompt tokens",
                         .y_title = "time lost (s)"};
    experiment.validate = [](const SampleSpec& spec) {
        integer_axis(spec, "length", 1, modelled_context - new_tokens);
    };
    experiment.calibration = [](const SampleSpec&) { return modelled_gpu_calibration(); };
    experiment.run = run;
    return experiment;
}

}  // namespace assay::decode
