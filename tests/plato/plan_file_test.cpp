#include "impls/plato/plans/plan_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "suite/base/error.hpp"

namespace assay::plato {
namespace {

constexpr const char* good =
    R"({"id":"w01","seed":1,"question_tokens":5,"static_plan_tokens":20,"static_node_tokens":10,)"
    R"("nodes":[{"i":1,"line_tokens":3,"lead_tokens":2,"out_tokens":4,"deps":[]},)"
    R"({"i":2,"line_tokens":3,"lead_tokens":2,"out_tokens":3,"deps":[1,1],"text":null}]})";

std::vector<PlanRecord> read(const std::string& text) {
    std::istringstream in(text);
    return read_plans(in, "plans.jsonl");
}

std::string error_of(const std::string& text) {
    try {
        read(text);
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

std::string with(const std::string& what, const std::string& instead) {
    std::string text = good;
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), instead);
}

TEST(PlanFileTest, SkeletonOfThoughtsCountsMayBeLeftOut) {
    const PlanRecord without = read(good)[0];
    EXPECT_EQ(without.static_skeleton_tokens, std::nullopt);
    EXPECT_EQ(skeleton_of(without).static_plan_tokens, 20);
    EXPECT_EQ(skeleton_of(without).node(1).line_tokens, 2) << "its lead's";
    const PlanRecord given =
        read(with(R"("seed":1,)", R"("static_skeleton_tokens":0,"static_point_tokens":7,)"))[0];
    EXPECT_EQ(skeleton_of(given).static_plan_tokens, 0);
    EXPECT_EQ(skeleton_of(given).static_node_tokens, 7);
    const PlanRecord point = read(with(R"("deps":[]})", R"("deps":[],"point_tokens":9})"))[0];
    EXPECT_EQ(skeleton_of(point).node(1).line_tokens, 9);
    EXPECT_EQ(skeleton_of(point).node(1).lead_tokens, 9);
    EXPECT_THAT(error_of(with(R"("deps":[]})", R"("deps":[],"point_tokens":0})")),
                testing::HasSubstr("\"point_tokens\" is 0"));
}

TEST(PlanFileTest, ReadsPlans) {
    const auto plans = read(std::string("\n") + good + "\r\n" + with("w01", "w02"));
    ASSERT_EQ(plans.size(), 2U);
    EXPECT_EQ(plans[0].id, "w01");
    EXPECT_EQ(plans[0].ar_tokens, 7);
    EXPECT_EQ(plans[0].nodes[1].dependencies, std::vector{1});
    EXPECT_EQ(read(with("\"seed\":1", "\"ar_tokens\":9"))[0].ar_tokens, 9);
}

TEST(PlanFileTest, SaysWhereAndWhatIsWrong) {
    EXPECT_EQ(error_of(std::string(good) + "\n\n" + good),
              "plans.jsonl:3: the id \"w01\" stands here twice");
    const auto says = [](const std::string& text, const std::string& part) {
        const auto error = error_of(text);
        EXPECT_TRUE(error.starts_with("plans.jsonl:1:")) << error;
        EXPECT_NE(error.find(part), std::string::npos) << error;
    };
    says("{",
         "1:2: not valid JSON: syntax error while parsing object key - unexpected end of input");
    says(with("\"seed\":1", "\"seed\":1,\"seed\":2"), "the key \"seed\" is given twice");
    says("[]", "give an object");
    says(with("\"seed\"", "\"sed\""), "unknown key \"sed\"");
    says(with("\"question_tokens\":5,", ""), "\"question_tokens\" is missing");
    says(with("\"i\":2", "\"i\":3"), "numbered 1, 2");
    says(with("[1,1]", "[2]"), "\"deps\" has 2");
    says(with("[1,1]", "[0]"), "\"deps\" has 0");
    says(with("[1,1]", "[1.0]"), "\"deps\" has 1.0");
    says(with("[1,1]", "1"), "must be a list");
    // Deeper than a stack is.
    const std::string deep = std::string(300000, '[') + std::string(300000, ']');
    says(with("[1,1]", "[" + deep + "]"), "nested too deeply");
    says(with("[1,1]", "[[1]]"), "\"deps\" has a list");
    says(with("\"out_tokens\":4", "\"out_tokens\":{\"a\":1}"), "\"out_tokens\" is an object");
    says(with("\"out_tokens\":4", "\"out_tokens\":0"), "\"out_tokens\" is 0");
    says(with("\"out_tokens\":4", "\"out_tokens\":4.5"), "\"out_tokens\" is 4.5");
    says(with("\"out_tokens\":4", "\"out_tokens\":1000001"), "from 1 to 1000000");
    says(with("\"out_tokens\":4", "\"out_tokens\":18446744073709551615"), "from 1 to 1000000");
    says(with("\"question_tokens\":5", "\"question_tokens\":-1"), "from 0 to 1000000");
    says(
        R"({"id":"a","question_tokens":5,"static_plan_tokens":2,"static_node_tokens":1,"nodes":[]})",
        "1 to 1000 nodes");
    EXPECT_EQ(error_of("\n \n").find("plans.jsonl: no plan"), 0U);
}

}  // namespace
}  // namespace assay::plato
