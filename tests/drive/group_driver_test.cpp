// A driver of workers that form groups: what befalls them, and what their session asks for.
#include "suite/drive/processes/group_driver.hpp"

#include <gtest/gtest.h>

#include "suite/cluster/pacer.hpp"
#include "suite/drive/processes/worker_process.hpp"

namespace assay::drive {
namespace {

/// Two workers of which one ends by itself; the session asks for its end once that is known, and
/// then waits for a timer.
class Late final : public GroupSession {
  public:
    explicit Late(Recorder& recorder)
        : driver_(cluster::make_fork_server([](WorkerId self, cluster::ControlChannel& control,
                                               const nlohmann::json& config) {
                      WorkerProcess process(self, control, config,
                                            std::make_shared<cluster::LinkFaults>(self, 0), {}, {});
                      process.join();
                      if (self == 1) return 3;
                      while (process.receive()) {
                      }
                      return 0;
                  }),
                  {.pace = Pace::steps}, recorder, *this) {}

    bool run() {
        driver_.run(2);
        return timer_fired_;
    }

    nlohmann::json configuration(WorkerId) override { return nlohmann::json::object(); }
    void joined(WorkerId, bool) override {
        if (++joined_ == 2) driver_.begin();
    }
    void died(WorkerId worker) override {
        driver_.evict({worker, "the policy has not heard of its death"});
        driver_.timers().after(0.01, [this] {
            timer_fired_ = true;
            driver_.end();
        });
        // Should the clock stand still for ever.
        give_up_ = cluster::monotonic_s() + 5;
    }
    void leave_requested(WorkerId) override {}
    void said(WorkerId, const nlohmann::json&) override {}
    void blamed(const Suspicion::Blame&) override {}
    void failed(const std::string&) override { driver_.end(); }
    bool waits() const override { return give_up_ > 0 && cluster::monotonic_s() > give_up_; }
    void idle() override { driver_.end(); }
    void time_is_up() override { driver_.end(); }

  private:
    GroupDriver driver_;
    int joined_ = 0;
    bool timer_fired_ = false;
    double give_up_ = 0;
};

TEST(GroupDriver, AnEvictionOfWhoIsDeadAlreadyDoesNotStopTheClock) {
    MemoryRecorder recorder;
    Late session(recorder);
    EXPECT_TRUE(session.run());
}

}  // namespace
}  // namespace assay::drive
