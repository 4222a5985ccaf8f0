// Files of gradients: both formats, and what is wrong with others.
#include "impls/dr_post_training/plans/gradient_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "suite/base/error.hpp"
#include "tests/dr_post_training/policy/random_gradients.hpp"
#include "tests/nn/files/write_safetensors.hpp"

namespace assay::dr_post_training {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

PlanInput read(const std::string& text) {
    return read_gradients("g.json", std::as_bytes(std::span(text.data(), text.size())));
}
PlanInput read(const json& object) { return read(object.dump()); }
PlanInput read(const nn::SafetensorsWriter& file) {
    return read_gradients("g.safetensors", file.bytes());
}

template <class What>
std::string error_of(const What& what) {
    try {
        read(what);
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

json list(const Matrix& matrix) {
    json rows = json::array();
    for (std::size_t i = 0; i < matrix.rows; ++i)
        rows.push_back(std::vector<double>(matrix.row(i).begin(), matrix.row(i).end()));
    return rows;
}

json good() {
    return {{"layers",
             {{{"name", "up"},
               {"block", "0"},
               {"part", "ffn"},
               {"gradients", {{1, 0}, {0, 1}, {1, 1}}},
               {"target", {{1, 0.5}, {0.5, 1}}}},
              {{"name", "q"},
               {"block", 0},
               {"gram", {{1, 0, 0}, {0, 2, 0}, {0, 0, 1}}},
               {"scores", {{1, 0}, {-1, 1}, {0, 0.5}}},
               {"target_gram", {{4, 0}, {0, 4}}}}}},
            {"tokens", {12, 7, 9}},
            {"sources", {"alpaca", "flan", "flan"}}};
}

TEST(DrGradientFile, ReadsJson) {
    const PlanInput input = read(good());
    ASSERT_EQ(input.layers.size(), 2U);
    EXPECT_EQ(input.rows(), 3U);
    EXPECT_EQ(input.target_rows(), 2U);
    EXPECT_EQ(input.layers[0].part, "ffn");
    EXPECT_EQ(input.layers[0].block, "0");
    EXPECT_EQ(input.layers[1].block, "0");
    EXPECT_FALSE(input.layers[1].part);
    EXPECT_EQ(input.layers[0].statistics.gram(0, 2), 1);
    EXPECT_EQ(input.layers[0].statistics.scores(2, 0), 1.5);
    EXPECT_EQ((*input.layers[0].statistics.target_gram)(0, 1), 1);
    EXPECT_EQ(input.layers[1].statistics.scores(2, 1), 0.5);
    EXPECT_THAT(input.tokens, ElementsAre(12, 7, 9));
    EXPECT_THAT(input.sources, ElementsAre("alpaca", "flan", "flan"));
    json without = good();
    without.erase("tokens");
    without["sources"] = nullptr;
    EXPECT_TRUE(read(without).tokens.empty());
    EXPECT_TRUE(read(without).sources.empty());
}

/// Gradients and their own inner products are the same input.
TEST(DrGradientFile, InnerProductsOfGradientsAreTaken) {
    RandomNumbers random(1);
    for (int round = 0; round < 100; ++round) {
        const std::size_t n = 1 + random.below(8), m = 1 + random.below(4), d = 1 + random.below(6);
        const Matrix g = random.matrix(n, d), t = random.matrix(m, d);
        const auto expected = statistics_of(g, t);
        json layer{{"name", "a"},
                   {"gram", list(expected.gram)},
                   {"scores", list(expected.scores)},
                   {"target_gram", list(*expected.target_gram)}};
        EXPECT_EQ(read(json{{"layers", {layer}}}).layers[0].statistics.scores, expected.scores);
        // … and without target_gram scores fit them, however few directions there are.
        layer.erase("target_gram");
        EXPECT_EQ(error_of(json{{"layers", {layer}}}), "no error") << layer;
        const json pair{{"name", "a"}, {"gradients", list(g)}, {"target", list(t)}};
        EXPECT_EQ(read(json{{"layers", {pair}}}).layers[0].statistics.gram, expected.gram);
    }
}

TEST(DrGradientFile, SaysWhatIsWrongAndWhere) {
    const auto with = [](const char* pointer, json value) {
        json changed = good();
        changed[json::json_pointer(pointer)] = std::move(value);
        return error_of(changed);
    };
    const auto without = [](std::size_t layer, const char* key) {
        json changed = good();
        changed["layers"][layer].erase(key);
        return error_of(changed);
    };
    const auto in_up = [](const std::string& error) {
        EXPECT_THAT(error, ::testing::StartsWith("g.json: layer \"up\": "));
        return error;
    };
    const auto in_q = [](const std::string& error) {
        EXPECT_THAT(error, ::testing::StartsWith("g.json: layer \"q\": "));
        return error;
    };
    // Layers.
    EXPECT_THAT(error_of(json::array()), HasSubstr("give an object"));
    EXPECT_THAT(with("/layers", json::array()), HasSubstr("at least one layer"));
    EXPECT_THAT(with("/layers", 3), HasSubstr("at least one layer"));
    EXPECT_THAT(with("/layers/1", 3), HasSubstr("layer 2 of \"layers\": give an object"));
    EXPECT_THAT(with("/layers/1/name", 3), HasSubstr("\"name\" must be text"));
    EXPECT_THAT(with("/layers/1/name", "up"), HasSubstr("two layers are named \"up\""));
    EXPECT_THAT(with("/layer", 3), HasSubstr("unknown key \"layer\""));
    EXPECT_THAT(in_up(with("/layers/0/grads", 3)), HasSubstr("unknown key \"grads\""));
    EXPECT_THAT(in_up(with("/layers/0/block", 1.5)), HasSubstr("\"block\" must be"));
    // One form or the other.
    EXPECT_THAT(in_up(with("/layers/0/gram", json{{1}})), HasSubstr("has \"target\" and \"gram\""));
    EXPECT_THAT(in_q(with("/layers/1/target", json{{1}})),
                HasSubstr("has \"target\" and \"gram\""));
    EXPECT_THAT(in_up(with("/layers/0/scores", json{{1}})), HasSubstr("\"scores\""));
    EXPECT_THAT(in_up(without(0, "target")), HasSubstr("\"target\" is missing"));
    EXPECT_THAT(in_up(without(0, "gradients")), HasSubstr("give \"gradients\" and \"target\""));
    EXPECT_THAT(in_q(without(1, "scores")), HasSubstr("\"scores\" are missing"));
    EXPECT_THAT(in_q(without(1, "gram")), HasSubstr("give \"gradients\" and \"target\""));
    // Sizes.
    EXPECT_THAT(in_up(with("/layers/0/gradients/1", {1, 2, 3})),
                HasSubstr("row 2 has 3 numbers, row 1 has 2"));
    EXPECT_THAT(in_up(with("/layers/0/gradients/1", 4)), HasSubstr("row 2 is no list"));
    EXPECT_THAT(in_up(with("/layers/0/gradients", json::array())), HasSubstr("list of rows"));
    EXPECT_THAT(in_up(with("/layers/0/gradients", {json::array()})), HasSubstr("list of rows"));
    EXPECT_THAT(in_up(with("/layers/0/target", {{1}, {2}})), HasSubstr("\"target\" is 2 × 1"));
    EXPECT_THAT(in_q(with("/layers/0/target", {{1, 2}})),
                HasSubstr("has 2 target rows, layer \"up\" has 1"));
    EXPECT_THAT(in_q(with("/layers/0/gradients", {{1, 2}})),
                HasSubstr("has 3 rows, layer \"up\" has 1"));
    EXPECT_THAT(in_q(with("/layers/1/gram", {{1, 0}, {0, 1}, {0, 0}})),
                HasSubstr("\"gram\" is 3 × 2"));
    EXPECT_THAT(in_q(with("/layers/1/scores", {{1, 0}})), HasSubstr("\"scores\" is 1 × 2"));
    EXPECT_THAT(in_q(with("/layers/1/target_gram", {{1}})), HasSubstr("\"target_gram\" is 1 × 1"));
    EXPECT_THAT(with("/tokens", {1, 2}), HasSubstr("\"tokens\" has 2 entries, there are 3 rows"));
    EXPECT_THAT(with("/tokens", json::array()), HasSubstr("\"tokens\" has 0 entries"));
    EXPECT_THAT(with("/sources", {"a"}), HasSubstr("\"sources\" has 1 entries"));
    // Numbers.
    EXPECT_THAT(in_up(with("/layers/0/gradients/1/0", nullptr)),
                HasSubstr("row 2 has in column 1 what is no finite number"));
    EXPECT_THAT(in_up(with("/layers/0/target/1/0", "1")), HasSubstr("no finite number"));
    EXPECT_THAT(in_up(with("/layers/0/gradients/1/0", 1e120)), HasSubstr("too large"));
    EXPECT_THAT(in_q(with("/layers/1/gram/0/0", 1e200)), HasSubstr("too large"));
    EXPECT_THAT(in_up(with("/layers/0/target", {{1e-170, 0}, {1, 0}})),
                HasSubstr("row 1 of \"target\" is too small: of entries up to 1e-170"));
    EXPECT_THAT(in_up(with("/layers/0/gradients/1", {0, 1e-170})),
                HasSubstr("row 2 of \"gradients\" is too small"));
    EXPECT_THAT(with("/tokens/1", 0), HasSubstr("\"tokens\" has 0 for row 2"));
    EXPECT_THAT(with("/tokens/1", -3), HasSubstr("row 2"));
    EXPECT_THAT(with("/tokens/1", 1e308), HasSubstr("row 2"));  // two of them have no sum
    EXPECT_THAT(with("/tokens/1", 1e-320), HasSubstr("row 2"));
    EXPECT_THAT(with("/tokens/1", "3"), HasSubstr("row 2"));
    EXPECT_THAT(with("/tokens", 3), HasSubstr("\"tokens\" must be a list"));
    EXPECT_THAT(with("/sources/0", nullptr), HasSubstr("no name for row 1"));
    // What no gradients have.
    EXPECT_THAT(in_q(with("/layers/1/gram/0/1", 0.1)), HasSubstr("not symmetric"));
    EXPECT_THAT(with("/layers/1/gram/0/1", 1e-7), "no error");
    EXPECT_THAT(in_q(with("/layers/1/gram", {{1, 2, 0}, {2, 1, 0}, {0, 0, 1}})),
                HasSubstr("\"gram\" is indefinite"));
    EXPECT_THAT(in_q(with("/layers/1/gram/2/2", -1e-3)), HasSubstr("\"gram\" is indefinite"));
    EXPECT_THAT(in_q(with("/layers/1/target_gram", {{4, 5}, {5, 4}})),
                HasSubstr("\"target_gram\" is indefinite"));
    EXPECT_THAT(in_q(with("/layers/1/scores/0/0", 9)), HasSubstr("together are indefinite"));
}

TEST(DrGradientFile, SlightlyIndefiniteIsRounding) {
    const auto layer = [](double least) {
        return json{{"layers",
                     {{{"name", "a"},
                       {"gram", {{1, 0}, {0, least}}},
                       {"scores", {{0}, {0}}},
                       {"target_gram", {{1}}}}}}};
    };
    EXPECT_EQ(error_of(layer(-0.9e-6)), "no error");
    EXPECT_THAT(error_of(layer(-1.1e-6)), HasSubstr("indefinite"));
}

TEST(DrGradientFile, ScoresOfRowsThatHangTogetherHangTogether) {
    const auto layer = [](json gram, json scores) {
        return json{{"layers", {{{"name", "a"}, {"gram", gram}, {"scores", scores}}}}};
    };
    EXPECT_EQ(error_of(layer({{1, 1}, {1, 1}}, {{2}, {2}})), "no error");
    EXPECT_THAT(error_of(layer({{1, 1}, {1, 1}}, {{2}, {-2}})), HasSubstr("fit no gradients"));
    EXPECT_THAT(error_of(layer({{0, 0}, {0, 1}}, {{0.1}, {1}})), HasSubstr("fit no gradients"));
    EXPECT_THAT(error_of(layer({{0, 0}, {0, 0}}, {{0}, {1}})), HasSubstr("fit no gradients"));
    EXPECT_EQ(error_of(layer({{0, 0}, {0, 0}}, {{0}, {0}})), "no error");
}

TEST(DrGradientFile, RefusesWhatIsNoJson) {
    EXPECT_THAT(error_of(std::string()), HasSubstr("is empty"));
    EXPECT_THAT(error_of(std::string("{\"layers\":[")), HasSubstr(":1:12: not valid JSON"));
    EXPECT_THAT(error_of(std::string("{\"layers\":[],\"layers\":[]}")), HasSubstr("given twice"));
    EXPECT_THAT(error_of(std::string("{\"layers\":[{\"name\":\"a\",\"gradients\":[[NaN]]}]}")),
                HasSubstr("not valid JSON"));
    EXPECT_THAT(error_of(std::string("{\"layers\":[{\"name\":\"a\",\"gradients\":[[1e999]]}]}")),
                HasSubstr("the number 1e999 is too large"));
    const std::string whole = good().dump();
    for (std::size_t cut = 0; cut < whole.size(); ++cut)
        EXPECT_NE(error_of(whole.substr(0, cut)), "no error") << cut;
}

// ---- safetensors

std::vector<std::byte> floats(const std::vector<float>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

nn::SafetensorsWriter small_file() {
    nn::SafetensorsWriter file;
    file.tensor("layer3/up/gradients", {2, 3}, "F32", floats({1, 0, 2, 0, 1, 0}))
        .tensor("layer3/up/target", {1, 3}, "F32", floats({1, 1, 1}))
        .tensor("head/target", {1, 1}, "F32", floats({3}))
        .tensor("head/gradients", {2, 1}, "F32", floats({1, -1}))
        .tensor("a/b/attention_out/gradients", {2, 1, 2}, "F32", floats({1, 2, 3, 4}))
        .tensor("a/b/attention_out/target", {1, 1, 2}, "F32", floats({1, 0}));
    return file;
}

TEST(DrGradientFile, ReadsSafetensors) {
    nn::SafetensorsWriter file = small_file();
    const PlanInput input = read(file);
    ASSERT_EQ(input.layers.size(), 3U);
    EXPECT_EQ(input.layers[0].name, "layer3/up");
    EXPECT_EQ(input.layers[0].block, "layer3");
    EXPECT_EQ(input.layers[0].part, "ffn");
    EXPECT_EQ(input.layers[1].name, "head");
    EXPECT_FALSE(input.layers[1].block);
    EXPECT_FALSE(input.layers[1].part);
    EXPECT_EQ(input.layers[2].block, "a/b");
    EXPECT_EQ(input.layers[2].part, "attention");
    EXPECT_EQ(input.layers[0].statistics.gram(0, 0), 5);
    EXPECT_EQ(input.layers[0].statistics.scores(0, 0), 3);
    EXPECT_EQ(input.layers[2].statistics.gram(0, 1), 11);
    file.header["__metadata__"] = {{"tokens", "[3,4]"}, {"sources", "[\"a\",\"b\"]"}};
    EXPECT_THAT(read(file).tokens, ElementsAre(3, 4));
    EXPECT_THAT(read(file).sources, ElementsAre("a", "b"));
}

TEST(DrGradientFile, LongRowsAreAddedUpInParts) {
    RandomNumbers random(2);
    const std::size_t d = 20011;
    std::vector<float> values(3 * d), target(d);
    for (float& value : values) value = static_cast<float>(random.normal());
    for (float& value : target) value = static_cast<float>(random.normal());
    nn::SafetensorsWriter file;
    file.tensor("a/gradients", {3, d}, "F32", floats(values))
        .tensor("a/target", {1, d}, "F32", floats(target));
    const auto found = read(file).layers[0].statistics;
    double score = 0, product = 0;
    for (std::size_t j = 0; j < d; ++j) {
        score += double(values[2 * d + j]) * double(target[j]);
        product += double(values[j]) * double(values[2 * d + j]);
    }
    EXPECT_NEAR(found.scores(2, 0), score, 1e-9);
    EXPECT_NEAR(found.gram(0, 2), product, 1e-9);
    EXPECT_EQ(found.gram(0, 2), found.gram(2, 0));
}

TEST(DrGradientFile, SaysWhatIsWrongWithSafetensors) {
    EXPECT_EQ(error_of(small_file()), "no error");
    const auto with = [](const std::string& name, std::vector<std::int64_t> shape,
                         const std::vector<float>& values) {
        nn::SafetensorsWriter file = small_file();
        file.tensor(name, shape, "F32", floats(values));
        return error_of(file);
    };
    EXPECT_THAT(with("b/gradients", {2, 1}, {1, 2}),
                HasSubstr("g.safetensors: layer \"b\": has no tensor \"b/target\""));
    EXPECT_THAT(with("b/target", {1, 1}, {1}), HasSubstr("has no tensor \"b/gradients\""));
    EXPECT_THAT(with("bias", {1}, {1}), HasSubstr("must end in /gradients or /target"));
    EXPECT_THAT(with("/gradients", {1}, {1}), HasSubstr("must end in /gradients or /target"));
    const auto pair = [](std::vector<std::int64_t> g, std::vector<std::int64_t> t, float last = 1) {
        nn::SafetensorsWriter file = small_file();
        const auto fill = [&](const std::vector<std::int64_t>& shape) {
            std::int64_t size = 1;
            for (const auto extent : shape) size *= extent;
            std::vector<float> values(static_cast<std::size_t>(size), 1);
            if (!values.empty()) values.back() = last;
            return floats(values);
        };
        file.tensor("b/gradients", g, "F32", fill(g)).tensor("b/target", t, "F32", fill(t));
        return error_of(file);
    };
    EXPECT_EQ(pair({2, 4}, {1, 4}), "no error");
    EXPECT_THAT(pair({2, 4}, {1, 3}), HasSubstr("not the shape"));
    EXPECT_THAT(pair({2, 4}, {4}), HasSubstr("two extents or more"));
    EXPECT_THAT(pair({3, 4}, {1, 4}), HasSubstr("has 3 rows, layer \"layer3/up\" has 2"));
    EXPECT_THAT(pair({2, 4}, {2, 4}), HasSubstr("has 2 target rows"));
    EXPECT_THAT(pair({2, 0}, {1, 0}), HasSubstr("no numbers"));
    EXPECT_THAT(pair({0, 4}, {1, 4}), HasSubstr("has no rows"));
    EXPECT_THAT(pair({2, 4}, {1, 4}, std::numeric_limits<float>::quiet_NaN()),
                HasSubstr("layer \"b\": \"gradients\": row 2 has in column 4"));
    EXPECT_THAT(pair({2, 4}, {1, 4}, std::numeric_limits<float>::infinity()),
                HasSubstr("no finite number"));
    nn::SafetensorsWriter integers = small_file();
    integers.tensor("b/gradients", {2, 1}, "I32", floats({1, 2}));
    EXPECT_THAT(error_of(integers), HasSubstr("\"b/gradients\" is stored as I32"));
    nn::SafetensorsWriter metadata = small_file();
    metadata.header["__metadata__"] = {{"tokens", "[3,0]"}};
    EXPECT_THAT(error_of(metadata), HasSubstr("row 2"));
    metadata.header["__metadata__"] = {{"tokens", "[3"}};
    EXPECT_THAT(error_of(metadata), HasSubstr("its metadata \"tokens\""));
    nn::SafetensorsWriter nothing;
    EXPECT_THAT(error_of(nothing), HasSubstr("has no layers"));
}

TEST(DrGradientFile, RefusesATornFile) {
    const auto whole = small_file().bytes();
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        const std::span part(whole.data(), cut);
        EXPECT_THROW(read_gradients("g.safetensors", part), UserError) << cut;
    }
}

TEST(DrGradientFile, ReadsStandardInputAndSaysWhatCannotBeOpened) {
    std::istringstream in(good().dump());
    EXPECT_EQ(read_gradients_file("-", in).layers.size(), 2U);
    std::istringstream bad("{");
    try {
        read_gradients_file("-", bad);
        FAIL();
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), StartsWith("standard input:1:2: not valid JSON"));
    }
    EXPECT_THROW(read_gradients_file("/", in), UserError);
    EXPECT_THROW(read_gradients_file("nowhere.json", in), UserError);
}

}  // namespace
}  // namespace assay::dr_post_training
