// Linear maps and sizes as they are typed, and those of a model.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "impls/dr_post_training/policy/costs.hpp"
#include "impls/nn/files/decoder_config.hpp"

namespace assay::dr_post_training {

/// Sizes and counts are below this.
inline constexpr double size_limit = 1e9;

/// "576x576x30,1536x576": out × in, and how many alike. Throws UserError.
std::vector<LinearMap> parse_linear_maps(std::string_view text);
/// "64x64". Throws UserError, which names the `option`.
std::pair<double, double> parse_sizes(const char* option, std::string_view text);
/// A whole number from 1 up to but not including 10⁹. Throws UserError, which names the `option`.
double parse_size(const char* option, std::string_view text);

/// A finite number. Throws UserError, "OPTION TEXT: give WHAT", where it is none.
double parse_number(const char* option, std::string_view text, const char* what);

/// The weight matrices of the blocks, each as often as there are blocks: neither embedding nor
/// head.
std::vector<LinearMap> linear_maps_of(const nn::DecoderConfig& config);

}  // namespace assay::dr_post_training
