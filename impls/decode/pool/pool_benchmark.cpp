// How many events a second the pool alone takes in: no engine, no messages.
//
//     build/cpu/bin/decode_pool_benchmark
//
// events: chunks of tokens; or requests, each asked for, given and ended. Goal: a million a second,
// and 12 bytes a token. 64 seats, 4,096 open requests.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "impls/decode/pool/choosers.hpp"
#include "impls/decode/pool/pool.hpp"

namespace assay::decode {
namespace {

static_assert(sizeof(Token) == 12);

constexpr int seats = 64, open_requests = 4096;
const EndedRequest ended{.why = Finish::length};

struct BusyPool {
    Pool pool;
    std::vector<Order> orders;
    std::vector<Give> given;  // living attempts
    FewestGiven chooser{pool};

    BusyPool() {
        for (Seat seat = 0; seat < seats; ++seat) pool.there(seat, 0, 1, open_requests / seats);
        for (int n = 0; n < open_requests; ++n) ask();
        turn();
    }
    void ask() { pool.ask({.request = {.prompt = {1, 2, 3, 4}, .max_tokens = 1 << 30}}); }
    void turn() {
        orders.clear();
        pool.turn(chooser, orders);
        for (const Order& order : orders)
            if (const auto* const give = std::get_if<Give>(&order))
                given.push_back(*give);
            else if (const auto* const done = std::get_if<Done>(&order))
                pool.forget(done->request);
    }
};

/// A chunk of each request in turn.
void made(benchmark::State& state) {
    constexpr std::size_t most_tokens = 1024;  // of a request, then all begin anew
    const std::vector<Token> tokens(static_cast<std::size_t>(state.range(0)), Token{.id = 7});
    std::int64_t events = 0;
    for (auto _ : state) {
        state.PauseTiming();
        auto busy = std::make_unique<BusyPool>();
        state.ResumeTiming();
        for (std::size_t made = 0; made < most_tokens; made += tokens.size())
            for (const Give& give : busy->given) {
                if (!busy->pool.made(give.seat, give.attempt, tokens, 0, nullptr))
                    state.SkipWithError("a chunk of a living attempt was refused");
                ++events;
            }
        state.PauseTiming();
        busy.reset();
        state.ResumeTiming();
    }
    const auto rate = [](double count) {
        return benchmark::Counter(count, benchmark::Counter::kIsRate);
    };
    state.counters["events"] = rate(static_cast<double>(events));
    state.counters["tokens"] = rate(static_cast<double>(events * state.range(0)));
}

/// Each of the open requests ends, and another one takes its seat: so many between two turns.
void asked_given_ended(benchmark::State& state) {
    BusyPool busy;
    const std::vector<Token> tokens(1);
    std::size_t next = 0;
    std::int64_t events = 0;
    for (auto _ : state) {
        for (std::int64_t n = 0; n < state.range(0); ++n, ++events) {
            const Give give = busy.given[next++];
            if (!busy.pool.made(give.seat, give.attempt, tokens, 0, &ended))
                state.SkipWithError("a chunk of a living attempt was refused");
            busy.ask();
        }
        busy.turn();
        if (next >= open_requests) {
            busy.given.erase(busy.given.begin(), busy.given.begin() + static_cast<int>(next));
            next = 0;
        }
    }
    state.counters["events"] =
        benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

BENCHMARK(made)->Arg(1)->Arg(8)->Unit(benchmark::kMillisecond);
BENCHMARK(asked_given_ended)->Arg(1)->Arg(64)->Arg(4096)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace assay::decode

BENCHMARK_MAIN();
