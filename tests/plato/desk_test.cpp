// The desk above a pool, engines played by the test: what is computed once more is what was said.
#include "impls/plato/live/desk.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "impls/decode/requests/request_check.hpp"

namespace assay::plato {
namespace {

std::vector<QuestionTokens> one_question() {
    PlanRecord plan{.id = "q",
                    .question_tokens = 5,
                    .static_plan_tokens = 4,
                    .static_node_tokens = 4,
                    .ar_tokens = 12,
                    .nodes = {}};
    NodeRecord first{3, 2, 6, {}};
    first.text = "so it is";
    plan.nodes = {first, NodeRecord{3, 2, 6, {1}}};
    return drawn_tokens({plan}, nn::Tokenizer::bytes(), 1);
}

/// Says all tokens of each request at once.
class PlayedEngines {
  public:
    explicit PlayedEngines(const AnswerSettings& answer)
        : questions_(one_question()),
          desk(pool, questions_, questions_, {.answer = answer, .adaptive = {}, .blocks = 64}) {
        for (const decode::Seat seat : {0, 1}) pool.there(seat, 0, 1);
        desk.begin(0);
    }
    /// `given`: told of each Give before it is answered; `ended`: of each end.
    void run(const std::function<void(const decode::Give&)>& given,
             const std::function<void(const decode::Done&)>& ended) {
        while (!desk.all_done()) {
            desk.go_on();
            std::vector<decode::Order> orders;
            pool.turn(desk, orders);
            ASSERT_FALSE(orders.empty());
            for (const decode::Order& order : orders) {
                if (const auto* const give = std::get_if<decode::Give>(&order)) {
                    given(*give);
                    say_all(*give);
                } else if (const auto* const done = std::get_if<decode::Done>(&order)) {
                    ended(*done);
                    desk.on_done(*done);
                }
            }
        }
    }

    decode::Pool pool;

  private:
    void say_all(const decode::Give& give) {
        const decode::BatchRequest& request = pool.asked(give.request).request;
        std::vector<decode::Token> tokens;
        for (std::size_t at = give.from; at < decode::most_tokens(request); ++at)
            tokens.push_back({request.forced_ids.empty() ? 7 : request.forced_ids[at], -1, 0});
        const decode::EndedRequest end{.request = give.attempt, .why = decode::Finish::length};
        pool.taken(give.seat, give.attempt);
        pool.made(give.seat, give.attempt, tokens, 0, &end);
        desk.on_tokens(give.request, tokens);
    }

    std::vector<QuestionTokens> questions_;

  public:
    Desk desk;
};

TEST(Desk, ANodeWhoseAnswerIsGivenIsComputedOnceMoreAsItWas) {
    PlayedEngines engines({.mode = Mode::plato, .reuse = KvReuse::linked});
    decode::Pool& pool = engines.pool;
    long copies = 0;
    engines.run(
        [&](const decode::Give& give) {
            const decode::Ask& ask = pool.asked(give.request);
            if (ask.copy_of < 0) return;
            ++copies;
            const decode::Ask& original = pool.asked(ask.copy_of);
            EXPECT_EQ(ask.request.forced_ids, original.request.forced_ids);
            EXPECT_EQ(ask.request.forced_ids.size(), 6u);
            EXPECT_EQ(give.from, 5u);  // all but the last are read like a prompt
        },
        [&](const decode::Done& done) {
            // Whoever has the first node takes no other.
            const decode::Ask& ask = pool.asked(done.request);
            if (ask.copy_of < 0 && ask.request.links && ask.request.links->keep)
                pool.open(pool.runs(done.request).back().seat, false);
        });
    EXPECT_EQ(copies, 1);
    EXPECT_EQ(engines.desk.counts().at("replayed"), 1);
}

}  // namespace
}  // namespace assay::plato
