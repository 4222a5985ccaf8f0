// The engine's side, without a process: it answers, and refuses what it cannot do.
#include "impls/decode/service/engine_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "suite/base/error.hpp"

namespace assay::decode::service {
namespace {

constexpr ModelledSettings model{.vocabulary = 100, .context = 80, .blocks = 20, .cost = {}};

std::unique_ptr<BackEnd> make(const EngineSettings&, const std::string& weights) {
    if (weights == "none") throw UserError("there are no such weights");
    ModelledSettings settings = model;
    if (weights == "larger") settings.blocks = 21;
    settings.weights = weights == "larger" ? 1 : std::stoull(weights);
    return std::make_unique<ModelledBackEnd>(settings);
}

class Host {
  public:
    explicit Host(std::optional<StepCost> pace = {}, const std::string& weights = "1")
        : host({.options = {.model = "m"}, .weights = weights, .pace = pace},
               drive::Strike([this](FaultKind kind) -> std::optional<Fault> {
                   if (strikes.erase(kind) == 0) return std::nullopt;
                   return Fault{.kind = kind};
               })) {}

    std::vector<FromEngine> tell(const ToEngine& message) {
        std::vector<FromEngine> answers;
        host.on(message, answers);
        return answers;
    }
    template <class T>
    T ask(const ToEngine& message) {
        const auto answers = tell(message);
        if (answers.size() != 1) throw std::runtime_error("not one answer");
        return std::get<T>(answers[0]);
    }
    /// What comes of loading.
    FromEngine loaded() {
        std::vector<FromEngine> answers;
        const auto order = host.take_order();
        host.loaded(load_weights(make, host.settings(), order.value().weights), answers);
        return answers.at(0);
    }
    Made step() {
        std::vector<FromEngine> answers;
        while (answers.empty()) host.step(answers);
        return std::get<Made>(answers.at(0));
    }
    std::string request(int prompt, int max_tokens, const char* of = "m") {
        RequestState state;
        state.model = of;
        for (int i = 0; i < prompt; ++i) state.request.prompt.push_back(i);
        state.request.max_tokens = max_tokens;
        return state_text(to_bytes(state));
    }
    std::set<FaultKind> strikes;  // that were not asked for yet
    EngineHost host;
};

TEST(EngineHost, IsReadyOnceItsWeightsAreThere) {
    Host host;
    EXPECT_EQ(host.ask<Status>(AskStatus{1}).loading, 1);
    EXPECT_FALSE(host.ask<Refused>(Take{0, host.request(3, 4)}).why.empty());
    const auto ready = std::get<Ready>(host.loaded());
    EXPECT_EQ(ready.version, 1);
    EXPECT_EQ(ready.limits, (EngineLimits{"m", 100, 80, 20, 256, true}));
    const Status status = host.ask<Status>(AskStatus{2});
    EXPECT_EQ(status.number, 2);
    EXPECT_EQ(status.loading, 0);
    EXPECT_EQ(status.version, 1);
    EXPECT_FALSE(host.host.works());
    Host without({}, "none");
    EXPECT_THROW(without.loaded(), UserError);
    EXPECT_FALSE(host.host.take_order());  // each is given out once
    EXPECT_THROW(host.host.loaded({}, *std::make_unique<std::vector<FromEngine>>()),
                 std::logic_error);
}

TEST(EngineHost, AWipeEmptiesItsCache) {
    Host host;
    host.loaded();
    host.tell(Take{1, host.request(40, 1)});
    host.step();
    EXPECT_GT(host.ask<Status>(AskStatus{1}).stats.held_blocks, 0);
    host.strikes = {FaultKind::wipe};
    EXPECT_EQ(host.ask<Status>(AskStatus{2}).stats.held_blocks, 0);
}

TEST(EngineHost, ServesRequestsByTheirCallersNumbers) {
    Host host;
    host.loaded();
    EXPECT_EQ(host.ask<Taken>(Take{17, host.request(3, 2)}).request, 17);
    EXPECT_EQ(host.ask<Refused>(Take{17, host.request(3, 2)}).request, 17);
    EXPECT_EQ(host.ask<Taken>(Take{4, host.request(3, 5)}).request, 4);
    Made made = host.step();
    ASSERT_EQ(made.tokens.size(), 1u);  // 4 waits for the prefix
    EXPECT_EQ(made.tokens[0].request, 17);
    made = host.step();
    EXPECT_EQ(made.tokens.size(), 2u);
    ASSERT_EQ(made.ended.size(), 1u);
    EXPECT_EQ(made.ended[0].request, 17);
    EXPECT_TRUE(host.tell(CancelRequest{17}).empty());  // it has ended
    EXPECT_TRUE(host.tell(Export{17, false, false}).empty());
    made = host.ask<Made>(CancelRequest{4});
    EXPECT_TRUE(made.tokens.empty());
    EXPECT_EQ(made.ended.at(0).why, Finish::cancelled);
    EXPECT_FALSE(host.host.works());
    EXPECT_EQ(host.ask<Dropped>(Drop{4}).request, 4);
}

TEST(EngineHost, RefusesWhatDoesNotFit) {
    Host host;
    host.loaded();
    for (const std::string& state :
         {std::string("no base64!"), state_text(std::vector<std::byte>(200)),
          host.request(3, 2, "other"), host.request(0, 2), host.request(81, 2)})
        EXPECT_EQ(host.ask<Refused>(Take{1, state}).request, 1);
    EXPECT_EQ(host.ask<NotLoaded>(Load{1, "2"}).version, 1);
    EXPECT_EQ(host.ask<NotLoaded>(Commit{2, false}).version, 2);
    host.tell(Load{2, "none"});
    EXPECT_EQ(std::get<NotLoaded>(host.loaded()).why, "there are no such weights");
    host.tell(Load{2, "larger"});
    EXPECT_THAT(std::get<NotLoaded>(host.loaded()).why, testing::HasSubstr("another shape"));
}

TEST(EngineHost, ExportsAreWholeOrDamagedOnTheirWay) {
    Host host;
    host.loaded();
    host.tell(Take{1, host.request(20, 9)});
    host.step();
    const auto kept = host.ask<Exported>(Export{1, true, false});
    const RequestState state = request_state_from(state_bytes(kept.state));
    EXPECT_EQ(state.kv_positions, 20);
    EXPECT_EQ(state.ids.size(), 1u);
    EXPECT_FALSE(kept.dropped);
    host.strikes = {FaultKind::corrupt};
    const auto damaged = host.ask<Exported>(Export{1, false, true});
    EXPECT_TRUE(damaged.dropped);
    EXPECT_THROW(request_state_from(state_bytes(damaged.state)), UserError);
    EXPECT_FALSE(host.host.works());
    EXPECT_EQ(host.ask<Status>(AskStatus{}).stats.running, 0);
}

TEST(EngineHost, NewWeightsComeBesideStepsAndAreUsedOnceCommitted) {
    Host host;
    host.loaded();
    host.tell(Take{1, host.request(5, 9)});
    EXPECT_TRUE(host.tell(Load{4, "2"}).empty());
    EXPECT_EQ(host.ask<NotLoaded>(Load{5, "3"}).version, 5);  // one at a time
    EXPECT_EQ(host.step().tokens.at(0).version, 1);
    EXPECT_EQ(std::get<Loaded>(host.loaded()).version, 4);
    EXPECT_EQ(host.ask<Status>(AskStatus{}).prepared, 4);
    EXPECT_EQ(host.step().tokens.at(0).version, 1);
    EXPECT_EQ(host.ask<Committed>(Commit{4, false}).version, 4);
    EXPECT_EQ(host.step().tokens.at(0).version, 4);
    EXPECT_EQ(host.ask<Status>(AskStatus{}).prepared, 0);
}

TEST(EngineHost, KeepsWhatOthersAreToLinkToUntilItIsLetGo) {
    Host host;
    host.loaded();
    EXPECT_EQ(host.ask<Taken>(Take{7, host.request(40, 2), Links{.keep = true}}).request, 7);
    EXPECT_EQ(host.ask<Refused>(Export{7, true, true}).request, 7);  // it stays
    host.step();
    EXPECT_EQ(host.step().ended.size(), 1u);
    EXPECT_EQ(host.ask<Refused>(Take{7, host.request(3, 2)}).request, 7);
    const Links unknown{.linked = {{.kept = 8, .first = 0, .count = 1, .at = 0}}};
    EXPECT_THAT(host.ask<Refused>(Take{9, host.request(3, 2), unknown}).why,
                testing::HasSubstr("nothing is kept of request 8"));
    host.tell(Load{2, "2"});
    host.loaded();
    EXPECT_THAT(host.ask<NotLoaded>(Commit{2, true}).why, testing::HasSubstr("let them go"));
    host.tell(EmptyCache{});
    EXPECT_EQ(host.ask<Status>(AskStatus{}).stats.held_blocks, 3);
    EXPECT_TRUE(host.tell(LetGo{8}).empty());
    EXPECT_TRUE(host.tell(LetGo{7}).empty());
    EXPECT_EQ(host.ask<Status>(AskStatus{}).stats.held_blocks, 0);
    EXPECT_EQ(host.ask<Committed>(Commit{2, true}).version, 2);
    // Its end and the word that nobody wants it cross: nothing is left.
    host.tell(Take{10, host.request(3, 1), Links{.keep = true}});
    host.step();
    host.tell(Drop{10});
    host.tell(EmptyCache{});
    EXPECT_EQ(host.ask<Status>(AskStatus{}).stats.held_blocks, 0);
}

TEST(EngineHost, NotANumberEndsOneRequest) {
    Host host;
    host.loaded();
    host.tell(Take{1, host.request(5, 9)});
    host.strikes = {FaultKind::nan};
    EXPECT_EQ(host.step().ended.at(0).why, Finish::failed);
    EXPECT_TRUE(host.strikes.empty());
}

TEST(EngineHost, PacedStepsTakeWhatTheModelledDeviceTakes) {
    Host host(StepCost{.fixed_s = 1, .token_s = 0.5, .block_s = 0.125});
    host.loaded();
    host.tell(Take{1, host.request(40, 9)});
    EXPECT_EQ(host.step().seconds, 21);
    EXPECT_EQ(host.host.take_busy_seconds(), 21);
    EXPECT_EQ(host.host.take_busy_seconds(), 0);
    EXPECT_EQ(host.step().seconds, 1.5);
    EXPECT_EQ(host.host.take_busy_seconds(), 1.5);
    host.tell(Export{1, true, false});  // 41 positions: three blocks to the host's memory
    EXPECT_EQ(host.host.take_busy_seconds(), 0.375);
    EXPECT_EQ(host.step().seconds, 1.5);

    Host free;
    free.loaded();
    free.tell(Take{1, free.request(40, 9)});
    free.step();
    EXPECT_EQ(free.host.take_busy_seconds(), 0);
}

TEST(EngineHost, PausesBetweenSteps) {
    Host host;
    host.loaded();
    host.tell(Take{1, host.request(5, 9)});
    host.ask<Paused>(Pause{});
    EXPECT_FALSE(host.host.works());
    EXPECT_TRUE(host.ask<Status>(AskStatus{}).paused);
    host.tell(GoOn{});
    EXPECT_TRUE(host.host.works());
    host.tell(Leave{});
    EXPECT_TRUE(host.host.leaves());
}

}  // namespace
}  // namespace assay::decode::service
