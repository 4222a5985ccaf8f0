// The files that make_goldens wrote.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/nn/text/tokenizer.hpp"

namespace assay::testing {

nlohmann::json golden_json(const std::string& name);

struct GoldenIds {
    std::string text;
    std::vector<int> ids;
    std::vector<int> ids_special;  ///< special tokens taken as such
    std::string encoded;           ///< the text as the tokenizer changes it
};
std::vector<GoldenIds> golden_ids(const std::string& name);

/// Every text of the file gives its ids; where all bytes have tokens, the ids give what is encoded
/// again.
void expect_golden_ids(const nn::Tokenizer&, const std::string& name);

}  // namespace assay::testing
