#include "impls/dr_post_training/recipes/rivals.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "impls/dr_post_training/method/choosing.hpp"

namespace assay::dr_post_training {
namespace {

constexpr std::int64_t judged_together = 5;  // batches

class Filtering : public Arm {
  public:
    Filtering(const StepModel& model, const SftSettings& settings, const SftRows& rows,
              Tuning& tuning)
        : model_(model),
          judging_{model.decoder, model.compute, model.mean, tuning.judging()},
          settings_(settings),
          rows_(rows),
          blocks_(tuning.blocks()),
          maps_(judging(settings)) {}

    std::unique_ptr<TrainingStep> step(std::int64_t step,
                                       const SftRows::General& general) override {
        // Also where a training goes on in the middle of a round, by the model as it is then.
        if (step % filtering_round == 0 || judged_.empty()) judge(step);
        const auto& scores = judged_[static_cast<std::size_t>(step - first_)];
        std::vector<std::size_t> kept;
        for (std::size_t b = 0; b < scores.size(); ++b)
            if (scores[b] >= 0) kept.push_back(b);
        if (kept.empty())
            kept.push_back(static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) -
                                                    scores.begin()));
        std::vector<nn::ScoredRow> rows;
        for (const auto row : kept) rows.push_back(general.rows[row]);
        SelectingMaps::Decision& decision = decisions_["all"];
        decision.statistics.target.scores = decision.ranks_by = scores;
        decision.update = subset_update(
            std::move(kept), std::vector<double>(scores.size(), 1.0 / double(scores.size())));
        return plain_step(model_, rows);
    }
    const std::map<std::string, SelectingMaps::Decision>* decisions() const override {
        return &decisions_;
    }

  private:
    static SelectingOptions judging(const SftSettings& settings) {
        auto options = options_for(Partition::global, SetKind::filter);
        options.backend = settings.readings.backend;
        options.head_chooses = settings.readings.head == HeadRows::selected;
        options.assemble = false;
        options.choose = [](const std::string&, const GroupStatistics& seen) {
            return Update{{}, std::vector<double>(seen.target.scores.size()), 0};
        };
        return options;
    }

    void judge(std::int64_t step) {
        first_ = step;
        judged_.clear();
        const auto end = std::min(settings_.steps, (step / filtering_round + 1) * filtering_round);
        for (auto first = step; first < end; first += judged_together) {
            std::vector<nn::ScoredRow> general;
            const auto last = std::min(end, first + judged_together);
            for (auto each = first; each < last; ++each)
                for (auto& row : rows_.general(each).rows) general.push_back(std::move(row));
            selecting_step(judging_, maps_, Schedule::one_pass, general, rows_.given(),
                           settings_.readings.head == HeadRows::selected)
                ->backward();
            const auto& scores = maps_.decisions().at("all").statistics.target.scores;
            demand_finite(scores, "scores");
            for (std::size_t b = 0; b < scores.size(); b += settings_.n)
                judged_.emplace_back(scores.begin() + static_cast<std::ptrdiff_t>(b),
                                     scores.begin() + static_cast<std::ptrdiff_t>(b + settings_.n));
        }
        for (auto& [block, factor] : blocks_) block->zero_grad();  // of norms, tables, the head
    }

    StepModel model_, judging_;
    SftSettings settings_;
    const SftRows& rows_;
    std::vector<nn::TrainedBlock> blocks_;
    SelectingMaps maps_;
    std::int64_t first_ = 0;
    std::vector<std::vector<double>> judged_;  ///< step of the round, row
    std::map<std::string, SelectingMaps::Decision> decisions_;
};

/// v without what opposes c.
class HalfSpaceStep : public TrainingStep {
  public:
    HalfSpaceStep(const StepModel& model, const std::vector<nn::ScoredRow>& general,
                  const std::vector<nn::ScoredRow>& target,
                  const std::vector<nn::TrainedBlock>& blocks)
        : general_(plain_step(model, general)), blocks_(blocks) {
        StepModel of_target = model;
        of_target.mean = LossMean::example;
        target_ = plain_step(of_target, target);
        loss_ = general_->loss();
    }
    void backward() override {
        general_->backward();
        std::vector<at::Tensor> mean;
        double norm2 = 0, along = 0;
        for (const auto& [block, factor] : blocks_) {
            mean.push_back(block->grad().clone());
            norm2 += mean.back().square().sum().item<double>();
            block->zero_grad();
        }
        target_->backward();
        for (std::size_t i = 0; i < mean.size(); ++i)
            along += (mean[i] * blocks_[i].block->grad()).sum().item<double>();
        if (along >= 0 || norm2 == 0) return;
        for (std::size_t i = 0; i < mean.size(); ++i)
            blocks_[i].block->grad().add_(mean[i], -along / norm2);
    }

  private:
    std::unique_ptr<TrainingStep> general_, target_;
    const std::vector<nn::TrainedBlock>& blocks_;
};

class AGem : public Arm {
  public:
    AGem(StepModel model, const SftRows& rows, std::vector<nn::TrainedBlock> blocks)
        : model_(std::move(model)), rows_(rows), blocks_(std::move(blocks)) {}
    std::unique_ptr<TrainingStep> step(std::int64_t step,
                                       const SftRows::General& general) override {
        return std::make_unique<HalfSpaceStep>(model_, general.rows, rows_.target(step), blocks_);
    }

  private:
    StepModel model_;
    const SftRows& rows_;
    std::vector<nn::TrainedBlock> blocks_;
};

}  // namespace

std::unique_ptr<Arm> make_filtering(const StepModel& model, const SftSettings& settings,
                                    const SftRows& rows, Tuning& tuning) {
    return std::make_unique<Filtering>(model, settings, rows, tuning);
}

std::unique_ptr<Arm> make_a_gem(const StepModel& model, const SftRows& rows,
                                std::vector<nn::TrainedBlock> blocks) {
    return std::make_unique<AGem>(model, rows, std::move(blocks));
}

}  // namespace assay::dr_post_training
