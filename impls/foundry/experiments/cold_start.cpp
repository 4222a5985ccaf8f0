#include "impls/foundry/experiments/cold_start.hpp"

#include <deque>
#include <utility>
#include <vector>

#include "suite/drive/simulated/event_queue.hpp"

namespace assay::foundry {
namespace {

using Done = drive::VirtualTime::Callback;

/// Threads that take work in the order in which it was given.
class Threads {
  public:
    Threads(drive::EventQueue& time, std::int64_t threads) : time_(time), idle_(threads) {}

    void give(double seconds, Done done) {
        waiting_.emplace_back(seconds, std::move(done));
        begin();
    }

  private:
    void begin() {
        if (idle_ == 0 || waiting_.empty()) return;
        --idle_;
        auto [seconds, done] = std::move(waiting_.front());
        waiting_.pop_front();
        time_.after(seconds, [this, done = std::move(done)] {
            ++idle_;
            done();
            begin();
        });
    }

    drive::EventQueue& time_;
    std::int64_t idle_;
    std::deque<std::pair<double, Done>> waiting_;
};

/// What a start consists of; costs in seconds.
struct Course {
    double images = 0;
    int built = 0;  ///< graphs before ready, by the thread of the driver's calls
    double build_each = 0;
    int members = 0;
    double prepare_each = 0, finish_each = 0;  ///< before ready
    double launch_each = 0;                    ///< at a member's first launch
    bool finish = false;                       ///< members by driver calls before ready, too
};

Course course_of(const ColdStart& setup) {
    const Costs& costs = setup.costs;
    const double built = costs.build + costs.instantiate;
    const double dedicated = costs.rewrite + costs.instantiate;
    Course course{.images = costs.images,
                  .built = setup.groups,
                  .build_each = built,
                  .members = setup.graphs - setup.groups,
                  .prepare_each = costs.prepare};
    switch (setup.start) {
        case Start::capture:
            return {.built = setup.graphs, .build_each = costs.capture};
        case Start::lazy_capture:
            return {.members = setup.graphs, .launch_each = costs.capture};
        case Start::no_templates:
            return {.images = costs.images, .built = setup.graphs, .build_each = built};
        case Start::r1:
            course.launch_each = costs.update;
            break;
        case Start::r3_lazy:
            course.launch_each = dedicated;
            break;
        case Start::r3_eager:
            course.finish = true;
            course.finish_each = dedicated;
            break;
    }
    return course;
}

class Timeline {
  public:
    Timeline(const Course& course, Members members, std::int64_t threads)
        : course_(course),
          wait_for_members_(members == Members::with),
          driver_(time_, 1),
          preparing_(time_, threads),
          launchable_(static_cast<std::size_t>(course.members), false) {}

    ColdStartTimes times() {
        driver_.give(course_.images, [this] { load(); });
        while (time_.next()) {
        }
        return {.ready_s = ready_s_, .first_launches_s = launched_s_ - ready_s_};
    }

  private:
    void load() {
        for (int i = 0; i < course_.built; ++i)
            driver_.give(course_.build_each, [this] {
                ++built_;
                look();
            });
        for (std::size_t i = 0; i < launchable_.size(); ++i)
            preparing_.give(course_.prepare_each, [this, i] {
                ++prepared_;
                if (!course_.finish) launchable(i);
                look();
            });
        look();
    }

    /// Whether something begins that waits for several parts.
    void look() {
        const bool templates = built_ == course_.built;
        const bool prepared = prepared_ == launchable_.size();
        if (templates && prepared && course_.finish && !finishing_) {
            finishing_ = true;
            for (std::size_t i = 0; i < launchable_.size(); ++i)
                driver_.give(course_.finish_each, [this, i] {
                    launchable(i);
                    look();
                });
        }
        if (ready_ || !templates || (wait_for_members_ && there_ < launchable_.size())) return;
        ready_ = true;
        ready_s_ = launched_s_ = time_.now();
        launch();
    }

    void launchable(std::size_t member) {
        launchable_[member] = true;
        ++there_;
        if (ready_ && !launching_ && member == next_) launch();
    }

    void launch() {
        if (next_ == launchable_.size() || !launchable_[next_]) return;
        launching_ = true;
        time_.after(course_.launch_each, [this] {
            launching_ = false;
            launched_s_ = time_.now();
            ++next_;
            launch();
        });
    }

    Course course_;
    bool wait_for_members_;
    drive::EventQueue time_;
    Threads driver_, preparing_;
    int built_ = 0;
    std::size_t prepared_ = 0, there_ = 0, next_ = 0;  ///< members
    std::vector<bool> launchable_;
    bool finishing_ = false, ready_ = false, launching_ = false;
    double ready_s_ = 0, launched_s_ = 0;
};

}  // namespace

ColdStartTimes cold_start(const ColdStart& setup) {
    return Timeline(course_of(setup), setup.members, setup.costs.threads).times();
}

}  // namespace assay::foundry
