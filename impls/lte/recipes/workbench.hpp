// What every training experiment of LTE starts from: a text, a dense model trained on it (or a
// pretrained one), and how long each part of the training takes at the profile asked for.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "impls/nn/decoder.hpp"
#include "impls/nn/training/evaluation.hpp"
#include "impls/nn/training/language_model.hpp"
#include "impls/nn/training/token_data.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {

/// Models: "gpt-toy" (GELU) and "llama-toy" (SwiGLU), about a million parameters over bytes;
/// "gpt-5m" and "llama-5m"; "gpt-tiny", for tests; "smollm2", SmolLM2-135M-Instruct, pretrained.
/// A path is a pretrained model of the user's, trained for as long as SmolLM2.
struct Sizes {
    nn::DecoderConfig model;      ///< what is trained here; ignored for pretrained weights
    std::string weights;          ///< path or data set of pretrained weights; empty: none
    int context = 128;            ///< tokens per sequence
    int sequences = 16;           ///< per step
    std::int64_t base_steps = 0;  ///< dense training from scratch
    std::int64_t stage1_steps = 0, stage2_steps = 0;
    double base_rate = 2e-3, tune_rate = 5e-4;  ///< learning rates
    int evaluation_windows = 64;                ///< held-out windows
    std::int64_t checkpoint_every = 50;
    at::ScalarType compute = at::kFloat;

    /// Tokens that any competitor may train on after the dense model: both stages'.
    std::int64_t tuning_steps() const { return stage1_steps + stage2_steps; }
};

/// Whether the name of a model or a text is a path of the user's: with a slash or a dot.
bool names_a_file(std::string_view name);

/// Throws UserError for a model that is neither listed above nor a path.
Sizes sizes_of(std::string_view model, Profile profile);

/// A reason why a sample cannot be made here (the text or the weights have not been fetched; at
/// profile gpu there is no GPU), or nullopt. For Experiment::unsupported.
std::optional<std::string> workbench_lacks(const SampleSpec& spec);

/// One sample's materials. The axes "model" and "corpus" of the sample say which.
class Workbench {
  public:
    /// Reads the text; trains the dense model, or takes it from the folder that the samples of a
    /// session share, or loads pretrained weights. Throws SampleError (unsupported) with what
    /// workbench_lacks() says.
    Workbench(const SampleSpec& spec, Recorder& recorder);

    const Sizes& sizes() const { return sizes_; }
    const nn::TokenData& data() const { return *data_; }
    nn::Decoder& decoder() { return *decoder_; }
    /// Where the decoder and all that is trained with it lives: a GPU at profile gpu, else the CPU.
    at::Device device() const { return device_; }
    Recorder& recorder() { return recorder_; }
    std::uint64_t seed() const { return spec_.seed; }
    /// States of a training that other samples of the session may want too: theirs is the same
    /// when `recipe` is, a text with all that it depends on beside model, text, profile and seed.
    /// Bits and curves of whoever takes up a finished training are those of who made it.
    std::unique_ptr<nn::StateKeeper> shared_states(const std::string& recipe);

    /// Options of a training after the base's, at the tuning rate, with batches of its own.
    nn::LanguageModelTraining tuning(std::int64_t steps, std::uint64_t stream) const;

    /// Tells progress and collects the loss curve of one training; recorded when it is done as time
    /// series "loss" with label training=<name> over steps.
    class Curve {
      public:
        Curve(Workbench& bench, std::string name, std::int64_t steps);
        ~Curve();
        void operator()(std::int64_t step, double nll);

      private:
        Workbench& bench_;
        std::string name_;
        std::int64_t steps_;
        std::vector<double> at_, nll_;
    };

    /// Trains the decoder, with the given feed-forward networks and what is trained along, for as
    /// many tokens as both stages. Divergence is recorded as an event and ends the sample as
    /// failed.
    void tune(const std::string& name, nn::FeedForward& ffn, const nn::TrainedAlong& along = {});
    /// The same for a training that depends on nothing but its name: shared by the samples of a
    /// session.
    void tune_shared(const std::string& name, nn::FeedForward& ffn);
    /// Continued dense training: what methods that prune or predict without training start from.
    void tune_dense();

  private:
    void train(const std::string& name, nn::FeedForward& ffn,
               const nn::LanguageModelTraining& training, nn::StateKeeper& states,
               const nn::TrainedAlong& along = {});

    const SampleSpec& spec_;
    Recorder& recorder_;
    Sizes sizes_;
    at::Device device_;
    std::unique_ptr<nn::TokenData> data_;
    std::unique_ptr<nn::Decoder> decoder_;
    std::unique_ptr<nn::StateKeeper> keeper_, shared_;
};

}  // namespace assay::lte
