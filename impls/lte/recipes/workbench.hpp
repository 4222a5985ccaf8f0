// What every training experiment of LTE starts from: a text, a dense model trained on it (or a
// pretrained one), and how long each part of the training takes at the profile asked for.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "impls/lte/recipes/materials.hpp"
#include "impls/nn/decoder.hpp"
#include "impls/nn/training/corpus.hpp"
#include "impls/nn/training/language_model.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {

/// What matrix products of trainings and evaluations are computed in.
at::ScalarType compute_type(const Sizes& sizes);

/// A reason why there cannot be a workbench here (the text or the weights have not been fetched; at
/// profile gpu there is no GPU), or nullopt.
std::optional<std::string> workbench_lacks(const Materials& materials);

/// One sample's materials, which must outlive it.
class Workbench {
  public:
    /// Reads the text; trains the dense model, or takes it from the folder that the samples of a
    /// session share, or loads pretrained weights. Throws SampleError (unsupported) with what
    /// workbench_lacks() says.
    Workbench(const Materials& materials, Recorder& recorder);

    const Sizes& sizes() const { return sizes_; }
    const nn::TokenData& data() const { return *data_; }
    nn::Decoder& decoder() { return *decoder_; }
    const nn::Decoder& decoder() const { return *decoder_; }
    /// Where the decoder and all that is trained with it lives: a GPU at profile gpu, else the CPU.
    at::Device device() const { return device_; }
    Recorder& recorder() { return recorder_; }
    std::uint64_t seed() const { return materials_.seed; }
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
    /// Dense training for `steps` steps, kept as "dense".
    void tune_dense(std::int64_t steps, nn::StateKeeper& states);

  private:
    void train(const std::string& name, nn::FeedForward& ffn,
               const nn::LanguageModelTraining& training, nn::StateKeeper& states,
               const nn::TrainedAlong& along = {});

    const Materials& materials_;
    Recorder& recorder_;
    Sizes sizes_;
    at::Device device_;
    std::unique_ptr<nn::TokenData> data_;
    std::unique_ptr<nn::Decoder> decoder_;
    std::unique_ptr<nn::StateKeeper> keeper_, shared_;
};

}  // namespace assay::lte
