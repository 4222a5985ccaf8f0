// Our own addition: how far Algorithm 1's offload is from the best one.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/policy/plan.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {
namespace {

constexpr int experts_of_old_gpu = 6;  // so that every offload of four layers is tried

enum class Ratio { equal, more_old, more_new };
ASSAY_NAMES(Ratio, (equal, "1:1"), (more_old, "1:2"), (more_new, "2:1"))

struct XSqueeze {
    Ratio ratio{};
    int layers = 0, micro_batches = 0;
    Asym asym{};

    Group group() const {
        return {ratio == Ratio::more_new ? 2 : 1, ratio == Ratio::more_old ? 2 : 1};
    }
};

// Percent of T_E of a 1:1 group.
TrainingProfile profile_of(const XSqueeze& squeeze, int attention, int expert_on_new,
                           int exchange) {
    const Group group = squeeze.group();
    TrainingProfile profile;
    profile.layers = squeeze.layers;
    profile.experts = experts_of_old_gpu * group.expert;
    profile.new_kind.gpus = group.attention;
    profile.old_kind.gpus = group.expert;
    // Of the group's T_E, so that groups of all shapes have equal bubbles.
    profile.new_kind.attention = attention * group.attention / group.expert;
    profile.new_kind.expert = expert_on_new;
    profile.old_kind.expert = 100;
    profile.exchange = exchange;
    return profile;
}

void run(const XSqueeze& squeeze, Recorder& recorder) {
    const Group group = squeeze.group();
    int best = 0, instances = 0;
    double worst = 0, sum = 0;
    for (int attention = 30; attention <= 100; attention += 10) {
        for (const int expert_on_new : {14, 50, 80, 100, 120}) {
            for (const int exchange : {0, 20}) {
                const TrainingProfile profile =
                    profile_of(squeeze, attention, expert_on_new, exchange);
                const auto length = [&](Asym how) {
                    const PlanSettings settings{.asym = how};
                    const auto offload =
                        offload_for(profile, group, settings, squeeze.micro_batches);
                    return zebra_makespan(
                        task_times(profile, group, settings.backward, squeeze.micro_batches),
                        {.micro_batches = squeeze.micro_batches, .offload = *offload});
                };
                const double excess =
                    (Fraction(length(squeeze.asym), length(Asym::search)) - Fraction(1)).value();
                worst = std::max(worst, excess);
                sum += excess;
                best += excess == 0;
                ++instances;
            }
        }
    }
    recorder.metric("worst_excess", worst);
    recorder.metric("mean_excess", sum / instances);
    recorder.metric("as_short", static_cast<double>(best) / instances);
}

}  // namespace

Experiment x_squeeze() {
    Declaration<XSqueeze> x_squeeze(
        {.id = "hetermoe/x_squeeze",
         .title = "Algorithm 1 against the best offload",
         .source = "our own; tests Algorithm 1 of arXiv 2504.03871v1, section 4.2",
         .says =
             "Algorithm 1 spreads experts evenly over layers by what a layer's bubble holds; it "
             "sees neither the first layer, which fills the pipeline, nor exchanges. Here it is "
             "held against the offload with the shortest step among all: groups whose old GPUs "
             "hold six experts of a layer, attention of 0.3 to 1.0 expert tasks, experts on new "
             "GPUs at 0.14 to 1.2 of old ones' time (0.14: L40S to T4, 0.8: A40 to V100), "
             "exchanges of 0 and 0.2 (80 instances per case), backward three times forward. "
             "published is the paper's prose, printed the formula with n1 and n2 exchanged, off "
             "moves nothing.",
         .metrics = {{"worst_excess", "share", "longer than the shortest step, where it is most",
                      Direction::lower, true},
                     {"mean_excess", "share",
                      "longer than the shortest step, mean of the instances", Direction::lower,
                      true},
                     {"as_short", "share", "of the instances, in which no offload is shorter",
                      Direction::higher, true}},
         .profiles = exact_profiles(1),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "worst_excess",
                    .x = "layers",
                    .panels = {"group", "micro_batches"},
                    .x_title = "layers",
                    .y_title = "longer than the shortest step"}});
    x_squeeze.axis("group", &XSqueeze::ratio, "new to old GPUs");
    x_squeeze.axis("layers", &XSqueeze::layers, "with experts", {2, 3, 4});
    x_squeeze.axis("micro_batches", &XSqueeze::micro_batches, "of a step", {2, 4, 8});
    x_squeeze.variants(&XSqueeze::asym, {Asym::published, Asym::printed, Asym::off});
    return x_squeeze.runs(run);
}

}  // namespace assay::hetermoe
