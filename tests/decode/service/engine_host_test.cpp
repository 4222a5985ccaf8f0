// The engine's side, without a process: it answers, and refuses what it cannot do.
#include "impls/decode/service/engine_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "impls/decode/service/engine_role.hpp"
#include "suite/base/error.hpp"

namespace assay::decode::service {
namespace {

struct OtherWeights final : ModelWeights {
    std::string digest() const override { return "other"; }
};

/// A number, or none; "other" is of another kind.
EngineModel model() {
    EngineModel model =
        modelled_models({.vocabulary = 100, .context = 80, .cost = {}, .checks = true});
    model.load = [numbers = model.load](const EngineSettings& settings,
                                        const WeightsOrigin& origin) {
        const auto* const text = std::get_if<std::string>(&origin);
        if (text && *text == "none") throw UserError("there are no such weights");
        if (text && *text == "other") return std::shared_ptr<ModelWeights>(new OtherWeights);
        return numbers(settings, origin);
    };
    return model;
}

class Host {
  public:
    explicit Host(std::optional<StepCost> pace = {}, const std::string& weights = "1")
        : host({.options = {.model = "m"}, .weights = weights, .blocks = 20, .pace = pace},
               {.offer = [this](const std::string& object,
                                const Bytes& state) { objects.emplace(object, state); },
                .accept = [this](const std::string& object,
                                 const Bytes& place) { objects.emplace(object, place); },
                .withdraw = [this](const std::string& object) { objects.erase(object); }},
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
        host.loaded(carry_out(order.value(), model(), host.settings()), answers);
        return answers.at(0);
    }
    Made step() {
        std::vector<FromEngine> answers;
        while (answers.empty()) host.step(answers);
        return std::get<Made>(answers.at(0));
    }
    std::string request(int prompt, int max_tokens, const char* of = "m",
                        std::optional<Links> links = {}) {
        RequestState state;
        state.request.links = std::move(links);
        state.model = of;
        for (int i = 0; i < prompt; ++i) state.request.prompt.push_back(i);
        state.request.max_tokens = max_tokens;
        return state_text(to_bytes(state));
    }
    /// As a transfer does it, of what the other exported.
    Awaits awaits(Host& from, const Exported& exported, RequestId as) {
        const auto awaits = ask<Awaits>(Take{as, exported.state, exported.request, exported.bytes});
        const std::string object = state_object(exported.request);
        std::ranges::copy(from.objects.at(object).view(), objects.at(object).writable().begin());
        from.tell(Withdraw{exported.request});
        return awaits;
    }
    std::map<std::string, Bytes> objects;  // offered or accepted
    std::set<FaultKind> strikes;           // that were not asked for yet
    EngineHost host;
};

TEST(EngineHost, IsReadyOnceItsWeightsAreThere) {
    Host host;
    EXPECT_EQ(host.ask<Status>(AskStatus{1}).loading, 1);
    EXPECT_FALSE(host.ask<Refused>(Take{0, host.request(3, 4)}).why.empty());
    const auto ready = std::get<Ready>(host.loaded());
    EXPECT_EQ(ready.version, 1);
    EXPECT_EQ(ready.limits, (EngineLimits{"m", 100, 80, 20, 256, true, true, 16384}));
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
    EXPECT_TRUE(host.tell(Export{17, false}).empty());  // it has ended
    EXPECT_EQ(host.ask<Dropped>(Drop{4}).request, 4);
    EXPECT_FALSE(host.host.works());
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
    host.tell(Load{2, "other"});
    EXPECT_THAT(std::get<NotLoaded>(host.loaded()).why, testing::HasSubstr("another shape"));
}

TEST(EngineHost, ExportsAreWholeOrDamagedOnTheirWay) {
    Host host;
    host.loaded();
    host.tell(Take{1, host.request(20, 9)});
    host.step();
    const auto whole = host.ask<Exported>(Export{1, true});
    const Bytes& offered = host.objects.at(state_object(1));
    EXPECT_EQ(whole.bytes, offered.size());
    const RequestState state = request_state_from(offered.view());
    EXPECT_EQ(state.kv_positions, 20);
    EXPECT_EQ(state.ids.size(), 1u);
    host.tell(Withdraw{1});
    EXPECT_TRUE(host.objects.empty());
    host.tell(Take{2, host.request(20, 9)});
    host.step();
    host.strikes = {FaultKind::corrupt};
    const auto damaged = host.ask<Exported>(Export{2, false});
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
    EXPECT_EQ(host.ask<Taken>(Take{7, host.request(40, 2, "m", Links{.keep = true})}).request, 7);
    EXPECT_EQ(host.ask<Refused>(Export{7, true}).request, 7);  // it stays
    host.step();
    EXPECT_EQ(host.step().ended.size(), 1u);
    EXPECT_EQ(host.ask<Refused>(Take{7, host.request(3, 2)}).request, 7);
    const Links unknown{.linked = {{.kept = 8, .first = 0, .count = 1, .at = 0}}};
    EXPECT_THAT(host.ask<Refused>(Take{9, host.request(3, 2, "m", unknown)}).why,
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
    host.tell(Take{10, host.request(3, 1, "m", Links{.keep = true})});
    host.step();
    host.tell(Drop{10});
    host.tell(EmptyCache{});
    EXPECT_EQ(host.ask<Status>(AskStatus{}).stats.held_blocks, 0);
}

// Weights that whoever runs it has already: no path, no message.
TEST(EngineHost, TakesWeightsThatAreHere) {
    Host host;
    host.loaded();
    std::vector<FromEngine> answers;
    host.host.load(3, std::string("2"), answers);
    EXPECT_TRUE(answers.empty());
    EXPECT_EQ(std::get<Loaded>(host.loaded()).version, 3);
    host.host.load(3, HeldFile{}, answers);
    EXPECT_TRUE(answers.empty());
    EXPECT_THAT(std::get<NotLoaded>(host.loaded()).why, testing::HasSubstr("a number"));
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
    host.tell(Export{1, true});  // 41 positions: three blocks to the host's memory
    EXPECT_EQ(host.host.take_busy_seconds(), 0.375);

    Host free;
    free.loaded();
    free.tell(Take{1, free.request(40, 9)});
    free.step();
    EXPECT_EQ(free.host.take_busy_seconds(), 0);
}

// Fewer messages, each of several tokens of a request, and of how many wait.
TEST(EngineHost, SaysSeveralTokensAtOnce) {
    Host host;
    host.host = EngineHost(
        {.options = {.max_batch = 1, .model = "m"}, .weights = "1", .blocks = 20, .say_every = 4});
    host.loaded();
    host.tell(Take{1, host.request(5, 10)});
    host.tell(Take{2, host.request(7, 3)});
    Made made = host.step();
    EXPECT_EQ(made.steps, 4);
    EXPECT_EQ(made.tokens.size(), 4u);
    EXPECT_EQ(made.waiting, 1);
    // What was made is told before anything that counts on it.
    std::vector<FromEngine> none;
    host.host.step(none);
    EXPECT_TRUE(none.empty());
    const auto answers = host.tell(Export{1, false});
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_EQ(std::get<Made>(answers[0]).tokens.size(), 1u);
    const auto& exported = std::get<Exported>(answers[1]);
    EXPECT_EQ(request_state_from(state_bytes(exported.state)).ids.size(), 5u);
    host.tell(Drop{2});
    host.tell(Take{3, exported.state});
    host.tell(Take{4, host.request(7, 3)});
    made = host.step();
    EXPECT_EQ(made.tokens.size(), 4u);
    made = host.step();  // its end does not wait for more
    EXPECT_EQ(made.tokens.size(), 1u);
    EXPECT_EQ(made.ended.size(), 1u);
    made = host.step();
    EXPECT_EQ(made.tokens.size(), 3u);
    EXPECT_EQ(made.waiting, 0);
}

TEST(EngineHost, TextsStopRequests) {
    Host host;
    host.loaded();
    host.tell(Take{1, host.request(5, 40)});
    std::string text;
    std::vector<int> ids;
    for (int i = 0; i < 12; ++i)
        for (const MadeToken& token : host.step().tokens) {
            ids.push_back(token.id);
            text += std::to_string(token.id) + ' ';
        }
    host.tell(Drop{1});
    // From the middle of the third token to that of the sixth; moved between them.
    RequestState state;
    state.model = "m";
    state.request.prompt = {0, 1, 2, 3, 4};
    state.request.max_tokens = 40;
    const auto length = [&](int tokens) {
        std::size_t bytes = 0;
        for (int i = 0; i < tokens; ++i)
            bytes += std::to_string(ids[static_cast<std::size_t>(i)]).size() + 1;
        return bytes;
    };
    state.request.stops = {text.substr(length(3) - 1, length(5) + 1 - (length(3) - 1)), "no such"};
    host.tell(Take{2, state_text(to_bytes(state))});
    for (int i = 0; i < 4; ++i) host.step();
    const auto moved = host.ask<Exported>(Export{2, true});
    Host there;
    there.loaded();
    there.awaits(host, moved, 9);
    there.ask<Taken>(Came{9});
    EXPECT_TRUE(there.step().ended.empty());
    const Made last = there.step();
    EXPECT_EQ(last.tokens.at(0).id, ids[5]);
    ASSERT_EQ(last.ended.size(), 1u);
    EXPECT_EQ(last.ended[0].why, Finish::stop);
}

TEST(EngineHost, RefusesACacheOfAnotherIdentity) {
    Host host, other({}, "2");
    host.loaded();
    other.loaded();
    host.tell(Take{1, host.request(20, 9)});
    host.step();
    other.awaits(host, host.ask<Exported>(Export{1, true}), 1);
    const auto refused = other.ask<Refused>(Came{1});
    EXPECT_TRUE(refused.cache);
    EXPECT_THAT(refused.why, testing::HasSubstr("other weights"));
    EXPECT_FALSE(other.ask<Refused>(Take{1, "no base64!"}).cache);
}

// Between its Take and its end a state that is transferred may break, be dropped, or be wanted
// elsewhere; whatever comes of it, nothing is left.
TEST(EngineHost, AwaitsAStateWithKeysAndValues) {
    Host host, there;
    host.loaded();
    there.loaded();
    const auto export_of = [&](RequestId request) {
        host.tell(Take{request, host.request(20, 9)});
        host.step();
        return host.ask<Exported>(Export{request, true});
    };
    EXPECT_EQ(there.awaits(host, export_of(1), 11).request, 11);
    EXPECT_FALSE(there.host.works());
    EXPECT_TRUE(there.tell(Export{11, false}).empty());  // wanted elsewhere before it is here
    const auto both = there.tell(Came{11});
    ASSERT_EQ(both.size(), 2u);
    EXPECT_EQ(std::get<Taken>(both[0]).request, 11);
    EXPECT_EQ(std::get<Exported>(both[1]).request, 11);
    EXPECT_EQ(there.ask<Status>(AskStatus{}).stats.computed_tokens, 0);

    there.awaits(host, export_of(2), 12);
    EXPECT_EQ(there.ask<Taken>(Take{12, there.request(20, 9)}).request, 12);  // in its place
    EXPECT_TRUE(there.tell(Came{12}).empty());
    there.awaits(host, export_of(3), 13);
    EXPECT_EQ(there.ask<Dropped>(Drop{13}).request, 13);
    EXPECT_TRUE(there.tell(Came{13}).empty());
    EXPECT_TRUE(there.tell(Came{14}).empty());

    host.strikes = {FaultKind::corrupt};
    there.awaits(host, export_of(5), 15);
    EXPECT_FALSE(there.ask<Refused>(Came{15}).cache);
    EXPECT_THAT(there.ask<Refused>(Take{16, "", 6, std::uint64_t{1} << 60}).why,
                testing::HasSubstr("larger than this engine's cache"));
    EXPECT_TRUE(host.objects.empty());
    EXPECT_TRUE(there.objects.empty());
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
