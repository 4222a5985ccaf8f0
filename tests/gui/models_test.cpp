// Models without a window: what a view may ask of them, and that a refresh loses nothing.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include "gui/models/dump.hpp"
#include "gui/models/overview_model.hpp"
#include "gui/models/tables.hpp"
#include "tests/report/fixtures.hpp"

namespace assay::gui {
namespace {

using Strict = QAbstractItemModelTester;
constexpr auto fatal = QAbstractItemModelTester::FailureReportingMode::Fatal;

TEST(Compared, HasTheValuesOfBothSides) {
    compare::Series a, b;
    a.unit = b.unit = "s";
    for (const double value : {1.5, 1.25}) a.points.push_back({.value = value});
    for (int i = 0; i < 14; ++i) b.points.push_back({.value = 2});
    ComparedRow both{{}, "made/fig1 x"}, lacking{{}, "made/fig1 y"};
    both.row.reason = "beyond-margin";
    both.row.a = &a;
    both.row.b = &b;
    lacking.row.reason = "only-in-a";
    lacking.row.a = &a;
    QObject owner;
    RowsModel* rows = make_rows_model(&owner);
    rows->set({both, lacking});
    EXPECT_EQ(rows->details(0),
              "made/fig1 x\nbeyond-margin\nA: 1.5, 1.25 s\n"
              "B: 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 and 2 more s");
    EXPECT_EQ(rows->details(1), "made/fig1 y\nonly-in-a\nA: 1.5, 1.25 s");
}

// Nothing is said where an event has no detail.
TEST(Marks, SayWhatIsKnown) {
    QObject owner;
    MarksModel* marks = make_marks_model(&owner);
    marks->set({{0.1, "join", 2, {}, nlohmann::json::object()},
                {1.5, "checkpoint", {}, {}, {{"step", 10}}},
                {2, "end", {}, {}, {}}});
    EXPECT_EQ(marks->details(0), "join of rank 2 at 0.100000 s");
    EXPECT_EQ(marks->details(1), "checkpoint at 1.500000 s\n{\n  \"step\": 10\n}");
    EXPECT_EQ(marks->details(2), "end at 2.000000 s");
    for (const int row : {0, 2}) EXPECT_EQ(marks->index(row, 4).data().toString(), "");
}

Overview some_overview() {
    Overview overview;
    overview.headline = "1 of 2 checked hold";
    overview.claims = {{"supported", 1}, {"undecided", 1}};
    overview.systems = {{"made",
                         "Made up",
                         {{"made/fig1", "A figure", {{"supported", 1}}, {{"ok", 3}}, "s1"},
                          {"made/fig2", "", {{"undecided", 1}}, {}, std::nullopt}}},
                        {"empty", "", {}}};
    overview.running = {{"s1", 8, 3, "p1"}};
    overview.confirmed = 2;
    return overview;
}

TEST(OverviewModel, IsATreeOfSystemsAndFigures) {
    OverviewModel model;
    const Strict tester(&model, fatal);
    model.set(some_overview());
    ASSERT_EQ(model.rowCount(), 2);
    const QModelIndex made = model.index(0, 0);
    EXPECT_EQ(made.data().toString(), "Made up");
    EXPECT_EQ(model.index(0, OverviewModel::hold).data().toLongLong(), 1);
    EXPECT_FALSE(model.index(0, OverviewModel::contradicted).data().isValid());
    ASSERT_EQ(model.rowCount(made), 2);
    EXPECT_EQ(model.index(0, 0, made).data(OverviewModel::id_role).toString(), "made/fig1");
    EXPECT_EQ(model.index(0, OverviewModel::samples, made).data().toString(), "3 ok");
    EXPECT_EQ(model.index_of("made/fig2"), model.index(1, 0, made));
    EXPECT_FALSE(model.index_of("made/fig9").isValid());
    EXPECT_EQ(model.index(1, 0).data().toString(), "empty");
}

TEST(OverviewModel, RowsThatStayKeepTheirIndices) {
    OverviewModel model;
    const Strict tester(&model, fatal);
    model.set(some_overview());
    const QPersistentModelIndex chosen = model.index_of("made/fig1");
    const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    Overview later = some_overview();
    later.systems[0].experiments[0].samples["ok"] = 4;
    model.set(later);
    EXPECT_EQ(resets.count(), 0);
    ASSERT_TRUE(chosen.isValid());
    EXPECT_EQ(chosen.sibling(chosen.row(), OverviewModel::samples).data().toString(), "4 ok");
    later.systems.pop_back();
    model.set(later);
    EXPECT_EQ(resets.count(), 1);
    EXPECT_FALSE(chosen.isValid());
}

TEST(OverviewModel, ItsDumpHasWhatItShows) {
    OverviewModel model;
    model.set(some_overview());
    const auto json = dump({"overview", "a.db", 5, {}}, model);
    EXPECT_EQ(json["claims"], nlohmann::json({{"supported", 1}, {"undecided", 1}}));
    EXPECT_EQ(json["systems"][0]["experiments"][1],
              nlohmann::json::parse(R"({"id":"made/fig2","title":"","claims":{"undecided":1},
                                        "samples":{},"newest":null})"));
    EXPECT_EQ(json["running"],
              nlohmann::json::parse(R"([{"session":"s1","planned":8,"done":3,"sample":"p1"}])"));
    EXPECT_EQ(json["regressions"], nlohmann::json::parse(R"({"candidate":0,"confirmed":2})"));
    EXPECT_EQ(json["schema"], 5);
}

TEST(ClaimsModel, SaysTheVerdictInWordsAndWhy) {
    QObject owner;
    ClaimsModel* model = make_claims_model(&owner);
    const Strict tester(model, fatal);
    const std::vector<Claim> claims = report::recovery_claims();
    ASSERT_FALSE(claims.empty());
    ClaimCheck check{
        .claim = claims[0].id, .verdict = ClaimVerdict::supported, .reason = "because"};
    check.obtained = 0.5;
    model->set({{claims.data(), check}});
    EXPECT_EQ(model->index(0, 0).data().toString(), QStringLiteral("✓ holds"));
    EXPECT_TRUE(model->index(0, 2).data().toString().startsWith("0.5"));
    EXPECT_TRUE(model->details(0).contains("because"));
    EXPECT_EQ(model->details(7), QString());
    check.verdict = ClaimVerdict::contradicted;
    const QSignalSpy resets(model, &QAbstractItemModel::modelReset);
    model->set({{claims.data(), check}});
    EXPECT_EQ(resets.count(), 0);
    EXPECT_EQ(model->index(0, 0).data().toString(), QStringLiteral("✗ contradicted"));
}

// A number that is none reads null, and a category is a word.
TEST(Dump, OfAFigure) {
    QObject owner;
    report::FigureData data;
    data.categories = {"few", "many"};
    data.panels = {{"left", "exact · toy", {{"ours", 0, {{1, NAN, 0, 2, 3}}, {{0, 4, "c", ""}}}}}};
    const auto json =
        dump({"figure:made/fig1", "a.db", 5, {"a notice"}}, data, *make_claims_model(&owner));
    EXPECT_EQ(json["panels"][0],
              nlohmann::json::parse(
                  R"({"title":"left","badge":"exact · toy","series":[{"variant":"ours",
                      "points":[{"x":"many","median":null,"low":0.0,"high":2.0,"n":3}],
                      "paper":[{"x":"few","value":4.0,"claim":"c"}]}]})"));
    EXPECT_EQ(json["notices"][0], "a notice");
    EXPECT_EQ(json["claims"], nlohmann::json::array());
}

}  // namespace
}  // namespace assay::gui
