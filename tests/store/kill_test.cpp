// SIGKILL at fifty random moments: what was acknowledged is there, the rest is interrupted.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

/// Stores samples until killed; writes each id to `out` once finish_sample() has returned.
[[noreturn]] void runner(const std::filesystem::path& file, int out, std::uint64_t first_seed) {
    try {
        auto store = Store::open(file, Access::write);
        const auto session = begin(store);
        for (auto seed = first_seed;; ++seed) {
            const auto spec = example_spec(seed);
            auto sample =
                full_sample(store.begin_sample(session, spec, key_of(spec)), session, spec);
            // Large enough that checkpoints of the log happen often.
            sample.artifacts.push_back(
                {"noise", "text/plain", std::string(20'000, static_cast<char>(seed))});
            store.finish_sample(sample);
            if (write(out, sample.id.data(), sample.id.size()) != 36) _exit(3);
        }
    } catch (const std::exception& error) {
        fprintf(stderr, "runner: %s\n", error.what());
        _exit(2);
    }
}

std::vector<std::string> read_ids(int in) {
    std::string all;
    char piece[4096];
    for (ssize_t got; (got = read(in, piece, sizeof piece)) > 0;)
        all.append(piece, static_cast<std::size_t>(got));
    EXPECT_EQ(all.size() % 36, 0u);
    std::vector<std::string> ids;
    for (std::size_t at = 0; at + 36 <= all.size(); at += 36) ids.push_back(all.substr(at, 36));
    return ids;
}

TEST(Kill, FiftyTimesLosesNoAcknowledgedSample) {
    Folder folder;
    const auto file = folder / "r.db";
    std::mt19937_64 random(20261121);
    std::set<std::string> acknowledged;
    int with_work = 0;
    for (int round = 0; round < 50; ++round) {
        SCOPED_TRACE(round);
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            close(ends[0]);
            runner(file, ends[1], static_cast<std::uint64_t>(round) * 1'000'000);
        }
        close(ends[1]);
        // From while the file is being opened (in round 0: made) to dozens of samples later.
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
        ASSERT_EQ(kill(child, SIGKILL), 0);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status))
            << "the runner ended by itself with " << WEXITSTATUS(status);
        const auto ids = read_ids(ends[0]);
        close(ends[0]);
        acknowledged.insert(ids.begin(), ids.end());
        with_work += !ids.empty();

        auto store = Store::open(file, Access::write);
        const auto report = store.check();
        ASSERT_TRUE(report.ok) << report.problems.at(0);
        std::set<std::string> finished;
        for (const auto& session : store.sessions()) {
            EXPECT_EQ(session.state, "interrupted");
            int unfinished = 0;
            for (const auto& sample : store.samples(session.id)) {
                if (sample.status == "ok") {
                    finished.insert(sample.id);
                    EXPECT_EQ(sample.metrics.size(), 6u);
                } else {
                    EXPECT_EQ(sample.status, "interrupted");
                    EXPECT_TRUE(sample.metrics.empty());
                    ++unfinished;
                }
            }
            EXPECT_LE(unfinished, 1) << "only the sample in flight";
        }
        for (const auto& id : acknowledged)
            ASSERT_TRUE(finished.count(id)) << id << " was acknowledged";
        // At most the last one of each session can be finished without its id having reached us.
        EXPECT_LE(finished.size(), acknowledged.size() + static_cast<std::size_t>(round) + 1);
        for (const auto& id : ids) EXPECT_EQ(store.sample(id).artifacts.size(), 4u);
    }
    EXPECT_GT(with_work, 10) << "most runners must get as far as finishing samples";
}

}  // namespace
}  // namespace assay::store::testing
