#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "impls/dr_post_training/plans/formats.hpp"
#include "impls/dr_post_training/plans/input_checks.hpp"
#include "impls/nn/files/untrusted_file.hpp"

namespace assay::dr_post_training {
namespace {

using nlohmann::json;
using nn::malformed;
using nn::member;
using nn::shown;
using Keys = std::initializer_list<std::string_view>;

std::optional<std::string> unknown_key(const json& object, Keys known) {
    for (const auto& [key, value] : object.items())
        if (std::find(known.begin(), known.end(), key) == known.end())
            return fmt::format("unknown key {}; known are {}", shown(key), fmt::join(known, ", "));
    return std::nullopt;
}

/// Rows of equally many numbers.
Matrix matrix_of(const LayerPlace& place, const char* key, const json& rows) {
    if (!rows.is_array() || rows.empty() || !rows.front().is_array() || rows.front().empty())
        place.refuse(fmt::format("\"{}\" must be a list of rows, each a list of numbers", key));
    Matrix matrix(rows.size(), rows.front().size());
    for (std::size_t i = 0; i < matrix.rows; ++i) {
        const json& row = rows[i];
        if (!row.is_array())
            place.refuse(fmt::format("\"{}\": row {} is no list of numbers", key, i + 1));
        if (row.size() != matrix.columns)
            place.refuse(fmt::format("\"{}\": row {} has {} numbers, row 1 has {}", key, i + 1,
                                     row.size(), matrix.columns));
        for (std::size_t j = 0; j < matrix.columns; ++j) {
            const json& number = row[j];
            const double value = number.is_number() ? number.get<double>() : std::nan("");
            if (!std::isfinite(value))
                place.refuse(fmt::format("\"{}\": row {} has in column {} what is no finite number",
                                         key, i + 1, j + 1));
            matrix(i, j) = value;
        }
    }
    return matrix;
}

void check_shape(const LayerPlace& place, const char* key, const Matrix& matrix, std::size_t rows,
                 std::size_t columns, const char* why) {
    if (matrix.rows != rows || matrix.columns != columns)
        place.refuse(fmt::format("\"{}\" is {} × {}, {} × {} was expected: {}", key, matrix.rows,
                                 matrix.columns, rows, columns, why));
}

GramStatistics of_gradients(const LayerPlace& place, const json& layer, InputBuilder& input) {
    const Matrix gradients = matrix_of(place, "gradients", layer.at("gradients"));
    if (!layer.contains("target")) place.refuse("\"target\" is missing: the target's gradients");
    const Matrix target = matrix_of(place, "target", layer.at("target"));
    check_shape(place, "target", target, target.rows, gradients.columns,
                "a row is as long as one of \"gradients\"");
    input.check_size(place, gradients.rows, target.rows);
    GramStatistics statistics = statistics_of(gradients, target);
    const auto check = [&](const char* what, const Matrix& rows, const Matrix& gram) {
        LargestOfRows largest;
        largest.add(rows);
        check_lengths(place, what, largest, gram);
    };
    check("gradients", gradients, statistics.gram);
    check("target", target, *statistics.target_gram);
    return statistics;
}

GramStatistics of_gram(const LayerPlace& place, const json& layer, InputBuilder& input) {
    GramStatistics statistics;
    statistics.gram = matrix_of(place, "gram", layer.at("gram"));
    const std::size_t n = statistics.gram.rows;
    check_shape(place, "gram", statistics.gram, n, n, "a row and a column for each row");
    if (!layer.contains("scores"))
        place.refuse("\"scores\" are missing: inner products of rows and target rows");
    statistics.scores = matrix_of(place, "scores", layer.at("scores"));
    const std::size_t m = statistics.scores.columns;
    check_shape(place, "scores", statistics.scores, n, m, "a row for each of \"gram\"");
    input.check_size(place, n, m);
    if (layer.contains("target_gram") && !layer.at("target_gram").is_null()) {
        statistics.target_gram = matrix_of(place, "target_gram", layer.at("target_gram"));
        check_shape(place, "target_gram", *statistics.target_gram, m, m,
                    "a row and a column for each target row");
    }
    check_range(place, statistics);
    check_gram(place, "gram", statistics.gram);
    if (statistics.target_gram) check_gram(place, "target_gram", *statistics.target_gram);
    check_scores(place, statistics);
    return statistics;
}

std::optional<std::string> label(const LayerPlace& place, const json& layer, const char* key) {
    const json& value = member(layer, key);
    if (value.is_null()) return std::nullopt;
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_integer()) return value.dump();
    place.refuse(fmt::format("\"{}\" must be a name or a number", key));
}

Layer layer_of(std::string_view file, const json& object, std::size_t number, InputBuilder& input) {
    const auto refuse = [&](std::string_view why) {
        malformed(file, fmt::format("layer {} of \"layers\": {}", number, why));
    };
    if (!object.is_object()) refuse("give an object, {\"name\": …}");
    const json& name = member(object, "name");
    if (!name.is_string() || name.get_ref<const std::string&>().empty())
        refuse("\"name\" must be text");
    Layer layer{.name = name.get<std::string>(), .block = {}, .part = {}, .statistics = {}};
    const LayerPlace place{file, layer.name};
    if (const auto unknown = unknown_key(object, {"name", "block", "part", "gradients", "target",
                                                  "gram", "scores", "target_gram"}))
        place.refuse(*unknown);
    layer.block = label(place, object, "block");
    layer.part = label(place, object, "part");
    const bool gradients = object.contains("gradients") || object.contains("target");
    for (const char* key : {"gram", "scores", "target_gram"})
        if (gradients && object.contains(key))
            place.refuse(
                fmt::format("has \"{}\" and \"{}\"; give \"gradients\" and \"target\", or \"gram\" "
                            "and \"scores\"",
                            object.contains("target") ? "target" : "gradients", key));
    if (object.contains("gradients"))
        layer.statistics = of_gradients(place, object, input);
    else if (object.contains("gram"))
        layer.statistics = of_gram(place, object, input);
    else
        place.refuse("give \"gradients\" and \"target\", or \"gram\" and \"scores\"");
    check_range(place, layer.statistics);
    return layer;
}

}  // namespace

PlanInput read_json_gradients(std::string_view name, std::string_view text) {
    const json object = nn::strict_json(name, text);
    if (!object.is_object()) malformed(name, "give an object, {\"layers\": […]}");
    if (const auto unknown = unknown_key(object, {"layers", "tokens", "sources"}))
        malformed(name, *unknown);
    const json& layers = member(object, "layers");
    if (!layers.is_array() || layers.empty())
        malformed(name, "\"layers\" must be a list of at least one layer");
    InputBuilder input(name);
    for (std::size_t i = 0; i < layers.size(); ++i)
        input.add(layer_of(name, layers[i], i + 1, input));
    input.set_tokens(member(object, "tokens"));
    input.set_sources(member(object, "sources"));
    return input.finish();
}

}  // namespace assay::dr_post_training
