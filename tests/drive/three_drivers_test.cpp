// One policy and one worker under the real, the paced and the simulated driver: what happens to
// workers reaches the policy in the same words, and paced and simulated agree on when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "suite/drive/processes/process_policy.hpp"
#include "suite/drive/simulated/simulated_policy.hpp"

namespace assay::drive {
namespace {

struct WorkOrder {
    WorkerId worker = -1;
    int number = 0;
    double seconds = 0;
    bool operator==(const WorkOrder&) const = default;
};
struct Finished {
    WorkerId worker = -1;
    int number = 0;
    bool operator==(const Finished&) const = default;
};
ASSAY_MESSAGE(WorkOrder, "order", worker, number, seconds)
ASSAY_MESSAGE(Finished, "finished", worker, number)

struct Plan {
    int orders = 12;
    double seconds = 1;     ///< of order n: this and a tenth for each n modulo 5
    double evict_at_s = 0;  ///< worker 0; 0: never
    bool waits_for_ever = false;
    WorkerId stranger = -1;  ///< an order of "-1 seconds" makes this worker throw
};

/// Gives everyone one order after the other; an order of a lost worker is given again. Notes what
/// it was told.
class Foreman {
  public:
    using Event = std::variant<Joined, Died, LeaveRequested, Timer, Idle, Finished>;
    using Action = std::variant<WorkOrder, StartTimer, Evict, Stop>;

    explicit Foreman(Plan plan) : plan_(plan) {
        for (int i = 0; i < plan.orders; ++i) open_.insert(i);
    }
    void on(const Event& event, double, std::vector<Action>& actions) {
        std::visit([&](const auto& one) { handle(one, actions); }, event);
        for (WorkerId worker : std::set<WorkerId>(free_)) {
            if (open_.empty()) break;
            const int number = *open_.begin();
            open_.erase(open_.begin());
            free_.erase(worker);
            given_[worker] = number;
            const double seconds =
                worker == plan_.stranger ? -1 : plan_.seconds + 0.1 * (number % 5);
            actions.push_back(WorkOrder{worker, number, seconds});
        }
    }

  private:
    void handle(const Joined& joined, std::vector<Action>& actions) {
        free_.insert(joined.worker);
        if (joined.worker == 0 && plan_.evict_at_s > 0)
            actions.push_back(StartTimer{7, plan_.evict_at_s});
    }
    void handle(const Timer& timer, std::vector<Action>& actions) {
        if (timer.id == 7) actions.push_back(Evict{0, "for a test"});
    }
    void handle(const Finished& finished, std::vector<Action>& actions) {
        given_.erase(finished.worker);
        if (!leaving_.contains(finished.worker)) free_.insert(finished.worker);
        if (++finished_ == plan_.orders) actions.push_back(Stop{true, "done"});
    }
    void handle(const Died& died, std::vector<Action>&) {
        free_.erase(died.worker);
        if (const auto lost = given_.extract(died.worker)) open_.insert(lost.mapped());
    }
    void handle(const LeaveRequested& leave, std::vector<Action>&) {
        leaving_.insert(leave.worker);
        free_.erase(leave.worker);
    }
    void handle(const Idle&, std::vector<Action>& actions) {
        if (!plan_.waits_for_ever) actions.push_back(Stop{false, "nobody is left"});
    }

    Plan plan_;
    int finished_ = 0;
    std::set<int> open_;
    std::set<WorkerId> free_, leaving_;
    std::map<WorkerId, int> given_;
};

Protocol worker(Worker& me) {
    while (const auto message = co_await me.receive()) {
        const auto order = message_to<WorkOrder>(*message);
        if (order.seconds < 0) throw std::runtime_error("an order that cannot be carried out");
        co_await me.work(order.seconds);
        me.say(Finished{me.id(), order.number});
    }
}

constexpr double detect_s = 0.4;
constexpr int workers = 3;

struct Driven {
    PolicyCourse<Foreman> course;
    MemoryRecorder recorder;

    template <class E>
    long told() const {
        return std::count_if(course.decisions.begin(), course.decisions.end(),
                             [](const auto& one) { return std::holds_alternative<E>(one.event); });
    }
    long events(std::string_view kind) const {
        return std::count_if(recorder.events.begin(), recorder.events.end(),
                             [&](const auto& event) { return event.kind == kind; });
    }
    bool each_order_once() const {
        std::set<int> numbers;
        for (const auto& one : course.decisions)
            if (const auto* done = std::get_if<Finished>(&one.event))
                if (!numbers.insert(done->number).second) return false;
        return numbers.size() == 12;
    }
};

Driven run(Pace pace, const Plan& plan, const std::string& faults) {
    Driven driven;
    ProcessOptions options;
    options.faults = parse_fault_plan(faults);
    options.pace = pace;
    options.speed = pace == Pace::real ? 1 : 10;
    ProcessPolicy<Foreman> driver(Foreman(plan), cluster::make_fork_server(process_of(worker)),
                                  options, detect_s, driven.recorder);
    driven.course = driver.run(workers);
    return driven;
}

Driven simulate(const Plan& plan, const std::string& faults) {
    Driven driven;
    EventQueue time;
    ConstantLatencies latencies(0, detect_s);
    SimulatedPolicy<Foreman> driver(Foreman(plan), worker, time, latencies, driven.recorder);
    driven.course = driver.run(workers, parse_fault_plan(faults));
    return driven;
}

struct Case {
    const char* name;
    const char* faults;
    long deaths = 0, joins = workers, leaves = 0;
};

class ThreeDrivers : public testing::TestWithParam<Case> {};

TEST_P(ThreeDrivers, PacedAndSimulatedTellThePolicyTheSame) {
    const auto& one = GetParam();
    const auto paced = run(Pace::steady, {}, one.faults), simulated = simulate({}, one.faults);
    for (const Driven* driven : {&paced, &simulated}) {
        EXPECT_TRUE(driven->course.ok) << driven->course.why;
        EXPECT_TRUE(driven->each_order_once());
        EXPECT_EQ(driven->told<Died>(), one.deaths);
        EXPECT_EQ(driven->told<Joined>(), one.joins);
        EXPECT_EQ(driven->told<LeaveRequested>(), one.leaves);
        EXPECT_FALSE(first_difference(Foreman(Plan{}), driven->course.decisions));
    }
    EXPECT_NEAR(paced.course.ended_s, simulated.course.ended_s, 0.05 * simulated.course.ended_s);
}

INSTANTIATE_TEST_SUITE_P(
    Faults, ThreeDrivers,
    testing::Values(Case{"Nothing", ""}, Case{"Kill", "kill:rank=1@t=1.5", 1},
                    Case{"Hang", "hang:rank=2@t=1.5", 1},
                    Case{"ShortHang", "hang:rank=2@t=1.5,for=0.3"},
                    Case{"Join", "join:count=2@t=1.5", 0, workers + 2},
                    Case{"Leave", "stop:rank=0@t=1.5", 0, workers, 1},
                    Case{"Slow", "slow:rank=0,factor=2@t=0.5"},
                    Case{"KillAndJoin", "kill:rank=0@t=1.5; join:count=1@t=2.5", 1, workers + 1}),
    [](const auto& info) { return info.param.name; });

TEST(RealDriver, KillsAndJoinsReachThePolicy) {
    const Plan quick{.seconds = 0};  // orders take no time here: real work is what is really done
    const auto driven = run(Pace::real, quick, "");
    EXPECT_TRUE(driven.course.ok) << driven.course.why;
    EXPECT_TRUE(driven.each_order_once());
}

TEST(RealDriver, AWorkerThatThrowsHasDied) {
    const auto driven = run(Pace::real, {.stranger = 1}, "");
    EXPECT_TRUE(driven.course.ok) << driven.course.why;
    EXPECT_EQ(driven.told<Died>(), 1);
    EXPECT_TRUE(driven.each_order_once());
    for (const auto& event : driven.recorder.events) {
        if (event.kind != "death") continue;
        EXPECT_THAT(event.detail.at("how").get<std::string>(),
                    testing::HasSubstr("cannot be carried out"));
    }
}

TEST(SimulatedDriver, AWorkerThatThrowsHasDied) {
    const auto driven = simulate({.stranger = 1}, "");
    EXPECT_TRUE(driven.course.ok) << driven.course.why;
    EXPECT_EQ(driven.told<Died>(), 1);
    EXPECT_TRUE(driven.each_order_once());
}

TEST(EveryDriver, EvictsAfterATimer) {
    const Plan plan{.evict_at_s = 1.5};
    const auto paced = run(Pace::steady, plan, ""), simulated = simulate(plan, "");
    for (const Driven* driven : {&paced, &simulated}) {
        EXPECT_TRUE(driven->course.ok) << driven->course.why;
        EXPECT_EQ(driven->told<Timer>(), 1);
        EXPECT_EQ(driven->told<Died>(), 1);
        EXPECT_EQ(driven->events("evict"), 1);
        EXPECT_TRUE(driven->each_order_once());
    }
    EXPECT_NEAR(paced.course.ended_s, simulated.course.ended_s, 0.05 * simulated.course.ended_s);
}

TEST(EveryDriver, SaysWhenNobodyCanCome) {
    const char* all = "kill:rank=0@t=0.5; kill:rank=1@t=0.5; kill:rank=2@t=0.6";
    const auto paced = run(Pace::steady, {}, all), simulated = simulate({}, all);
    for (const Driven* driven : {&paced, &simulated}) {
        EXPECT_FALSE(driven->course.ok);
        EXPECT_EQ(driven->course.why, "nobody is left");
        EXPECT_EQ(driven->told<Idle>(), 1);
    }
}

TEST(EveryDriver, EndsAPolicyThatWaitsForWhatCannotCome) {
    const Plan plan{.waits_for_ever = true};
    const char* all = "kill:rank=0@t=0.5; kill:rank=1@t=0.5; kill:rank=2@t=0.6";
    for (const auto& driven : {run(Pace::steady, plan, all), simulate(plan, all)}) {
        EXPECT_FALSE(driven.course.ok);
        EXPECT_EQ(driven.course.why, "the policy waits for what cannot come");
        EXPECT_EQ(driven.told<Idle>(), 1);
    }
}

TEST(SimulatedDriver, IsAFunctionOfItsInputs) {
    const char* faults = "kill:rank=1@t=1.5; join:count=2@t=1.5; slow:rank=0,factor=2@t=0.5";
    const auto once = simulate({}, faults), again = simulate({}, faults);
    ASSERT_EQ(once.course.decisions.size(), again.course.decisions.size());
    for (std::size_t i = 0; i < once.course.decisions.size(); ++i) {
        EXPECT_EQ(once.course.decisions[i].now_s, again.course.decisions[i].now_s);
        EXPECT_EQ(once.course.decisions[i].event, again.course.decisions[i].event);
    }
}

TEST(SimulatedDriver, RefusesWhatItCannotDo) {
    EXPECT_THROW(simulate({}, "nan:rank=1@t=3"), NotSupportedHere);
    EXPECT_THROW(simulate({}, "kill:rank=1@step=3"), NotSupportedHere);
}

}  // namespace
}  // namespace assay::drive
