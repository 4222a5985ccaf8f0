// Random requests that share beginnings, come and go, and are crowded; and engines to put them in.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "impls/decode/modelled/modelled_back_end.hpp"
#include "impls/decode/requests/batch_run.hpp"

namespace assay::decode {

/// The modelled back end, which then makes one step at a time.
class StepByStep final : public BackEnd {
  public:
    explicit StepByStep(const ModelledSettings& settings) : model_(settings) {}
    int vocabulary() const override { return model_.vocabulary(); }
    int context() const override { return model_.context(); }
    int blocks() const override { return model_.blocks(); }
    std::size_t block_bytes() const override { return model_.block_bytes(); }
    void run(std::span<const Slice> slices, std::span<Outcome> out) override {
        model_.run(slices, out);
    }
    void copy_block(int from, int to, int positions) override {
        model_.copy_block(from, to, positions);
    }
    void read_block(int block, std::span<std::byte> out) const override {
        model_.read_block(block, out);
    }
    void write_block(int block, std::span<const std::byte> in) override {
        model_.write_block(block, in);
    }
    double step_seconds() const override { return model_.step_seconds(); }
    std::string identity() const override { return model_.identity(); }
    bool fits(const ModelWeights& weights) const override { return model_.fits(weights); }
    void use(std::shared_ptr<ModelWeights> weights) override { model_.use(std::move(weights)); }
    ModelledBackEnd& model() { return model_; }

  private:
    ModelledBackEnd model_;
};

inline BackEnds step_by_step(const ModelledSettings& settings) {
    BackEnds back_ends = modelled_back_ends(settings);
    back_ends.with = [settings](std::shared_ptr<ModelWeights> weights) {
        auto back_end = std::make_unique<StepByStep>(settings);
        back_end->use(std::move(weights));
        return back_end;
    };
    return back_ends;
}

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
    int between(int least, int most) { return least + below(most - least + 1); }
    bool one_in(int n) { return below(n) == 0; }

  private:
    std::mt19937_64 random_;
};

struct RandomSchedule {
    ModelledSettings model;
    BatchOptions engine;
    std::vector<BatchJob> jobs;
};

inline RandomSchedule random_schedule(std::uint64_t seed) {
    Dice dice(seed);
    RandomSchedule schedule;
    schedule.model.vocabulary = dice.one_in(2) ? 5 : 100;
    schedule.model.context = dice.between(30, 120);
    schedule.model.checks = true;
    // Whole multiples of powers of two: their sums are the same in any order.
    schedule.model.cost = {.fixed_s = 0.5, .weights_s = 1, .token_s = 0.25, .position_s = 0x1p-10};
    schedule.engine.max_batch = dice.between(1, 8);
    schedule.engine.chunk = dice.between(1, 70);
    schedule.engine.prefix = !dice.one_in(4);
    schedule.engine.swap = dice.one_in(3);
    std::vector<std::vector<int>> beginnings;
    for (int i = dice.between(1, 3); i > 0; --i) {
        std::vector<int>& ids = beginnings.emplace_back();
        for (int n = dice.between(1, 60); n > 0; --n)
            ids.push_back(dice.below(schedule.model.vocabulary));
    }
    int least = 1;
    for (int i = dice.between(1, 14); i > 0; --i) {
        BatchJob& job = schedule.jobs.emplace_back();
        BatchRequest& request = job.request;
        const auto& beginning =
            beginnings[static_cast<std::size_t>(dice.below(static_cast<int>(beginnings.size())))];
        request.prompt.assign(
            beginning.begin(),
            beginning.begin() + dice.below(static_cast<int>(beginning.size()) + 1));
        for (int n = dice.between(0, 20); n > 0; --n)
            request.prompt.push_back(dice.below(schedule.model.vocabulary));
        if (request.prompt.empty()) request.prompt.push_back(0);
        if (static_cast<int>(request.prompt.size()) > schedule.model.context)
            request.prompt.resize(static_cast<std::size_t>(schedule.model.context));
        request.max_tokens = dice.between(1, 40);
        if (dice.one_in(3)) {
            request.sampling.temperature = 1;
            request.sampling.seed = static_cast<std::uint64_t>(dice.below(3));
        }
        if (dice.one_in(3)) request.stop_ids = {dice.below(schedule.model.vocabulary)};
        if (dice.one_in(4))
            for (int n = dice.between(1, 2); n > 0; --n)
                request.stops.push_back(std::to_string(dice.below(200)));
        if (dice.one_in(8))
            for (int n = dice.between(1, 10); n > 0; --n)
                request.forced_ids.push_back(dice.below(schedule.model.vocabulary));
        if (dice.one_in(4)) request.priority = dice.below(3);
        request.prompt_log_probabilities = dice.one_in(6);
        job.at_step = dice.one_in(2) ? 0 : dice.below(60);
        if (dice.one_in(6)) job.cancel_at = dice.below(80);
        const int most = request.forced_ids.empty() ? request.max_tokens
                                                    : static_cast<int>(request.forced_ids.size());
        least = std::max(least, least_blocks(static_cast<int>(request.prompt.size()), most,
                                             schedule.model.context));
    }
    schedule.model.blocks = dice.one_in(4) ? blocks_for_all(schedule.jobs, schedule.model.context)
                                           : least + dice.below(8);
    return schedule;
}

/// The text of a token in these schedules: ids share digits, so that stops go across tokens.
inline std::string digits(int id) { return std::to_string(id); }

enum class Stepping { one_by_one, ahead };

inline BatchRunOptions run_options(const RandomSchedule& schedule, Stepping stepping) {
    BatchRunOptions options;
    options.engine = schedule.engine;
    options.back_ends = stepping == Stepping::ahead ? modelled_back_ends(schedule.model)
                                                    : step_by_step(schedule.model);
    options.text_of = digits;
    return options;
}

}  // namespace assay::decode
