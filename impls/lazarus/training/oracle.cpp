#include "impls/lazarus/training/oracle.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>

#include "suite/cluster/collectives/in_process.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

using Trainers = std::map<Worker, std::unique_ptr<Trainer>>;

const nn::ParameterBlock* find_block(const Trainers& trainers, BlockKey key) {
    for (const auto& [worker, trainer] : trainers)
        if (const auto* block = trainer->find(key)) return block;
    return nullptr;
}

// Gives every member of `step` what it needs, from whoever holds it; drops the rest.
void rearrange(const TrainingConfig& config, const nn::ByteCorpus& corpus,
               const CommittedStep& step, Trainers& trainers) {
    const bool first = trainers.empty();
    for (std::size_t i = 0; i < step.training.size(); ++i) {
        auto& trainer = trainers[step.training[i]];
        if (!trainer) trainer = std::make_unique<Trainer>(config, corpus);
        for (const auto& key : blocks_of(step.holders, static_cast<int>(i))) {
            if (trainer->find(key)) continue;
            const auto* source = find_block(trainers, key);
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
        trainers[step.training[i]]->drop_all_but(blocks_of(step.holders, static_cast<int>(i)));
    std::erase_if(trainers, [&](const auto& entry) {
        return std::find(step.training.begin(), step.training.end(), entry.first) ==
               step.training.end();
    });
}

void train(const CommittedStep& step, Trainers& trainers) {
    const auto size = step.training.size();
    auto group = cluster::make_in_process_group(static_cast<int>(size));
    std::vector<std::exception_ptr> failures(size);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < size; ++i) {
        threads.emplace_back([&, i] {
            try {
                at::set_num_threads(1);
                auto& trainer = *trainers.at(step.training[i]);
                trainer.compute(step.step, step.holders, *group[i]);
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
}

}  // namespace

StateDigests replay_lineage(const TrainingConfig& config, std::span<const CommittedStep> lineage) {
    const nn::ByteCorpus corpus(config.corpus);
    Trainers trainers;
    const CommittedStep* before = nullptr;
    for (const auto& step : lineage) {
        if (!before || before->training != step.training || before->holders != step.holders)
            rearrange(config, corpus, step, trainers);
        train(step, trainers);
        before = &step;
    }
    StateDigests digests;
    for (const auto& [worker, trainer] : trainers) digests[worker] = trainer->digests();
    return digests;
}

bool agrees(const StateDigests& live, const StateDigests& oracle) {
    std::set<BlockKey> covered, all;
    for (const auto& [worker, blocks] : oracle)
        for (const auto& [key, digest] : blocks) all.insert(key);
    for (const auto& [worker, blocks] : live) {
        const auto expected = oracle.find(worker);
        if (expected == oracle.end() || expected->second != blocks) return false;
        for (const auto& [key, digest] : blocks) covered.insert(key);
    }
    return !all.empty() && covered == all;
}

void require_equal(bool equal) {
    if (equal) return;
    throw SampleError(
        SampleStatus::failed,
        "weights and moments differ from those of the same membership without faults");
}

}  // namespace assay::lazarus
