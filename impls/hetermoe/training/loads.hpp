// Loads of experts that are given: choices made in the gates' place, so that every expert gets a
// share of the rows, as skewed as one wants it.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/nn/moe/gpt.hpp"

namespace assay::hetermoe {

/// `top_k` different experts for each of `rows` tokens, token by token, so that expert e is chosen
/// in a share loads[e] of all choices, but for one or two of them (systematic sampling, Madow 1949,
/// at equally spaced points). `loads` sum to 1, none is above 1 / top_k: no expert is chosen twice
/// by a token.
std::vector<std::int64_t> dealt_choices(const std::vector<double>& loads, int top_k,
                                        std::int64_t rows);

/// Of every layer; empty where `loads`, [layer][expert], is.
nn::ForcedChoice choice_of_loads(const std::vector<std::vector<double>>& loads, int top_k);

}  // namespace assay::hetermoe
