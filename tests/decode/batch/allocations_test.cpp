// Once requests are in, steps allocate nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "impls/decode/back_ends.hpp"
#include "tests/decode/batch/random_jobs.hpp"
#include "tests/decode/toy_networks.hpp"

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

// Room for what a request will make: its tokens and blocks, when it is admitted, what is known of
// each token when the first comes. A request that waits has none.
constexpr int per_request = 3;

TEST(Allocations, StepsHaveNoneButOfThoseTheyAdmit) {
    for (const Stepping stepping : {Stepping::one_by_one, Stepping::ahead}) {
        RandomSchedule schedule;
        schedule.model = {.vocabulary = 1000, .context = 600, .blocks = 100};
        BatchEngine engine(run_options(schedule, stepping).back_ends(), {.max_batch = 8});
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
        EXPECT_EQ(allocations - before, 12 * per_request) << static_cast<int>(stepping);
        EXPECT_EQ(report.tokens.size(), 12u * 150);
    }
}

// However a token is picked: what that takes is there from the start.
TEST(Allocations, StepsOnTheProcessorHaveNoneEither) {
    nn::DecoderConfig config = nn::toy_llama_config();
    config.context = 400;
    config.hidden = 160;
    const nn::TensorFile file = toy_file(nn::toy_model(config, 5), nn::TensorType::q4_1);
    BatchEngine engine(back_ends_of(file, {.threads = 2, .blocks = 40})(), {.max_batch = 6});
    const std::vector<std::uint64_t> allowed{0x5555555555555555u};
    StepReport report;
    report.tokens.reserve(10000);
    report.ended.reserve(100);
    const auto submit = [&](const Sampling& sampling, bool masked) {
        for (int i = 0; i < 9; ++i) {
            BatchRequest request;
            request.prompt = random_ids(60, config.vocabulary, static_cast<std::uint64_t>(i));
            request.max_tokens = 40;
            request.sampling = sampling;
            if (masked) request.allowed = allowed;
            request.prompt_log_probabilities = i == 8;
            engine.submit(request);
        }
    };
    submit({}, false);
    while (!engine.idle()) engine.step(report);
    for (const Sampling& sampling :
         {Sampling{}, Sampling{.temperature = 1}, Sampling{.temperature = 1, .top_k = 30},
          Sampling{.temperature = 2, .top_p = 0.99},
          Sampling{.temperature = 0.5, .top_k = 9, .top_p = 0.8}})
        for (const bool masked : {false, true}) {
            report.clear();
            submit(sampling, masked);
            const long before = allocations;
            while (!engine.idle()) engine.step(report);
            EXPECT_EQ(allocations - before, 9 * per_request + 1)  // and the prompt's scores
                << sampling.temperature << ", " << masked;
            EXPECT_EQ(report.tokens.size(), 9u * 40);
        }
}

}  // namespace
}  // namespace assay::decode
