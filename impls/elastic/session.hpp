// The live session of a training whose members come and go, written once: it tells the system's
// controller what happens to workers, which are processes (suite/drive/processes), and carries out
// what it decides. The members' half is elastic::member (member.hpp).
//
//     class Session final : public elastic::Session<Session, Controller, Result> {
//         using Base = elastic::Session<Session, Controller, Result>;
//         friend Base;
//         using Base::act, Base::heard;
//         json configuration(WorkerId) override   what the worker's process reads at its start
//         void blamed(const Blame&) override      decide(its GroupBroken)
//         void idle() override                    too few workers are left, and none will join
//
// What a system gives besides:
//   Controller    a policy (suite/drive/policy.hpp) whose events and actions are those of
//                 protocol.hpp and its own, with counts() and short_of_workers(). Its Reconfigure
//                 has epoch, members and restore_step; ranks_of(plan) where not all members compute
//   Result        ok, why, counts, decisions, faults_fired; digests, by worker, where those that
//                 computed the last step are to be asked at the end ("finish") for what they hold
//   heard(event, message), act(action)
//                 where there is more to be done than in Base, which they can call. Without one an
//                 event is told to the controller at once; StepDone is for hold()
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "impls/elastic/protocol.hpp"
#include "impls/nn/moe/checkpoint_retention.hpp"
#include "suite/drive/any_message.hpp"
#include "suite/drive/policy.hpp"
#include "suite/drive/processes/group_driver.hpp"

namespace assay::elastic {

template <class System, drive::Policy Controller, class Result>
class Session : public drive::GroupSession {
  protected:
    using Event = typename Controller::Event;
    using Blame = drive::Suspicion::Blame;
    using json = nlohmann::json;

    template <class... Settings>
    Session(std::unique_ptr<cluster::Launcher> launcher, drive::ProcessOptions options,
            std::filesystem::path checkpoints, Recorder& recorder, const Settings&... controller)
        : patience_s_(options.operation_timeout_s),
          recorder_(recorder),
          driver_(std::move(launcher), std::move(options), recorder, *this),
          controller_(true, controller...),
          retention_(std::move(checkpoints)) {}

    /// Until the controller's Stop; then all are dismissed.
    void run(int workers) {
        driver_.run(workers);
        if constexpr (requires { result_.digests; }) ask_for_digests();
        driver_.send(driver_.alive(), {{"type", "dismiss"}});
        result_.counts = controller_->counts();
        result_.decisions = controller_.decisions();
        result_.faults_fired = driver_.faults_fired();
    }

    double now() const { return driver_.now(); }
    void decide(const Event& event) {
        for (const auto& action : controller_.on(event, now())) {
            if (driver_.ending()) break;  // what would follow is not begun
            std::visit([this](const auto& one) { system().act(one); }, action);
        }
        for (const auto& next : std::exchange(afterwards_, {})) decide(next);
    }
    /// Once the actions under way are carried out.
    void decide_afterwards(Event event) { afterwards_.push_back(std::move(event)); }
    /// A step ends once no worker's coming or going is awaited: these take effect from the next on.
    void hold(Event step_done) {
        held_.push_back(std::move(step_done));
        release_held();
    }
    virtual bool holds() const { return driver_.awaits_a_worker(); }
    void release_held() {
        while (!held_.empty() && !holds() && !driver_.ending()) {
            const Event done = std::move(held_.front());
            held_.pop_front();
            decide(done);
        }
    }

    // ---- what happens ------------------------------------------------------------------------
    void joined(WorkerId worker, bool more) override { decide(drive::Joined{worker, more}); }
    void died(WorkerId worker) override { decide(drive::Died{worker}); }
    void leave_requested(WorkerId worker) override {
        if constexpr (std::is_constructible_v<Event, drive::LeaveRequested>)
            decide(drive::LeaveRequested{worker});
    }
    void failed(const std::string& why) override { system().act(drive::Stop{false, why}); }
    void settled() override { release_held(); }
    bool waits() const override { return controller_->short_of_workers(); }
    static std::string why_of(const Blame& blame) {
        return blame.cause == drive::Suspicion::Cause::unexplained
                   ? "its group broke though nobody died"
                   : blame.why;
    }

    void said(WorkerId worker, const json& message) override {
        if constexpr (requires { result_.digests; })
            if (message.at("type") == "digests")
                result_.digests[worker] = drive::message_to<Digests>(message).digests;
        if (driver_.ending()) return;
        if (message.at("type") == "checkpoint_failed")
            system().heard(drive::message_to<CheckpointFailed>(message), message);
        else
            std::visit([&](const auto& event) { system().heard(event, message); },
                       drive::message_to<Event>(message));
    }
    void heard(const StepFailed& failed, const json&) {
        recorder_.event("retry", now(), failed.worker, {{"why", failed.why}});
        decide(failed);
    }
    void heard(const RestoreFailed& failed, const json&) {
        recorder_.event("checkpoint", now(), failed.worker,
                        {{"step", failed.step}, {"unreadable", failed.why}});
        decide(failed);
    }
    void heard(const CheckpointFailed& failed, const json&) {
        recorder_.event("checkpoint", now(), failed.worker,
                        {{"step", failed.step}, {"failed", failed.why}});
    }
    void heard(const CheckpointWritten& written, const json&) {
        decide(written);
        retention_.written(written.step, written.worker);
    }
    template <class Other>
    void heard(const Other& other, const json&) {
        decide(other);
    }

    // ---- what is done about it ---------------------------------------------------------------
    /// A plan, in force from now on.
    template <class Reconfigure>
    requires requires(const Reconfigure& plan) { plan.restore_step; }
    void act(const Reconfigure& plan) {
        driver_.group_forms(plan.epoch, plan.members);
        epoch_ = plan.epoch;
        members_ = plan.members;
        ranks_ = ranks_of(plan);
        forming_since_s_ = now();
        if (plan.restore_step && plan.epoch > 1) retention_.forget_after(*plan.restore_step);
        driver_.send(members_, drive::to_message(plan));
    }
    void act(const Go& go) {
        if (forming_since_s_) group_works(now());
        begin_step(go, now());
    }
    /// All that the plan asked for is there, and its first step begins.
    void group_works(double t_s) {
        driver_.group_is_ready();
        driver_.group_works(t_s);
        forming_since_s_.reset();
    }
    void begin_step(const Go& go, double start_s) {
        driver_.step_begins(go.step);
        step_began_s_ = start_s;
        auto message = drive::to_message(go);
        message.update(driver_.time().begin_step(start_s, ranks_));
        driver_.send(ranks_, message);
    }
    void act(const Commit& commit) {
        driver_.send(ranks_, drive::to_message(commit));
        step_ended_s_ = driver_.time().end_step();
        computed_last_ = ranks_;
    }
    void act(const Abort& abort) { driver_.send(members_, drive::AnyMessage(abort).to_json()); }
    /// A checkpoint, of which all writers get the same order …
    template <class Order>
    requires requires(const Order& order) { order.writers; }
    void act(const Order& order) {
        std::map<WorkerId, json> orders;
        for (const WorkerId writer : order.writers) orders[writer] = drive::to_message(order);
        order_checkpoint(order.step, orders);
    }
    /// … or each its own.
    void order_checkpoint(Step step, const std::map<WorkerId, json>& orders) {
        recorder_.event("checkpoint", now(), -1, {{"step", step}});
        std::set<WorkerId> writers;
        for (const auto& [writer, order] : orders) {
            driver_.send(writer, order);
            writers.insert(writer);
        }
        retention_.ordered(step, std::move(writers));
    }
    void act(const drive::StartTimer& timer) {
        driver_.timers().after(timer.after_s, [this, id = timer.id] { decide(drive::Timer{id}); });
    }
    void act(const drive::Spawn&) { driver_.spawn(); }
    void act(const drive::Evict& evict) { driver_.evict(evict); }
    void act(const Dismiss& dismiss) {
        std::erase(members_, dismiss.worker);
        driver_.dismiss(dismiss.worker, drive::to_message(dismiss));
    }
    void act(const drive::Stop& stop) {
        driver_.end();
        result_.ok = stop.ok;
        result_.why = stop.why;
        if (!stop.ok && !driver_.unexpected_death().empty())
            result_.why +=
                fmt::format(" (nobody asked for the end of {})", driver_.unexpected_death());
    }

  private:
    System& system() { return static_cast<System&>(*this); }

    void ask_for_digests() {
        std::vector<WorkerId> asked;
        if (result_.ok && !waits()) asked = computed_last_;
        driver_.send(asked, {{"type", "finish"}});
        const bool all_said = driver_.hear_until(patience_s_, [&] {
            return std::none_of(asked.begin(), asked.end(), [this](WorkerId worker) {
                return driver_.alive(worker) && !result_.digests.contains(worker);
            });
        });
        if (all_said) return;
        throw SampleError(SampleStatus::invalid, "a worker did not say what it holds at the end");
    }

    double patience_s_;
    std::deque<Event> held_;
    std::vector<Event> afterwards_;
    std::vector<WorkerId> computed_last_;  // the step committed last

  protected:
    Recorder& recorder_;
    drive::GroupDriver driver_;
    drive::RecordedPolicy<Controller> controller_;
    nn::CheckpointRetention retention_;
    Result result_;

    // Of the epoch in force.
    Epoch epoch_ = 0;
    std::vector<WorkerId> members_;          // in rank order
    std::vector<WorkerId> ranks_;            // those of them that compute
    std::optional<double> forming_since_s_;  // until its first step
    double step_began_s_ = 0, step_ended_s_ = 0;
};

}  // namespace assay::elastic
