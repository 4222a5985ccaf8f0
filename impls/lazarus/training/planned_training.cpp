#include "impls/lazarus/training/planned_training.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <thread>

#include "suite/cluster/collectives/in_process.hpp"

namespace assay::lazarus {

PlannedTraining::PlannedTraining(TrainingConfig config, const nn::ByteCorpus& corpus)
    : config_(std::move(config)), corpus_(corpus) {}

const nn::ParameterBlock* PlannedTraining::find_block(BlockKey key) const {
    for (const auto& [worker, trainer] : trainers_)
        if (const auto* block = trainer->find(key)) return block;
    return nullptr;
}

// Gives every member of `step` what it needs, from whoever holds it; drops the rest.
void PlannedTraining::rearrange(const CommittedStep& step) {
    const bool first = trainers_.empty();
    for (std::size_t i = 0; i < step.training.size(); ++i) {
        auto& trainer = trainers_[step.training[i]];
        if (!trainer) trainer = std::make_unique<Trainer>(config_, corpus_);
        for (const auto& key : blocks_of(step.holders, static_cast<int>(i))) {
            if (trainer->find(key)) continue;
            const auto* source = find_block(key);
            auto& block = trainer->make_initial(key);
            if (source) {
                block.copy_state_from(*source);
                trainer->seal(key);
            } else if (!first) {
                throw std::logic_error("the lineage lost " + block_name(key));
            }
        }
    }
    for (std::size_t i = 0; i < step.training.size(); ++i)
        trainers_[step.training[i]]->drop_all_but(blocks_of(step.holders, static_cast<int>(i)));
    std::erase_if(trainers_, [&](const auto& entry) {
        return std::find(step.training.begin(), step.training.end(), entry.first) ==
               step.training.end();
    });
}

StepResult PlannedTraining::train(const CommittedStep& step) {
    rearrange(step);
    const auto size = step.training.size();
    auto group = cluster::make_in_process_group(static_cast<int>(size));
    std::vector<StepResult> results(size);
    std::vector<std::exception_ptr> failures(size);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < size; ++i) {
        threads.emplace_back([&, i] {
            try {
                at::set_num_threads(1);
                auto& trainer = *trainers_.at(step.training[i]);
                results[i] = trainer.compute(step.step, step.holders, *group[i]);
                trainer.apply(step.step);
            } catch (...) {
                failures[i] = std::current_exception();
                group[i]->abort("a rank of the replay failed");
            }
        });
    }
    for (auto& thread : threads) thread.join();
    for (const auto& failure : failures)
        if (failure) std::rethrow_exception(failure);
    return results.front();
}

double PlannedTraining::loss_on(std::span<const at::Tensor> windows) const {
    const at::NoGradGuard no_grad;
    const auto& model = config_.model;
    std::vector<std::vector<const nn::ParameterBlock*>> blocks(
        static_cast<std::size_t>(model.layers));
    for (int layer = 0; layer < model.layers; ++layer)
        for (int expert = 0; expert < model.experts; ++expert)
            blocks[static_cast<std::size_t>(layer)].push_back(find_block({layer, expert}));
    nn::LocalExperts experts(blocks);
    double sum = 0;
    std::int64_t tokens = 0;
    for (const auto& batch : windows) {
        sum += nn::moe_gpt_loss(model, *find_block(dense_key), experts, batch).item<double>();
        tokens += batch.size(0) * (batch.size(1) - 1);
    }
    return sum / static_cast<double>(tokens);
}

StateDigests PlannedTraining::digests() const {
    StateDigests digests;
    for (const auto& [worker, trainer] : trainers_) digests[worker] = trainer->digests();
    return digests;
}

}  // namespace assay::lazarus
