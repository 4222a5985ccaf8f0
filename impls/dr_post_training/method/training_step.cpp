#include "impls/dr_post_training/method/training_step.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <numeric>
#include <stdexcept>

namespace assay::dr_post_training {
namespace {

/// Losses of rows, each multiplied by its own factor and summed.
struct Weighted {
    at::Tensor sum;                ///< scalar, with graph
    std::vector<double> row_sums;  ///< nats, without factors
};

Weighted weighted_loss(const StepModel& model, nn::Maps& maps, const nn::RowBatch& batch,
                       const std::vector<double>& factors) {
    const auto device = model.decoder.blocks().front()->values().device();
    const auto adapted = model.adapt ? model.adapt(maps) : nullptr;
    const auto by_row = model.decoder
                            .token_losses(batch.tokens.to(device), adapted ? *adapted : maps,
                                          batch.targets.to(device), model.compute)
                            .sum(1);
    const auto weights = at::tensor(factors, by_row.options().requires_grad(false));
    Weighted result{(by_row * weights).sum(), {}};
    const auto here = by_row.detach().to(at::kCPU, at::kDouble).contiguous();
    result.row_sums.assign(here.const_data_ptr<double>(),
                           here.const_data_ptr<double>() + here.numel());
    return result;
}

/// What each row's sum over tokens is multiplied with, for means by `shares`.
std::vector<double> factors_of(const std::vector<double>& shares,
                               std::span<const std::int64_t> scored_tokens) {
    std::vector<double> factors;
    for (std::size_t b = 0; b < shares.size(); ++b)
        factors.push_back(shares[b] / static_cast<double>(scored_tokens[b]));
    return factors;
}

/// Factors of the mean of rows' mean losses.
std::vector<double> mean_of_means(std::span<const std::int64_t> scored_tokens) {
    const auto rows = scored_tokens.size();
    return factors_of(std::vector<double>(rows, 1 / static_cast<double>(rows)), scored_tokens);
}

double mean_loss(const Weighted& loss, const std::vector<double>& factors, std::size_t rows) {
    return std::inner_product(factors.begin(), factors.begin() + static_cast<std::ptrdiff_t>(rows),
                              loss.row_sums.begin(), 0.0);
}

class Plain : public TrainingStep {
  public:
    Plain(const StepModel& model, const std::vector<nn::ScoredRow>& rows) {
        nn::Maps maps;
        const auto batch = nn::batch_of(rows);
        const auto factors =
            factors_of(shares_of(batch.scored_tokens, model.mean), batch.scored_tokens);
        weighted_ = weighted_loss(model, maps, batch, factors);
        loss_ = mean_loss(weighted_, factors, factors.size());
    }
    void backward() override { weighted_.sum.backward(); }

  private:
    Weighted weighted_;
};

class Selecting : public TrainingStep {
  public:
    Selecting(const StepModel& model, SelectingMaps& maps, Schedule schedule,
              const std::vector<nn::ScoredRow>& general, const std::vector<nn::ScoredRow>& target,
              bool head_chooses, Targets targets)
        : model_(model),
          maps_(maps),
          schedule_(schedule),
          general_(general),
          head_chooses_(head_chooses) {
        const bool cached = targets == Targets::cached && !target.empty();
        if (cached) cache(target);
        std::vector<const nn::ScoredRow*> rows;
        for (const nn::ScoredRow& row : general) rows.push_back(&row);
        if (!cached)
            for (const nn::ScoredRow& row : target) rows.push_back(&row);
        const auto batch = nn::batch_of(rows);
        const std::span<const std::int64_t> tokens = batch.scored_tokens;
        const std::vector<std::int64_t> of_general(
            tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(general.size()));
        const auto shares = shares_of(of_general, model.mean);
        auto factors = factors_of(shares, of_general);
        if (!cached && !target.empty()) {
            const auto more = mean_of_means(tokens.subspan(general.size()));
            factors.insert(factors.end(), more.begin(), more.end());
        }
        const auto with = cached ? 0 : static_cast<std::int64_t>(target.size());
        maps_.begin({.shares = shares, .targets = with, .cached = cached});
        weighted_ = weighted_loss(model, maps_, batch, factors);
        loss_ = mean_loss(weighted_, factors, general.size());
    }

    void backward() override {
        weighted_.sum.backward();
        weighted_.sum.reset();
        if (schedule_ == Schedule::two_pass) second_pass();
    }

  private:
    void cache(const std::vector<nn::ScoredRow>& target) {
        const auto batch = nn::batch_of(target);
        maps_.begin_target(static_cast<std::int64_t>(target.size()));
        weighted_loss(model_, maps_, batch, mean_of_means(batch.scored_tokens)).sum.backward();
    }

    void second_pass() {
        if (maps_.decisions().size() != 1)
            throw std::logic_error("two passes need one group of all maps");
        const Update& update = maps_.decisions().begin()->second.update;
        std::vector<nn::ScoredRow> kept;
        std::vector<double> weights;
        for (std::size_t b = 0; b < general_.size(); ++b) {
            if (update.weights[b] == 0) continue;
            kept.push_back(general_[b]);
            weights.push_back(update.weights[b]);
        }
        if (kept.empty()) return;
        const auto batch = nn::batch_of(kept);
        LinearMapsOnly maps(head_chooses_);
        weighted_loss(model_, maps, batch, factors_of(weights, batch.scored_tokens)).sum.backward();
    }

    StepModel model_;
    SelectingMaps& maps_;
    Schedule schedule_;
    std::vector<nn::ScoredRow> general_;
    bool head_chooses_;
    Weighted weighted_;
};

}  // namespace

std::vector<double> shares_of(const std::vector<std::int64_t>& scored_tokens, LossMean mean) {
    std::vector<double> shares;
    double sum = 0;
    for (const auto tokens : scored_tokens) {
        shares.push_back(mean == LossMean::token ? static_cast<double>(tokens) : 1);
        sum += shares.back();
    }
    for (double& share : shares) share /= sum;
    return shares;
}

std::unique_ptr<TrainingStep> plain_step(const StepModel& model,
                                         const std::vector<nn::ScoredRow>& rows) {
    return std::make_unique<Plain>(model, rows);
}

std::unique_ptr<TrainingStep> selecting_step(const StepModel& model, SelectingMaps& maps,
                                             Schedule schedule,
                                             const std::vector<nn::ScoredRow>& general,
                                             const std::vector<nn::ScoredRow>& target,
                                             bool head_chooses, Targets targets) {
    return std::make_unique<Selecting>(model, maps, schedule, general, target, head_chooses,
                                       targets);
}

}  // namespace assay::dr_post_training
