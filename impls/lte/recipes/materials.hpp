// What a training sample asks for: its model, how long each part of the training takes at the
// profile, its text, who is trained. Torch-free, as experiments are declared where libtorch is not
// loaded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"
#include "suite/base/describe.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::lte {

/// What the training of any competitor starts from.
struct Materials {
    std::string model = "gpt-toy";     ///< see Sizes
    std::string corpus = "bible-kjv";  ///< a text of `assay data`, or a path of the user's
    Profile profile = Profile::toy;
    std::uint64_t seed = 1;
    /// How long both stages train together, three fifths of it stage 1; without it as Sizes say.
    std::optional<std::int64_t> steps;
    std::string state, shared;  ///< as SampleSpec's
};

/// LTE and its rivals (make_rival()).
enum class Competitor {
    lte,
    dense,
    random_router,
    expert_oracle,
    moefication,  ///< ReLU swap, fine-tuned, oracle selection
    deja_vu,
    deja_vu_tuned,
    topk_softmax,
    sigma_moe,
    teal,
    cats,
    // Both unstructured, and with patterns, which remove half.
    magnitude,
    magnitude_2_4,
    magnitude_4_8,
    wanda,
    wanda_2_4,
    wanda_4_8
};
ASSAY_NAMES(Competitor, lte, dense, random_router, expert_oracle, moefication, deja_vu,
            deja_vu_tuned, topk_softmax, sigma_moe, teal, cats, magnitude, magnitude_2_4,
            magnitude_4_8, wanda, wanda_2_4, wanda_4_8)

/// How the neurons of a layer become experts.
enum class GroupingKind { kmeans, random, coactivation };
ASSAY_NAMES(GroupingKind, kmeans, random, coactivation)

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
    std::int64_t checkpoint_every = 50;         ///< 0: the sample is over before one would pay
    bool bf16 = false;                          ///< matrix products; else fp32
    double predictor_bytes = 2.0 * (1 << 30);   ///< of hidden states that predictors are fitted on

    /// Tokens that any competitor may train on after the dense model: both stages'.
    std::int64_t tuning_steps() const { return stage1_steps + stage2_steps; }
};

/// Whether the name of a model or a text is a path of the user's: with a slash or a dot.
bool names_a_file(std::string_view name);

/// Throws UserError for a model that is neither listed above nor a path.
Sizes sizes_of(std::string_view model, Profile profile);

/// Of all that is asked for, steps too.
Sizes sizes_of(const Materials& materials);

/// Which of model and text has not been fetched, or is no file, as a sentence; std::nullopt: both
/// are here.
std::optional<std::string> materials_lack(const Materials& materials);

/// The text and the files of pretrained weights, for Experiment::inputs. Throws UserError like
/// nn::files_of_model().
std::vector<Input> material_inputs(const Materials& materials);

/// A data set or a file of the user's. Throws SampleError (unsupported) where it is not here.
std::filesystem::path fetched(const std::string& name);

}  // namespace assay::lte
