#include "impls/lte/recipes/materials.hpp"

#include <fmt/format.h>

#include "impls/nn/files/safetensors.hpp"
#include "suite/base/error.hpp"
#include "suite/data/catalog.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {
namespace {

nn::DecoderConfig byte_model(std::string_view name, int layers, int width, int context) {
    nn::DecoderConfig config;
    const bool gelu = name.substr(0, 3) == "gpt";
    config.family = gelu ? nn::Family::gpt2 : nn::Family::llama;
    config.activation = gelu ? nn::Activation::gelu : nn::Activation::swiglu;
    config.layers = layers;
    config.width = width;
    config.hidden = 4 * width;
    config.head_width = 32;
    config.heads = config.kv_heads = width / config.head_width;
    config.vocabulary = 256;  // bytes
    config.context = context;
    config.name = name;
    return config;
}

/// Why a data set or a file of the user's cannot be read, or nullopt.
std::optional<std::string> lacks(const std::string& name) {
    if (names_a_file(name)) {
        std::error_code ignored;
        if (std::filesystem::exists(name, ignored)) return std::nullopt;
        return fmt::format("{}: no such file", name);
    }
    if (data::locate(name)) return std::nullopt;
    return fmt::format("{} is not here: `assay data fetch {}`", name, name);
}

}  // namespace

bool names_a_file(std::string_view name) {
    return name.find_first_of("/.") != std::string_view::npos;
}

Sizes sizes_of(std::string_view model, Profile profile) {
    Sizes sizes;
    if (model == "gpt-tiny" || model == "llama-tiny") {
        sizes.model = byte_model(model, 2, 64, 64);
        sizes.context = 64;
        sizes.sequences = 8;
        sizes.base_steps = 60;
        sizes.stage1_steps = 40;
        sizes.stage2_steps = 20;
        sizes.evaluation_windows = 16;
        sizes.checkpoint_every = 10;
        sizes.predictor_bytes = 4 << 20;  // some 5,000 tokens
        return sizes;
    }
    if (model == "gpt-toy" || model == "llama-toy" || model == "gpt-5m" || model == "llama-5m") {
        const bool larger = model.ends_with("5m");
        sizes.model = byte_model(model, larger ? 6 : 4, larger ? 256 : 128, 128);
        // Ten times the tokens where an hour is at hand, eighty times where a GPU is.
        const bool toy = profile == Profile::toy, gpu = profile == Profile::gpu;
        sizes.sequences = toy ? 8 : gpu ? 32 : 16;
        const int longer = toy ? 1 : gpu ? 20 : 5;
        sizes.base_steps = 400 * longer;
        sizes.stage1_steps = 200 * longer;
        sizes.stage2_steps = 100 * longer;
        sizes.tune_rate = 1e-3;
        if (gpu) sizes.checkpoint_every = 1000;
        sizes.bf16 = true;
        return sizes;
    }
    if (model == "smollm2" || names_a_file(model)) {
        sizes.weights = model == "smollm2" ? "smollm2-135m-instruct" : std::string(model);
        sizes.context = 256;
        // What two cores do in an hour; toy: a few minutes, to see that it works; gpu: the full
        // schedule, twice and once and a half through the King James Bible.
        const bool toy = profile == Profile::toy, gpu = profile == Profile::gpu;
        sizes.sequences = gpu ? 8 : 4;
        sizes.stage1_steps = toy ? 10 : gpu ? 1200 : 240;
        sizes.stage2_steps = toy ? 5 : gpu ? 900 : 160;
        sizes.tune_rate = 5e-5;
        sizes.evaluation_windows = toy ? 8 : gpu ? 64 : 32;
        sizes.checkpoint_every = gpu ? 300 : 20;  // of 1.6 GB
        sizes.bf16 = true;
        return sizes;
    }
    throw UserError(
        fmt::format("model {}: there are gpt-toy, llama-toy, gpt-5m, llama-5m, gpt-tiny, "
                    "llama-tiny and smollm2, or a path (with a slash or a dot)",
                    model));
}

Sizes sizes_of(const Materials& materials) {
    Sizes sizes = sizes_of(materials.model, materials.profile);
    if (!materials.steps) return sizes;
    sizes.stage1_steps = *materials.steps * 3 / 5;
    sizes.stage2_steps = *materials.steps - sizes.stage1_steps;
    // A GPU takes minutes for what writing the state of would take seconds each time.
    if (materials.profile == Profile::gpu) sizes.checkpoint_every = 0;
    return sizes;
}

std::optional<std::string> materials_lack(const Materials& materials) {
    const Sizes sizes = sizes_of(materials);
    if (auto reason = lacks(materials.corpus)) return reason;
    return sizes.weights.empty() ? std::nullopt : lacks(sizes.weights);
}

std::vector<Input> material_inputs(const Materials& materials) {
    std::vector<Input> inputs;
    const auto add_fetched = [&](const std::string& id, const char* what) {
        if (auto fetched = data::input_of(id, what)) inputs.push_back(*std::move(fetched));
    };
    if (names_a_file(materials.corpus))
        inputs.push_back({"corpus", materials.corpus, ""});
    else
        add_fetched(materials.corpus, "corpus");
    const std::string weights = sizes_of(materials).weights;
    if (weights.empty()) return inputs;
    if (!names_a_file(weights))
        add_fetched(weights, "weights");
    else if (!lacks(weights))
        for (auto& file : nn::files_of_model(weights))
            inputs.push_back({"weights", std::move(file), ""});
    return inputs;
}

std::filesystem::path fetched(const std::string& name) {
    if (const auto reason = lacks(name)) throw SampleError(SampleStatus::unsupported, *reason);
    return names_a_file(name) ? std::filesystem::path(name) : *data::locate(name);
}

}  // namespace assay::lte
