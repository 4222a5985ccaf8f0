#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "impls/dr_post_training/plans/formats.hpp"
#include "impls/dr_post_training/plans/input_checks.hpp"
#include "impls/nn/files/safetensors.hpp"
#include "impls/nn/files/untrusted_file.hpp"

namespace assay::dr_post_training {
namespace {

using nlohmann::json;
using nn::malformed;
using nn::shown;
using nn::TensorEntry;

/// Of a layer's two tensors.
struct Pair {
    const TensorEntry* gradients = nullptr;
    const TensorEntry* target = nullptr;
};

/// "layer3/up" of "layer3/up/gradients", and "gradients".
std::pair<std::string, std::string> split(const std::string& name) {
    const auto at = name.rfind('/');
    if (at == std::string::npos) return {"", name};
    return {name.substr(0, at), name.substr(at + 1)};
}

std::size_t rows_of(const TensorEntry& tensor) { return static_cast<std::size_t>(tensor.shape[0]); }

/// Columns [first, first + count) of all rows. Throws UserError for what is not finite.
Matrix columns_of(const LayerPlace& place, const char* what, const TensorEntry& tensor,
                  std::size_t width, std::size_t first, std::size_t count) {
    Matrix part(rows_of(tensor), count);
    std::vector<float> row(count);
    for (std::size_t i = 0; i < part.rows; ++i) {
        nn::to_floats(tensor, static_cast<std::int64_t>(i * width + first), row);
        for (std::size_t j = 0; j < count; ++j) {
            if (!std::isfinite(row[j]))
                place.refuse(fmt::format("\"{}\": row {} has in column {} what is no finite number",
                                         what, i + 1, first + j + 1));
            part(i, j) = row[j];
        }
    }
    return part;
}

GramStatistics statistics_of_tensors(const LayerPlace& place, const Pair& pair,
                                     InputBuilder& input) {
    const TensorEntry &gradients = *pair.gradients, &target = *pair.target;
    if (gradients.shape.size() < 2 || target.shape.size() < 2)
        place.refuse("gradients and target need a row for each example: two extents or more");
    if (!std::equal(gradients.shape.begin() + 1, gradients.shape.end(), target.shape.begin() + 1,
                    target.shape.end()))
        place.refuse("a row of target has not the shape of one of gradients");
    input.check_size(place, rows_of(gradients), rows_of(target));
    const auto width = static_cast<std::size_t>(gradients.elements()) / rows_of(gradients);
    if (width == 0) place.refuse("its rows have no numbers");

    const std::size_t n = rows_of(gradients), m = rows_of(target);
    GramStatistics found{.gram = Matrix(n, n), .scores = Matrix(n, m), .target_gram = Matrix(m, m)};
    // A part of all rows at once that the caches hold.
    const std::size_t step = std::clamp<std::size_t>(500'000 / (n + m), 64, 8192);
    LargestOfRows largest_row, largest_target;
    for (std::size_t first = 0; first < width; first += step) {
        const std::size_t count = std::min(step, width - first);
        const Matrix rows = columns_of(place, "gradients", gradients, width, first, count);
        const Matrix wanted = columns_of(place, "target", target, width, first, count);
        largest_row.add(rows);
        largest_target.add(wanted);
        add_products(rows, found.gram);
        add_products(rows, wanted, found.scores);
        add_products(wanted, *found.target_gram);
    }
    check_range(place, found);
    check_lengths(place, "gradients", largest_row, found.gram);
    check_lengths(place, "target", largest_target, *found.target_gram);
    return found;
}

Layer named_layer(const std::string& name) {
    Layer layer{.name = name, .block = {}, .part = {}, .statistics = {}};
    const auto [block, map] = split(name);
    if (name.find('/') == std::string::npos) return layer;
    constexpr std::array<std::string_view, 4> attention{"query", "key", "value", "attention_out"};
    layer.block = block;
    layer.part =
        std::find(attention.begin(), attention.end(), map) != attention.end() ? "attention" : "ffn";
    return layer;
}

/// A list that stands in the metadata as text; null: it does not.
json list_of(std::string_view file, const json& metadata, const char* key) {
    const json& text = nn::member(metadata, key);
    if (text.is_null()) return text;
    if (!text.is_string())
        malformed(file, fmt::format("its metadata \"{}\" is no text with a JSON list", key));
    return nn::strict_json(fmt::format("{}: its metadata \"{}\"", file, key),
                           text.get_ref<const std::string&>());
}

}  // namespace

PlanInput read_safetensors_gradients(const nn::UntrustedFile& file) {
    const std::string& name = file.name();
    const nn::SafetensorsContent content = nn::parse_safetensors(file);
    if (!content.left_out.empty())
        malformed(name, fmt::format("tensor {} is stored as {}; F32, F16 and BF16 are read",
                                    shown(content.left_out.begin()->first),
                                    content.left_out.begin()->second));
    std::vector<std::string> order;
    std::map<std::string, Pair> pairs;
    for (const TensorEntry& tensor : content.tensors) {
        const auto [layer, what] = split(tensor.name);
        if (layer.empty() || (what != "gradients" && what != "target"))
            malformed(name, fmt::format("tensor {}: its name must end in /gradients or /target",
                                        shown(tensor.name)));
        const auto [pair, is_new] = pairs.try_emplace(layer);
        if (is_new) order.push_back(layer);
        (what == "target" ? pair->second.target : pair->second.gradients) = &tensor;
    }
    InputBuilder input(name);
    for (const std::string& each : order) {
        const LayerPlace place{name, each};
        const Pair& pair = pairs.at(each);
        if (!pair.gradients || !pair.target)
            place.refuse(fmt::format("has no tensor {}",
                                     shown(each + (pair.target ? "/gradients" : "/target"))));
        Layer layer = named_layer(each);
        layer.statistics = statistics_of_tensors(place, pair, input);
        input.add(std::move(layer));
    }
    input.set_tokens(list_of(name, content.metadata, "tokens"));
    input.set_sources(list_of(name, content.metadata, "sources"));
    return input.finish();
}

}  // namespace assay::dr_post_training
