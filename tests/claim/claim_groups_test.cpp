// [[group]] and [[settings]]: what is said once reaches whom it should, and nobody else.
#include <gtest/gtest.h>

#include <algorithm>

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

std::string claim(const std::string& id, const std::string& rest = "") {
    return "[[claim]]\nid = \"" + id + "\"\nsays = \"x\"\n" + rest + "\n";
}

std::string group(const std::string& of, const std::string& rest) {
    return "[[group]]\nof = \"" + of + "\"\n" + rest + "\n";
}

}  // namespace

TEST(ClaimGroups, AFiguresGroupGoesBeforeItsSystemsAndAClaimBeforeBoth) {
    const auto claims = assay::read_claims(
        group("s/", "source = \"paper\"\nunit = \"ratio\"\ncheckable = { toy = \"exact\" }") +
            claim("s/f/a", "value = 1") +
            group("s/g/",
                  "source = \"Fig. 2\"\ncheck = { metric = \"m\", of = { variant = \"v\", k = 1 }, "
                  "test = \"at_least\" }") +
            claim("s/g/a", "value = 1\ncheck = { of = { variant = \"w\" } }") +
            claim("s/g/b",
                  "value = 1\nsource = \"Fig. 3\"\ncheckable = { paper = \"exact\" }\ncheck = {}") +
            claim("s/g/c", "value = 1"),
        "c.toml");
    ASSERT_EQ(claims.size(), 4u);
    EXPECT_EQ(claims[0].source, "paper");
    EXPECT_EQ(claims[1].source, "Fig. 2");
    EXPECT_EQ(claims[1].unit, "ratio");
    EXPECT_EQ(claims[1].metric, "m");
    EXPECT_EQ(claims[1].of.variant, "w");
    EXPECT_TRUE(claims[1].of.where.empty()) << "keys of check are merged one level deep";
    EXPECT_EQ(claims[1].checkable.at("toy"), "exact");
    EXPECT_EQ(claims[2].source, "Fig. 3");
    EXPECT_EQ(claims[2].of.variant, "v");
    EXPECT_FALSE(claims[2].checkable.contains("toy")) << "other values replace";
    for (const std::size_t unchecked : {0, 3}) {
        EXPECT_TRUE(claims[unchecked].metric.empty()) << "asks for no check";
        EXPECT_TRUE(claims[unchecked].checkable.empty());
    }
}

TEST(ClaimGroups, WhatCannotBeCheckedIsSaidOfClaimsWithoutACheck) {
    const auto claims = assay::read_claims(
        group("s/f/",
              "source = \"y\"\nnot_checkable = \"no GPU\"\ncheckable = { toy = \"exact\" }") +
            claim("s/f/a", "value = 1\ncheck = { metric = \"m\", test = \"at_least\" }") +
            claim("s/f/b"),
        "c.toml");
    EXPECT_EQ(claims[0].not_checkable, "");
    EXPECT_EQ(claims[1].not_checkable, "no GPU");
}

TEST(ClaimGroups, AGroupStandsDirectlyAboveAllItsClaims) {
    const std::string own = group("s/f/", "source = \"y\"");
    const std::string sourced = "source = \"y\"";
    EXPECT_EQ(complaint(own + claim("s/f/a") + claim("s/g/a", sourced)), "accepted");
    EXPECT_EQ(
        complaint(claim("s/f/a", sourced) + own + claim("s/f/b")),
        "c.toml:1:1: claim 's/f/a' does not stand below 's/f/', its group, with the others of "
        "it");
    EXPECT_EQ(
        complaint(own + claim("s/f/a") + claim("s/g/a", sourced) + claim("s/f/b")),
        "c.toml:12:1: claim 's/f/b' does not stand below 's/f/', its group, with the others of "
        "it");
    EXPECT_EQ(complaint(own + claim("s/g/a", sourced)),
              "c.toml:2:6: [[group]]: 'of' 's/f/' names no claim below it");
    EXPECT_EQ(complaint(own + own + claim("s/f/a")),
              "c.toml:5:6: [[group]]: 'of' 's/f/' has a group already");
    for (const char* wrong : {"s/f", "s/f/a/", "/", "s//"})
        EXPECT_EQ(complaint(group(wrong, "source = \"y\"") + claim("s/f/a")),
                  "c.toml:2:6: [[group]]: 'of' must be a system or a figure and end in '/': "
                  "\"lazarus/fig8/\"");
    EXPECT_EQ(complaint(group("s/f/", "value = 1") + claim("s/f/a")),
              "c.toml:3:9: [[group]]: 'value' belongs to a claim, not to a group");
}

// What a claim takes over has a place in no text; complaints name the claim then.
TEST(ClaimGroups, ComplaintsOfWhatWasTakenOverNameTheClaim) {
    EXPECT_EQ(complaint(group("s/f/", "source = \"y\"\nneeds = [1]") + claim("s/f/a")),
              "c.toml:5:1: [[claim]]: 'needs' must be an array of strings");
    EXPECT_EQ(complaint(group("s/f/", "source = \"y\"\ntolerance = {}") +
                        claim("s/f/a", "check = { metric = \"m\", test = \"at_least\" }")),
              "c.toml:5:1: tolerance is empty; give relative or absolute");
}

TEST(ClaimSettings, RowsAreSettings) {
    const auto claims = assay::read_claims(
        "[[settings]]\nof = \"s/tab1/\"\nsource = \"Table 1\"\nrows = [\n"
        "    [\"nodes\", \"32 nodes.\", 32, \"nodes\"],\n    [\"kind\", \"They have GPUs.\"],\n]\n",
        "c.toml");
    ASSERT_EQ(claims.size(), 2u);
    EXPECT_EQ(claims[0].id, "s/tab1/nodes");
    EXPECT_EQ(claims[0].experiment, "s/tab1");
    EXPECT_EQ(claims[0].kind, assay::ClaimKind::setting);
    EXPECT_EQ(claims[0].value, 32);
    EXPECT_EQ(claims[0].unit, "nodes");
    EXPECT_EQ(claims[1].value, std::nullopt);
    EXPECT_EQ(claims[1].source, "Table 1");
    EXPECT_EQ(claims[1].evidence, std::nullopt);
}

TEST(ClaimGroups, EvidenceIsSharedAndOneOfItsWords) {
    const std::string group = "[[group]]\nof = \"s/f/\"\nsource = \"y\"\nevidence = \"";
    const std::string rest =
        "\"\n[[claim]]\nid = \"s/f/a\"\nsays = \"x\"\n[[claim]]\nid = \"s/f/b\"\nsays = \"x\"\n"
        "evidence = \"code\"\n[[settings]]\nof = \"s/f/\"\nsource = \"y\"\nevidence = \"header\"\n"
        "rows = [[\"c\", \"x\"]]\n";
    const auto claims = assay::read_claims(group + "inference" + rest, "c.toml");
    ASSERT_EQ(claims.size(), 3u);
    EXPECT_EQ(claims[0].evidence, assay::Evidence::inference);
    EXPECT_EQ(claims[1].evidence, assay::Evidence::code);
    EXPECT_EQ(claims[2].evidence, assay::Evidence::header);
    EXPECT_EQ(complaint(group + "rumour" + rest),
              "c.toml:5:1: [[claim]]: 'evidence' is 'rumour'; known are abstract, digest, "
              "one_digest, code, header, inference");
}

TEST(ClaimSettings, WrongRowsAreRefusedWithTheirPlace) {
    const auto rows = [](const std::string& row) {
        return complaint("[[settings]]\nof = \"s/f/\"\nsource = \"y\"\nrows = [" + row + "]\n");
    };
    EXPECT_EQ(rows("[\"a\", \"x\"]"), "accepted");
    const std::string wrong =
        "c.toml:4:9: a row of [[settings]] is [\"id\", \"says\"] and, where it has them, a value "
        "and its "
        "unit";
    for (const char* row : {"[\"a\"]", "3", "[\"a\", \"x\", \"y\"]", "[\"a\", \"x\", 1, 2]",
                            "[\"a\", \"x\", nan]", "[\"a\", \"x\", 1, \"u\", 2]", "[\"\", \"x\"]"})
        EXPECT_EQ(rows(row), wrong) << row;
    EXPECT_EQ(rows(""),
              "c.toml:4:8: [[settings]]: 'rows' must be [[\"id\", \"says\", value, \"unit\"], …]");
    EXPECT_EQ(rows("[\"a\", \"x\"], [\"a\", \"y\"]"),
              "c.toml:1:1: file: 'settings' 's/f/a' is used twice");
}
