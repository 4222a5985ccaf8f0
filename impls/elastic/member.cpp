#include "impls/elastic/member.hpp"

#include <functional>
#include <stdexcept>
#include <utility>

#include "suite/drive/fault_effects.hpp"

namespace assay::elastic {
namespace {

/// What a member does when it is done together with others. Where workers are processes they do it
/// across them while they wait; in virtual time nothing is done then, and it is done afterwards.
template <class What>
class Done {
  public:
    explicit Done(What what) : what_(std::move(what)) {}
    std::function<void()> across() {
        return [this] {
            what_();
            done_ = true;
        };
    }
    bool now(drive::Together outcome) {
        if (outcome == drive::Together::done && !done_) what_();
        return outcome == drive::Together::done;
    }

  private:
    What what_;
    bool done_ = false;
};

}  // namespace

drive::Protocol member(drive::Worker& me, Member& member, Manner manner, Times& times) {
    me.urgent([&member](const drive::AnyMessage& message) {
        if (message.is<Abort>()) member.abort(message);
    });
    Plan plan;
    Step next = 0;  // the step that its state is before
    const auto say = [&](const drive::AnyMessage& answer) {
        if (!answer.name().empty()) me.say(answer);
    };
    // A bit that flipped since must not pass as part of a new state, nor go to others.
    const auto is_damaged = [&](bool computed = false) {
        const std::string why = member.damaged();
        if (why.empty()) return false;
        if (manner.outlives_damage) {
            me.say(StateDamaged{me.id(), plan.epoch(), next, why});
            return true;
        }
        // The step fails first: what it has sent in it may be wrong, too, and must not be committed
        // by those who got it.
        if (computed) me.say(StepFailed{me.id(), plan.epoch(), next, why});
        throw std::runtime_error(why);
    };
    while (const auto message = co_await me.receive()) {
        member.suffer(me.strike());
        if (message->name() == "reconfigure") {
            if (!manner.outlives_damage) is_damaged();  // a plan may restore one that does
            plan = member.plan(*message);
            next = plan.resume;
            co_await me.point(manner.regroup, next);
            Done connect([&] { member.connect(plan); });
            if (!connect.now(co_await me.together(*plan.members, times.connecting(me.id(), plan),
                                                  connect.across())))
                continue;
            co_await me.point(manner.move, next);
            member.suffer(me.strike());
            drive::AnyMessage taken;
            Done take([&] { taken = member.take(plan); });
            if (!take.now(co_await me.together(*plan.members, times.moving(me.id(), plan),
                                               take.across())))
                continue;
            me.say(taken);
            if (taken.is<Ready>()) co_await me.point(ready_point, next);
        } else if (message->is<Go>()) {
            next = message->to<Go>().step;
            co_await me.point(drive::start_point, next);
            member.suffer(me.strike());
            member.keep(plan);
            // Who is told to abort meanwhile turns away below, so that no other waits for it.
            co_await me.work_until_urgent(times.computing(me.id(), plan, next));
            co_await me.point(drive::step_point, next);
            Outcome outcome;
            Done compute([&] { outcome = member.compute(plan, *message); });
            if (!compute.now(co_await me.together(*plan.ranks, times.summing(me.id(), plan, next),
                                                  compute.across())))
                continue;
            if (is_damaged(/*computed=*/true)) continue;
            if (!outcome.wrong.empty()) {
                me.say(StepFailed{me.id(), plan.epoch(), next, outcome.wrong});
                continue;
            }
            co_await me.point(computed_point, next);
            me.say(std::move(outcome.done));
            co_await me.point(told_point, next);
        } else if (message->is<Commit>()) {
            co_await me.point(commit_point, next);
            if (is_damaged()) continue;
            say(member.apply(message->to<Commit>().step));
            next = message->to<Commit>().step + 1;
        } else if (message->name() == "write_checkpoint") {
            if (is_damaged()) continue;
            if (const double seconds = times.writing(me.id(), *message); seconds > 0)
                co_await me.work(seconds);
            say(member.write(*message, me.strike()));
        } else if (!message->is<Abort>()) {  // which has had its effect by now
            say(member.answer(*message));
        }
    }
}

drive::Protocol member(drive::Worker& me, Member& one, Manner manner) {
    static Times real;
    return member(me, one, std::move(manner), real);
}

}  // namespace assay::elastic
