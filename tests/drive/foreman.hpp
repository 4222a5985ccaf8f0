// A policy and its workers under whatever driver: for tests of drivers.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "suite/drive/policy_run.hpp"
#include "suite/drive/processes/process_driver.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"

namespace assay::drive {

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
    double seconds = 1;     ///< of order n: this, a tenth for each n modulo 5, and a bit of its own
    double evict_at_s = 0;  ///< worker 0; 0: never
    bool waits_for_ever = false;
    bool spawns_again = false;  ///< in place of one that died
    bool dismisses = false;     ///< who has asked to leave
    WorkerId stranger = -1;     ///< an order of "-1 seconds" makes this worker throw
};

/// Gives everyone one order after the other; an order of a lost worker is given again.
class Foreman {
  public:
    using Event = std::variant<Joined, Died, LeaveRequested, Timer, Idle, Stalled, Finished>;
    using Action = std::variant<WorkOrder, StartTimer, Evict, Spawn, Dismiss, Stop>;

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
            // No two end at one moment.
            const double seconds =
                worker == plan_.stranger
                    ? -1
                    : plan_.seconds * (1 + 0.1 * (number % 5) + 0.00917 * number);
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
        if (leaving_.contains(finished.worker)) {
            if (plan_.dismisses) actions.push_back(Dismiss{finished.worker});
        } else {
            free_.insert(finished.worker);
        }
        if (++finished_ == plan_.orders) actions.push_back(Stop{true, "done"});
    }
    void handle(const Died& died, std::vector<Action>& actions) {
        free_.erase(died.worker);
        if (const auto lost = given_.extract(died.worker)) open_.insert(lost.mapped());
        if (plan_.spawns_again) actions.push_back(Spawn{});
    }
    void handle(const LeaveRequested& leave, std::vector<Action>&) {
        leaving_.insert(leave.worker);
        free_.erase(leave.worker);
    }
    void handle(const Stalled& stalled, std::vector<Action>& actions) {
        actions.push_back(Evict{stalled.worker, "it makes no progress"});
    }
    void handle(const Idle&, std::vector<Action>& actions) {
        if (!plan_.waits_for_ever) actions.push_back(Stop{false, "no worker is left"});
    }

    Plan plan_;
    int finished_ = 0;
    std::set<int> open_;
    std::set<WorkerId> free_, leaving_;
    std::map<WorkerId, int> given_;
};

inline Protocol labourer(Worker& me) {
    for (long step = 0; const auto message = co_await me.receive(); ++step) {
        const auto order = message_to<WorkOrder>(*message);
        if (order.seconds < 0) throw std::runtime_error("an order that cannot be carried out");
        co_await me.point("start", step);
        co_await me.work(order.seconds / 2);
        co_await me.point("step", step);
        co_await me.work(order.seconds / 2);
        me.say(Finished{me.id(), order.number});
    }
}

constexpr double detect_s = 0.4, boot_s = 0.25;

/// A course, and what was recorded of it.
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
    bool each_order_once(int orders = 12) const {
        std::set<int> numbers;
        for (const auto& one : course.decisions)
            if (const auto* done = std::get_if<Finished>(&one.event))
                if (!numbers.insert(done->number).second) return false;
        return static_cast<int>(numbers.size()) == orders;
    }
    /// What was told and what was decided, one line each.
    std::vector<std::string> decisions() const {
        std::vector<std::string> lines;
        for (const auto& one : course.decisions)
            lines.push_back(to_message(one.event).dump() + " " + to_json(one.actions).dump());
        return lines;
    }
};

struct Setting {
    Plan plan{};
    std::string faults{};
    int workers = 3;
    Role role{.name = "", .protocol = labourer};
};

inline void course_of(Driven& driven, const Setting& setting, Driver& driver) {
    PolicyRun<Foreman> run(Foreman(setting.plan), driver);
    for (int i = 0; i < setting.workers; ++i) driver.spawn({});
    driven.course = run.run();
}

inline Driven on_processes(Pace pace, const Setting& setting, double speed = 10) {
    Driven driven;
    ProcessOptions options;
    options.faults = parse_fault_plan(setting.faults);
    options.pace = pace;
    options.speed = speed;
    options.detect_s = detect_s;
    options.boot_s = boot_s;
    ProcessDriver driver({setting.role}, options, driven.recorder);
    course_of(driven, setting, driver);
    return driven;
}
inline Driven paced(const Setting& setting) { return on_processes(Pace::steady, setting); }
inline Driven real(const Setting& setting) { return on_processes(Pace::real, setting); }

inline Driven simulated(const Setting& setting) {
    Driven driven;
    EventQueue time;
    ConstantLatencies latencies(0, detect_s, boot_s);
    VirtualCluster driver({setting.role}, time, latencies,
                          {.faults = parse_fault_plan(setting.faults)}, driven.recorder);
    course_of(driven, setting, driver);
    return driven;
}

}  // namespace assay::drive
