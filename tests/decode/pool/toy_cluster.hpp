// A pool with toy engines, beside a naive pool that is told the same. Every turn checks that both
// give the same orders, and what holds of orders whatever pool gives them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "naive_pool.hpp"
#include "order_texts.hpp"
#include "toy_engine.hpp"

namespace assay::decode {

/// By the request's number and what is known of seats, that all are chosen some time.
class ToyChooser final : public Chooser {
  public:
    explicit ToyChooser(const Pool& pool) : pool_(pool) {}
    std::optional<Seat> choose(Number request, std::span<const Place> places) override {
        const Ask& ask = pool_.asked(request);
        std::vector<Seat> fit;
        for (const Place& place : places)
            if (place.takes && place.model == ask.model && has_links(ask, place.seat))
                fit.push_back(place.seat);
        if (fit.empty()) return std::nullopt;
        return fit[(static_cast<std::size_t>(request) + pool_.open()) % fit.size()];
    }

  private:
    bool has_links(const Ask& ask, Seat seat) const {
        if (!ask.request.links) return true;
        for (const LinkedTokens& linked : ask.request.links->linked)
            if (!pool_.kept(linked.kept, seat)) return false;
        return true;
    }
    const Pool& pool_;
};

struct ToyCluster {
    Pool pool;
    NaivePool naive;
    std::map<Seat, ToyEngine> engines;      // those that are there
    std::map<Seat, std::deque<Said>> late;  // by engines that are lost
    ToyStates states;
    std::map<std::uint64_t, int> heard;  // handles; how often they were taken, refused or discarded
    std::set<Number> attempts;
    std::map<Number, Done::How> done;
    std::map<Number, std::uint64_t> handles;  // by attempt
    Lines log;

    Number ask(const Ask& ask) {
        naive.ask(ask);
        return pool.ask(ask);
    }
    void there(Seat seat, int model, int most) {
        engines[seat] = {};
        naive.seats.push_back({seat, model, 1, most});
        pool.there(seat, model, 1, most);
    }
    /// The rest of what it said comes late, or never.
    void lost(Seat seat, bool messages_too) {
        for (Said& said : engines.at(seat).outbox)
            if (messages_too)
                states.states.erase(said.handle);
            else
                late[seat].push_back(std::move(said));
        engines.erase(seat);
        naive.lost(seat);
        pool.lost(seat);
    }
    void open(Seat seat, bool open) {
        naive.find(seat)->open = open;
        pool.open(seat, open);
    }
    void cancel(Number request) {
        naive.cancel(request);
        pool.cancel(request);
    }
    void take_back(Number request) {
        naive.take_back(request);
        pool.take_back(request);
    }
    void move(Number request, Seat to, bool with_cache) {
        naive.move(request, to, with_cache);
        pool.move(request, to, with_cache);
    }
    void release(Number request) {
        naive.release(request);
        pool.release(request);
    }

    /// The next that a seat says, or that one said before it was lost.
    void hear(Seat seat, bool of_lost = false) {
        std::deque<Said>& saying = of_lost ? late.at(seat) : engines.at(seat).outbox;
        const Said said = std::move(saying.front());
        saying.pop_front();
        const bool lives = pool.living(seat, said.attempt).has_value();
        ASSERT_EQ(lives, naive.living(seat, said.attempt) != nullptr);
        switch (said.what) {
            case Said::What::taken:
            case Said::What::refused:
                if (const auto with = handles.find(said.attempt); lives && with != handles.end()) {
                    ++heard.at(with->second);
                    states.states.erase(with->second);
                    handles.erase(with);
                }
                if (said.what == Said::What::taken)
                    naive.taken(seat, said.attempt), pool.taken(seat, said.attempt);
                else
                    naive.refused(seat, said.attempt), pool.refused(seat, said.attempt);
                break;
            case Said::What::exported:
                heard[said.handle] = 0;
                naive.exported(seat, said.attempt, said.handle);
                pool.exported(seat, said.attempt, said.handle);
                break;
            case Said::What::made: {
                const EndedRequest* const ended = said.ended ? &*said.ended : nullptr;
                naive.made(seat, said.attempt, said.tokens, said.waiting, ended);
                ASSERT_EQ(pool.made(seat, said.attempt, said.tokens, said.waiting, ended), lives);
                break;
            }
            case Said::What::version:
                if (of_lost) break;  // whoever runs engines knows which one this is of
                naive.find(seat)->version = said.version;
                pool.version(seat, said.version);
        }
    }

    void turn() {
        ToyChooser chooser(pool);
        std::vector<Order> expected, orders;
        naive.turn(chooser, expected);
        pool.turn(chooser, orders);
        ASSERT_EQ(lines(orders), lines(expected));
        for (const Order& order : orders) {
            log.push_back(lines({&order, 1}).front());
            carry_out(order);
        }
        check();
    }

    /// Until all is over, and nothing is on its way.
    void finish() {
        bool quiet = false;
        for (int rounds = 0; !quiet; ++rounds) {
            ASSERT_LT(rounds, 1000) << "requests are not answered";
            turn();
            if (testing::Test::HasFatalFailure()) return;
            quiet = pool.open() == 0;
            for (auto& [seat, engine] : engines) {
                quiet = quiet && engine.inbox.empty();
                while (!engine.inbox.empty()) engine.answer(states, false);
                while (!engine.works.empty()) engine.make(engine.works.begin()->first, 2, false);
                while (!engine.outbox.empty()) hear(seat);
            }
        }
        for (auto& [seat, said] : late)
            while (!said.empty()) hear(seat, true);
        turn();
        for (const auto& [handle, times] : heard) EXPECT_EQ(times, 1) << "state " << handle;
        EXPECT_EQ(done.size(), naive.requests.size());
    }

  private:
    void carry_out(const Order& order) {
        if (const auto* const discard = std::get_if<Discard>(&order)) {
            ++heard.at(discard->handle);
            states.states.erase(discard->handle);
            return;
        }
        if (const auto* const end = std::get_if<Done>(&order)) {
            ASSERT_TRUE(done.emplace(end->request, end->how).second) << "ends twice";
            ASSERT_EQ(end->end.request, end->request);
            return;
        }
        if (const auto* const give = std::get_if<Give>(&order)) {
            ASSERT_TRUE(attempts.insert(give->attempt).second) << "an attempt's number again";
            ASSERT_FALSE(done.contains(give->request));
            if (give->handle != 0) {
                ASSERT_EQ(heard.at(give->handle), 0) << "a state that is gone";
                ASSERT_EQ(states.states.at(give->handle).made, give->from);
                handles[give->attempt] = give->handle;
            } else {
                check_state(*give);
            }
        }
        std::visit(
            [&](const auto& each) {
                if constexpr (requires { each.seat; }) {
                    ASSERT_TRUE(engines.contains(each.seat)) << "for an engine that is not there";
                    engines[each.seat].inbox.push_back(each);
                }
            },
            order);
    }

    void check_state(const Give& give) {
        const RequestState state = pool.state(give, "toy");
        const NaivePool::Request& request =
            naive.requests.at(static_cast<std::size_t>(give.request));
        ASSERT_EQ(state.ids.size(), give.from);
        ASSERT_EQ(give.from, request.made.size());
        for (std::size_t i = 0; i < give.from; ++i)
            ASSERT_EQ(std::tuple(state.ids[i], state.versions[i], state.log_probabilities[i],
                                 state.sampled_log_probabilities[i]),
                      std::tuple(request.made[i].token.id, request.made[i].version,
                                 request.made[i].token.logprob, request.made[i].token.sampled));
        if (!state.request.links) return;
        for (std::size_t i = 0; i < state.request.links->linked.size(); ++i)
            ASSERT_TRUE(
                std::any_of(naive.kept.begin(), naive.kept.end(), [&](const NaivePool::Kept& kept) {
                    return kept.request == request.ask.request.links->linked[i].kept &&
                           kept.seat == give.seat &&
                           kept.attempt == state.request.links->linked[i].kept;
                }));
    }

    void check() {
        const std::vector<Place> places = naive.places();
        ASSERT_EQ(pool.places().size(), places.size());
        for (std::size_t i = 0; i < places.size(); ++i) {
            const Place &a = pool.places()[i], &b = places[i];
            ASSERT_EQ(std::tuple(a.seat, a.model, a.version, a.given, a.waiting, a.takes),
                      std::tuple(b.seat, b.model, b.version, b.given, b.waiting, b.takes));
            ASSERT_EQ(pool.with(a.seat), naive.with(a.seat));
        }
        ASSERT_EQ(pool.pending(), naive.pending().size());
        std::size_t open = 0;
        for (std::size_t i = 0; i < naive.requests.size(); ++i) {
            const auto number = static_cast<Number>(i);
            const NaivePool::Request& request = naive.requests[i];
            open += request.over ? 0 : 1;
            ASSERT_EQ(pool.over(number), request.over);
            ASSERT_EQ(request.over, done.contains(number));
            check_tokens(number, request);
        }
        ASSERT_EQ(pool.open(), open);
        for (const NaivePool::Kept& kept : naive.kept)
            ASSERT_EQ(pool.kept(kept.request, kept.seat), kept.attempt);
    }

    void check_tokens(Number number, const NaivePool::Request& request) const {
        const std::span<const Token> tokens = pool.tokens(number);
        ASSERT_EQ(tokens.size(), request.made.size());
        std::size_t position = 0;
        for (const Run& run : pool.runs(number)) {
            ASSERT_GT(run.tokens, 0);
            for (std::int32_t n = 0; n < run.tokens; ++n, ++position) {
                ASSERT_LT(position, tokens.size());
                ASSERT_EQ(tokens[position], toy_token(number, position, run.version));
                ASSERT_EQ(run.seat, request.made[position].seat);
                ASSERT_EQ(run.version, request.made[position].version);
            }
        }
        ASSERT_EQ(position, tokens.size());
        const auto end = done.find(number);
        const bool ended = end != done.end() && end->second == Done::How::ended;
        ASSERT_TRUE(!ended || tokens.size() == toy_length(number));
    }
};

}  // namespace assay::decode
