#include "impls/model/named_models.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "suite/base/datasets.hpp"
#include "suite/base/error.hpp"

namespace assay::model {
namespace {

nn::DecoderConfig llama(const char* name, int layers, int width, int hidden, int heads,
                        int kv_heads, int vocabulary, int context) {
    nn::DecoderConfig config;
    config.name = name;
    config.layers = layers;
    config.width = width;
    config.hidden = hidden;
    config.heads = heads;
    config.kv_heads = kv_heads;
    config.head_width = width / heads;
    config.vocabulary = vocabulary;
    config.context = context;
    config.tied_embeddings = false;
    return config;
}

nn::DecoderConfig gpt2(const char* name, int layers, int width) {
    nn::DecoderConfig config = llama(name, layers, width, 4 * width, width / 64, width / 64,
                                     /*vocabulary=*/50257, /*context=*/1024);
    config.family = nn::Family::gpt2;
    config.activation = nn::Activation::gelu;
    config.tied_embeddings = true;
    return config;
}

nn::DecoderConfig tied(nn::DecoderConfig config) {
    config.tied_embeddings = true;
    return config;
}

/// Heads of 128 whatever the width. The norms of its queries and keys, two vectors a layer, are
/// left out.
nn::DecoderConfig qwen3(const char* name, int layers, int width, int hidden, int heads) {
    nn::DecoderConfig config =
        llama(name, layers, width, hidden, heads, 8, /*vocabulary=*/151936, /*context=*/40960);
    config.head_width = 128;
    return config;
}

const std::map<std::string, nn::DecoderConfig, std::less<>>& shapes() {
    static const std::map<std::string, nn::DecoderConfig, std::less<>> all{
        {"gpt2", gpt2("GPT-2", 12, 768)},
        {"gpt2-medium", gpt2("GPT2-Medium", 24, 1024)},
        {"llama-7b", llama("LLaMA-7B", 32, 4096, 11008, 32, 32, 32000, 2048)},
        {"llama2-7b", llama("LLaMA2-7B", 32, 4096, 11008, 32, 32, 32000, 4096)},
        {"llama2-13b", llama("LLaMA2-13B", 40, 5120, 13824, 40, 40, 32000, 4096)},
        {"llama3.2-1b", tied(llama("Llama-3.2-1B", 16, 2048, 8192, 32, 8, 128256, 131072))},
        {"llama3.2-3b", tied(llama("Llama-3.2-3B", 28, 3072, 8192, 24, 8, 128256, 131072))},
        {"qwen3-1.7b", tied(qwen3("Qwen3-1.7B", 28, 2048, 6144, 16))},
        {"qwen3-4b", tied(qwen3("Qwen3-4B", 36, 2560, 9728, 32))},
        {"qwen3-8b", qwen3("Qwen3-8B", 36, 4096, 12288, 32)},
        {"smollm2-135m", tied(llama("SmolLM2-135M", 30, 576, 1536, 9, 3, 49152, 8192))},
        {"smollm2-360m", tied(llama("SmolLM2-360M", 32, 960, 2560, 15, 5, 49152, 8192))},
        {"tinyllama-1.1b", llama("TinyLlama-1.1B", 22, 2048, 5632, 32, 4, 32000, 2048)}};
    return all;
}

std::string known_ids(data::Kind kind) {
    std::string ids;
    for (const data::Entry& entry : data::catalog())
        if (entry.kind == kind) ids += (ids.empty() ? "" : ", ") + entry.id;
    return ids;
}

}  // namespace

nn::DecoderConfig named_shape(std::string_view name) {
    const auto found = shapes().find(name);
    if (found != shapes().end()) return found->second;
    const auto nearest = nearest_id(name, shape_names());
    throw UserError(fmt::format("no shape '{}'; {}there are: {}; or give a file with --model", name,
                                nearest ? fmt::format("did you mean '{}'? ", *nearest) : "",
                                fmt::join(shape_names(), ", ")));
}

std::vector<std::string> shape_names() {
    std::vector<std::string> names;
    for (const auto& [name, config] : shapes()) names.push_back(name);
    return names;
}

std::filesystem::path locate_file(const std::string& name, data::Kind kind) {
    std::error_code ignored;
    if (std::filesystem::exists(name, ignored)) return name;
    const auto& entries = data::catalog();
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [&](const data::Entry& each) { return each.id == name; });
    const char* const what = kind == data::Kind::model
                                 ? "a GGUF or safetensors file, a folder of Hugging Face's layout"
                                 : "a text file";
    if (entry == entries.end())
        throw UserError(fmt::format("{}: no such file; give {} or a data set ({})", name, what,
                                    known_ids(kind)));
    if (entry->kind != kind)
        throw UserError(fmt::format("{} is a {}; give {} or one of {}", name,
                                    data::to_string(entry->kind), what, known_ids(kind)));
    if (const auto path = data::locate(name)) return *path;
    // Where scripts/models of the source tree puts it.
    const std::filesystem::path root = datasets_dir().parent_path();
    if (const auto path = root / ".deps/models" / entry->file;
        std::filesystem::exists(path, ignored))
        return path;
    const auto script = root / "scripts/models";
    throw UserError(fmt::format(
        "{} has not been fetched; run: {}{}{}", name,
        kind == data::Kind::model && std::filesystem::exists(script, ignored)
            ? fmt::format("{}, or with a file that you have: ", script.string())
            : "",
        data::fetch_command(*entry),
        entry->obtain.empty() ? "" : fmt::format(" (to get the file, {})", entry->obtain)));
}

}  // namespace assay::model
