#include "impls/rl/live/trainer.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>

#include "impls/nn/decoder_file.hpp"
#include "impls/nn/text/tokenizer.hpp"
#include "impls/nn/training/row_batch.hpp"
#include "impls/rl/method/policy_loss.hpp"
#include "impls/rl/recipes/rollouts.hpp"
#include "impls/rl/tasks/task.hpp"
#include "suite/base/describe.hpp"
#include "suite/base/error.hpp"
#include "suite/base/sha256.hpp"
#include "suite/drive/worker.hpp"

namespace assay::rl {
namespace {

// While right answers are shown: how often it is asked, how much, and apart from what it is shown.
constexpr std::int64_t check_every = 20;
constexpr std::size_t checked_questions = 64;
constexpr std::uint64_t checked_apart = 1 << 20;

nn::AdamOptions adam(double rate) { return {rate, 0.9, 0.95, 1e-8}; }

/// Rows padded behind to the longest of them.
struct UpdateTensors {
    at::Tensor tokens;      ///< int64 [rows, length + 1]
    at::Tensor answered;    ///< bool [rows, length]: tokens[:, 1:] of a response
    at::Tensor drawn;       ///< … that was drawn
    at::Tensor logprobs;    ///< fp32 [rows, length], of whoever drew them; 0 elsewhere
    at::Tensor advantages;  ///< fp32 [rows, 1]
};

UpdateTensors tensors_of(const std::vector<TrainedRow>& rows) {
    std::size_t longest = 0;
    for (const TrainedRow& row : rows)
        longest = std::max(longest, row.prompt.size() + row.tokens.size());
    const auto count = static_cast<std::int64_t>(rows.size());
    const auto length = static_cast<std::int64_t>(longest) - 1;
    UpdateTensors made{at::full({count, length + 1}, end_token, at::kLong),
                       at::zeros({count, length}, at::kBool), at::zeros({count, length}, at::kBool),
                       at::zeros({count, length}, at::kFloat), at::zeros({count, 1}, at::kFloat)};
    for (std::int64_t r = 0; r < count; ++r) {
        const TrainedRow& row = rows[static_cast<std::size_t>(r)];
        std::int64_t* const tokens =
            made.tokens.mutable_data_ptr<std::int64_t>() + r * (length + 1);
        std::copy(row.prompt.begin(), row.prompt.end(), tokens);
        std::copy(row.tokens.begin(), row.tokens.end(), tokens + row.prompt.size());
        const auto first = static_cast<std::int64_t>(row.prompt.size()) - 1;
        const auto more = static_cast<std::int64_t>(row.tokens.size());
        made.answered[r].narrow(0, first, more).fill_(true);
        made.drawn[r].narrow(0, first, more).fill_(!row.logprobs.empty());
        std::copy(row.logprobs.begin(), row.logprobs.end(),
                  made.logprobs.mutable_data_ptr<float>() + r * length + first);
        made.advantages.mutable_data_ptr<float>()[r] = static_cast<float>(row.advantage);
    }
    return made;
}

void check(const std::vector<TrainedRow>& rows) {
    if (rows.empty()) throw UserError("an update has at least one row");
    for (const TrainedRow& row : rows)
        if (row.prompt.empty() || row.tokens.empty() ||
            (!row.logprobs.empty() && row.logprobs.size() != row.tokens.size()))
            throw UserError("a row has a prompt, tokens, and a log-probability of each of these");
}

}  // namespace

Trainer::Trainer(const TrainerSettings& settings)
    : settings_(settings),
      policy_(settings.model, settings.seed),
      updater_(blocks_of(policy_), settings.gradient_clip, adam(settings.learning_rate)) {
    show_answers();
    weights_.version = 1;
    write();
}

void Trainer::show_answers() {
    const auto task = of_word<tasks::Task>(settings_.task);
    if (!task) throw UserError("no task " + settings_.task);
    const auto bytes = nn::Tokenizer::bytes();
    nn::Maps maps;
    std::vector<Question> unseen;
    for (const tasks::Question& each :
         tasks::distinct_questions(*task, settings_.difficulty, settings_.seed + checked_apart,
                                   checked_questions, tasks::Split::train))
        unseen.push_back({each.prompt, each.answer + '\n'});
    const int longest = tasks::length_limit(*task, settings_.difficulty);
    Updater shown(blocks_of(policy_), settings_.gradient_clip, adam(settings_.shown_rate));
    std::uint64_t number = 0;
    for (std::int64_t step = 0; step < settings_.shown_steps; ++step) {
        if (step % check_every == 0 &&
            accuracy(policy_, unseen, longest) >= settings_.start_accuracy)
            break;
        std::vector<nn::ScoredRow> rows;
        for (int i = 0; i < settings_.shown_rows; ++i) {
            const tasks::Question next = tasks::question(
                *task, settings_.difficulty, settings_.seed, number++, tasks::Split::train);
            rows.push_back(nn::answered_prompt(next.prompt, next.answer + '\n', bytes));
        }
        const auto batch = nn::batch_of(rows);
        const auto scored = std::accumulate(batch.scored_tokens.begin(), batch.scored_tokens.end(),
                                            std::int64_t{0});
        shown.update([&] {
            (policy_.token_losses(batch.tokens, maps, batch.targets).sum() / scored).backward();
        });
    }
    for (auto& block : policy_.blocks()) block->zero_moments();  // learning by reward begins anew
}

const Weights& Trainer::update(const Update& update) {
    check(update.rows);
    const UpdateTensors rows = tensors_of(update.rows);
    updater_.update([&] {
        const auto now = log_probabilities(policy_, rows.tokens);
        const auto old = now.detach();
        const auto losses =
            clipped_losses(now, old, rows.advantages, {settings_.clip_low, settings_.clip_high});
        const auto loss = (losses * averaging_weights(rows.answered, Averaging::tokens)).sum();
        loss.backward();
        weights_.loss = loss.item<double>();
        weights_.mismatch = ((old - rows.logprobs) * rows.drawn).abs().max().item<double>();
        weights_.gradient_norm = nn::gradient_norm(blocks_of(policy_));
    });
    ++weights_.version;
    write();
    return weights_;
}

void Trainer::write() {
    nn::DecoderFile file = nn::file_of(policy_, nn::TensorType::f32);
    file.metadata.update(nn::byte_tokenizer_metadata());
    const auto path = std::filesystem::path(settings_.folder) /
                      ("weights-" + std::to_string(weights_.version) + ".gguf");
    nn::write_gguf(path, file.metadata, file.tensors);
    weights_.path = path.string();
    weights_.digest = sha256_file_hex(path);
}

namespace {

drive::Protocol train(drive::Worker& me) {
    at::set_num_threads(1);
    Trainer trainer(me.configuration<TrainerSettings>());
    me.say(trainer.weights());
    while (const auto message = co_await me.receive()) {
        const auto update = message->to<Update>();
        co_await me.work(0, [&] { trainer.update(update); });
        me.say(trainer.weights());
    }
}

}  // namespace

drive::Role trainer_role() { return {.name = "trainer", .protocol = train}; }

}  // namespace assay::rl
