// A run whose driver is killed after any decision goes on from its journal as if nothing had
// happened; whatever else is wrong with a journal is said in a sentence.
#include "suite/drive/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <sstream>

#include "suite/base/error.hpp"
#include "suite/base/process.hpp"
#include "tests/drive/random_message.hpp"

namespace assay::drive {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Said {
    WorkerId worker = -1;
    long number = 0;
    std::string text;
    bool operator==(const Said&) const = default;
};
struct Ask {
    WorkerId worker = -1;
    long number = 0;
    std::optional<std::string> why;
    bool operator==(const Ask&) const = default;
};
struct Settings {
    std::uint64_t seed = 1;
    std::vector<double> delays_s{0, 0.5, 1, 2.5};
};
ASSAY_MESSAGE(Said, "said", worker, number, text)
ASSAY_MESSAGE(Ask, "ask", worker, number, why)
ASSAY_FIELDS(Settings, seed, delays_s)

/// Whatever it does depends on all that it was ever told.
class Toy {
  public:
    using Event = std::variant<Joined, Said, Timer>;
    using Action = std::variant<Ask, StartTimer, Stop>;

    explicit Toy(Settings settings) : settings_(std::move(settings)), state_(settings_.seed) {}

    void on(const Event& event, double now_s, std::vector<Action>& actions) {
        const std::string told = to_message(event).dump() + to_json(now_s).dump();
        for (const char byte : told) state_ = (state_ ^ static_cast<unsigned char>(byte)) * prime;
        heard_ += !std::holds_alternative<Timer>(event);
        for (auto left = below(4); left > 0; --left)
            if (below(2))
                actions.push_back(
                    Ask{static_cast<int>(below(3)), static_cast<long>(below(10)), {}});
            else if (timers_ < 60)  // the same number again and again
                actions.push_back(StartTimer{timers_++ % 3, settings_.delays_s[below(4)]});
    }

    std::size_t heard() const { return heard_; }  ///< events from outside

  private:
    static constexpr std::uint64_t prime = 1099511628211U;
    std::uint64_t below(std::uint64_t n) {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return (state_ >> 33U) % n;
    }

    Settings settings_;
    std::uint64_t state_, timers_ = 0;
    std::size_t heard_ = 0;
};

constexpr const char* name = "test/toy";
using Decisions = std::vector<Decision<Toy>>;

/// The least that a driver is: what happens outside comes at its time, timers when they are due.
class World {
  public:
    World(const Settings& settings, std::size_t heard) {
        std::mt19937_64 random(settings.seed);
        double at_s = 0;
        for (std::size_t i = 0; i < 40; ++i) {
            at_s += static_cast<double>(random() % 4) / 4;
            const int worker = static_cast<int>(random() % 3);
            const Toy::Event event = i < 3 ? Toy::Event(Joined{static_cast<int>(i), i < 2})
                                           : Said{worker, long(random() % 5), "ü\n"};
            if (i >= heard) happens_.emplace(at_s, event);
        }
    }
    void start(const PendingTimer& timer) { happens_.emplace(timer.due_s, Timer{timer.id}); }
    void carry_out(const std::vector<Toy::Action>& actions, double now_s) {
        for (const auto& action : actions)
            if (const auto* timer = std::get_if<StartTimer>(&action))
                start({timer->id, now_s + timer->after_s});
    }
    /// At most so many decisions; returns whether there may be more.
    bool run(RecordedPolicy<Toy>& policy, long most = 1'000'000) {
        while (!happens_.empty() && most-- > 0) {
            const auto [now_s, event] = *happens_.begin();
            happens_.erase(happens_.begin());
            carry_out(policy.on(event, now_s), now_s);
        }
        return !happens_.empty();
    }

  private:
    std::multimap<double, Toy::Event> happens_;
};

Decisions undisturbed(const Settings& settings) {
    RecordedPolicy<Toy> policy(true, settings);
    World(settings, 0).run(policy);
    return policy.decisions();
}

RestoredPolicy<Toy> restored_from(const std::string& text, const Settings& settings = {}) {
    std::istringstream in(text);
    return restored<Toy>(in, name, settings);
}

World world_after(const RestoredPolicy<Toy>& was, const Settings& settings = {}) {
    World world(settings, was.policy.heard());
    for (const auto& timer : was.timers) world.start(timer);
    world.carry_out(was.last_actions, was.now_s);
    return world;
}

class JournalTest : public ::testing::Test {
  protected:
    JournalTest() {
        std::string pattern = (fs::temp_directory_path() / "assay-journal-XXXXXX").string();
        folder = ::mkdtemp(pattern.data());
        path = folder / "decisions.jsonl";
    }
    ~JournalTest() override { fs::remove_all(folder); }

    std::string content() const {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void fill(const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }
    Journal continued(const Settings& settings = {}) const {
        return Journal::continued(path, name, settings);
    }

    fs::path folder, path;
};

std::string error_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

TEST_F(JournalTest, IsTheRecordingAsItIsMade) {
    Journal journal(path, name, Settings{});
    Decisions made;
    RecordedPolicy<Toy> policy(
        [&](const Decision<Toy>& one) {
            journal.append(one);
            made.push_back(one);
            ASSERT_EQ(content(), recording_text(name, Settings{}, made));
        },
        Settings{});
    World(Settings{}, 0).run(policy);
    journal.sync();
    EXPECT_GT(made.size(), 60U);
    std::istringstream in(content());
    EXPECT_TRUE((replay_policy<Toy, Settings>(in, name).agrees()));
}

TEST_F(JournalTest, GoesOnTheSameAfterAnyDecision) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const Settings settings{.seed = seed};
        const Decisions all = undisturbed(settings);
        for (std::size_t k = 0; k <= all.size(); ++k) {
            const Decisions before(all.begin(), all.begin() + static_cast<long>(k));
            auto was = restored_from(recording_text(name, settings, before), settings);
            ASSERT_EQ(was.decisions, k);
            ASSERT_EQ(was.now_s, k ? before.back().now_s : 0);
            ASSERT_EQ(was.last_actions, k ? before.back().actions : std::vector<Toy::Action>());
            World world = world_after(was, settings);
            RecordedPolicy<Toy> policy(true, std::move(was.policy));
            world.run(policy);
            ASSERT_EQ(policy.decisions(), Decisions(all.begin() + static_cast<long>(k), all.end()));
        }
    }
}

// One run by as many processes as it has decisions: each is killed by SIGKILL between a decision
// and its actions.
TEST_F(JournalTest, SurvivesAKillAfterEveryDecision) {
    const Decisions all = undisturbed({});
    const auto one_decision = [&] {
        std::ifstream file(path);
        auto was = restored<Toy>(file, name, Settings{});
        Journal journal = continued();
        World world = world_after(was);
        RecordedPolicy<Toy> policy(
            [&](const Decision<Toy>& one) {
                journal.append(one);
                ::raise(SIGKILL);
            },
            std::move(was.policy));
        world.run(policy);
        return 0;
    };
    fill("");
    for (std::size_t k = 0; k < all.size(); ++k)
        ASSERT_EQ(Process::forked(one_decision).wait().signal, SIGKILL) << k;
    ASSERT_TRUE(Process::forked(one_decision).wait().ok()) << "nothing more happens";
    EXPECT_EQ(content(), recording_text(name, Settings{}, all));
}

// Whatever part of a journal reached the file: its whole lines are restored, and the rest of the
// run makes it the whole journal.
TEST_F(JournalTest, ATornLineIsDroppedAtEveryLength) {
    Decisions all = undisturbed({});
    all.resize(6);
    const std::string text = recording_text(name, Settings{}, all);
    for (std::size_t length = 0; length <= text.size(); ++length) {
        const std::string part = text.substr(0, length);
        const auto lines = static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
        const std::size_t decisions = lines ? lines - 1 : 0;
        ASSERT_EQ(restored_from(part).decisions, decisions) << length;
        fill(part);
        Journal journal = continued();
        for (std::size_t i = decisions; i < all.size(); ++i) journal.append(all[i]);
        ASSERT_EQ(content(), text) << length;
    }
}

TEST_F(JournalTest, DamageInFrontOfTheLastLineIsRefused) {
    Decisions all = undisturbed({});
    all.resize(12);
    const std::string text = recording_text(name, Settings{}, all);
    std::size_t line = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        std::string damaged = text;
        damaged.erase(end - 1, 1);
        const auto says = AllOf(HasSubstr("line " + std::to_string(++line) + " of the recording"),
                                HasSubstr("not valid JSON"));
        EXPECT_THAT(error_of([&] { restored_from(damaged); }), says);
        fill(damaged);
        EXPECT_THAT(error_of([&] { continued(); }), AllOf(HasSubstr(path.string()), says));
        EXPECT_EQ(content(), damaged) << "what cannot be read is left alone";
        begin = end + 1;
    }
    EXPECT_EQ(line, 13U) << "the last one too: its '\\n' says that it was whole";
}

TEST_F(JournalTest, AnotherRunsIsRefused) {
    fill(recording_text(name, Settings{.seed = 4}, Decisions{}));
    const auto says = HasSubstr("a run with other settings: seed is 1, was 4; use those");
    EXPECT_THAT(error_of([&] { restored_from(content()); }), says);
    EXPECT_THAT(error_of([&] { continued(); }), says);
    EXPECT_EQ(error_of([&] { continued({.seed = 4}); }), "no error");
    EXPECT_THAT(error_of([&] { continued({.seed = 4, .delays_s = {0}}); }),
                HasSubstr("delays_s/1 is absent, was 0.5; delays_s/2 is absent, was 1.0"));
    EXPECT_THAT(error_of([&] { Journal::continued(path, "test/other", Settings{}); }),
                HasSubstr("is of the policy \"test/toy\", not of \"test/other\""));
}

TEST_F(JournalTest, APolicyThatDecidesOtherwiseIsRefused) {
    Decisions all = undisturbed({});
    std::size_t i = 5;
    while (all[i].actions.empty()) ++i;
    all[i].actions.pop_back();
    EXPECT_THAT(error_of([&] { restored_from(recording_text(name, Settings{}, all)); }),
                AllOf(HasSubstr("decides otherwise than the journal says"),
                      HasSubstr("\ndecision " + std::to_string(i + 1) + ", at")));
}

TEST_F(JournalTest, AnEmptyOneHasNothingToRestore) {
    const auto was = restored_from("");
    EXPECT_EQ(was.decisions, 0U);
    EXPECT_TRUE(was.last_actions.empty());
    std::ifstream missing(path), no_file(folder);
    EXPECT_EQ(error_of([&] { restored<Toy>(missing, name, Settings{}); }),
              "the journal cannot be read");
    EXPECT_THAT(error_of([&] { restored<Toy>(no_file, name, Settings{}); }),
                HasSubstr("the journal cannot be read"));
}

TEST_F(JournalTest, WritesOverNothing) {
    const auto begin = [this] { Journal(path, name, Settings{}); };
    EXPECT_THAT(error_of([&] { continued(); }), HasSubstr("there is no journal "));
    fill("notes");  // no '\n' in it, but no journal either
    EXPECT_THAT(error_of(begin), HasSubstr("has something in it"));
    EXPECT_THAT(error_of([&] { continued(); }), HasSubstr("this is no journal of the policy"));
    EXPECT_EQ(content(), "notes");
    fill("");
    EXPECT_EQ(error_of(begin), "no error");
    EXPECT_THAT(error_of(begin), HasSubstr("has something in it")) << "a journal, now";
    path = folder / "missing" / "file";
    EXPECT_THAT(error_of(begin), HasSubstr("does not exist"));
    path = folder;
    EXPECT_THAT(error_of(begin), HasSubstr("is no file that can be a journal"));
}

// A limit on the file's size cuts a write short as a full disk does, at any byte.
TEST_F(JournalTest, AFullDiskLeavesWholeLines) {
    const Decisions all = undisturbed({});
    const auto fill_up = [&](rlim_t bytes) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{bytes, bytes};
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
        Journal journal(path, name, Settings{});
        std::size_t appended = 0;
        const std::string error = error_of([&] {
            for (; appended < all.size(); ++appended) journal.append(all[appended]);
        });
        if (error.find("cannot be written: File too large; it ends with") == error.npos) return 3;
        if (restored_from(content()).decisions != appended || content().back() != '\n') return 4;
        try {
            journal.append(all[appended]);
            return 5;
        } catch (const std::logic_error&) {
            return 0;
        }
    };
    for (rlim_t bytes = 400; bytes < 600; bytes += 7) {
        EXPECT_EQ(Process::forked([&] { return fill_up(bytes); }).wait().code, 0) << bytes;
        fs::remove(path);
    }
}

// Whatever decisions, in however many pieces they are written.
TEST_F(JournalTest, AnyDecisionsComeBack) {
    assay::testing::RandomMessages random(3);
    std::mt19937 draw(3);
    for (int round = 0; round < 100; ++round) {
        Journal journal(path, name, Settings{});
        Decisions decisions;
        for (auto left = draw() % 20; left > 0; --left) {
            if (draw() % 4 == 0) journal = continued();
            decisions.push_back({random.make<Toy::Event>(), random.make<double>(),
                                 random.make<std::vector<Toy::Action>>()});
            journal.append(decisions.back());
        }
        ASSERT_EQ(content(), recording_text(name, Settings{}, decisions));
        std::istringstream in(content());
        ASSERT_EQ((read_recording<Toy, Settings>(in, name).decisions), decisions);
        fs::remove(path);
    }
}

}  // namespace
}  // namespace assay::drive
