// A policy of one's own with its worker, under all three drivers: what suite/drive/README.md
// explains line by line. Tasks are dealt to whoever is free; a task whose worker is lost is dealt
// again.
//
//   build/cpu/bin/write_a_policy
//   build/cpu/bin/write_a_policy 'kill:rank=1@t=2; join:count=1@t=4; slow:rank=0,factor=3@t=6'
#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <map>

#include "suite/drive/policy_run.hpp"
#include "suite/drive/processes/process_driver.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"

namespace assay::drive::example {

// ---- what policy and workers say to each other --------------------------------------------------
struct Deal {  // an action: goes to its worker
    WorkerId worker = -1;
    int task = 0;
};
struct Done {  // an event: what a worker says
    WorkerId worker = -1;
    int task = 0;
    double result = 0;
};
ASSAY_MESSAGE(Deal, "deal", worker, task)
ASSAY_MESSAGE(Done, "done", worker, task, result)
bool operator==(const Deal& a, const Deal& b) { return a.worker == b.worker && a.task == b.task; }

// ---- the policy: no clock, no thread, no process ------------------------------------------------
class Dealer {
  public:
    using Event = std::variant<Joined, Died, Done>;
    using Action = std::variant<Deal, Stop>;

    explicit Dealer(int tasks) : left_(tasks) {
        for (int task = 0; task < tasks; ++task) waiting_.push_back(task);
    }
    void on(const Event& event, double, std::vector<Action>& actions) {
        std::visit([&](const auto& one) { handle(one); }, event);
        while (!free_.empty() && !waiting_.empty()) {
            const Deal deal{free_.front(), waiting_.front()};
            free_.pop_front(), waiting_.pop_front();
            dealt_[deal.worker] = deal.task;
            actions.push_back(deal);
        }
        if (left_ == 0) actions.push_back(Stop{true, "all tasks are done"});
    }

  private:
    void handle(const Joined& joined) { free_.push_back(joined.worker); }
    void handle(const Done& done) {
        --left_;
        dealt_.erase(done.worker);
        free_.push_back(done.worker);
    }
    void handle(const Died& died) {
        std::erase(free_, died.worker);
        if (const auto lost = dealt_.extract(died.worker)) waiting_.push_front(lost.mapped());
    }

    int left_;
    std::deque<int> waiting_;
    std::deque<WorkerId> free_;
    std::map<WorkerId, int> dealt_;
};

// ---- the worker: one protocol for every clock ---------------------------------------------------
Protocol worker(Worker& me) {
    while (const auto message = co_await me.receive()) {
        const int task = message_to<Deal>(*message).task;
        double sum = 0;
        // A second and a bit on the modelled device; a moment of real arithmetic.
        co_await me.work(1 + 0.13 * (task % 7), [&] {
            for (int i = 1; i < 200'000; ++i) sum += std::sin(task + i);
        });
        me.say(Done{me.id(), task, sum});
    }
}

// ---- under three drivers ------------------------------------------------------------------------
constexpr int tasks = 24, workers = 4;
constexpr double detect_s = 0.4;

PolicyCourse<Dealer> run(Driver& driver) {
    PolicyRun<Dealer> run(Dealer(tasks), driver);
    for (int i = 0; i < workers; ++i) driver.spawn({});
    return run.run();
}

PolicyCourse<Dealer> across_processes(Pace pace, double speed, const FaultPlan& faults,
                                      Recorder& recorder) {
    ProcessOptions options;
    options.faults = faults;
    options.pace = pace;
    options.speed = speed;
    options.detect_s = detect_s;
    ProcessDriver driver({{.name = "worker", .protocol = worker}}, options, recorder);
    return run(driver);
}

PolicyCourse<Dealer> simulated(const FaultPlan& faults, Recorder& recorder) {
    EventQueue time;
    ConstantLatencies latencies(0, detect_s);
    VirtualCluster driver({{.name = "worker", .protocol = worker}}, time, latencies,
                          {.faults = faults}, recorder);
    return run(driver);
}

// Returns whether every task was done, and done once.
bool show(const char* clock, const char* provenance, const PolicyCourse<Dealer>& course) {
    std::map<int, int> done;
    long deals = 0, deaths = 0;
    for (const auto& decision : course.decisions) {
        if (const auto* one = std::get_if<Done>(&decision.event)) ++done[one->task];
        deaths += std::holds_alternative<Died>(decision.event);
        for (const auto& action : decision.actions) deals += std::holds_alternative<Deal>(action);
    }
    const bool once =
        static_cast<int>(done.size()) == tasks &&
        std::all_of(done.begin(), done.end(), [](auto& one) { return one.second == 1; });
    const bool again = !first_difference(Dealer(tasks), course.decisions);
    fmt::print("{:<10} {:<10} {:>8.2f} s {:>5} {:>6} {:>7} {:>7} {:>13} {:>7.3f} s\n", clock,
               provenance, course.ended_s, done.size(), deals, deaths, once ? "yes" : "no",
               again ? "the same" : "otherwise", course.worst_late_s);
    return course.ok && once && again;
}

int run_all(const FaultPlan& faults) {
    MemoryRecorder events;
    fmt::print("{:<10} {:<10} {:>10} {:>5} {:>6} {:>7} {:>7} {:>13} {:>9}\n", "driver",
               "provenance", "ended", "tasks", "dealt", "deaths", "once", "decides again",
               "late by");
    // The real run's arithmetic takes milliseconds: its scenario seconds are hundredths of real
    // ones.
    bool ok = show("real", "measured", across_processes(Pace::real, 100, faults, events));
    ok &= show("paced", "emulated", across_processes(Pace::steady, 10, faults, events));
    ok &= show("simulated", "simulated", simulated(faults, events));
    return ok ? 0 : 1;
}

}  // namespace assay::drive::example

int main(int argc, char** argv) {
    using namespace assay;
    try {
        return drive::example::run_all(parse_fault_plan(argc > 1 ? argv[1] : "kill:rank=1@t=2"));
    } catch (const std::exception& error) {
        fmt::print(stderr, "write_a_policy: {}\n", error.what());
        return 1;
    }
}
