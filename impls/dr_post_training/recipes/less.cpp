#include "impls/dr_post_training/recipes/less.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "impls/nn/hashes.hpp"
#include "impls/rl/recipes/update.hpp"

namespace assay::dr_post_training {
namespace {

constexpr double kept_share = 0.05, training_share = 0.1;
constexpr int checkpoints = 2;

double inner_product(const at::Tensor& a, const at::Tensor& b) {
    return (a * b).sum().item<double>();
}

}  // namespace

double adam_cosine(const std::vector<nn::TrainedBlock>& blocks,
                   const std::vector<at::Tensor>& target, std::int64_t t,
                   const nn::AdamOptions& adam) {
    const double first = 1 - std::pow(adam.beta1, static_cast<double>(t));
    const double second = 1 - std::pow(adam.beta2, static_cast<double>(t));
    double along = 0, step2 = 0, target2 = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        nn::ParameterBlock& block = *blocks[i].block;
        const auto m = at::lerp(block.grad(), block.first_moment(), adam.beta1) / first;
        const auto v = at::lerp(block.grad().square(), block.second_moment(), adam.beta2) / second;
        const auto step = m / (v.sqrt() + adam.epsilon);
        along += inner_product(step, target[i]);
        step2 += inner_product(step, step);
        target2 += inner_product(target[i], target[i]);
    }
    return step2 > 0 && target2 > 0 ? along / std::sqrt(step2 * target2) : 0;
}

Preparation chosen_by_less(const SftSettings& settings, const SftRows& rows,
                           const nn::Decoder& base, std::uint64_t seed) {
    const auto began = std::chrono::steady_clock::now();
    const double rate = settings.rates[settings.rates.size() > 1 ? 1 : 0];
    Trainee trainee("full", settings, rate, rows, base, seed);
    const auto blocks = trainee.tuning->blocks();
    const nn::AdamOptions adam{rate, 0.9, 0.999, 1e-8};
    rl::Updater updater(blocks, 1, adam);

    std::vector<SftRows::Row> candidates;
    for (std::int64_t step = 0; step < settings.steps; ++step) {
        auto [more, kinds] = rows.general(step);
        for (std::size_t b = 0; b < more.size(); ++b)
            candidates.push_back({std::move(more[b]), kinds[b]});
    }
    const StepModel one{trainee.decoder, settings.bf16 ? at::kBFloat16 : at::kFloat,
                        LossMean::example, trainee.tuning->judging()};
    const auto gradients_of = [&](const std::vector<nn::ScoredRow>& of) {
        for (const auto& [block, factor] : blocks) block->zero_grad();
        plain_step(one, of)->backward();
    };
    std::vector<double> worth(candidates.size());
    const auto training = std::max<std::int64_t>(
        checkpoints, static_cast<std::int64_t>(training_share * double(settings.steps)));
    for (int checkpoint = 1; checkpoint <= checkpoints; ++checkpoint) {
        while (updater.updates() < training * checkpoint / checkpoints) {
            const auto step = updater.updates();
            trainee.tuning->begin(step);
            updater.update([&] { trainee.arm->step(step, rows.general(step))->backward(); });
            trainee.tuning->updated();
        }
        gradients_of(rows.given());
        std::vector<at::Tensor> target;
        for (const auto& [block, factor] : blocks) target.push_back(block->grad().clone());
        for (std::size_t c = 0; c < candidates.size(); ++c) {
            gradients_of({candidates[c].row});
            worth[c] += rate * adam_cosine(blocks, target, updater.updates() + 1, adam);
        }
    }

    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return worth[a] > worth[b]; });
    order.resize(std::max(std::min(settings.n, order.size()),
                          static_cast<std::size_t>(kept_share * double(order.size()))));
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return nn::counter_hash(seed ^ a) < nn::counter_hash(seed ^ b);
    });
    Preparation chosen;
    for (const std::size_t row : order) {
        chosen.rows.push_back(candidates[row].row);
        chosen.related += candidates[row].kind == Kind::related;
        chosen.contrary += candidates[row].kind == Kind::contrary;
    }
    chosen.related /= static_cast<double>(order.size());
    chosen.contrary /= static_cast<double>(order.size());
    chosen.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return chosen;
}

}  // namespace assay::dr_post_training
