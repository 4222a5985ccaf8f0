// The reader beside a writer: nobody waits, nothing old is shown, and what is wrong is said.
#include "gui/data/reader.hpp"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "gui/data/comparison.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::gui {
namespace {

using store::testing::add_sample;
using store::testing::begin;
using store::testing::example_spec;
using store::testing::Folder;

constexpr int patience_ms = 10'000;

long count_samples(store::Store& store) {
    long n = 0;
    for (const auto& of : store.sample_counts())
        for (const auto& [status, count] : of.samples) n += count;
    return n;
}

void wait_until_idle(Reader& reader) {
    QSignalSpy idle(&reader, &Reader::became_idle);
    if (!reader.idle()) idle.wait(patience_ms);
}

TEST(Reader, AnswersOnTheThreadThatAsked) {
    const Folder folder;
    store::Store writer = store::Store::open(folder / "r.db", store::Access::write);
    add_sample(writer, begin(writer), example_spec());
    Reader reader(folder / "r.db");
    std::thread::id read_on, shown_on;
    long seen = 0;
    reader.ask(
        "count",
        [&](store::Store& store) {
            read_on = std::this_thread::get_id();
            return count_samples(store);
        },
        [&](long n) {
            shown_on = std::this_thread::get_id();
            seen = n;
        });
    wait_until_idle(reader);
    EXPECT_EQ(seen, 1);
    EXPECT_EQ(shown_on, std::this_thread::get_id());
    EXPECT_NE(read_on, shown_on);
}

TEST(Reader, OnlyTheLastQuestionOfATopicIsShown) {
    const Folder folder;
    store::Store::open(folder / "r.db", store::Access::write);
    Reader reader(folder / "r.db");
    std::vector<int> shown;
    for (int i = 0; i < 50; ++i)
        reader.ask(
            "one", [i](store::Store&) { return i; }, [&](int n) { shown.push_back(n); });
    reader.ask(
        "other", [](store::Store&) { return -1; }, [&](int n) { shown.push_back(n); });
    wait_until_idle(reader);
    std::sort(shown.begin(), shown.end());
    EXPECT_EQ(shown, (std::vector<int>{-1, 49}));
}

TEST(Reader, WhatIsDroppedIsNeitherShownNorMissed) {
    const Folder folder;
    store::Store::open(folder / "r.db", store::Access::write);
    Reader reader(folder / "r.db");
    QSignalSpy trouble(&reader, &Reader::trouble);
    std::atomic<bool> begun = false, goes_on = false;
    reader.ask(
        "view",
        [&](store::Store&) -> int {
            begun = true;
            while (!goes_on) std::this_thread::yield();
            throw std::runtime_error("of a view that is closed");
        },
        [](int) { FAIL(); });
    while (!begun) std::this_thread::yield();
    reader.ask(
        "waiting", [](store::Store&) { return 0; }, [](int) { FAIL(); });
    reader.drop("view");
    reader.drop("waiting");
    reader.drop("never asked");
    EXPECT_TRUE(reader.idle());
    goes_on = true;
    bool answered = false;
    reader.ask(
        "next", [](store::Store&) { return 0; }, [&](int) { answered = true; });
    wait_until_idle(reader);
    EXPECT_TRUE(answered);
    for (const auto& told : trouble) EXPECT_TRUE(told[1].toString().isEmpty());
}

TEST(Reader, HearsOfWhatARunWrites) {
    const Folder folder;
    store::Store writer = store::Store::open(folder / "r.db", store::Access::write);
    const std::string session = begin(writer);
    Reader reader(folder / "r.db");
    reader.ask(
        "open", [](store::Store&) { return 0; }, [](int) {});
    wait_until_idle(reader);
    QSignalSpy changed(&reader, &Reader::changed);
    changed.wait(1000);  // of the session that runs
    changed.clear();
    add_sample(writer, session, example_spec());
    EXPECT_TRUE(changed.wait(patience_ms));
}

TEST(Reader, AMissingFileIsASentenceAndMayComeLater) {
    const Folder folder;
    Reader reader(folder / "r.db");
    QSignalSpy trouble(&reader, &Reader::trouble);
    long seen = -1;
    const auto ask = [&] {
        reader.ask("count", count_samples, [&](long n) { seen = n; });
        wait_until_idle(reader);
    };
    ask();
    EXPECT_EQ(seen, -1);
    ASSERT_FALSE(trouble.isEmpty());
    EXPECT_TRUE(trouble.last()[1].toString().contains("no results database"));
    QSignalSpy changed(&reader, &Reader::changed);
    store::Store writer = store::Store::open(folder / "r.db", store::Access::write);
    EXPECT_TRUE(changed.wait(patience_ms));
    ask();
    EXPECT_EQ(seen, 0);
    EXPECT_TRUE(trouble.last()[1].toString().isEmpty());
}

TEST(Reader, AForeignFileIsASentence) {
    const Folder folder;
    std::ofstream(folder / "r.db") << std::string(8192, 'x');
    Reader reader(folder / "r.db");
    QSignalSpy trouble(&reader, &Reader::trouble);
    reader.ask("count", count_samples, [](long) { FAIL(); });
    wait_until_idle(reader);
    ASSERT_FALSE(trouble.isEmpty());
    EXPECT_FALSE(trouble.last()[1].toString().isEmpty());
}

TEST(Reader, AFileThatIsReplacedIsReadAnew) {
    const Folder folder;
    {
        store::Store writer = store::Store::open(folder / "r.db", store::Access::write);
        add_sample(writer, begin(writer), example_spec());
    }
    Reader reader(folder / "r.db");
    long seen = -1;
    const auto ask = [&] {
        reader.ask("count", count_samples, [&](long n) { seen = n; });
        wait_until_idle(reader);
    };
    ask();
    EXPECT_EQ(seen, 1);
    std::filesystem::remove(folder / "r.db");
    store::Store::open(folder / "r.db", store::Access::write);
    ask();
    EXPECT_EQ(seen, 0);
}

// It may be closed while a query runs: that one is interrupted.
TEST(Reader, GoesWithoutWaitingForALongQuery) {
    const Folder folder;
    store::Store writer = store::Store::open(folder / "r.db", store::Access::write);
    const std::string session = begin(writer);
    for (std::uint64_t seed = 1; seed < 200; ++seed)
        add_sample(writer, session, example_spec(seed));
    std::atomic<bool> reading = false;
    const auto start = std::chrono::steady_clock::now();
    {
        Reader reader(folder / "r.db");
        reader.ask(
            "for ever",
            [&](store::Store& store) {
                for (;;) {
                    reading = true;
                    count_samples(store);
                }
                return 0;
            },
            [](int) {});
        while (!reading) std::this_thread::yield();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

// Both sides are read through the reader's store, so that a long comparison does not hold up its
// end.
TEST(Comparison, SaysThatTheSidesHaveNoRowInCommon) {
    const Folder folder;
    store::Store store = store::Store::open(folder / "r.db", store::Access::write);
    for (const char* variant : {"lazarus", "other"}) {
        const std::string session = begin(store);
        add_sample(store, session, example_spec(1, variant));
        store.finish_session(session, "finished");
    }
    store.put_metric_units({{example_spec().experiment, "throughput", "", Direction::lower}});
    EXPECT_TRUE(read_comparison(Registry(), store, "latest~1,latest")
                    ->note.starts_with("A and B have no row in common: A has "));
}

TEST(Reader, InterruptsAComparison) {
    const Folder folder;
    {
        store::Store writer = store::Store::open(folder / "r.db", store::Access::write);
        const std::string session = begin(writer);
        for (std::uint64_t seed = 1; seed <= 50; ++seed)
            add_sample(writer, session, example_spec(seed));
        writer.finish_session(session, "finished");
    }
    std::atomic<bool> reading = false;
    const auto start = std::chrono::steady_clock::now();
    {
        Reader reader(folder / "r.db");
        reader.ask(
            "for ever",
            [&](store::Store& store) {
                for (;;) {
                    read_comparison(Registry(), store, "latest,latest");
                    reading = true;
                }
                return 0;
            },
            [](int) {});
        while (!reading) std::this_thread::yield();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace assay::gui
