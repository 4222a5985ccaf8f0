// The smallest training whose members come and go, on Lazarus' controller and in its messages: each
// rank adds up its share of a step's numbers, and what all shares make together is added to what
// every member holds. So it does not matter who had which share: the result is that of a training
// without faults.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "impls/elastic/member.hpp"
#include "impls/lazarus/policy/controller/protocol_json.hpp"

namespace assay::elastic {

constexpr std::int64_t numbers = 24;  ///< of a step

/// Of a step's numbers, those that one rank of so many has: every so manyth.
inline std::int64_t share(Step step, std::int64_t rank, std::int64_t ranks) {
    std::int64_t sum = 0;
    for (std::int64_t i = step * numbers + rank; i < (step + 1) * numbers; i += ranks)
        sum += i * i % 97;
    return sum;
}

class SumMember final : public Member {
  public:
    /// What each of a group gives(), by its place in it.
    using Gather = std::function<std::vector<std::int64_t>(const SumMember&, const drive::Group&,
                                                           std::optional<Step>)>;
    SumMember(WorkerId self, Gather gather) : self_(self), gather_(std::move(gather)) {}

    /// Of a step its share; without one: what it holds.
    std::int64_t gives(std::optional<Step> step) const {
        const auto ranks = static_cast<std::int64_t>(plan_.training.size());
        return step ? share(*step, place(plan_.training, self_), ranks) : sum_;
    }

    Plan plan(const drive::AnyMessage& message) override {
        plan_ = message.to<lazarus::Reconfigure>();
        return plan_of(plan_);
    }
    drive::AnyMessage take(const Plan& plan) override {
        const auto held = gather_(*this, *plan.members, std::nullopt);
        const auto joiner = static_cast<std::size_t>(place(plan_.need_dense, self_));
        if (plan.restore)
            sum_ = 0;  // there is no checkpoint but the beginning
        else if (joiner < plan_.need_dense.size())
            sum_ =
                held[static_cast<std::size_t>(place(plan_.members, plan_.dense_sources[joiner]))];
        return Ready{self_, plan.epoch()};
    }
    Outcome compute(const Plan& plan, const drive::AnyMessage& go) override {
        const Step step = go.to<Go>().step;
        const auto shares = gather_(*this, *plan.ranks, step);
        step_sum_ = std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
        return {.wrong = {}, .done = lazarus::StepDone{self_, plan.epoch(), step, {{1}}}};
    }
    drive::AnyMessage apply(Step) override {
        sum_ += step_sum_;
        return {};
    }
    /// "finish".
    drive::AnyMessage answer(const drive::AnyMessage&) override {
        return Digests{{{nn::dense_key, static_cast<std::uint64_t>(sum_)}}};
    }

  private:
    static std::int64_t place(const std::vector<WorkerId>& workers, WorkerId worker) {
        return std::find(workers.begin(), workers.end(), worker) - workers.begin();
    }

    WorkerId self_;
    Gather gather_;
    lazarus::Reconfigure plan_;
    std::int64_t sum_ = 0, step_sum_ = 0;
};

}  // namespace assay::elastic
