// Claim files: what is read, and golden error messages with file, line and column.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "suite/claim/claim.hpp"

namespace {

std::string complaint(const std::string& toml) {
    try {
        assay::read_claims(toml, "c.toml");
    } catch (const assay::ClaimFileError& error) {
        return error.what();
    }
    return "accepted";
}

// A claim that is right; `extra` goes on line 6.
std::string claim(const std::string& extra) {
    return "[[claim]]\nid = \"s/fig1/a\"\nsays = \"x\"\nsource = \"y\"\nvalue = 2\n" + extra + "\n";
}

std::string checked(const std::string& check) {
    return claim("check = " + check) +
           "checkable = { toy = \"exact\" }\ntolerance = { absolute = 1 }\n";
}

}  // namespace

TEST(ClaimFile, ReadsEveryKey) {
    const auto claims = assay::read_claims(R"(
[[claim]]
id = "lazarus/fig9/gpt-l/vs-ds"
says = "3.4x more samples"
value = 3.4
unit = "ratio"
tolerance = { relative = 0.15 }
check = { metric = "samples_total", of = { variant = "lazarus" }, over = { variant = "ds", n = 2 }, where = { model = "gpt-l" }, test = "near" }
checkable = { paper = "simulated", toy = "emulated" }
needs = ["trace:p3-80min"]
assumes = { ds_restart_s = [60, 300] }
at = { paper = { metric = "samples_at_ends", assumes = { overlap = [0, 1] } } }
explained = { because = "slow", obtained = 2, within = 0.5 }
review = "under review"
headline = true
cells = [["gpt-l", "ds", 3.4], ["gpt-l", "ds_ft", 2]]
kind = "ours"
source = "section 6.4"
evidence = "one_digest"

[[fit]]
of = "lazarus/fig9/"
variants = ["lazarus"]
where = { model = "gpt-l", n = [2, 4] }
metrics = ["samples_total"]
from = ["lazarus/fig9/gpt-l/vs-ds"]
because = "chosen so"
)",
                                           "c.toml");
    ASSERT_EQ(claims.size(), 1u);
    const assay::Claim& claim = claims[0];
    EXPECT_EQ(claim.experiment, "lazarus/fig9");
    EXPECT_EQ(claim.value, 3.4);
    EXPECT_EQ(claim.relative, 0.15);
    EXPECT_EQ(claim.absolute, std::nullopt);
    EXPECT_EQ(claim.metric, "samples_total");
    EXPECT_EQ(claim.of.variant, "lazarus");
    EXPECT_EQ(assay::to_string(claim.of.where), "model=gpt-l");
    EXPECT_EQ(assay::to_string(claim.over->where), "model=gpt-l n=2");
    EXPECT_EQ(claim.checkable.at("paper"), "simulated");
    EXPECT_EQ(claim.assumes.at("ds_restart_s"), (std::vector<assay::Value>{60.0, 300.0}));
    EXPECT_EQ(claim.needs, std::vector<std::string>{"trace:p3-80min"});
    EXPECT_EQ(asked_at(claim, "toy").metric, "samples_total");
    EXPECT_EQ(asked_at(claim, "toy").assumes, claim.assumes);
    EXPECT_EQ(asked_at(claim, "paper").metric, "samples_at_ends");
    EXPECT_EQ(asked_at(claim, "paper").assumes.size(), 2u);
    EXPECT_EQ(claim.kind, assay::ClaimKind::ours);
    EXPECT_EQ(claim.explained->because, "slow");
    EXPECT_EQ(claim.explained->obtained, 2);
    EXPECT_EQ(claim.explained->within, 0.5);
    EXPECT_EQ(claim.review, "under review");
    EXPECT_TRUE(claim.headline);
    ASSERT_EQ(claim.cells.size(), 2u);
    EXPECT_EQ(claim.cells[1].column, "ds_ft");
    EXPECT_EQ(claim.evidence, assay::Evidence::one_digest);
    ASSERT_EQ(claim.fits.size(), 1u);
    EXPECT_EQ(claim.fits[0].where.at("n").size(), 2u);
    EXPECT_EQ(claim.fits[0].because, "chosen so");
}

TEST(ClaimFile, ReadsEveryKeyOfATest) {
    const auto read = [](const std::string& check) {
        return assay::read_claims(checked(check), "c.toml").at(0).test;
    };
    const assay::Test reduced = read(
        R"({ metric = "m", reduce = "max", extreme_at = { k = 2 }, except = [{ k = 1, variant = "x" }], between = { n = [12, 20] }, absent = ["network"], absolute = true, cases = 3, test = "near" })");
    EXPECT_EQ(reduced.reduce, "max");
    EXPECT_EQ(assay::to_string(reduced.extreme_at), "k=2");
    EXPECT_EQ(reduced.except.size(), 1u);
    EXPECT_EQ(reduced.between.at("n").second, 20);
    EXPECT_EQ(reduced.absent, std::vector<std::string>{"network"});
    EXPECT_TRUE(reduced.absolute);
    EXPECT_EQ(reduced.cases, 3u);
    EXPECT_FALSE(reduced.clearly);
    const assay::Test clear = read(
        R"({ metric = "m", of = { variant = "a" }, over = { variant = "b" }, equal = "n", along = "k", test = "clearly_at_most" })");
    EXPECT_TRUE(clear.clearly);
    EXPECT_EQ(clear.name, "at_most");
    EXPECT_EQ(clear.equal, "n");
    EXPECT_EQ(clear.seeds, 3u);
}

TEST(ClaimFile, WordsMayBeAssumed) {
    const auto claims = assay::read_claims(
        claim("assumes = { calibration = [\"sheet\", \"anchored\"] }"), "c.toml");
    EXPECT_EQ(claims.at(0).assumes.at("calibration").size(), 2u);
    for (const char* wrong : {"[\"sheet\"]", "[\"a\", \"a\"]", "[1, \"a\"]", "[1, 2, 3]", "3"})
        EXPECT_EQ(complaint(claim(std::string("assumes = { c = ") + wrong + " }")),
                  "c.toml:6:17: assumes: 'c' must be a range [low, high] or at least two different "
                  "words");
}

// A sentence must not change a verdict.
TEST(ClaimFile, OldSentencesAreRefused) {
    EXPECT_EQ(complaint(claim("discrepancy = \"known\"")),
              "c.toml:6:15: [[claim]]: 'discrepancy' is no key: a contradicted claim is explained "
              "by explained = { because = \"…\", obtained = 1.22, within = 0.1 }");
    EXPECT_EQ(
        complaint(claim("fitted_from = [\"known\"]")),
        "c.toml:6:15: [[claim]]: 'fitted_from' is no key of a claim: [[fit]] names what a fit "
        "determines");
    EXPECT_EQ(
        complaint(checked("{ metric = \"m\", test = \"near\" }") + "not_checkable = \"no\"\n"),
        "c.toml:9:17: [[claim]]: 'not_checkable' stands beside a 'check'; a claim has one of "
        "them");
}

TEST(ClaimFile, AnExplanationStaysClearOfWhatWouldSupport) {
    const auto explained = [](const std::string& test, const std::string& band) {
        const std::string full =
            complaint(checked(test) + "explained = { because = \"b\", " + band + " }\n");
        return full == "accepted" ? full : full.substr(full.find(": ") + 2);
    };
    const std::string near = R"({ metric = "m", test = "near" })";  // 2 ± 1
    const std::string refused =
        "[[claim]]: 'explained' reaches what would support the claim; narrow 'within'";
    EXPECT_EQ(explained(near, "obtained = 4, within = 0.5"), "accepted");
    EXPECT_EQ(explained(near, "obtained = 4, within = 1"), refused);
    EXPECT_EQ(explained(near, "obtained = 0.5, within = 0.6"), refused);
    EXPECT_EQ(explained(R"({ metric = "m", test = "at_most" })", "obtained = 2.5, within = 0"),
              refused);
    EXPECT_EQ(explained(R"({ metric = "m", test = "at_most" })", "obtained = 9, within = 5"),
              "accepted");
    EXPECT_EQ(explained(R"({ metric = "m", test = "greater" })", "obtained = 1, within = 0.9"),
              "accepted");
    EXPECT_EQ(explained(R"({ metric = "m", test = "greater" })", "obtained = 1, within = 1"),
              refused);
    EXPECT_EQ(explained(R"({ metric = "m", test = "increasing", along = "k" })",
                        "obtained = -2, within = 0.5"),
              "accepted");
    EXPECT_EQ(explained(R"({ metric = "m", test = "increasing", along = "k" })",
                        "obtained = -2, within = 1"),
              refused);
    EXPECT_EQ(explained(R"({ metric = "m", test = "decreasing", along = "k" })",
                        "obtained = 2, within = 0.5"),
              "accepted");
    EXPECT_EQ(explained(R"({ metric = "m", test = "decreasing", along = "k" })",
                        "obtained = -2, within = 0.5"),
              refused);
    EXPECT_EQ(explained(near, "obtained = 4"),
              "explained needs 'obtained', the value that it explains, and 'within', how far from "
              "it it still does");
    EXPECT_EQ(complaint(claim("explained = { because = \"b\", obtained = 9, within = 0 }")),
              "c.toml:6:13: [[claim]]: 'explained' needs a 'check'");
}

TEST(ClaimFile, AnAbsentValueIsAbsent) {
    const auto claims =
        assay::read_claims("[[claim]]\nid='s/f/a'\nsays='x'\nsource='y'\nexperiment='s/g'", "c");
    EXPECT_EQ(claims.at(0).value, std::nullopt);
    EXPECT_EQ(claims.at(0).experiment, "s/g");
    EXPECT_TRUE(assay::read_claims("", "c").empty());
}

TEST(ClaimFile, GoldenErrors) {
    EXPECT_EQ(complaint(claim("")), "accepted");
    EXPECT_EQ(complaint(checked(R"({ metric = "m", test = "near" })")), "accepted");
    EXPECT_EQ(complaint("[[claim]]\nid = 3"), "c.toml:2:6: [[claim]]: 'id' must be a string");
    EXPECT_EQ(complaint("\n[[claim]]\nid = \"s/f/a\""), "c.toml:2:1: [[claim]] lacks 'says'");
    EXPECT_EQ(complaint(claim("vallue = 3")).substr(0, 53),
              "c.toml:6:10: [[claim]]: 'vallue' is not a known key; ");
    EXPECT_EQ(complaint(claim("tolerance = { relative = -0.1 }")),
              "c.toml:6:26: tolerance: 'relative' must not be negative");
    EXPECT_EQ(complaint(claim("tolerance = { relative = nan }")),
              "c.toml:6:26: tolerance: 'relative' must be a finite number");
    EXPECT_EQ(complaint(claim("tolerance = {}")),
              "c.toml:6:13: tolerance is empty; give relative or absolute");
    EXPECT_EQ(
        complaint(claim("checkable = { tiny = \"exact\" }")),
        "c.toml:6:22: checkable: 'tiny' is no profile; known are toy, small, gpu, cluster, paper");
    EXPECT_EQ(complaint(claim("checkable = { toy = \"guessed\" }")),
              "c.toml:6:21: checkable: 'toy' has no known provenance; known are exact, measured, "
              "emulated, "
              "simulated");
    EXPECT_EQ(complaint(claim("assumes = { a = [3, 2] }")),
              "c.toml:6:17: assumes: 'a' must be a range [low, high] or at least two different "
              "words");
    EXPECT_EQ(complaint(claim("at = { paper = { metric = \"m\" } }")),
              "c.toml:6:16: at: 'paper' is no profile that 'checkable' names");
    EXPECT_EQ(complaint(claim("needs = [1]")),
              "c.toml:6:9: [[claim]]: 'needs' must be an array of strings");
    EXPECT_EQ(complaint(claim("") + claim("")),
              "c.toml:8:6: [[claim]]: 'id' 's/fig1/a' is used twice");
    EXPECT_EQ(
        complaint("[claims]\nid = 1"),
        "c.toml:1:1: file: 'claims' is not a known key; known are: claim, fit, group, settings");
    EXPECT_EQ(complaint("[[claim]]\nid = 'plain'"),
              "c.toml:2:6: [[claim]]: 'id' must look like system/figure/what");
    EXPECT_EQ(complaint("[[claim]\n").substr(0, 27), "c.toml:1:9: not valid TOML:");
}

TEST(ClaimFile, GoldenErrorsOfChecks) {
    const auto check = [](const std::string& text) {
        const std::string full = complaint(checked(text));
        return full == "accepted" ? full : full.substr(full.find(": ") + 2);
    };
    EXPECT_EQ(check(R"({ metric = "m" })"), "check lacks 'test'");
    EXPECT_EQ(check(R"({ test = "near" })"), "check lacks 'metric'");
    EXPECT_EQ(check(R"({ test = "custom:mine" })"), "accepted");
    EXPECT_EQ(check(R"({ metric = "m", test = "equal" })"),
              "check: 'test' is 'equal'; known are near, at_least, at_most, greater, increasing, "
              "decreasing, order, each also with clearly_ before it, custom:NAME");
    EXPECT_EQ(check(R"({ metric = "m", test = "custom:" })").substr(0, 29),
              "check: 'test' is 'custom:'; k");
    EXPECT_EQ(check(R"({ metric = "m", test = "increasing" })"),
              "check: 'test' needs 'along', an axis or a label");
    EXPECT_EQ(check(R"({ metric = "m", test = "near", along = "k" })"),
              "check: 'along' belongs to increasing, decreasing, order, argmax and equal");
    EXPECT_EQ(check(R"({ metric = "m", test = "order", order = ["a"] })"),
              "check: 'test' 'order', and only it, needs 'order', at least two names from largest "
              "to smallest");
    EXPECT_EQ(
        check(R"({ metric = "m", of = { variant = "a" }, over = { k = 1 }, test = "greater" })"),
        "check: 'over' and 'of' must both name a variant, or neither");
    EXPECT_EQ(check(R"({ metric = "m", of = { k = 1 }, where = { k = 2 }, test = "near" })"),
              "check: 'where' and a side both give 'k'");
    EXPECT_EQ(check(R"({ metric = "m", of = { k = [1] }, test = "near" })"),
              "of: 'k' must be a number or a string");
}

TEST(ClaimFile, ATestNeedsWhatItComparesWith) {
    const std::string head =
        "[[claim]]\nid = 's/f/a'\nsays = 'x'\nsource = 'y'\ncheckable = { toy = 'exact' }\n";
    EXPECT_EQ(complaint(head + "check = { metric = 'm', test = 'at_least' }"),
              "c.toml:6:32: check: 'test' needs the claim's 'value'");
    EXPECT_EQ(complaint(head + "value = 1\ncheck = { metric = 'm', test = 'near' }"),
              "c.toml:7:32: check: 'test' 'near' needs a 'tolerance' in the claim");
    EXPECT_EQ(complaint(head + "check = { metric = 'm', test = 'greater' }"),
              "c.toml:6:32: check: 'test' 'greater' needs the claim's 'value' or 'over'");
}

TEST(ClaimFile, ASettingIsReadAndNeverChecked) {
    const auto claims = assay::read_claims(claim("kind = \"setting\""), "c.toml");
    ASSERT_EQ(claims.size(), 1U);
    EXPECT_EQ(claims[0].kind, assay::ClaimKind::setting);
    EXPECT_EQ(assay::read_claims(claim(""), "c.toml")[0].kind, assay::ClaimKind::claim);
    const assay::ClaimCheck check = assay::check(claims[0], {}, {});
    EXPECT_EQ(check.verdict, assay::ClaimVerdict::not_checkable_here);
    EXPECT_EQ(check.reason, "a setting of the paper's evaluation, not a result");
    EXPECT_EQ(assay::to_json(claims[0], check).at("kind"), "setting");

    EXPECT_EQ(
        complaint(claim("kind = \"wish\"")),
        "c.toml:6:8: [[claim]]: 'kind' is 'wish'; known are claim, setting, ours, arithmetic");
    for (const char* of_a_claim :
         {"needs = [\"gpu\"]", "checkable = { toy = \"exact\" }", "tolerance = { absolute = 1 }",
          "check = { metric = \"m\", test = \"at_least\" }"})
        EXPECT_EQ(complaint(claim(std::string("kind = \"setting\"\n") + of_a_claim)).substr(0, 55),
                  "c.toml:6:8: [[claim]]: 'kind' a setting is not checked:")
            << of_a_claim;
}

TEST(ClaimFile, AMissingFileIsNamed) {
    EXPECT_THROW(
        {
            try {
                assay::read_claims(std::filesystem::path("no/such/file.toml"));
            } catch (const assay::ClaimFileError& error) {
                EXPECT_EQ(std::string(error.what()).rfind("no/such/file.toml:1:1: ", 0), 0u)
                    << error.what();
                throw;
            }
        },
        assay::ClaimFileError);
}
