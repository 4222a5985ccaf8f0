#include "impls/elastic/member.hpp"

#include <stdexcept>

namespace assay::elastic {
namespace {

constexpr const char* start_point = "start";

/// A bit that flipped since must not pass as part of a new state, nor go to others.
void require_sound(Member& member) {
    if (const std::string why = member.damaged(); !why.empty()) throw std::runtime_error(why);
}

}  // namespace

drive::Protocol member(drive::Worker& me, Member& member, Points points) {
    me.urgent([&member](const drive::AnyMessage& message) {
        if (message.is<Abort>()) member.abort(message);
    });
    Plan plan;
    while (const auto message = co_await me.receive()) {
        member.suffer(me.strike());
        if (message->name() == "reconfigure") {
            require_sound(member);
            plan = member.plan(*message);
            const drive::Group all{plan.epoch, plan.members};
            co_await me.point(points.regroup, plan.resume);
            if (co_await me.together(all, 0, [&] { member.connect(plan); }) !=
                drive::Together::done)
                continue;
            co_await me.point(points.move, plan.resume);
            member.suffer(me.strike());
            drive::AnyMessage taken;
            if (co_await me.together(all, 0, [&] { taken = member.take(plan); }) ==
                drive::Together::done)
                me.say(taken);
        } else if (message->is<Go>()) {
            const auto [epoch, step] = message->to<Go>();
            co_await me.point(start_point, step);
            member.suffer(me.strike());
            Outcome outcome;
            const drive::Group ranks{plan.epoch, plan.ranks};
            if (co_await me.together(ranks, 0, [&] { outcome = member.compute(plan, *message); }) !=
                drive::Together::done)
                continue;
            // The step fails first: what it has sent in it may be wrong, too, and must not be
            // committed by those who got it.
            const std::string damage = member.damaged();
            const std::string& wrong = damage.empty() ? outcome.wrong : damage;
            if (wrong.empty())
                me.say(outcome.done);
            else
                me.say(StepFailed{me.id(), plan.epoch, step, wrong});
            if (!damage.empty()) throw std::runtime_error(damage);
        } else if (message->is<Commit>()) {
            require_sound(member);
            member.apply(message->to<Commit>().step);
        } else if (message->name() == "write_checkpoint") {
            require_sound(member);
            me.say(member.write(*message, me.strike()));
        } else if (!message->is<Abort>()) {  // which has had its effect by now
            me.say(member.answer(*message));
        }
    }
}

}  // namespace assay::elastic
