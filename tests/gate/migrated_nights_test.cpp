// What people decided in a database of the schema before still holds for the gate: its levels, its
// mutes, its open regressions.
#include <gtest/gtest.h>

#include "suite/gate/baseline.hpp"
#include "suite/gate/row_patterns.hpp"
#include "tests/store/example_rows.hpp"
#include "tests/store/stored_files.hpp"

namespace assay::gate {
namespace {

using store::Nights;
using store::Store;

class MigratedNights : public ::testing::Test {
  protected:
    MigratedNights() {
        store::testing::from_text("version_2.sql", folder / "old.db");
        store.emplace(Store::open(folder / "old.db", store::Access::write));
    }

    RowId row_of(const std::string& experiment, const std::string& metric) const {
        for (const store::RowOfNight& of : Nights(*store).rows("cpu", "feedfacecafebeef"))
            if (of.row.id.experiment == experiment && of.row.id.metric == metric) return of.row.id;
        ADD_FAILURE() << "no row of " << experiment;
        return {};
    }

    static const compare::Series* find(const compare::Arm& arm, const RowId& row) {
        for (const compare::Series& series : arm.series)
            if (series.name == row) return &series;
        return nullptr;
    }

    store::testing::Folder folder;
    mutable std::optional<Store> store;
    Registry registry;
};

TEST_F(MigratedNights, AnAcceptedLevelIsStillTheLevel) {
    const Nights nights(*store);
    const auto level = baseline_level(*store, nights, "cpu");
    ASSERT_TRUE(level.has_value());
    const RowId benchmark = row_of("benchmark/program", "real_time"),
                work = row_of("demo/work", "seconds");
    ASSERT_EQ(level->rows.size(), 1u);
    EXPECT_EQ(level->rows.begin()->first, benchmark);
    const compare::Arm arm = baseline_arm(registry, *store, *level);
    ASSERT_NE(find(arm, benchmark), nullptr);
    EXPECT_EQ(find(arm, benchmark)->points.at(0).value, 2e-6) << "of the night accepted later";
    ASSERT_NE(find(arm, work), nullptr);
    EXPECT_EQ(find(arm, work)->points.at(0).value, 0.1) << "of the first night";
    EXPECT_EQ(work.profile, Profile::toy);
}

TEST_F(MigratedNights, AMuteStillMutes) {
    const auto mutes = Nights(*store).mutes();
    ASSERT_EQ(mutes.size(), 2u);
    EXPECT_TRUE(is_named_by(mutes[0].pattern, row_of("benchmark/program", "real_time")));
    EXPECT_TRUE(is_named_by(mutes[1].pattern, row_of("demo/paced", "seconds")));
    EXPECT_FALSE(is_named_by(mutes[1].pattern, row_of("demo/work", "seconds")));
}

TEST_F(MigratedNights, AnOpenRegressionCanBeAccepted) {
    Nights nights(*store);
    Acceptance acceptance;
    acceptance.name = "cpu";
    acceptance.series = "demo/work left mode=a b=c n=1";
    const Accepted accepted = accept_level(registry, *store, nights, acceptance);
    EXPECT_EQ(accepted.rows.size(), 2u);
    ASSERT_EQ(accepted.settled.size(), 1u);
    EXPECT_EQ(accepted.settled[0], row_of("demo/work", "seconds"));
    for (const store::RegressionRecord& record : nights.regressions("cpu", ""))
        EXPECT_NE(record.state, "confirmed");
    EXPECT_EQ(baseline_level(*store, nights, "cpu")->rows.size(), 3u);
}

}  // namespace
}  // namespace assay::gate
