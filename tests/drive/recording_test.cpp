// A recording holds what was decided, exactly; tells whether the same code decides the same; and
// is refused, in a sentence, where it is not what this build writes.
#include "suite/drive/recording.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "suite/base/error.hpp"
#include "tests/drive/random_message.hpp"

namespace assay::drive {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Asked {
    WorkerId worker = -1;
    std::vector<long> loads;
    double weight = 0;
    bool operator==(const Asked&) const = default;
};
ASSAY_MESSAGE(Asked, "asked", worker, loads, weight)

struct Begin {
    long work = 0;
    std::optional<std::string> why;
    std::vector<double> weights;
    bool operator==(const Begin&) const = default;
};
ASSAY_MESSAGE(Begin, "begin", work, why, weights)

struct Settings {
    int lucky = 7;
    bool operator==(const Settings&) const = default;
};
ASSAY_FIELDS(Settings, lucky)

/// Sums up what it is asked for.
class Adder {
  public:
    using Event = std::variant<Asked, Idle, Timer>;
    using Action = std::variant<Begin, StartTimer, Stop>;

    explicit Adder(Settings settings) : sum_(settings.lucky) {}

    void on(const Event& event, double now_s, std::vector<Action>& actions) {
        if (const auto* asked = std::get_if<Asked>(&event)) {
            for (long load : asked->loads) sum_ += load;
            weights_.push_back(asked->weight);
        } else if (std::holds_alternative<Idle>(event)) {
            actions.push_back(StartTimer{timers_++, now_s / 3});
            actions.push_back(Begin{sum_, std::nullopt, weights_});
        } else if (sum_ == forbidden) {
            throw std::logic_error("it cannot be");
        } else {
            actions.push_back(Begin{-sum_, "timer", {}});
        }
    }

    static constexpr long forbidden = 13;

  private:
    long sum_;
    std::uint64_t timers_ = 0;
    std::vector<double> weights_;
};

constexpr const char* name = "test/adder";

std::vector<Decision<Adder>> some_decisions(std::size_t count = 50) {
    RecordedPolicy<Adder> policy(true, Settings{});
    std::mt19937 random(5);
    double now = 0;
    for (std::size_t i = 0; i < count; ++i) {
        now += random() % 3 ? 0 : 0.1;
        if (random() % 4)
            policy.on(Asked{static_cast<int>(i % 5), {3, long(random() % 3)}, 0.3}, now);
        else if (random() % 2)
            policy.on(Idle{}, now);
        else
            policy.on(Timer{i}, now);
    }
    return policy.decisions();
}

std::string recorded(const std::vector<Decision<Adder>>& decisions) {
    return recording_text(name, Settings{}, decisions);
}

PolicyReplay replayed(const std::string& text) {
    std::istringstream in(text);
    return replay_policy<Adder, Settings>(in, name);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    return text;
}

template <class Body>
std::string error_of(Body body) {
    try {
        body();
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Recording, ComesBackExactly) {
    const auto decisions = some_decisions();
    std::istringstream in(recorded(decisions));
    const auto back = read_recording<Adder, Settings>(in, name);
    EXPECT_EQ(back.settings, Settings{});
    EXPECT_EQ(back.decisions, decisions);
}

// Whatever a policy may be told and ask for, in any order.
TEST(Recording, AnyDecisionsComeBackExactly) {
    assay::testing::RandomMessages random(8);
    std::mt19937 draw(8);
    for (int round = 0; round < 200; ++round) {
        std::vector<Decision<Adder>> decisions;
        for (auto left = draw() % 30; left > 0; --left)
            decisions.push_back({random.make<Adder::Event>(), random.make<double>(),
                                 random.make<std::vector<Adder::Action>>()});
        // What is as before is left out: also between numbers that only look alike.
        if (!decisions.empty()) {
            decisions.push_back(decisions.back());
            decisions.push_back({Asked{1, {1}, 0.0}, 0.0, {Begin{0, {}, {0.0}}}});
            decisions.push_back({Asked{1, {1}, -0.0}, -0.0, {Begin{0, {}, {-0.0}}}});
        }
        const std::string text = recorded(decisions);
        std::istringstream in(text);
        const auto back = read_recording<Adder, Settings>(in, name).decisions;
        ASSERT_EQ(back, decisions) << text;
        ASSERT_EQ(recorded(back), text) << "0.0 is not -0.0";
    }
}

TEST(Recording, ALineHasOnlyWhatIsNotAsInTheOneBefore) {
    const std::vector<Decision<Adder>> decisions{{Asked{0, {4, 5}, 0.5}, 2, {}},
                                                 {Asked{1, {4, 5}, 0.5}, 2, {}},
                                                 {Timer{3}, 2.5, {Begin{1, "x", {}}}}};
    EXPECT_EQ(recorded(decisions),
              R"({"format":1,"policy":"test/adder","settings":{"lucky":7}}
{"actions":[],"event":{"loads":[4,5],"type":"asked","weight":0.5,"worker":0},"now_s":2.0}
{"event":{"worker":1}}
{"actions":[{"type":"begin","weights":[],"why":"x","work":1}],"event":{"id":3,"loads":null,"type":"timer","weight":null,"worker":null},"now_s":2.5}
)");
}

TEST(Recording, TheSameCodeDecidesTheSame) {
    const auto decisions = some_decisions();
    const PolicyReplay replay = replayed(recorded(decisions));
    EXPECT_EQ(replay.decisions, decisions.size());
    EXPECT_TRUE(replay.agrees());
    EXPECT_EQ(replayed(recorded({})).decisions, 0U);
}

TEST(Recording, ASinkWritesDecisionsAsTheyAreMade) {
    const auto decisions = some_decisions();
    std::ostringstream out;
    RecordingWriter writer(out, name, Settings{});
    RecordedPolicy<Adder> policy([&writer](const Decision<Adder>& one) { writer.write(one); },
                                 Settings{});
    std::size_t size = out.str().size();
    for (const auto& decision : decisions) {
        EXPECT_EQ(policy.on(decision.event, decision.now_s), decision.actions);
        EXPECT_GT(out.str().size(), std::exchange(size, out.str().size()));
    }
    EXPECT_TRUE(policy.decisions().empty()) << "they are written, not kept";
    EXPECT_EQ(out.str(), recorded(decisions));
}

// Every single action, changed in any one of its fields, is found where it is.
TEST(Recording, AChangedActionIsFound) {
    const auto decisions = some_decisions();
    long changed = 0;
    for (std::size_t i = 0; i < decisions.size(); ++i)
        for (std::size_t k = 0; k < decisions[i].actions.size(); ++k) {
            auto tampered = decisions;
            auto& action = tampered[i].actions[k];
            if (auto* begin = std::get_if<Begin>(&action))
                ++begin->work;
            else
                std::get<StartTimer>(action).after_s += 1e-9;
            const PolicyReplay replay = replayed(recorded(tampered));
            ASSERT_FALSE(replay.agrees());
            EXPECT_EQ(replay.difference->decision, i);
            EXPECT_EQ(replay.decisions, decisions.size()) << "all are counted";
            EXPECT_EQ(replay.difference->now, to_json(decisions[i].actions));
            ++changed;
        }
    EXPECT_GT(changed, 10);
}

TEST(Recording, OtherSettingsDecideOtherwise) {
    auto lines = lines_of(recorded(some_decisions()));
    lines[0] = R"({"format":1,"policy":"test/adder","settings":{"lucky":8}})";
    EXPECT_FALSE(replayed(joined(lines)).agrees());
}

TEST(Recording, ADifferenceIsExplained) {
    auto decisions = some_decisions();
    std::size_t i = 0;
    while (decisions[i].actions.size() < 2) ++i;
    const auto original = decisions;
    std::get<Begin>(decisions[i].actions[1]).weights.push_back(9);
    std::get<Begin>(decisions[i].actions[1]).why = "no reason";
    const auto found = first_difference(Adder(Settings{}), decisions);
    ASSERT_TRUE(found);
    const std::string says = explanation(decisions, *found);
    EXPECT_EQ(says, assay::explanation(*replayed(recorded(decisions)).difference));
    EXPECT_THAT(
        says, AllOf(HasSubstr("decision " + std::to_string(i + 1) + ", at"), HasSubstr("on idle:"),
                    HasSubstr("action 2 was  begin {"), HasSubstr("action 2 is   begin {"),
                    HasSubstr("why is absent, was \"no reason\""), HasSubstr("is absent, was 9.0"),
                    Not(HasSubstr("actions were taken"))))
        << says;
    // One more, and one fewer.
    decisions = original;
    decisions[i].actions.push_back(Stop{true, "enough"});
    EXPECT_THAT(
        assay::explanation(*replayed(recorded(decisions)).difference),
        AllOf(HasSubstr("action 3 was  stop {\"ok\":true,\"why\":\"enough\"}"),
              HasSubstr("action 3 is   nothing"), HasSubstr("3 actions were taken, 2 are now")));
    decisions[i].actions = {};
    EXPECT_THAT(assay::explanation(*replayed(recorded(decisions)).difference),
                AllOf(HasSubstr("action 1 was  nothing"), HasSubstr("action 1 is   start_timer"),
                      HasSubstr("0 actions were taken, 2 are now")));
}

TEST(Recording, APolicyThatThrowsNowIsADifference) {
    // The policy threw nothing when this was recorded: it was another policy.
    const std::vector<Decision<Adder>> decisions{{Asked{0, {Adder::forbidden - 7}, 0}, 1, {}},
                                                 {Timer{0}, 2, {}}};
    const PolicyReplay replay = replayed(recorded(decisions));
    ASSERT_FALSE(replay.agrees());
    EXPECT_EQ(replay.difference->decision, 1U);
    EXPECT_THAT(assay::explanation(*replay.difference),
                HasSubstr("now the policy throws \"it cannot be\""));
}

TEST(Recording, AnActionThatIsNotKnownAnyMoreIsADifference) {
    auto lines = lines_of(recorded({{Idle{}, 1, {}}}));
    lines[1] = R"({"actions":[{"type":"dance"}],"event":{"type":"idle"},"now_s":1.0})";
    const PolicyReplay replay = replayed(joined(lines));
    ASSERT_FALSE(replay.agrees());
    EXPECT_THAT(assay::explanation(*replay.difference), HasSubstr("action 1 was  dance"));
}

TEST(Recording, AnotherFormatOrPolicyIsRefused) {
    auto lines = lines_of(recorded(some_decisions()));
    const auto with_head = [&](const std::string& head) {
        lines[0] = head;
        return error_of([&] { replayed(joined(lines)); });
    };
    EXPECT_EQ(with_head(R"({"format":2,"policy":"test/adder","settings":{"lucky":7}})"),
              "the recording has format 2, this build reads format 1: replay it with the build "
              "that made it, or run the sample again");
    EXPECT_EQ(with_head(R"({"format":1,"policy":"test/router","settings":{"lucky":7}})"),
              "the recording is of the policy \"test/router\", not of \"test/adder\"");
    EXPECT_EQ(with_head(R"({"format":1,"policy":"test/adder","settings":{}})"),
              "line 1 of the recording: lucky: it is missing");
    EXPECT_EQ(with_head(R"({"format":1,"policy":"test/adder","settings":{"lucky":7,"x":1}})"),
              "line 1 of the recording: it has fields that this build does not know");
    EXPECT_THAT(with_head(R"({"policy":"test/adder"})"), HasSubstr("is no recording"));
    EXPECT_THAT(with_head("not json"),
                HasSubstr("line 1 of the recording: column 2: not valid JSON"));
    EXPECT_THAT(error_of([] { replayed(""); }), HasSubstr("is no recording"));
}

TEST(Recording, ADamagedLineIsNamed) {
    const auto lines = lines_of(recorded(some_decisions()));
    const auto with_line = [&](std::size_t i, const std::string& text) {
        auto damaged = lines;
        damaged[i] = text;
        return error_of([&] { replayed(joined(damaged)); });
    };
    EXPECT_THAT(with_line(3, "{\"event\":"),
                AllOf(HasSubstr("line 4 of the recording: column 10: not valid JSON: syntax error"),
                      HasSubstr("; was the recording cut off?")));
    EXPECT_THAT(
        with_line(3, "[]"),
        HasSubstr("line 4 of the recording: it is not a JSON object; was the recording cut"));
    EXPECT_THAT(with_line(1, "{}"), HasSubstr("line 2 of the recording: a decision has now_s"));
    EXPECT_THAT(with_line(2, R"({"event":{"type":"slept"}})"),
                HasSubstr("line 3 of the recording: type: one of asked, idle, timer was expected"));
    EXPECT_THAT(with_line(2, R"({"event":{"extra":1}})"),
                HasSubstr("line 3 of the recording: it has fields that this build does not know"));
    EXPECT_THAT(with_line(2, R"({"actions":[5]})"),
                HasSubstr("line 3 of the recording: a decision"));
    EXPECT_THAT(with_line(2, R"({"actions":{"a":{"type":"x"}}})"),
                HasSubstr("line 3 of the recording: a decision"));
    // Cut off in the middle of a line.
    const std::string text = joined(lines);
    EXPECT_THAT(error_of([&] { replayed(text.substr(0, text.size() - 3)); }),
                HasSubstr("was the recording cut off?"));
}

TEST(Recording, BytesThatAreNoUtf8AreReplaced) {
    const std::vector<Decision<Adder>> decisions{{Idle{}, 1, {Stop{false, "a\xff\xfe"}}}};
    std::istringstream in(recorded(decisions));
    const auto back = read_recording<Adder, Settings>(in, name).decisions;
    EXPECT_EQ(std::get<Stop>(back[0].actions[0]).why, "a\uFFFD\uFFFD");
}

}  // namespace
}  // namespace assay::drive
