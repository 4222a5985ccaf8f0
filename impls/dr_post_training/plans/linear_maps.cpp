#include "impls/dr_post_training/plans/linear_maps.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "suite/base/error.hpp"

namespace assay::dr_post_training {
namespace {

template <class Number>
std::optional<Number> number(std::string_view text) {
    Number value{};
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

std::vector<std::string_view> parts(std::string_view text, char separator) {
    std::vector<std::string_view> list;
    while (true) {
        const auto end = text.find(separator);
        list.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return list;
        text.remove_prefix(end + 1);
    }
}

/// `what` is all that was typed.
double size_of(const char* option, std::string_view text, std::string_view what) {
    const auto value = number<long long>(text);
    if (!value || *value < 1 || static_cast<double>(*value) >= size_limit)
        throw UserError(fmt::format("{} {}: {} is no size; give a whole number from 1 to 999999999",
                                    option, what,
                                    text.empty() ? "nothing" : fmt::format("'{}'", text)));
    return static_cast<double>(*value);
}

}  // namespace

double parse_size(const char* option, std::string_view text) { return size_of(option, text, text); }

double parse_number(const char* option, std::string_view text, const char* what) {
    const auto value = number<double>(text);
    if (!value || !std::isfinite(*value))
        throw UserError(fmt::format("{} {}: give {}", option, text, what));
    return *value;
}

std::pair<double, double> parse_sizes(const char* option, std::string_view text) {
    const auto sizes = parts(text, 'x');
    if (sizes.size() != 2)
        throw UserError(fmt::format("{} {}: give two sizes, for example 64x64", option, text));
    return {size_of(option, sizes[0], text), size_of(option, sizes[1], text)};
}

std::vector<LinearMap> parse_linear_maps(std::string_view text) {
    constexpr const char* option = "--linears";
    std::vector<LinearMap> maps;
    for (const std::string_view one : parts(text, ',')) {
        const auto sizes = parts(one, 'x');
        if (sizes.size() != 2 && sizes.size() != 3)
            throw UserError(
                fmt::format("{} {}: '{}' is no linear map; give OUTxIN or OUTxINxCOUNT, for "
                            "example 1536x576x60",
                            option, text, one));
        maps.push_back({.out = size_of(option, sizes[0], text),
                        .in = size_of(option, sizes[1], text),
                        .count = sizes.size() == 3 ? size_of(option, sizes[2], text) : 1});
    }
    return maps;
}

std::vector<LinearMap> linear_maps_of(const nn::DecoderConfig& config) {
    std::vector<LinearMap> maps;
    for (const nn::NamedShape& parameter : nn::layer_parameters(config))
        if (parameter.shape.size() == 2)
            maps.push_back({.out = static_cast<double>(parameter.shape[0]),
                            .in = static_cast<double>(parameter.shape[1]),
                            .count = static_cast<double>(config.layers)});
    return maps;
}

}  // namespace assay::dr_post_training
