// Random schedules over toy engines: whatever befalls them, every request is answered once, with
// the tokens that it has alone, and in the orders of a naive pool.
#include <gtest/gtest.h>

#include "../batch/random_jobs.hpp"
#include "toy_cluster.hpp"

namespace assay::decode {
namespace {

constexpr int seats = 4, seats_of_model_0 = 3;  // seat 3 has model 1, as on a worker with two
constexpr int schedules = 3000;

template <class Many>
auto any_of(const Many& many, Dice& dice) {
    return std::next(many.begin(), dice.below(static_cast<int>(many.size())));
}

class Schedule {
  public:
    explicit Schedule(std::uint64_t seed) : dice_(seed) {
        for (Seat seat = 0; seat < seats; ++seat)
            if (!dice_.one_in(4)) there(seat);
    }

    void run() {
        for (int events = dice_.between(20, 200); events > 0; --events) {
            if (dice_.one_in(3))
                cluster_.turn();
            else
                event();
            if (testing::Test::HasFatalFailure()) return;
        }
        end();
    }
    const Lines& log() const { return cluster_.log; }
    const std::map<Number, Done::How>& done() const { return cluster_.done; }

  private:
    void there(Seat seat) {
        cluster_.there(seat, seat < seats_of_model_0 ? 0 : 1, dice_.between(1, 4));
    }

    void event() {
        const Seat seat = dice_.below(seats);
        if (!cluster_.engines.contains(seat)) {
            if (auto& late = cluster_.late[seat]; !late.empty() && dice_.one_in(2))
                cluster_.hear(seat, true);
            else if (dice_.one_in(2))
                ask();
            else if (dice_.one_in(3))
                there(seat);
            return;
        }
        ToyEngine& engine = cluster_.engines.at(seat);
        switch (dice_.below(16)) {
            case 0:
            case 1:
                return ask();
            case 2:
                return about_a_request();
            case 3:
                if (dice_.one_in(4)) cluster_.lost(seat, dice_.one_in(2));
                return;
            case 4:
                if (dice_.one_in(2)) engine.use(engine.version + 1);
                return;
            case 5:
                return cluster_.open(seat, !dice_.one_in(3));
            case 6:
                if (auto& late = cluster_.late[seat]; !late.empty()) cluster_.hear(seat, true);
                return;
            case 7:
                return move();
            default:
                if (const int what = dice_.below(3); what == 0 && !engine.inbox.empty())
                    engine.answer(cluster_.states, dice_.one_in(8));
                else if (what == 1 && !engine.works.empty())
                    engine.make(any_of(engine.works, dice_)->first,
                                static_cast<std::size_t>(dice_.between(1, 4)), dice_.one_in(30));
                else if (!engine.outbox.empty())
                    cluster_.hear(seat);
        }
    }

    void ask() {
        const Number number = asked_++;
        Ask ask{.request = {.prompt = {1, 2}}};
        ask.request.priority = dice_.below(3) - 1;
        ask.model = dice_.one_in(4) ? 1 : 0;
        ask.loss = static_cast<Loss>(dice_.below(3));
        if (dice_.one_in(6)) {
            ask.only = ask.model == 1 ? seats_of_model_0 : dice_.below(seats_of_model_0);
            if (!cluster_.engines.contains(*ask.only)) ask.only.reset();
        }
        if (toy_keeps(number)) {
            ask.request.links.emplace().keep = true;
            if (!keepers_.empty() && dice_.one_in(2)) ask.copy_of = *any_of(keepers_, dice_);
            if (ask.copy_of >= 0 && dice_.one_in(2)) ask.tokens = {toy_token(number, 0, 1)};
            if (ask.copy_of < 0) keepers_.insert(number);
        } else if (!keepers_.empty() && dice_.one_in(5)) {
            linked_.insert(number);
            ask.only.reset();  // it goes where that is kept
            ask.request.links.emplace().linked = {{.kept = *any_of(keepers_, dice_), .count = 1}};
        }
        ASSERT_EQ(cluster_.ask(ask), number);
    }

    void about_a_request() {
        if (asked_ == 0) return;
        const Number number = dice_.below(static_cast<int>(asked_));
        switch (dice_.below(3)) {
            case 0:
                return cluster_.cancel(number);
            case 1:
                return cluster_.take_back(number);
            default:
                if (dice_.one_in(4)) cluster_.release(number);
        }
    }

    void move() {
        if (asked_ == 0) return;
        // A seat that is there, is not there, or has another model.
        cluster_.move(dice_.below(static_cast<int>(asked_)), dice_.below(seats), dice_.one_in(2));
    }

    void end() {
        for (Seat seat = 0; seat < seats; ++seat) {
            if (!cluster_.engines.contains(seat)) there(seat);
            cluster_.open(seat, true);
        }
        for (const Number number : linked_) cluster_.cancel(number);  // some to what is not kept
        cluster_.finish();
        for (Number number = 0; number < asked_; ++number) cluster_.release(number);
        cluster_.finish();
        for (const auto& [seat, engine] : cluster_.engines)
            EXPECT_TRUE(engine.kept.empty() && engine.works.empty()) << "left on seat " << seat;
        EXPECT_TRUE(cluster_.states.states.empty());
    }

    Dice dice_;
    ToyCluster cluster_;
    Number asked_ = 0;
    std::set<Number> keepers_, linked_;
};

TEST(PoolSchedules, EveryRequestIsAnsweredOnceWithItsOwnTokens) {
    std::map<Done::How, int> ends;
    std::map<std::string, int> orders;
    int with_state = 0;
    for (std::uint64_t seed = 0; seed < schedules; ++seed) {
        Schedule schedule(seed);
        schedule.run();
        if (HasFailure()) FAIL() << "seed " << seed;
        for (const auto& [request, how] : schedule.done()) ++ends[how];
        for (const std::string& line : schedule.log()) {
            ++orders[line.substr(0, line.find(' '))];
            with_state += line.find("with state") != std::string::npos ? 1 : 0;
        }
    }
    // All of it comes about.
    for (const Done::How how :
         {Done::How::ended, Done::How::cancelled, Done::How::failed, Done::How::dropped})
        EXPECT_GT(ends[how], schedules / 10);
    for (const char* const order : {"give", "remove", "export", "discard", "unkeep"})
        EXPECT_GT(orders[order], schedules / 10) << order;
    EXPECT_GT(with_state, schedules / 10);
}

TEST(PoolSchedules, TheSameScheduleGivesTheSameOrders) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Schedule first(seed), second(seed);
        first.run();
        second.run();
        ASSERT_EQ(first.log(), second.log());
    }
}

}  // namespace
}  // namespace assay::decode
