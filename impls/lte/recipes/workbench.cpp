#include "impls/lte/recipes/workbench.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "impls/nn/accelerator.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/hashes.hpp"
#include "impls/nn/text/tokenizer.hpp"
#include "impls/nn/training/checkpoint_files.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

constexpr double held_out = 0.1;
// Streams of batches, so that no two trainings of a sample see the same order.
constexpr std::uint64_t base_stream = 0, dense_stream = 1;

/// What tells the shared trainings of a session apart, as part of a file's name. What they were
/// trained on is checked by content when they are taken up again.
std::string name_of_shared(const Materials& materials, const std::string& recipe) {
    const Sizes sizes = sizes_of(materials);
    const std::string text =
        fmt::format("{}\n{}\n{}\n{}\n{} {}\n{}", materials.model, materials.corpus,
                    to_string(materials.profile), materials.seed, sizes.stage1_steps,
                    sizes.stage2_steps, recipe);
    return fmt::format("{:016x}", nn::hash_bytes(text.data(), text.size()));
}

/// Keeps what it is given under longer names.
class Renamed : public nn::StateKeeper {
  public:
    Renamed(nn::StateKeeper& states, std::string suffix)
        : states_(states), suffix_(std::move(suffix)) {}
    void save(const std::string& name, const std::function<void(std::ostream&)>& write) override {
        states_.save(name + suffix_, write);
    }
    bool load(const std::string& name, const std::function<void(std::istream&)>& read) override {
        return states_.load(name + suffix_, read);
    }
    std::shared_ptr<void> hold(const std::string& name) override {
        return states_.hold(name + suffix_);
    }

  private:
    nn::StateKeeper& states_;
    std::string suffix_;
};

std::optional<std::string> gpu_lacks(Profile profile) {
    if (profile != Profile::gpu) return std::nullopt;
    if (const auto reason = nn::gpu_missing())
        return fmt::format("profile gpu is not supported here: {}", *reason);
    return std::nullopt;
}

at::Device device_for(Profile profile) {
    if (const auto reason = gpu_lacks(profile))
        throw SampleError(SampleStatus::unsupported, *reason);
    return profile == Profile::gpu ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
}

std::unique_ptr<nn::StateKeeper> keeper_in(const std::string& folder) {
    if (folder.empty()) return std::make_unique<nn::NoState>();
    return std::make_unique<nn::FolderState>(folder);
}

}  // namespace

std::optional<std::string> workbench_lacks(const Materials& materials) {
    if (auto reason = gpu_lacks(materials.profile)) return reason;
    return materials_lack(materials);
}

at::ScalarType compute_type(const Sizes& sizes) { return sizes.bf16 ? at::kBFloat16 : at::kFloat; }

Workbench::Workbench(const Materials& materials, Recorder& recorder)
    : materials_(materials),
      recorder_(recorder),
      sizes_(sizes_of(materials)),
      device_(device_for(materials.profile)),
      keeper_(keeper_in(sizes_.checkpoint_every > 0 ? materials.state : "")),
      shared_(keeper_in(materials.shared)) {
    // Bits depend on the number of threads, so it is no library's choice. The matrices of toy
    // models are too small to be worth sharing; most of their samples run side by side instead
    // (training_profiles()).
    const bool small = materials.profile == Profile::toy && sizes_.weights.empty();
    at::set_num_threads(
        small ? 1 : static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
    const auto corpus = fetched(materials.corpus);
    if (!sizes_.weights.empty()) {
        const nn::TensorFile file(fetched(sizes_.weights));
        data_ = std::make_unique<nn::TokenData>(corpus, nn::Tokenizer::of(file), held_out,
                                                sizes_.context);
        decoder_ = std::make_unique<nn::Decoder>(nn::Decoder::load(file, device_));
        sizes_.model = decoder_->config();
        return;
    }
    data_ =
        std::make_unique<nn::TokenData>(corpus, nn::Tokenizer::bytes(), held_out, sizes_.context);
    decoder_ = std::make_unique<nn::Decoder>(sizes_.model, materials.seed, device_);
    auto training = tuning(sizes_.base_steps, base_stream);
    training.options.learning_rate = sizes_.base_rate;
    nn::DenseFeedForward dense;
    train("base", dense, training, *shared_states(""));
}

nn::LanguageModelTraining Workbench::tuning(std::int64_t steps, std::uint64_t stream) const {
    nn::LanguageModelTraining training;
    training.options.steps = steps;
    training.options.learning_rate = sizes_.tune_rate;
    training.sequences = sizes_.sequences;
    training.seed = materials_.seed * 16 + stream;
    training.compute = compute_type(sizes_);
    training.checkpoint_every = sizes_.checkpoint_every;
    return training;
}

Workbench::Curve::Curve(Workbench& bench, std::string name, std::int64_t steps)
    : bench_(bench), name_(std::move(name)), steps_(steps) {}

void Workbench::Curve::operator()(std::int64_t step, double nll) {
    at_.push_back(static_cast<double>(step));
    nll_.push_back(nll);
    bench_.recorder_.progress(
        static_cast<double>(step + 1) / static_cast<double>(steps_),
        fmt::format("{}: step {} of {}, {:.3f} nats per token", name_, step + 1, steps_, nll));
}

Workbench::Curve::~Curve() {
    if (at_.empty()) return;
    try {  // also when a divergence is on its way: its curve is what one wants to see
        bench_.recorder_.time_series("loss", "nats per token", at_, nll_, {{"training", name_}});
    } catch (const std::exception&) {  // the runner has gone, and with it this process
    }
}

std::unique_ptr<nn::StateKeeper> Workbench::shared_states(const std::string& recipe) {
    // Only what several samples start from is worth writing then.
    if (sizes_.checkpoint_every == 0 && !recipe.empty()) return std::make_unique<nn::NoState>();
    return std::make_unique<Renamed>(*shared_, "-" + name_of_shared(materials_, recipe));
}

void Workbench::train(const std::string& name, nn::FeedForward& ffn,
                      const nn::LanguageModelTraining& training, nn::StateKeeper& states,
                      const nn::TrainedAlong& along) {
    const auto held = states.hold(name);
    Curve curve(*this, name, training.options.steps);
    nn::train_language_model(name, *decoder_, ffn, *data_, training, states, std::ref(curve),
                             along);
}

void Workbench::tune(const std::string& name, nn::FeedForward& ffn, const nn::TrainedAlong& along) {
    train(name, ffn, tuning(sizes_.tuning_steps(), dense_stream), *keeper_, along);
}

void Workbench::tune_shared(const std::string& name, nn::FeedForward& ffn) {
    train(name, ffn, tuning(sizes_.tuning_steps(), dense_stream), *shared_states(""));
}

void Workbench::tune_dense() { tune_dense(sizes_.tuning_steps(), *shared_states("")); }

void Workbench::tune_dense(std::int64_t steps, nn::StateKeeper& states) {
    nn::DenseFeedForward dense;
    train("dense", dense, tuning(steps, dense_stream), states);
}

}  // namespace assay::lte
