#include "impls/hetermoe/parts/parts_arms.hpp"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "impls/hetermoe/policy/expert_map.hpp"
#include "impls/hetermoe/policy/plan.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {
namespace {

using Members = std::vector<std::size_t>;

class Arms {
  public:
    Arms(const nn::MoeGptConfig& model, at::Device device, std::vector<Part> parts,
         const Group& group, int batch, int steps)
        : model_(model),
          group_(group),
          batch_(batch),
          steps_(steps),
          training_(model, device, std::move(parts), 1) {
        profile();
    }

    PartsMeasurement measure(Arm arm) {
        if (arm == Arm::zebra) return best([&](int r) { return alternate(none(), r); });
        if (arm == Arm::hetermoe) return best([&](int r) { return alternate(moved(r), r); });
        if (arm == Arm::dist_ep)
            return best([&](int r) -> std::optional<PartsMeasurement> {
                if (r > 1) return std::nullopt;
                return alternate(none(), 1);
            });
        if (arm == Arm::ep) return best([&](int r) { return expert_parallel(everyone(), r); });
        if (arm == Arm::ep_ideal) {
            const auto apart = [&](int first, int count) {
                return best([&](int r) { return expert_parallel(some(first, count), r); });
            };
            PartsMeasurement sum = apart(0, group_.attention);
            sum.tokens_per_s += apart(group_.attention, group_.expert).tokens_per_s;
            sum.new_busy = sum.old_busy = std::nullopt;
            return sum;
        }
        throw std::invalid_argument(fmt::format("no parts of a GPU for {}", to_string(arm)));
    }

  private:
    static Members some(int first, int count) {
        Members members(static_cast<std::size_t>(count));
        std::iota(members.begin(), members.end(), static_cast<std::size_t>(first));
        return members;
    }
    int parts() const { return group_.attention + group_.expert; }
    Members everyone() const { return some(0, parts()); }
    std::vector<int> none() const {
        return std::vector<int>(static_cast<std::size_t>(model_.layers), 0);
    }

    PartsRun run(const GroupPlan& plan, const Members& members, int sequences, int steps) {
        PartsRun run = training_.run(plan, members, sequences, steps);
        for (const double loss : run.losses)
            if (!std::isfinite(loss))
                throw SampleError(SampleStatus::failed, "a loss is no number");
        return run;
    }
    static GroupPlan expert_parallel_plan(const Members& members, int micro_batches, int layers) {
        return {.group = {static_cast<int>(members.size()), 0},
                .micro_batches = micro_batches,
                .offload = std::vector<int>(static_cast<std::size_t>(layers), 1)};
    }
    // Of the ranks of one kind.
    double mean(const PartsRun& run, double RankTimes::*time, int first, int count) const {
        double sum = 0;
        for (int rank = first; rank < first + count; ++rank)
            sum += run.ranks[static_cast<std::size_t>(rank)].*time;
        return sum / count;
    }
    double of_new(const PartsRun& run, double RankTimes::*time) const {
        return mean(run, time, 0, group_.attention);
    }
    double of_old(const PartsRun& run, double RankTimes::*time) const {
        return mean(run, time, group_.attention, group_.expert);
    }

    // Experts' times as if every part held equally many: their number need not divide them.
    void even_out(PartsRun& probe) const {
        const std::vector<int> home = homes(model_.experts, {parts(), 0}, 1);
        const double each = double(model_.experts) / parts();
        for (int rank = 0; rank < parts(); ++rank) {
            const auto held = std::count(home.begin(), home.end(), rank);
            if (held > 0)
                probe.ranks[static_cast<std::size_t>(rank)].experts_s *= each / double(held);
        }
    }

    // One sequence on each part, expert parallelism: attention and as many rows on both kinds.
    void profile() {
        PartsRun probe =
            run(expert_parallel_plan(everyone(), 1, model_.layers), everyone(), parts(), steps_);
        even_out(probe);
        const auto nanoseconds = [](double seconds) {
            return std::max<Nanoseconds>(1, std::llround(seconds * 1e9));
        };
        profile_.layers = model_.layers;
        profile_.experts = model_.experts;
        profile_.new_kind.attention = nanoseconds(of_new(probe, &RankTimes::attention_s));
        profile_.new_kind.expert = nanoseconds(of_new(probe, &RankTimes::experts_s));
        profile_.new_kind.head = nanoseconds(of_new(probe, &RankTimes::head_s));
        profile_.old_kind.expert = nanoseconds(of_old(probe, &RankTimes::experts_s));
        ratios_.attention_ratio =
            of_old(probe, &RankTimes::attention_s) / of_new(probe, &RankTimes::attention_s);
        ratios_.experts_ratio =
            of_old(probe, &RankTimes::experts_s) / of_new(probe, &RankTimes::experts_s);
    }

    std::vector<int> moved(int micro_batches) const {
        const PlanSettings settings{.backward = Fraction(backward_over_forward)};
        return offload_for(profile_, group_, settings, micro_batches).value_or(none());
    }

    template <class Measure>
    PartsMeasurement best(const Measure& measure) {
        std::optional<PartsMeasurement> best;
        for (int r = 1; r <= batch_; ++r) {
            if (batch_ % r != 0) continue;
            std::optional<PartsMeasurement> here;
            try {
                here = measure(r);
            } catch (const c10::OutOfMemoryError&) {
                continue;  // it does not fit
            }
            if (here && (!best || here->tokens_per_s > best->tokens_per_s)) best = here;
        }
        if (!best)
            throw SampleError(
                SampleStatus::failed,
                "the step does not fit into the GPU's memory with any number of micro-batches");
        return *best;
    }

    PartsMeasurement measured(const PartsRun& run, int sequences, int micro_batches) const {
        PartsMeasurement made = ratios_;
        made.tokens_per_s = double(sequences) * model_.context / run.step_s;
        made.micro_batches = micro_batches;
        return made;
    }

    PartsMeasurement alternate(const std::vector<int>& offload, int micro_batches) {
        const int sequences = batch_ * group_.attention;
        const PartsRun ran = run({group_, micro_batches, offload}, everyone(), sequences, steps_);
        PartsMeasurement made = measured(ran, sequences, micro_batches);
        made.new_busy = of_new(ran, &RankTimes::busy_s) / ran.step_s;
        made.old_busy = of_old(ran, &RankTimes::busy_s) / ran.step_s;
        const int all = std::accumulate(offload.begin(), offload.end(), 0) * group_.expert;
        made.moved = double(all) / (model_.layers * model_.experts);
        return made;
    }

    // Nothing where a rank has fewer sequences than micro-batches.
    std::optional<PartsMeasurement> expert_parallel(const Members& members, int micro_batches) {
        const int ranks = static_cast<int>(members.size());
        const double share = double(batch_) * group_.attention / parts();
        const int each = std::max(1, static_cast<int>(std::lround(share)));
        if (each < micro_batches) return std::nullopt;
        const int sequences = each * ranks;
        const PartsRun ran = run(expert_parallel_plan(members, micro_batches, model_.layers),
                                 members, sequences, steps_);
        PartsMeasurement made = measured(ran, sequences, micro_batches);
        if (ranks == parts()) {
            made.new_busy = of_new(ran, &RankTimes::busy_s) / ran.step_s;
            made.old_busy = of_old(ran, &RankTimes::busy_s) / ran.step_s;
        }
        return made;
    }

    nn::MoeGptConfig model_;
    Group group_;
    int batch_, steps_;
    PartsTraining training_;
    TrainingProfile profile_;
    PartsMeasurement ratios_;
};

}  // namespace

PartsMeasurement measure_arm(Arm arm, const nn::MoeGptConfig& model, at::Device device,
                             std::vector<Part> parts, const Group& group, int batch, int steps) {
    return Arms(model, device, std::move(parts), group, batch, steps).measure(arm);
}

}  // namespace assay::hetermoe
