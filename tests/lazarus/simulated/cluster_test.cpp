// The simulated cluster on its own: who is blamed when a group breaks, and what its driver tells
// the controller.
#include "impls/lazarus/simulated/cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "impls/lazarus/simulated/planned_trouble.hpp"
#include "impls/lazarus/watch/protocol_watch.hpp"
#include "suite/drive/simulated/event_queue.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Steps take ten seconds, all else one.
class Constant final : public Durations {
  public:
    double starting(Worker) override { return 1; }
    double message(Worker) override { return message_s; }
    double detection(Worker, bool) override { return detection_s; }
    double eviction(Worker) override { return 1; }
    double silence() override { return 30; }
    double patience() override { return patience_s; }
    double endurance() override { return endurance_s; }
    double building(const Reconfigure&, Worker) override { return 1; }
    double moving(const Reconfigure&, Worker, Worker) override { return 1; }
    double restoring(const Reconfigure&, Worker) override { return 1; }
    double computing(const Reconfigure&, Step, Worker worker) override {
        return 10 * slowdown(worker);
    }
    double summing(const Reconfigure&, Step, Worker) override { return 1; }
    double written(Worker, int part, int) override { return part + 1.0; }
    std::vector<Loads> loads(const Reconfigure&, Step) override {
        return {Loads{5, 3, 2, 1}, Loads{1, 2, 3, 4}};
    }

    double message_s = 0, detection_s = 2, patience_s = 50, endurance_s = 20;
};

class Cluster : public testing::Test, private ClusterObserver {
  protected:
    static ControllerConfig job() {
        ControllerConfig job;
        job.layers = 2;
        job.experts = 4;
        job.slots = 3;
        job.steps = 12;
        job.checkpoint_every = 4;
        job.initial_workers = 4;
        job.wait_for_nodes = true;
        return job;
    }

    /// Runs to the end; every rule of the protocol is kept.
    void run(const std::string& faults = "", Trouble* other = nullptr) {
        SimulatedCluster& cluster = cluster_.emplace(job(), time_, durations);
        PlannedTrouble planned(parse_fault_plan(faults), cluster);
        cluster.attach(static_cast<ClusterObserver&>(*this));
        cluster.attach(other ? *other : planned);
        for (int i = 0; i < job().initial_workers; ++i) cluster.spawn();
        while (time_.next()) {
        }
        watch_.finish(cluster.controller());
        EXPECT_THAT(watch_.failures(), IsEmpty());
        EXPECT_EQ(cluster.complaint(), "");
        EXPECT_TRUE(watch_.stop() && watch_.stop()->ok);
    }
    const Controller::Counts& counts() const { return cluster_->controller().counts(); }
    std::vector<Worker> last_training() const {
        return cluster_->controller().lineage().back().training;
    }

    Constant durations;
    std::vector<Worker> evicted;
    std::vector<GroupBroken> broken;
    std::vector<Joined> joined;
    std::optional<SimulatedCluster> cluster_;

  private:
    void before(const Event& event) override {
        watch_.before(event);
        if (const auto* one = std::get_if<GroupBroken>(&event)) broken.push_back(*one);
        if (const auto* one = std::get_if<Joined>(&event)) joined.push_back(*one);
    }
    void after(const Action& action, const Controller& controller) override {
        watch_.after(action, controller);
        if (const auto* evict = std::get_if<Evict>(&action)) evicted.push_back(evict->worker);
    }

    drive::EventQueue time_;
    ProtocolWatch watch_{job()};
};

TEST_F(Cluster, WithoutTroubleEveryStepIsMadeOnce) {
    run();
    EXPECT_EQ(counts().commits, 12);
    EXPECT_EQ(counts().discarded, 0);
    EXPECT_EQ(counts().reconfigurations, 1);
}

TEST_F(Cluster, ThoseWhoComeAtOneMomentAreToldOfTogether) {
    run("join:count=2@t=40");
    ASSERT_EQ(joined.size(), 6U);
    EXPECT_TRUE(joined[0].more && joined[2].more);
    EXPECT_FALSE(joined[3].more);
    EXPECT_EQ(joined[4], (Joined{4, true}));
    EXPECT_EQ(joined[5], (Joined{5, false}));
    EXPECT_EQ(last_training().size(), 6U);
}

// ---- who is to blame ----------------------------------------------------------------------------

/// Worker 2 is stuck when it comes to a point.
class StuckAt : public Cluster, public Trouble, public testing::WithParamInterface<Moment> {
  protected:
    void reached(Moment moment, Worker worker) override {
        if (moment == GetParam() && worker == 2) cluster_->stick(worker);
    }
};

TEST_P(StuckAt, TheOneThatDoesNotReportIsEvicted) {
    run("", this);
    EXPECT_THAT(evicted, ElementsAre(2));
    ASSERT_EQ(broken.size(), 1U);
    EXPECT_EQ(broken[0].cause, GroupBroken::Cause::unreachable);
    EXPECT_THAT(last_training(), ElementsAre(0, 1, 3));
}

INSTANTIATE_TEST_SUITE_P(Moments, StuckAt,
                         testing::Values(Moment::reconfigure_received, Moment::go_received,
                                         Moment::after_step_done, Moment::commit_received,
                                         Moment::after_ready, Moment::writing_checkpoint));

TEST_F(Cluster, ADeathExplainsABrokenGroup) {
    durations.detection_s = 60;  // all others give up long before it is known …
    durations.patience_s = 100;  // … but not before suspicion has waited for it
    run("kill:rank=1@t=25");
    EXPECT_THAT(evicted, IsEmpty());
    EXPECT_THAT(broken, IsEmpty());
    EXPECT_EQ(counts().deaths, 1);
    EXPECT_EQ(counts().discarded, 1);
}

TEST_F(Cluster, ADeathThatIsKnownTooLateIsAnEviction) {
    durations.detection_s = 60;
    durations.patience_s = 5;
    run("kill:rank=1@t=25");
    EXPECT_THAT(evicted, ElementsAre(1));
    EXPECT_EQ(counts().deaths, 1);
    EXPECT_THAT(last_training(), ElementsAre(0, 2, 3));
}

/// One collective breaks: everybody sees it, and nobody knows why.
class BreaksOnce final : public Trouble {
  public:
    std::vector<Symptom> breaks(Together what, const std::vector<Worker>& among) override {
        if (what != Together::summing || ++sums_ != 3) return {};
        std::vector<Symptom> symptoms;
        for (Worker member : among)
            symptoms.push_back({.member = member, .after_s = 10.0 - member});
        return symptoms;
    }

  private:
    int sums_ = 0;
};

TEST_F(Cluster, WhereEverybodyReportsTheFirstToDoSoGoes) {
    BreaksOnce trouble;
    run("", &trouble);
    EXPECT_THAT(evicted, ElementsAre(3));
}

TEST_F(Cluster, AReportOfAnOldGroupBlamesNobody) {
    durations.message_s = 8;  // the death is known before the reports arrive
    durations.endurance_s = 4;
    durations.detection_s = 5;
    run("kill:rank=1@t=25");
    EXPECT_THAT(broken, IsEmpty());
    EXPECT_THAT(evicted, IsEmpty());
}

TEST_F(Cluster, OneThatIsCutOffSaysSoAndGoes) {
    run("link:rank=2,cut=1@t=30");
    EXPECT_THAT(evicted, ElementsAre(2));
}

TEST_F(Cluster, ACutThatHealsInTimeIsOnlyAPause) {
    run("link:rank=2,cut=1@t=30,for=15");
    EXPECT_THAT(evicted, IsEmpty());
    EXPECT_EQ(counts().discarded, 0);
}

TEST_F(Cluster, ASlowWorkerIsWaitedForUnlessTheOthersGiveUp) {
    run("slow:rank=1,factor=2@t=5,for=60");
    EXPECT_THAT(evicted, IsEmpty());
    EXPECT_EQ(counts().discarded, 0);
}

// ---- freezing -----------------------------------------------------------------------------------

TEST_F(Cluster, AShortFreezeIsSurvivedAndALongOneIsADeath) {
    run("hang:rank=1@t=12,for=8; hang:rank=2@t=40,for=31");
    EXPECT_EQ(counts().deaths, 1);
    EXPECT_THAT(last_training(), ElementsAre(0, 1, 3));
}

TEST_F(Cluster, WhoWokeInTimeIsNotTakenForDeadInItsNextFreeze) {
    durations.endurance_s = 200;
    run("hang:rank=1@t=12,for=18; hang:rank=1@t=32,for=18");  // silent for 30 s only in sum
    EXPECT_EQ(counts().deaths, 0);
}

TEST_F(Cluster, ADamagedMessageIsTriedAgain) {
    run("corrupt:rank=1,target=message@t=15");
    EXPECT_EQ(counts().retries, 1);
    EXPECT_EQ(counts().deaths, 0);
    ASSERT_EQ(broken.size(), 1U);
    EXPECT_EQ(broken[0].suspect, 1);
    EXPECT_EQ(broken[0].cause, GroupBroken::Cause::corrupt_message);
}

}  // namespace
}  // namespace assay::lazarus
