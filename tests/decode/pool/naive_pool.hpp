// The pool again, as an oracle: a list of requests that is searched from end to end, nothing
// counted beforehand, no order taken back before it is handed out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "impls/decode/pool/pool.hpp"

namespace assay::decode {

struct NaivePool {
    struct Made {
        Token token;
        Seat seat;
        int version;
    };
    struct Request {
        Ask ask;
        std::vector<Made> made{};
        bool over = false, taken = false, released = false;
        Number attempt = -1;  // living
        Seat seat = -1;
        std::uint64_t handle = 0;
        std::optional<Seat> move{};
        std::vector<Seat> refused_by{};
    };
    struct There {
        Seat seat;
        int model, version, most;
        bool open = true;
        int said_waiting = 0;
    };
    struct Kept {
        Number request;
        Seat seat;
        Number attempt;
    };
    std::vector<Request> requests;  // by number
    std::vector<There> seats;
    std::vector<Kept> kept;
    std::vector<Order> orders;
    Number attempts = 0;

    Request* living(Seat seat, Number attempt) {
        for (Request& each : requests)
            if (attempt >= 0 && each.attempt == attempt && each.seat == seat) return &each;
        return nullptr;
    }
    There* find(Seat seat) {
        for (There& each : seats)
            if (each.seat == seat) return &each;
        return nullptr;
    }
    Number number(const Request& request) const { return &request - requests.data(); }
    std::vector<Number> with(Seat seat) const {
        std::vector<Number> numbers;
        for (const Request& each : requests)
            if (each.attempt >= 0 && each.seat == seat) numbers.push_back(number(each));
        return numbers;
    }
    std::vector<Number> pending() const {
        std::vector<Number> numbers;
        for (const Request& each : requests)
            if (!each.over && each.attempt < 0) numbers.push_back(number(each));
        std::stable_sort(numbers.begin(), numbers.end(), [&](Number a, Number b) {
            return requests[static_cast<std::size_t>(a)].ask.request.priority >
                   requests[static_cast<std::size_t>(b)].ask.request.priority;
        });
        return numbers;
    }
    std::vector<Place> places() {
        std::vector<Place> places;
        for (There& each : seats) {
            const auto given = static_cast<int>(with(each.seat).size());
            each.said_waiting = std::min(each.said_waiting, given);
            places.push_back({.seat = each.seat,
                              .model = each.model,
                              .version = each.version,
                              .given = given,
                              .waiting = each.said_waiting,
                              .takes = each.open && given < each.most});
        }
        std::sort(places.begin(), places.end(),
                  [](const Place& a, const Place& b) { return a.seat < b.seat; });
        return places;
    }
    bool can_be_linked(const Request& request) const {
        if (!request.ask.request.links) return true;
        for (const LinkedTokens& linked : request.ask.request.links->linked) {
            const bool released = requests[static_cast<std::size_t>(linked.kept)].released;
            const bool is_kept = std::any_of(kept.begin(), kept.end(), [&](const Kept& each) {
                return each.request == linked.kept;
            });
            if (released && !is_kept) return false;
        }
        return true;
    }
    void wait(Request& request) {
        if (!can_be_linked(request)) done(request, Done::How::dropped);
    }
    static bool has_refused(const Request& request, Seat seat) {
        return std::count(request.refused_by.begin(), request.refused_by.end(), seat) > 0;
    }
    bool all_refuse(const Request& request) const {
        std::vector<Seat> of_its_model;
        for (const There& each : seats)
            if (each.model == request.ask.model) of_its_model.push_back(each.seat);
        return !of_its_model.empty() &&
               std::all_of(of_its_model.begin(), of_its_model.end(),
                           [&](Seat seat) { return has_refused(request, seat); });
    }
    bool takes(Seat seat) {
        for (const Place& each : places())
            if (each.seat == seat) return each.takes;
        return false;
    }

    void ask(const Ask& ask) {
        Request& request = requests.emplace_back(Request{.ask = ask});
        for (const Token& token : ask.tokens) request.made.push_back({token, -1, 1});
        wait(request);
    }
    void leave(Request& request, bool with_state = true) {
        if (with_state && request.handle != 0) orders.push_back(Discard{request.handle});
        request.handle = 0;
        request.attempt = -1;
        request.taken = false;
        request.move.reset();
        places();  // fewer wait than are there
    }
    void give(Request& request, Seat seat, std::uint64_t handle) {
        request.seat = seat;
        request.attempt = attempts++;
        request.handle = handle;
        orders.push_back(Give{number(request), seat, request.attempt, request.made.size(), handle});
    }
    void done(Request& request, Done::How how) {
        request.over = true;
        orders.push_back(Done{number(request), how, {}});
    }
    void cancel(Number which) {
        Request& request = requests[static_cast<std::size_t>(which)];
        if (request.over) return;
        remove(request);
        done(request, Done::How::cancelled);
    }
    void remove(Request& request) {
        if (request.attempt < 0) return;
        orders.push_back(Remove{request.attempt, request.seat});
        leave(request);
    }
    void take_back(Number which) {
        Request& request = requests[static_cast<std::size_t>(which)];
        if (request.attempt < 0) return;
        remove(request);
        wait(request);
    }
    void move(Number which, Seat to, bool with_cache) {
        Request& request = requests[static_cast<std::size_t>(which)];
        if (request.attempt < 0 || request.move || request.seat == to || request.ask.only ||
            request.ask.request.binds())
            return;
        request.move = to;
        orders.push_back(Export{request.attempt, request.seat, with_cache});
    }
    void release(Number request) {
        std::sort(kept.begin(), kept.end(),
                  [](const Kept& a, const Kept& b) { return a.seat < b.seat; });
        for (const Kept& each : kept)
            if (each.request == request) orders.push_back(Unkeep{each.attempt, each.seat});
        std::erase_if(kept, [&](const Kept& each) { return each.request == request; });
        requests[static_cast<std::size_t>(request)].released = true;
    }
    void lost(Seat seat) {
        std::erase_if(orders, [&](const Order& order) {
            return std::visit(
                [&](const auto& each) {
                    if constexpr (requires { each.seat; }) return each.seat == seat;
                    return false;
                },
                order);
        });
        std::erase_if(kept, [&](const Kept& each) { return each.seat == seat; });
        for (const Number number : with(seat)) {
            Request& request = requests[static_cast<std::size_t>(number)];
            leave(request);
            if (request.ask.only || request.ask.loss == Loss::drop) {
                done(request, Done::How::dropped);
                continue;
            }
            if (request.ask.loss == Loss::restart) request.made.clear();
            wait(request);
        }
        std::erase_if(seats, [&](const There& each) { return each.seat == seat; });
        for (const Number number : pending())
            if (Request& request = requests[static_cast<std::size_t>(number)];
                request.ask.only == seat)
                done(request, Done::How::dropped);
            else if (all_refuse(request))
                done(request, Done::How::failed);
    }

    bool made(Seat seat, Number attempt, std::span<const Token> tokens, int waiting,
              const EndedRequest* ended) {
        Request* const request = living(seat, attempt);
        if (!request) return false;
        find(seat)->said_waiting = waiting;
        places();
        for (const Token& token : tokens)
            request->made.push_back({token, seat, find(seat)->version});
        if (!ended) return true;
        const bool well = ended->why == Finish::length;
        if (well && request->ask.request.links && request->ask.request.links->keep) {
            const Number of = request->ask.copy_of >= 0 ? request->ask.copy_of : number(*request);
            for (const Kept& each : kept)
                if (each.request == of && each.seat == seat)
                    orders.push_back(Unkeep{each.attempt, seat});
            std::erase_if(
                kept, [&](const Kept& each) { return each.request == of && each.seat == seat; });
            if (requests[static_cast<std::size_t>(of)].released)
                orders.push_back(Unkeep{attempt, seat});
            else
                kept.push_back({of, seat, attempt});
        }
        leave(*request);
        done(*request, well ? Done::How::ended : Done::How::failed);
        return true;
    }
    void taken(Seat seat, Number attempt) {
        if (Request* const request = living(seat, attempt)) {
            request->taken = true;
            request->handle = 0;
        }
    }
    void refused(Seat seat, Number attempt) {
        Request* const request = living(seat, attempt);
        if (!request) return;
        if (request->taken) {
            request->move.reset();
            return;
        }
        const bool had_state = request->handle != 0;
        leave(*request, false);
        if (had_state) return give(*request, seat, 0);
        request->refused_by.push_back(seat);
        if (!all_refuse(*request) && !request->ask.only) return wait(*request);
        done(*request, Done::How::failed);
    }
    void exported(Seat seat, Number attempt, std::uint64_t handle) {
        Request* const request = living(seat, attempt);
        if (!request || !request->move) return orders.push_back(Discard{handle});
        const Seat to = *request->move;
        leave(*request);
        if (takes(to) && find(to)->model == request->ask.model) return give(*request, to, handle);
        orders.push_back(Discard{handle});
        wait(*request);
    }
    void turn(Chooser& chooser, std::vector<Order>& out) {
        for (const Number number : pending()) {
            Request& request = requests[static_cast<std::size_t>(number)];
            std::vector<Place> all = places();
            for (Place& each : all) each.takes = each.takes && !has_refused(request, each.seat);
            const auto seat = request.ask.only ? request.ask.only : chooser.choose(number, all);
            if (seat && takes(*seat)) give(request, *seat, 0);
        }
        out.insert(out.end(), orders.begin(), orders.end());
        orders.clear();
    }
};

}  // namespace assay::decode
