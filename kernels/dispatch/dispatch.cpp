// Which rows go where, and the copies that follow: one thread, what other back ends are compared
// with.
#include "kernels/dispatch/check.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/cpu/context.hpp"

namespace assay::kernels {
namespace {

using Counts = std::vector<std::int64_t>;

/// `amount` in proportion to weights, by largest remainder; a tie goes to the lower index.
Counts split(std::int64_t amount, const Counts& weights) {
    const std::int64_t sum = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
    Counts parts(weights.size()), order(weights.size());
    std::int64_t left = amount;
    for (std::size_t j = 0; j < parts.size(); ++j) {
        parts[j] = amount * weights[j] / sum;
        left -= parts[j];
    }
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        const auto remainder = [&](std::int64_t j) {
            return amount * weights[static_cast<std::size_t>(j)] % sum;
        };
        return remainder(a) > remainder(b);
    });
    for (std::size_t i = 0; i < static_cast<std::size_t>(left); ++i)
        ++parts[static_cast<std::size_t>(order[i])];
    return parts;
}

/// Writes the rows of an expert that this rank sends to, and receives from, each other.
void schedule(const AssayDispatch& call, int expert) {
    const auto ranks = static_cast<std::size_t>(call.ranks);
    const auto mine = static_cast<std::size_t>(call.rank);
    const auto of = [&](std::int32_t* counts, std::size_t peer) -> std::int32_t& {
        return counts[peer * static_cast<std::size_t>(call.experts) +
                      static_cast<std::size_t>(expert)];
    };
    const std::size_t row = static_cast<std::size_t>(expert) * ranks;
    Counts overflow(call.tokens + row, call.tokens + row + ranks);
    const Counts replicas(call.replicas + row, call.replicas + row + ranks);
    for (std::size_t peer = 0; peer < ranks; ++peer)
        of(call.send_first, peer) = of(call.receive_first, peer) = 0;
    call.expert_first[expert] = 0;
    if (std::all_of(replicas.begin(), replicas.end(), [](std::int64_t r) { return r == 0; }))
        return;

    // Each holder's capacity, of which it keeps what it can for its own rows.
    Counts free =
        split(std::accumulate(overflow.begin(), overflow.end(), std::int64_t{0}), replicas);
    call.expert_first[expert] = static_cast<std::int32_t>(free[mine]);
    for (std::size_t j = 0; j < ranks; ++j) {
        const std::int64_t local = std::min(free[j], overflow[j]);
        free[j] -= local;
        overflow[j] -= local;
        if (j == mine)
            of(call.send_first, j) = of(call.receive_first, j) = static_cast<std::int32_t>(local);
    }
    // The rest, source by source, over what is free then.
    for (std::size_t source = 0; source < ranks; ++source) {
        if (overflow[source] == 0) continue;
        const Counts parts = split(overflow[source], free);
        for (std::size_t j = 0; j < ranks; ++j) {
            free[j] -= parts[j];
            if (source == mine && j != mine)
                of(call.send_first, j) = static_cast<std::int32_t>(parts[j]);
            if (j == mine && source != mine)
                of(call.receive_first, source) = static_cast<std::int32_t>(parts[j]);
        }
    }
}

/// counts[i] becomes the sum of those before; counts[count] that of all.
void sum_up(std::int32_t* counts, std::size_t count) {
    std::int32_t before = 0;
    for (std::size_t i = 0; i < count; ++i) before += std::exchange(counts[i], before);
    counts[count] = before;
}

void place_rows(const AssayDispatch& call) {
    const auto experts = static_cast<std::size_t>(call.experts);
    // By expert: the segment that its next row belongs to, and how many rows that has already.
    std::vector<std::size_t> segment(experts);
    std::vector<std::int32_t> in_segment(experts, 0);
    std::iota(segment.begin(), segment.end(), std::size_t{0});
    const std::size_t end = experts * static_cast<std::size_t>(call.ranks);
    for (std::int32_t row = 0; row < call.rows; ++row) {
        call.places[row] = -1;
        const std::int32_t choice = call.choices[row];
        if (choice < 0 || choice >= call.experts) continue;
        const auto e = static_cast<std::size_t>(choice);
        std::size_t& at = segment[e];
        while (at < end && call.send_first[at] + in_segment[e] == call.send_first[at + 1]) {
            at += experts;
            in_segment[e] = 0;
        }
        if (at < end) call.places[row] = call.send_first[at] + in_segment[e]++;
    }
}

void group_rows(const AssayDispatch& call) {
    for (std::int32_t e = 0; e < call.experts; ++e) {
        std::int32_t next = call.expert_first[e];
        for (std::int32_t source = 0; source < call.ranks; ++source) {
            const std::int32_t* const segment = call.receive_first + source * call.experts + e;
            for (std::int32_t row = segment[0]; row < segment[1]; ++row, ++next)
                if (row < call.receive_room) call.grouped[row] = next;
        }
    }
}

/// move(row, place) for all that have a place.
template <class Move>
AssayStatus move_rows(AssayContext& context, const AssayRowMove& call, const Move& move) {
    if (const char* const why = refusal(call)) return refuse(context, ASSAY_BAD_ARGUMENT, why);
    for (std::int32_t row = 0; row < call.rows; ++row)
        if (const std::int32_t place = call.places[row]; place >= 0 && place < call.places_end)
            move(static_cast<std::size_t>(row), static_cast<std::size_t>(place));
    return ASSAY_OK;
}

void copy_row(const AssayRowMove& call, std::size_t to, std::size_t from) {
    std::memcpy(static_cast<std::byte*>(call.to) + to * call.row_bytes,
                static_cast<const std::byte*>(call.from) + from * call.row_bytes, call.row_bytes);
}

}  // namespace

AssayStatus dispatch(AssayContext& context, const AssayDispatch& call) {
    if (const char* const why = refusal(call)) return refuse(context, ASSAY_BAD_ARGUMENT, why);
    for (int expert = 0; expert < call.experts; ++expert) schedule(call, expert);
    const std::size_t segments =
        static_cast<std::size_t>(call.experts) * static_cast<std::size_t>(call.ranks);
    sum_up(call.send_first, segments);
    sum_up(call.receive_first, segments);
    sum_up(call.expert_first, static_cast<std::size_t>(call.experts));
    place_rows(call);
    group_rows(call);
    return ASSAY_OK;
}

AssayStatus shuffle(AssayContext& context, const AssayRowMove& call) {
    return move_rows(context, call,
                     [&](std::size_t row, std::size_t place) { copy_row(call, place, row); });
}

AssayStatus unshuffle(AssayContext& context, const AssayRowMove& call) {
    return move_rows(context, call,
                     [&](std::size_t row, std::size_t place) { copy_row(call, row, place); });
}

}  // namespace assay::kernels
