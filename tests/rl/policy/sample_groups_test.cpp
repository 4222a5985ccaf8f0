// Samples of an update over engines in virtual time, which are killed, frozen and slowed: each is
// there once, and is the one that it is without all that.
#include "impls/rl/policy/sample_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "impls/decode/pool/choosers.hpp"
#include "impls/decode/service/engine_role.hpp"
#include "impls/rl/live/rollout_engines.hpp"
#include "suite/base/error.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"

namespace assay::rl {
namespace {

decode::EngineModel bytes_by_hashes() {
    return decode::modelled_models({.vocabulary = 256, .context = 64, .cost = {}, .checks = true});
}

struct Disturbance {
    std::uint64_t seed = 0;  ///< 0: none
    decode::Loss loss = decode::Loss::resume;
};

/// Two updates of virtual engines, then what came of it.
class Rollout {
  public:
    explicit Rollout(const Disturbance& disturbance)
        : disturbance_(disturbance),
          random_(disturbance.seed),
          groups_(engines_.pool(), tokenizer_,
                  {.task = tasks::Task::sort,
                   .difficulty = 12,
                   .samples = 5,
                   .seed = 7,
                   .loss = disturbance.loss}) {
        engines_.hear_requests(
            {.tokens = {}, .done = [this](const decode::Done& done) { groups_.on_done(done); }});
    }

    std::vector<SampleGroup> run() {
        std::vector<SampleGroup> all;
        for (int version = 1; version <= 2; ++version) {
            rollouts_.publish(version, std::to_string(version));
            groups_.ask(version, tasks::distinct_questions(tasks::Task::sort, 12, 3, 4));
            while (!groups_.complete()) hear();
            for (SampleGroup& group : groups_.take()) {
                for (const Sample& sample : group.samples)
                    for (const decode::Run& run : sample.runs) EXPECT_EQ(run.version, version);
                all.push_back(std::move(group));
            }
        }
        EXPECT_EQ(engines_.pool().open(), 0u);
        return all;
    }
    long lost() const { return rollouts_.lost(); }

  private:
    void hear() {
        if (!engines_.hear()) throw std::runtime_error("nothing can happen any more");
        if (disturbance_.seed > 0 && random_() % 12 == 0) {
            std::vector<const decode::EngineClient*> ready;
            for (const decode::EngineClient& engine : engines_.engines())
                if (engine.ready()) ready.push_back(&engine);
            if (!ready.empty()) strike(*ready[random_() % ready.size()]);
        }
        rollouts_.look();
    }
    void strike(const decode::EngineClient& engine) {
        Fault fault{.kind = FaultKind::kill};
        if (random_() % 2 == 0) fault = {.kind = FaultKind::slow, .factor = 3};
        if (random_() % 4 == 0) fault = {.kind = FaultKind::hang};
        fault.rank = engine.worker();
        driver_.strike(fault);
    }

    static decode::EngineSettings settings() {
        return {.options = {.max_batch = 4, .model = "bytes"},
                .blocks = 24,
                .pace = decode::StepCost{.fixed_s = 0.01},
                .load_s = 0.05};
    }

    Disturbance disturbance_;
    std::mt19937_64 random_;
    MemoryRecorder recorder_;
    drive::EventQueue time_;
    drive::ConstantLatencies latencies_{0.001, 0.5, 0.1};
    drive::VirtualCluster driver_{
        {decode::engine_role(bytes_by_hashes())}, time_, latencies_, {}, recorder_};
    decode::Engines engines_{driver_};
    RolloutEngines rollouts_{engines_, settings(), 3};
    nn::Tokenizer tokenizer_ = nn::Tokenizer::bytes();
    SampleGroups groups_;
};

std::vector<std::vector<decode::Token>> tokens_of(const std::vector<SampleGroup>& groups) {
    std::vector<std::vector<decode::Token>> all;
    for (const SampleGroup& group : groups)
        for (const Sample& sample : group.samples) all.push_back(sample.tokens);
    return all;
}

TEST(SampleGroups, EverySampleIsTheOneThatItIsWithoutFaults) {
    const auto expected = Rollout({}).run();
    ASSERT_EQ(expected.size(), 8u);
    long lost = 0, moved = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Rollout rollout(
            {.seed = seed, .loss = seed % 2 == 0 ? decode::Loss::resume : decode::Loss::restart});
        const auto found = rollout.run();
        ASSERT_EQ(tokens_of(found), tokens_of(expected)) << seed;
        lost += rollout.lost();
        for (const SampleGroup& group : found)
            for (const Sample& sample : group.samples) moved += sample.runs.size() > 1 ? 1 : 0;
    }
    EXPECT_GT(lost, 60);
    EXPECT_GT(moved, 10);
}

TEST(SampleGroups, AreDrawnApart) {
    const auto groups = Rollout({}).run();
    std::set<std::vector<int>> different;
    for (const SampleGroup& group : groups)
        for (const Sample& sample : group.samples) {
            std::vector<int> ids = group.prompt;
            for (const decode::Token& token : sample.tokens) ids.push_back(token.id);
            different.insert(ids);
        }
    EXPECT_EQ(different.size(), 40u);  // the prompts are those of the update before, the draws not
}

/// What of a pool without engines is said.
class SaidGroups : public testing::Test {
  protected:
    SaidGroups() {
        pool.there(0, 0, 1);
        groups.ask(1, {{{"sort 312=", "123"}}});
        decode::FewestGiven chooser(pool);
        pool.turn(chooser, orders);
    }
    void end(decode::Number attempt, const std::string& text, decode::Finish why) {
        std::vector<decode::Token> tokens;
        for (const char byte : text)
            tokens.push_back({static_cast<unsigned char>(byte), -0.5f, -0.5f});
        const decode::EndedRequest ended{.request = attempt, .why = why};
        pool.made(0, attempt, tokens, 0, &ended);
        orders.clear();
        decode::FewestGiven chooser(pool);
        pool.turn(chooser, orders);
        for (const decode::Order& order : orders)
            if (const auto* const done = std::get_if<decode::Done>(&order)) groups.on_done(*done);
    }
    const nn::Tokenizer bytes = nn::Tokenizer::bytes();
    decode::Pool pool;
    SampleGroups groups{pool, bytes, {.task = tasks::Task::sort, .difficulty = 3, .samples = 4}};
    std::vector<decode::Order> orders;
};

TEST_F(SaidGroups, RewardsWhatStandsBeforeTheNewline) {
    ASSERT_EQ(orders.size(), 4u);
    const auto& request = pool.asked(0).request;
    EXPECT_EQ(request.stop_ids, std::vector<int>{'\n'});
    EXPECT_EQ(request.max_tokens, tasks::length_limit(tasks::Task::sort, 3));
    EXPECT_THROW(groups.take(), std::logic_error);
    end(2, "123\n", decode::Finish::stop);
    end(0, "1234", decode::Finish::length);
    end(1, "321\n", decode::Finish::stop);
    EXPECT_EQ(groups.open(), 1u);
    end(3, "\n", decode::Finish::stop);
    const auto taken = groups.take();
    ASSERT_EQ(taken.size(), 1u);
    std::vector<double> rewards;
    std::vector<bool> truncated;
    for (const Sample& sample : taken[0].samples) {
        rewards.push_back(sample.reward);
        truncated.push_back(sample.truncated);
    }
    EXPECT_THAT(rewards, testing::ElementsAre(0, 0, 1, 0));
    EXPECT_THAT(truncated, testing::ElementsAre(true, false, false, false));
    EXPECT_EQ(taken[0].samples[1].response, "321");
    EXPECT_THROW(pool.tokens(0), std::out_of_range);  // forgotten
}

TEST_F(SaidGroups, ASampleThatCannotBeHadEndsTheUpdate) {
    EXPECT_THROW(end(1, "1", decode::Finish::failed), SampleLost);
    EXPECT_THROW(groups.ask(2, {{{"sort 312=", "123"}}}), std::logic_error);
    EXPECT_THROW(SampleGroups(pool, bytes, {.samples = 0}), UserError);
    EXPECT_THROW(SampleGroups(pool, bytes, {.difficulty = 13}), UserError);
}

}  // namespace
}  // namespace assay::rl
