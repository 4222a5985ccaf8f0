#include "impls/lte/recipes/materials.hpp"

#include <fmt/format.h>

#include "impls/lte/recipes/sizes.hpp"
#include "impls/nn/files/safetensors_folder.hpp"
#include "suite/data/catalog.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {
namespace {

std::string text_axis(const SampleSpec& spec, std::string_view axis, std::string_view otherwise) {
    const auto found = spec.axes.find(std::string(axis));
    return found == spec.axes.end() ? std::string(otherwise) : to_string(found->second);
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

std::string model_of(const SampleSpec& spec) { return text_axis(spec, "model", "gpt-toy"); }
std::string corpus_of(const SampleSpec& spec) { return text_axis(spec, "corpus", "bible-kjv"); }

std::optional<std::string> materials_lack(const SampleSpec& spec) {
    const Sizes sizes = sizes_of(model_of(spec), spec.profile);
    if (auto reason = lacks(corpus_of(spec))) return reason;
    return sizes.weights.empty() ? std::nullopt : lacks(sizes.weights);
}

std::vector<Input> material_inputs(const SampleSpec& spec) {
    std::vector<Input> inputs;
    const auto add_fetched = [&](const std::string& id, const char* what) {
        if (auto fetched = data::input_of(id, what)) inputs.push_back(*std::move(fetched));
    };
    const std::string corpus = corpus_of(spec);
    if (names_a_file(corpus))
        inputs.push_back({"corpus", corpus, ""});
    else
        add_fetched(corpus, "corpus");
    const std::string weights = sizes_of(model_of(spec), spec.profile).weights;
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
