// Once requests are in, steps allocate nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/decode/batch/random_jobs.hpp"

namespace {
std::atomic<long> allocations = 0;
}

[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* const memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace assay::decode {
namespace {

TEST(Allocations, StepsHaveNone) {
    for (const Stepping stepping : {Stepping::one_by_one, Stepping::ahead}) {
        RandomSchedule schedule;
        schedule.model = {.vocabulary = 1000, .context = 600, .blocks = 100};
        BatchEngine engine(run_options(schedule, stepping).make_back_end(), {.max_batch = 8});
        StepReport report;
        report.tokens.reserve(100000);
        report.ended.reserve(100);
        const auto submit = [&] {
            for (int i = 0; i < 12; ++i) {
                BatchRequest request;
                for (int k = 0; k < 100; ++k)
                    request.prompt.push_back(k < 50 ? k : k * (i + 2) % 1000);
                request.max_tokens = 150;
                engine.submit(request);
            }
        };
        // The first time lists grow to what they need: too few blocks, so that all kinds of
        // actions are among the steps.
        submit();
        while (!engine.idle()) engine.step(report, 50);
        EXPECT_GT(engine.stats().preemptions, 0);
        report.clear();
        submit();
        const long before = allocations;
        while (!engine.idle()) engine.step(report, 50);
        EXPECT_EQ(allocations - before, 0) << static_cast<int>(stepping);
        EXPECT_EQ(report.tokens.size(), 12u * 150);
    }
}

}  // namespace
}  // namespace assay::decode
