#include "tests/nn/text/golden_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "suite/base/error.hpp"

namespace assay::testing {

nlohmann::json golden_json(const std::string& name) {
    std::ifstream in(std::filesystem::path(ASSAY_NN_TEXT_GOLDENS) / name);
    return nlohmann::json::parse(in);
}

std::vector<GoldenIds> golden_ids(const std::string& name) {
    std::vector<GoldenIds> all;
    for (const auto& entry : golden_json(name))
        all.push_back({entry[0], entry[1], entry[2], entry.size() > 3 ? entry[3] : entry[0]});
    return all;
}

void expect_golden_ids(const nn::Tokenizer& tokenizer, const std::string& name) {
    const auto goldens = golden_ids(name);
    ASSERT_GT(goldens.size(), 100u);
    const std::string missing = tokenizer.bytes_without_token();
    for (const GoldenIds& golden : goldens) {
        SCOPED_TRACE(nlohmann::json(golden.text).dump());
        if (golden.text.find_first_of(missing) != std::string::npos) {
            EXPECT_THROW(tokenizer.encode(golden.text), UserError);
            continue;
        }
        EXPECT_EQ(tokenizer.encode(golden.text), golden.ids);
        EXPECT_EQ(tokenizer.encode(golden.text, true), golden.ids_special);
        EXPECT_EQ(tokenizer.decode(golden.ids), golden.encoded);
        EXPECT_EQ(tokenizer.decode(golden.ids_special), golden.encoded);
    }
}

}  // namespace assay::testing
