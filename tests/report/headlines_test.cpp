// Headlines: the papers' numbers beside ours, and why in one line.
#include "suite/report/text/headlines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace assay::report {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

Claim claim() {
    Claim made;
    made.id = "lazarus/fig9/vs-ds";
    made.experiment = "lazarus/fig9";
    made.says = "2.5 times the samples of DeepSpeed.";
    made.value = 2.5;
    made.unit = "ratio";
    made.relative = 0.1;
    made.metric = "samples";
    made.of.variant = "lazarus";
    made.test.name = "near";
    made.checkable = {{"toy", "emulated"}};
    made.headline = true;
    return made;
}

Registry registry(const std::vector<Claim>& claims) {
    System system;
    system.id = "lazarus";
    Experiment experiment;
    experiment.id = "lazarus/fig9";
    experiment.variants = {"lazarus", "ds"};
    experiment.axes = {{"calibration", "", {std::string("fitted"), std::string("own")}}};
    experiment.metrics = {{"samples", "count", "", Direction::higher, false, {}}};
    experiment.run = [](const SampleSpec&, Recorder&) {};
    system.experiments.push_back(std::move(experiment));
    system.claims = claims;
    Registry all;
    all.add(std::move(system));
    return all;
}

Observation seen(double value, std::uint64_t seed, Provenance provenance, Case axes = {}) {
    Observation made;
    made.experiment = "lazarus/fig9";
    made.variant = "lazarus";
    made.axes = std::move(axes);
    made.metric = "samples";
    made.value = value;
    made.provenance = provenance;
    made.seed = seed;
    return made;
}

/// What becomes of a claim by values that were emulated, one a seed.
Headline headline_of(const Registry& registry, std::initializer_list<double> values) {
    std::vector<Observation> list;
    for (const double value : values)
        list.push_back(seen(value, list.size() + 1, Provenance::emulated));
    const Claim* claim = registry.claim("lazarus/fig9/vs-ds");
    const ClaimCheck found = check_claim(registry, *claim, list);
    return headlines(registry, std::span(&found, 1)).at(0);
}

TEST(Headlines, AreTheClaimsThatSaySoInTheirOrder) {
    Claim plain = claim(), last = claim();
    plain.id = "lazarus/fig9/plain";
    plain.headline = false;
    last.id = "lazarus/fig9/last";
    const Registry all = registry({claim(), plain, last});
    std::vector<ClaimCheck> checks;
    for (const char* id : {"lazarus/fig9/vs-ds", "lazarus/fig9/plain", "lazarus/fig9/last"})
        checks.push_back({id, ClaimVerdict::not_run, "", {}, {}});
    const std::vector<Headline> rows = headlines(all, checks);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].claim->id, "lazarus/fig9/vs-ds");
    EXPECT_EQ(rows[1].claim->id, "lazarus/fig9/last");
}

TEST(Headlines, JsonHasTheIntervalOverSeeds) {
    const Registry all = registry({claim()});
    const nlohmann::json row = headline_json(headline_of(all, {2.3, 2.4, 2.5, 2.6, 2.7, 2.8}));
    EXPECT_EQ(row, nlohmann::json::parse(R"({"system":"lazarus","claim":"lazarus/fig9/vs-ds",
        "says":"2.5 times the samples of DeepSpeed.","paper":2.5,"ours":2.55,"low":2.3,"high":2.8,
        "provenance":"emulated","verdict":"supported","why":"holds, over 6 seeds"})"));
    EXPECT_EQ(
        headlines_grid({headline_of(all, {2.3, 2.4, 2.5, 2.6, 2.7, 2.8})})[1],
        (std::vector<std::string>{"lazarus", "2.5 times the samples of DeepSpeed.", "2.5",
                                  "2.55 (2.3–2.8), emulated", "supported", "holds, over 6 seeds"}));
}

TEST(Headlines, StatementsThatReadAlikeWhenCutAreToldApart) {
    Claim most = claim(), least = claim();
    least.id = "lazarus/fig9/least";
    most.says = least.says = std::string(120, 'x');
    least.says += " the least";
    const Registry all = registry({most, least});
    const std::vector<ClaimCheck> checks{{most.id, ClaimVerdict::not_run, "", {}, {}},
                                         {least.id, ClaimVerdict::not_run, "", {}, {}}};
    const Grid grid = headlines_grid(headlines(all, checks));
    EXPECT_THAT(grid[1][1], EndsWith("xx… (vs-ds)"));
    EXPECT_THAT(grid[2][1], EndsWith("xx… (least)"));
}

TEST(Headlines, TextIsATableOrInNarrowTerminalsAHeadingForEach) {
    const Registry all = registry({claim()});
    const std::vector<Headline> rows{headline_of(all, {2.3, 2.4, 2.5, 2.6, 2.7, 2.8})};
    EXPECT_EQ(headlines_table(rows, 100),
              "verdict    paper            ours  provenance  claim\n"
              "─────────  ─────  ──────────────  ──────────  ──────────────────\n"
              "supported    2.5  2.55 (2.3–2.8)  emulated    lazarus/fig9/vs-ds\n"
              "    “2.5 times the samples of DeepSpeed.”\n"
              "    holds, over 6 seeds\n");
    EXPECT_EQ(headlines_table(rows, 50),
              "lazarus/fig9/vs-ds\n"
              "    supported: paper 2.5, ours 2.55 (2.3–2.8),\n"
              "    emulated\n"
              "    “2.5 times the samples of DeepSpeed.”\n"
              "    holds, over 6 seeds\n");
}

TEST(Headlines, JsonHasNullsWhereThereIsNothing) {
    Claim wordy = claim();
    wordy.value.reset();
    wordy.test.name = "greater";
    wordy.over = Selector{"ds", {}};
    const Registry all = registry({wordy});
    const nlohmann::json row = headline_json(headline_of(all, {}));
    EXPECT_EQ(row.size(), 10U);
    for (const char* key : {"paper", "ours", "low", "high", "provenance"})
        EXPECT_TRUE(row.at(key).is_null()) << key;
    EXPECT_EQ(row.at("verdict"), "not run");
    EXPECT_THAT(row.at("why").get<std::string>(), HasSubstr("assay run lazarus/fig9"));
    EXPECT_EQ(headlines_grid({headline_of(all, {})})[1][2], "–");
    EXPECT_EQ(headlines_grid({headline_of(all, {})})[1][3], "–");
    Claim whole = claim();
    whole.value = 3;
    EXPECT_EQ(headline_json(headline_of(registry({whole}), {})).at("paper").dump(), "3");
    // One seed gives no interval, and what we promise ourselves is no number of a paper.
    Claim ours = claim();
    ours.kind = ClaimKind::ours;
    const nlohmann::json single = headline_json(headline_of(registry({ours}), {2.5}));
    EXPECT_TRUE(single.at("paper").is_null());
    EXPECT_EQ(single.at("ours"), 2.5);
    EXPECT_TRUE(single.at("low").is_null());
    EXPECT_EQ(single.at("why"), "holds, one seed, which gives no interval");
}

TEST(Headlines, WhyIsTheExplanationOfWhatIsContradicted) {
    Claim explained = claim();
    explained.explained = Explanation{"DeepSpeed loses less here.", 1.5, 0.1};
    EXPECT_THAT(headline_of(registry({explained}), {1.5, 1.55, 1.45}).why,
                HasSubstr("DeepSpeed loses less here."));
    // Of a value that it does not explain it says that.
    EXPECT_EQ(headline_of(registry({claim()}), {1.1, 1.2}).why, "fails, over 2 seeds");
}

TEST(Headlines, WhyNamesTheEndsOfWhatIsAssumedAndTheFit) {
    Claim assuming = claim();
    assuming.assumes = {{"calibration", {std::string("fitted"), std::string("own")}}};
    const auto why = [&](double fitted, double own) {
        std::vector<Observation> list{
            seen(fitted, 1, Provenance::emulated, {{"calibration", std::string("fitted")}})};
        if (own > 0)
            list.push_back(
                seen(own, 1, Provenance::emulated, {{"calibration", std::string("own")}}));
        const Registry all = registry({assuming});
        const ClaimCheck found = check_claim(all, assuming, list);
        return headline_why(all, assuming, found);
    };
    EXPECT_THAT(why(2.5, 9), AllOf(HasSubstr("holds at calibration=fitted"),
                                   HasSubstr("fails at calibration=own")));
    EXPECT_THAT(why(2.5, 0), HasSubstr("was not run at calibration=own"));
    assuming.fits = {{.of = "lazarus/fig9/",
                      .where = {{"calibration", {std::string("fitted")}}},
                      .because = "solved from Fig. 11"}};
    EXPECT_THAT(why(2.5, 9), AllOf(StartsWith("no evidence: "), HasSubstr("solved from Fig. 11")));
}

TEST(Brief, EndsWithASentenceOrAWord) {
    EXPECT_EQ(brief("As it is.", 9), "As it is.");
    EXPECT_EQ(brief("Two\nlines", 20), "Two lines");
    EXPECT_EQ(brief("A sentence. Another one of more words", 20), "A sentence.");
    EXPECT_EQ(brief("Of Fig. 8 the least is told here", 20), "Of Fig. 8 the least…");
    EXPECT_EQ(brief("One, two, three", 10), "One, two…");
    EXPECT_EQ(brief("unbreakable", 5), "unbr…");
    EXPECT_EQ(brief("given weights `assay run this` does", 20), "given weights…");
    EXPECT_EQ(brief("given `assay run` and more words", 20), "given `assay run`…");
    EXPECT_EQ(brief("ääääää", 4), "äää…") << "characters, not bytes";
}

TEST(Brief, WhyHasAtMostTwoHundredCharacters) {
    Claim explained = claim();
    std::string words;
    for (int i = 0; i < 100; ++i) words += "wörter ";
    explained.explained = Explanation{words, 1.5, 0.1};
    const std::string why = headline_of(registry({explained}), {1.5, 1.5}).why;
    EXPECT_THAT(why, EndsWith("…"));
    std::size_t characters = 0;
    for (const char c : why) characters += (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    EXPECT_LE(characters, 200U);
    EXPECT_GT(characters, 150U);
}

}  // namespace
}  // namespace assay::report
