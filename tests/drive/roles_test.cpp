// What workers of roles can do and what befalls them, the same on both clocks: paced across
// processes, and simulated.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "suite/drive/processes/process_driver.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"

namespace assay::drive {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

struct Note {
    std::string text;
    bool operator==(const Note&) const = default;
};
struct Abort {
    bool operator==(const Abort&) const = default;
};
ASSAY_MESSAGE(Note, "note", text)
ASSAY_MESSAGE(Abort, "abort")
ASSAY_URGENT(Abort)

struct Scene {
    std::vector<Role> roles;
    std::string faults{};
    std::vector<Offer> offers{};
    double notice_s = 0;
};

/// What happens, a line each: "2.500 note worker 1: hello".
class Watched {
  public:
    Watched(const Scene& setup, bool across_processes) {
        const FaultPlan faults = parse_fault_plan(setup.faults);
        if (across_processes) {
            ProcessOptions options;
            options.pace = Pace::steady;
            options.speed = 10;
            options.faults = faults;
            options.detect_s = 0.5;
            options.boot_s = 0.25;
            options.offers = setup.offers;
            options.notice_s = setup.notice_s;
            driver_ = std::make_unique<ProcessDriver>(setup.roles, options, recorder);
        } else {
            driver_ = std::make_unique<VirtualCluster>(
                setup.roles, time_, latencies_,
                VirtualOptions{faults, setup.offers, setup.notice_s}, recorder);
        }
        driver_->listen([this](const DriverEvent& event) {
            std::visit([this](const auto& one) { hear(one); }, event);
        });
    }
    Driver& driver() { return *driver_; }
    /// Until nothing can happen any more.
    std::vector<std::string> run() {
        while (driver_->turn()) {
        }
        return lines;
    }

    std::vector<std::string> lines;
    std::function<void(const DriverEvent&)> also;
    MemoryRecorder recorder;

  private:
    void add(const std::string& what) {
        lines.push_back(fmt::format("{:.3f} {}", driver_->now(), what));
    }
    void hear(const Said& said) {
        add(fmt::format("worker {}: {}", said.worker, said.message.to<Note>().text));
        if (also) also(said);
    }
    template <class E>
    void hear(const E& event) {
        nlohmann::json fields = to_message(event);
        const std::string type = fields["type"];
        fields.erase("type");
        if (fields.contains("more")) fields.erase("more");
        std::string text = type;
        for (const auto& [name, value] : fields.items()) text += " " + name + "=" + value.dump();
        add(text);
        if (also) also(event);
    }

    EventQueue time_;
    ConstantLatencies latencies_{0, 0.5, 0.25};
    std::unique_ptr<Driver> driver_;
};

std::vector<std::string> course(const Scene& setup, bool across_processes,
                                const std::function<void(Watched&)>& begin) {
    Watched watched(setup, across_processes);
    begin(watched);
    return watched.run();
}

/// The same on both clocks.
std::vector<std::string> both(const Scene& setup, const std::function<void(Watched&)>& begin) {
    auto virtually = course(setup, false, begin);
    EXPECT_EQ(course(setup, true, begin), virtually);
    return virtually;
}

Role role(const char* name, std::function<Protocol(Worker&)> protocol) {
    return {.name = name, .protocol = std::move(protocol)};
}

TEST(Roles, AreConfiguredAndToldApart) {
    const auto says = [](Worker& me) -> Protocol {
        me.say(Note{me.configuration<Note>().text});
        co_await me.receive();
    };
    Scene setup{.roles = {role("a", says), role("b", says)}};
    setup.roles[1].configure = [](const Spawn& spawn) {
        return to_json(Note{"by its role, " + spawn.instance});
    };
    EXPECT_THAT(both(setup,
                     [](Watched& watched) {
                         watched.driver().spawn({"a", ""}, to_json(Note{"given"}));
                         watched.driver().spawn({"b", "bee"});
                     }),
                ElementsAre("0.000 joined role=\"a\" worker=0",
                            "0.000 joined instance=\"bee\" role=\"b\" worker=1",
                            "0.000 worker 0: given", "0.000 worker 1: by its role, bee"));
    Watched watched(setup, false);
    EXPECT_THROW(watched.driver().spawn({"c", ""}), UserError);
    watched.driver().spawn({"b", "bee"});
    EXPECT_THROW(watched.driver().spawn({"b", "bee"}), UserError);
}

TEST(Roles, PollAndWorkThatAMessageEnds) {
    const Scene setup{.roles = {role("", [](Worker& me) -> Protocol {
                          for (int i = 0; i < 3; ++i) {
                              co_await me.work(1);
                              const auto message = me.poll();
                              me.say(Note{message ? message->to<Note>().text : "nothing"});
                          }
                          while (!co_await me.work_until_message(2.5)) {
                              const auto message = co_await me.receive();
                              me.say(Note{"early: " + message->to<Note>().text});
                          }
                          me.say(Note{"at last"});
                          co_await me.receive();
                      })}};
    const auto lines = both(setup, [](Watched& watched) {
        watched.driver().spawn({});
        watched.also = [&watched, told = 0](const DriverEvent& event) mutable {
            if (std::holds_alternative<Joined>(event)) watched.driver().start(StartTimer{1, 1.5});
            if (std::holds_alternative<Timer>(event) && ++told == 1) {
                watched.driver().send(0, Note{"one"});
                watched.driver().start(StartTimer{2, 2.25});
            } else if (std::holds_alternative<Timer>(event)) {
                watched.driver().send(0, Note{"two"});
            }
        };
    });
    EXPECT_THAT(lines,
                ElementsAre("0.000 joined worker=0", "1.000 worker 0: nothing", "1.500 timer id=1",
                            "2.000 worker 0: one", "3.000 worker 0: nothing", "3.750 timer id=2",
                            "3.750 worker 0: early: two", "6.250 worker 0: at last"));
}

TEST(Roles, GoOnBesideWhatIsLoaded) {
    const Scene setup{.roles = {role("", [](Worker& me) -> Protocol {
                          auto loaded = std::make_shared<int>(0);
                          me.beside(
                              2.5, [loaded] { *loaded = 7; }, Note{"loaded"});
                          for (int i = 0; i < 4; ++i) {
                              co_await me.work(1);
                              if (const auto message = me.poll())
                                  me.say(Note{message->to<Note>().text + std::to_string(*loaded)});
                              else
                                  me.say(Note{"a step"});
                          }
                          co_await me.receive();
                      })}};
    EXPECT_THAT(
        both(setup, [](Watched& watched) { watched.driver().spawn({}); }),
        ElementsAre("0.000 joined worker=0", "1.000 worker 0: a step", "2.000 worker 0: a step",
                    "3.000 worker 0: loaded7", "4.000 worker 0: a step"));
}

/// Three that do something together, twice.
Role together_role() {
    return role("", [](Worker& me) -> Protocol {
        const Group group{1, {0, 1, 2}};
        me.urgent([](const AnyMessage&) {});
        for (long step = 0; step < 2; ++step) {
            co_await me.work(1 + 0.25 * me.id());
            co_await me.point("step", step);
            const Together how = co_await me.together(group, 0.5);
            me.say(Note{how == Together::done     ? "done"
                        : how == Together::broken ? "broken"
                                                  : "aborted"});
            if (how != Together::done) break;
        }
        while (co_await me.receive()) {
        }
    });
}
void spawn_three(Watched& watched) {
    for (int i = 0; i < 3; ++i) watched.driver().spawn({});
}

TEST(Roles, DoTogetherWhatTheSlowestAllows) {
    const auto lines = both({.roles = {together_role()}}, spawn_three);
    EXPECT_THAT(lines, Contains("2.000 worker 0: done"));
    EXPECT_THAT(lines, Contains("2.000 worker 2: done"));
    EXPECT_THAT(lines, Contains("4.000 worker 1: done"));
}

TEST(Roles, WhatIsDoneTogetherBreaksWhereOneDies) {
    const auto lines =
        both({.roles = {together_role()}, .faults = "kill:rank=2@step=1"}, spawn_three);
    EXPECT_THAT(lines, Contains("4.000 died worker=2"));
    EXPECT_THAT(lines, Contains("4.000 worker 0: broken"));
    EXPECT_THAT(lines, Contains("4.000 worker 1: broken"));
}

TEST(Roles, WhatIsDoneTogetherIsAbortedByWhatIsUrgent) {
    const auto lines = both({.roles = {together_role()}}, [](Watched& watched) {
        spawn_three(watched);
        watched.driver().start(StartTimer{1, 1.375});  // two of three are there
        watched.also = [&watched](const DriverEvent& event) {
            if (!std::holds_alternative<Timer>(event)) return;
            for (const WorkerId worker : {0, 1}) watched.driver().send(worker, Abort{});
        };
    });
    EXPECT_THAT(lines, Contains("1.375 worker 0: aborted"));
    EXPECT_THAT(lines, Contains("1.375 worker 1: aborted"));
}

TEST(Roles, WhoComesAfterAnAbortFindsItAborted) {
    // Worker 2 is told as well, while it works, and turns away without waiting.
    const auto lines = both({.roles = {together_role()}}, [](Watched& watched) {
        spawn_three(watched);
        watched.driver().start(StartTimer{1, 1.375});
        watched.also = [&watched](const DriverEvent& event) {
            if (!std::holds_alternative<Timer>(event)) return;
            for (const WorkerId worker : {0, 1, 2}) watched.driver().send(worker, Abort{});
        };
    });
    EXPECT_THAT(lines, Contains("1.375 worker 0: aborted"));
    EXPECT_THAT(lines, Contains("1.500 worker 2: aborted"));
}

TEST(Roles, FaultsInsideCountWhenTheyAreAskedFor) {
    const auto asks = [](bool asks) {
        return role("", [asks](Worker& me) -> Protocol {
            for (long step = 0; step < 3; ++step) {
                co_await me.point("start", step);
                co_await me.work(1);
                const Strike strike = me.strike();
                if (asks && strike(FaultKind::nan)) me.say(Note{"not a number"});
                if (asks && me.struck(FaultKind::nan)) me.say(Note{"twice"});
            }
            co_await me.receive();
        });
    };
    for (const bool across_processes : {false, true})
        for (const bool taken : {false, true}) {
            Watched watched({.roles = {asks(taken)}, .faults = "nan:rank=0@step=1"},
                            across_processes);
            watched.driver().spawn({});
            EXPECT_EQ(watched.run().size(), taken ? 2U : 1U);
            EXPECT_EQ(watched.driver().faults_struck(), taken ? 1 : 0);
        }
}

TEST(Roles, FaultsFindTheirTargetsByRoleAndByInstance) {
    const auto waits = [](Worker& me) -> Protocol {
        while (co_await me.receive()) {
        }
    };
    const Scene setup{.roles = {role("a", waits), role("b", waits)},
                      .faults =
                          "kill:role=b,rank=1@t=1; kill:instance=x@t=2; "
                          "join:role=a,instance=z@t=3; kill:instance=z@t=4"};
    EXPECT_THAT(both(setup,
                     [](Watched& watched) {
                         watched.driver().spawn({"a", "x"});
                         watched.driver().spawn({"b", ""});
                         watched.driver().spawn({"b", ""});
                     }),
                testing::IsSupersetOf({"1.500 died worker=2", "2.500 died worker=0",
                                       "3.250 joined instance=\"z\" role=\"a\" worker=3",
                                       "4.500 died worker=3"}));
}

TEST(Roles, NamesAreOfferedAndTakenAway) {
    const auto waits = [](Worker& me) -> Protocol {
        while (co_await me.receive()) {
        }
    };
    const Scene setup{.roles = {role("spot", waits)},
                      .offers = {{"spot", "x", 1, 4}, {"spot", "y", 2}, {"spot", "x", 6}},
                      .notice_s = 1};
    const auto lines = both(setup, [](Watched& watched) {
        watched.also = [&watched](const DriverEvent& event) {
            if (const auto* offered = std::get_if<Offered>(&event))
                watched.driver().spawn({offered->role, offered->instance});
        };
    });
    EXPECT_THAT(lines,
                ElementsAre("1.000 offered instance=\"x\" role=\"spot\"",
                            "1.250 joined instance=\"x\" role=\"spot\" worker=0",
                            "2.000 offered instance=\"y\" role=\"spot\"",
                            "2.250 joined instance=\"y\" role=\"spot\" worker=1",
                            "3.000 revoked instance=\"x\" notice_s=1.0 role=\"spot\"",
                            "4.500 died worker=0", "6.000 offered instance=\"x\" role=\"spot\"",
                            "6.250 joined instance=\"x\" role=\"spot\" worker=2"));
}

TEST(Roles, ATraceOffersItsNodes) {
    AvailabilityTrace trace;
    trace.events = {{0, true, "a"}, {0, true, "b"},  {5, false, "a"},
                    {7, true, "c"}, {7, false, "c"}, {9, true, "a"}};
    const auto offers = offers_of(trace, "spot");
    ASSERT_EQ(offers.size(), 3U);
    EXPECT_EQ(offers[0].until_s, 5);
    EXPECT_EQ(offers[1].instance, "b");
    EXPECT_TRUE(std::isinf(offers[1].until_s));
    EXPECT_EQ(offers[2].from_s, 9);
    EXPECT_EQ(offers[2].role, "spot");
}

TEST(Roles, ADismissedWorkersNameIsFree) {
    const auto waits = [](Worker& me) -> Protocol {
        while (co_await me.receive()) {
        }
    };
    const auto lines = both({.roles = {role("", waits)}}, [](Watched& watched) {
        watched.driver().spawn({"", "x"});
        watched.driver().start(StartTimer{1, 1});
        watched.also = [&watched](const DriverEvent& event) {
            if (!std::holds_alternative<Timer>(event)) return;
            watched.driver().dismiss(0);
            watched.driver().spawn({"", "x"});
        };
    });
    EXPECT_THAT(lines, ElementsAre("0.000 joined instance=\"x\" worker=0", "1.000 timer id=1",
                                   "1.250 joined instance=\"x\" worker=1"));
}

TEST(Roles, WithoutWorkersOneIsIdleUnlessSomeWillCome) {
    const auto waits = [](Worker& me) -> Protocol { co_await me.receive(); };
    EXPECT_THAT(both({.roles = {role("", waits)}}, [](Watched&) {}), ElementsAre("0.000 idle"));
    EXPECT_THAT(both({.roles = {role("", waits)}, .faults = "join:count=1@t=2; kill:rank=0@t=3"},
                     [](Watched&) {}),
                ElementsAre("2.250 joined worker=0", "3.500 died worker=0", "3.500 idle"));
    EXPECT_THAT(both({.roles = {role("", waits)}, .offers = {{"", "x", 1, 2}}}, [](Watched&) {}),
                ElementsAre("1.000 offered instance=\"x\" role=\"\"", "1.000 idle",
                            "2.000 revoked instance=\"x\" notice_s=0.0 role=\"\""));
}

TEST(Roles, ANameThatIsNotOfferedStartsNoWorker) {
    const auto waits = [](Worker& me) -> Protocol { co_await me.receive(); };
    const Scene setup{.roles = {role("", waits)}, .offers = {{"", "x", 1, 2}}};
    EXPECT_THAT(both(setup,
                     [](Watched& watched) {
                         watched.driver().start(StartTimer{1, 3});
                         watched.also = [&watched](const DriverEvent& event) {
                             if (std::holds_alternative<Timer>(event))
                                 watched.driver().spawn({"", "x"});
                         };
                     }),
                testing::IsSupersetOf({"3.500 died worker=0", "3.500 idle"}));
}

// ---- transfers ----------------------------------------------------------------------------------

constexpr std::uint64_t object_bytes = 100'000;

/// Says, when asked, what its bytes are.
Role receiver() {
    Role one = role("receiver", [](Worker& me) -> Protocol {
        const Bytes place = Bytes::zeros(object_bytes);
        me.accept("object", place);
        while (co_await me.receive()) {
            const auto bytes = place.view();
            const auto written = std::count(bytes.begin(), bytes.end(), std::byte{7});
            me.say(Note{fmt::format("{} bytes", written)});
        }
    });
    one.nic.receive_bytes_s = 50'000;
    return one;
}
Role sender() {
    Role one = role("sender", [](Worker& me) -> Protocol {
        me.offer("object", Bytes::of(std::vector<std::byte>(object_bytes, std::byte{7})));
        while (co_await me.receive()) {
        }
    });
    one.nic.send_bytes_s = 80'000;
    return one;
}
/// At the beginning: ranges of the object, from worker 0 to others; asked for when they end.
std::function<void(Watched&)> transfers(const std::vector<Transfer>& all) {
    return [all](Watched& watched) {
        watched.driver().spawn({"sender", ""});
        watched.driver().spawn({"receiver", ""});
        watched.driver().spawn({"receiver", ""});
        watched.driver().start(StartTimer{1, 1});
        watched.driver().start(StartTimer{2, 1.001});  // after what breaks at 1 s
        watched.also = [&watched, all](const DriverEvent& event) {
            if (const auto* timer = std::get_if<Timer>(&event); timer && timer->id == 1)
                for (const Transfer& transfer : all) watched.driver().start(transfer);
            if (const auto* arrived = std::get_if<Arrived>(&event)) {
                const Transfer& transfer = all.at(arrived->id - 1);
                if (transfer.bytes > 0) watched.driver().send(transfer.to, Note{});
            }
        };
    };
}

TEST(Roles, TransfersTakeWhatTheirPortsAllow) {
    const auto lines =
        both({.roles = {sender(), receiver()}}, transfers({{1, 0, 1, "object", 0, 40'000},
                                                           {2, 0, 2, "object", 60'000, 40'000},
                                                           {3, 0, 1, "object", 50'000, 0}}));
    // 80 kB at 80 kB/s, shared by two.
    EXPECT_THAT(lines,
                testing::IsSupersetOf({"1.000 arrived id=3", "2.000 arrived id=1",
                                       "2.000 arrived id=2", "2.000 worker 1: 40000 bytes"}));
}

TEST(Roles, TransfersThatCannotBeBreak) {
    const auto lines =
        both({.roles = {sender(), receiver()}}, transfers({{1, 0, 1, "object", 90'000, 20'000},
                                                           {2, 0, 1, "another", 0, 9'000},
                                                           {3, 1, 2, "object", 0, 9'000}}));
    EXPECT_THAT(lines,
                testing::IsSupersetOf({"1.000 broken done=0 id=1", "1.000 broken done=0 id=2",
                                       "1.000 broken done=0 id=3"}));
}

TEST(Roles, ATransferToWhoAcceptsNothingBreaks) {
    const auto deaf = [](Worker& me) -> Protocol { co_await me.receive(); };
    for (const bool across_processes : {false, true}) {
        const auto lines = course({.roles = {sender(), role("receiver", deaf)}}, across_processes,
                                  transfers({{1, 0, 1, "object", 0, 10}}));
        EXPECT_THAT(lines, Contains(testing::HasSubstr("broken done=0 id=1")));
    }
}

TEST(Roles, TransfersEndWithTheirSender) {
    for (int tenth = 0; tenth < 10; ++tenth) {
        // 100 kB at 50 kB/s, from 1 s on.
        const auto lines =
            course({.roles = {sender(), receiver()},
                    .faults = fmt::format("kill:rank=0@t={}", 1.01 + 0.2 * tenth)},
                   tenth % 3 == 0, transfers({{1, 0, 1, "object", 0, object_bytes}}));
        const auto broken = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
            return line.find("broken") != std::string::npos;
        });
        ASSERT_NE(broken, lines.end()) << tenth;
        const auto done = std::stoul(broken->substr(broken->find("done=") + 5));
        EXPECT_NEAR(static_cast<double>(done), 500 + 10'000 * tenth, 2);
    }
}

TEST(Roles, LinksOfTransfersAreStruck) {
    const Scene setup{.roles = {sender(), receiver()},
                      .faults =
                          "link:rank=0,peer=1,bandwidth=10000@t=0.5; "
                          "corrupt:rank=0,target=message@t=2"};
    const auto lines =
        both(setup, transfers({{1, 0, 1, "object", 0, 20'000}, {2, 0, 2, "object", 0, 20'000}}));
    EXPECT_THAT(lines,
                testing::IsSupersetOf({"1.400 arrived id=2", "3.000 broken done=10000 id=1"}));
}

}  // namespace
}  // namespace assay::drive
