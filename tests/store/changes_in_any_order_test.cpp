// Runners, upkeep and merges take turns at random; whoever applies what changed, however rarely
// they look, knows what a full read would tell.
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "tests/store/example_rows.hpp"
#include "tests/store/follower.hpp"

namespace assay::store::testing {
namespace {

namespace fs = std::filesystem;

/// Runners, upkeep and merges that take turns at random on one file.
class Turns {
  public:
    Turns(const Folder& folder, unsigned seed)
        : file_(folder / "r.db"), other_file_(folder / "other.db"), random_(seed) {
        other_.emplace(Store::open(other_file_, Access::write));
        other_session_ = begin(*other_);
        for (Runner& runner : runners_) start(runner);
    }

    void next() {
        const unsigned what = random_() % 20;
        Runner& runner = runners_[random_() % 2];
        if (what == 0) return upkeep();
        if (what == 1) return start(runner);  // its session is interrupted, and goes on
        if (what == 2) return end_session(runner);
        if (what < 6) return grow_other();
        if (what == 6) {
            store().merge(other_file_);
            return;
        }
        if (runner.sample.empty())
            begin_sample(runner);
        else if (what < 16)
            grow(runner);
        else
            finish(runner);
    }

    Store& store() { return *runners_[0].store; }

  private:
    struct Runner {
        std::optional<Store> store;
        std::string session, sample;
        std::uint64_t seed = 0;
        int rows = 0;
    };

    std::uint64_t number() { return ++number_; }

    void start(Runner& runner) {
        runner.store.reset();
        runner.store.emplace(Store::open(file_, Access::write));
        runner.sample.clear();
        if (!runner.session.empty() && runner.store->session(runner.session) && random_() % 4 > 0)
            return runner.store->resume_session(runner.session);
        runner.session = begin(*runner.store, old_or_new());
    }
    std::string old_or_new() { return random_() % 2 == 0 ? "2020-01-01T00:00:00.000Z" : now_utc(); }
    void end_session(Runner& runner) {
        runner.store->finish_session(runner.session,
                                     random_() % 2 == 0 ? "finished" : "interrupted");
        runner.session = begin(*runner.store, old_or_new());
        runner.sample.clear();
    }
    void upkeep() {
        if (random_() % 3 > 0) return;
        store().prune(random_() % 2 == 0 ? std::optional(30.0) : std::nullopt, true, false);
        if (random_() % 2 == 0) store().prune(30, false, false);
    }
    void begin_sample(Runner& runner) {
        // Sometimes one that failed is tried again.
        if (runner.seed == 0 || random_() % 3 > 0) runner.seed = number();
        const SampleSpec spec = example_spec(runner.seed);
        try {
            runner.sample = runner.store->begin_sample(runner.session, spec, key_of(spec));
            runner.rows = 0;
        } catch (const StoreError&) {  // it was ok
        }
    }
    Sample some_rows(Runner& runner) {
        Sample part;
        part.id = runner.sample;
        for (unsigned i = random_() % 3; i > 0; --i) {
            const double t_s = ++runner.rows;
            part.metrics.push_back({"m", {{"row", std::int64_t{runner.rows}}}, t_s});
            part.events.push_back({t_s, "commit", 0, {{"row", runner.rows}}});
            part.series_data.push_back({"loss",
                                        "nat",
                                        {{"rank", std::int64_t{runner.rows % 2}}},
                                        {t_s},
                                        {1 / t_s},
                                        random_() % 4 > 0});
            if (random_() % 4 == 0)
                part.tables.push_back({"t", {{"x", ""}}, {{t_s}, {std::string("y")}}});
            if (random_() % 4 == 0) part.artifacts.push_back({"a", "text/plain", "content"});
            if (random_() % 4 == 0) part.hardware.push_back({t_s, "cpu", t_s, {}, {}, {}, ""});
        }
        return part;
    }
    void grow(Runner& runner) { EXPECT_TRUE(runner.store->add_to_sample(some_rows(runner))); }
    void finish(Runner& runner) {
        Sample end = some_rows(runner);
        end.status = random_() % 3 == 0 ? "failed" : "ok";
        runner.store->finish_sample(end);
        runner.sample.clear();
    }
    /// The database that is merged sometimes, with attempts that give way to others.
    void grow_other() {
        const SampleSpec spec = example_spec(1'000'000 + random_() % 10);
        try {
            add_sample(*other_, other_session_, spec, 1, random_() % 2 == 0 ? "failed" : "ok");
        } catch (const StoreError&) {  // it was ok
        }
    }

    fs::path file_, other_file_;
    std::mt19937 random_;
    std::optional<Store> other_;
    std::string other_session_;
    Runner runners_[2];
    std::uint64_t number_ = 0;
};

TEST(ChangesInAnyOrder, AppliedAreWhatAFullReadTells) {
    std::size_t everything = 0, in_part = 0;
    for (unsigned seed = 0; seed < 4; ++seed) {
        SCOPED_TRACE(seed);
        const Folder folder;
        Turns turns(folder, seed);
        const Store reader = Store::open(folder / "r.db", Access::read);
        // One looks after each turn, others rarely.
        Follower followers[3];
        std::mt19937 random(seed);
        for (int turn = 0; turn < 100; ++turn) {
            turns.next();
            const Contents now = contents_of(reader);
            for (unsigned i = 0; i < 3; ++i) {
                if (random() % (1 + 7 * i) != 0) continue;
                const Changes changes = followers[i].look(reader);
                everything += changes.everything;
                in_part += !changes.everything && !changes.empty();
                ASSERT_EQ(followers[i].contents(), now) << "after turn " << turn;
            }
        }
        ASSERT_TRUE(turns.store().check().ok);
    }
    EXPECT_GT(everything, 12u) << "beyond the first look of each, after what upkeep took away";
    EXPECT_GT(in_part, 200u);
}

}  // namespace
}  // namespace assay::store::testing
