#include "impls/dr_post_training/live/guarded_training.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "impls/nn/hashes.hpp"
#include "impls/nn/training/checkpoint_files.hpp"

namespace assay::dr_post_training {
namespace {

SftSettings small_settings(std::int64_t steps) {
    SftAxes axes;
    axes.model = "llama-tiny";
    axes.steps = steps;
    return sft_settings(axes);
}

/// While it lives a weight of the first layer is not a number, and with it the activations of every
/// row from there on. Afterwards the weight is what it was, bit for bit.
class PoisonedActivations {
  public:
    explicit PoisonedActivations(nn::Decoder& decoder)
        : weight_(decoder.blocks()[1]->values().narrow(0, 0, 1)), was_(weight_.clone()) {
        weight_.fill_(std::numeric_limits<float>::quiet_NaN());
    }
    PoisonedActivations(const PoisonedActivations&) = delete;
    PoisonedActivations& operator=(const PoisonedActivations&) = delete;
    ~PoisonedActivations() { weight_.copy_(was_); }

  private:
    at::Tensor weight_, was_;
};

std::string rows_text(const std::map<std::string, SelectingMaps::Decision>* decisions) {
    std::string text;
    if (!decisions) return text;
    for (const auto& [group, decision] : *decisions) {
        std::uint64_t bits = 0;
        for (std::size_t b = 0; b < decision.update.weights.size(); ++b)
            if (decision.update.weights[b] != 0) bits |= std::uint64_t{1} << b;
        text += fmt::format("{}{}={:x}", text.empty() ? "" : " ", group, bits);
    }
    return text;
}

}  // namespace

GuardedTraining::GuardedTraining(const GuardedSettings& settings)
    : guarded_(settings),
      settings_(small_settings(settings.steps)),
      rows_(settings_, settings.seed) {
    begin();
}

void GuardedTraining::begin() {
    decoder_ = std::make_unique<nn::Decoder>(settings_.model, guarded_.seed);
    arm_ = make_arm(guarded_.arm, settings_, *decoder_, rows_, guarded_.seed, guarded_.rate);
    selections_.clear();
    computed_.clear();
}

GuardedTraining::Outcome GuardedTraining::compute(Step step, const std::function<void()>& midway) {
    for (auto& block : decoder_->blocks()) block->zero_grad();
    std::optional<PoisonedActivations> poison;
    if (poisoned_ > 0) {
        poison.emplace(*decoder_);
        --poisoned_;
    }
    const auto current = arm_->step(step, rows_.general(step));
    if (midway) midway();
    try {
        current->backward();
    } catch (const NotFinite&) {
        computed_.clear();
        return {.loss = current->loss(), .selections = {}, .finite = false};
    }
    std::vector<nn::TrainedBlock> blocks;
    for (auto& block : decoder_->blocks()) blocks.push_back(block.get());
    computed_ = rows_text(arm_->decisions());
    return {.loss = current->loss(),
            .selections = computed_,
            .finite = std::isfinite(current->loss()) && std::isfinite(nn::gradient_norm(blocks))};
}

void GuardedTraining::apply(Step step) {
    for (auto& block : decoder_->blocks())
        nn::adam_update(*block, step + 1,
                        {.learning_rate = guarded_.rate, .beta1 = 0.9, .beta2 = 0.999});
    selections_ = computed_;
}

std::string GuardedTraining::digest() const {
    std::uint64_t hash = nn::hash_text(selections_, 1);
    for (const auto& block : decoder_->blocks()) {
        const auto of_block = block->digest();
        hash = nn::hash_bytes(&of_block, sizeof of_block, hash);
    }
    return fmt::format("{:016x}", hash);
}

std::string GuardedTraining::header(Step step) const {
    return nlohmann::json{{"format", "assay-guarded-training 1"},
                          {"step", step},
                          {"settings", drive::to_json(guarded_)},
                          {"selections", selections_},
                          {"digest", digest()}}
               .dump() +
           "\n";
}

void GuardedTraining::write(const std::filesystem::path& file, Step step,
                            nn::CheckpointDamage damage) const {
    std::filesystem::create_directories(file.parent_path());
    {
        nn::AtomicFile out(file, damage == nn::CheckpointDamage::no_space);
        const std::string head = header(step);
        out.write(head.data(), head.size());
        for (const auto& block : decoder_->blocks())
            for (const auto& part : block->state()) out.write(part.const_data_ptr(), part.nbytes());
        out.publish();
    }
    if (damage == nn::CheckpointDamage::torn)
        std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
}

void GuardedTraining::read(const std::filesystem::path& file, Step step) {
    const auto refuse = [&](const char* why) {
        begin();
        throw BadCheckpoint(file.string() + " " + why);
    };
    std::ifstream in(file, std::ios::binary);
    std::string head;
    if (!std::getline(in, head)) refuse("cannot be read");
    const auto said = nlohmann::json::parse(head, nullptr, /*allow_exceptions=*/false);
    if (!said.is_object() || !said.contains("selections") || !said["selections"].is_string())
        refuse("is no checkpoint of a guarded training");
    for (auto& block : decoder_->blocks())
        for (auto part : block->state())
            in.read(static_cast<char*>(part.mutable_data_ptr()),
                    static_cast<std::streamsize>(part.nbytes()));
    selections_ = said["selections"];
    computed_.clear();
    // The header is a function of the content: one comparison finds a torn, altered or foreign
    // file.
    if (!in || in.peek() != std::ifstream::traits_type::eof() || head + "\n" != header(step))
        refuse("is not whole, or of another step or training");
}

void GuardedTraining::flip_bit_of_state(std::uint64_t where) {
    auto& block = *decoder_->blocks()[where % decoder_->blocks().size()];
    auto& values = block.values();
    auto* const words = static_cast<std::uint32_t*>(values.mutable_data_ptr());
    const auto at = nn::counter_hash(where) % static_cast<std::uint64_t>(values.numel());
    words[at] ^= std::uint32_t{1} << (nn::counter_hash(where + 1) % 23);
}

}  // namespace assay::dr_post_training
