// Lazarus' dispatch of one rank: schedule, places, shuffle, un-shuffle. What they compute is said
// in kernels/assay_kernels.h; the rounding rule in impls/lazarus/policy/dispatch/dispatch_plan.hpp.
//
// schedule  a block per expert: what this rank sends of it to each other and receives; the block
//           that ends last turns the counts into places
// places    a block per expert: each of its rows, in their order, to the next place of its segments
// move      a warp per row
#pragma once

#include "kernels/cuda/device/jobs.hpp"

namespace assay::kernels::cuda {

/// Splits `amount` over the ranks in proportion to weights, which add up to `sum`, by largest
/// remainder, a tie to the lower rank, and calls use(rank, part), which may change that rank's
/// weight. For all threads of a block; shares: [2 * ranks] of block memory, per_warp:
/// [schedule_warps]. The remainders add up to as many times `sum` as units are left for the largest
/// of them: bisection finds the smallest threshold that no more of them lie above, and those that
/// equal it are counted from the lowest rank on.
template <class Use>
ASSAY_DEVICE void split(int amount, const int* weights, int sum, int ranks, int* shares,
                        int* per_warp, const Use& use) {
    const int lane = thread_index() % lanes, warp = thread_index() / lanes;
    int* const floors = shares;
    int* const remainders = shares + ranks;
    std::uint32_t given = 0;
    for (int j = thread_index(); j < ranks; j += schedule_threads) {
        const std::int64_t product = static_cast<std::int64_t>(amount) * weights[j];
        floors[j] = static_cast<int>(product / sum);
        remainders[j] = static_cast<int>(product - static_cast<std::int64_t>(floors[j]) * sum);
        given += static_cast<std::uint32_t>(floors[j]);
    }
    given = warp_sum(given);
    if (lane == 0) per_warp[warp] = static_cast<int>(given);
    block_barrier();
    int left = amount;
    for (int w = 0; w < schedule_warps; ++w) left -= per_warp[w];
    block_barrier();  // per_warp is free again
    // For how many ranks it holds. As many rounds for every thread: each is a barrier.
    const auto count = [&](const auto& holds) {
        int ranks_that = 0;
        for (int first = 0; first < ranks; first += schedule_threads) {
            const int j = first + thread_index();
            ranks_that += block_count(j < ranks && holds(remainders[j]));
        }
        return ranks_that;
    };
    // No more than `left` lie above `threshold`, namely `above`; more than that above `low`.
    int low = -1, threshold = sum - 1, above = 0;
    while (above < left && low + 1 < threshold) {
        const int middle = low + (threshold - low) / 2;
        const int here = count([&](int remainder) { return remainder > middle; });
        if (here <= left) {
            threshold = middle;
            above = here;
        } else {
            low = middle;
        }
    }
    int equal = 0;  // of earlier rounds
    for (int first = 0; first < ranks; first += schedule_threads) {
        const int j = first + thread_index();
        const bool ties = j < ranks && remainders[j] == threshold;
        const std::uint32_t ballot = warp_ballot(ties);
        if (lane == 0) per_warp[warp] = bits_set(ballot);
        block_barrier();
        int before = equal + bits_set(ballot & ((1u << lane) - 1u));
        for (int w = 0; w < schedule_warps; ++w) {
            if (w < warp) before += per_warp[w];
            equal += per_warp[w];
        }
        if (j < ranks) {
            const bool more = remainders[j] > threshold || (ties && before < left - above);
            use(j, floors[j] + (more ? 1 : 0));
        }
        block_barrier();
    }
}

/// counts[i] becomes the sum of those before, counts[count] that of all. For all threads of the
/// block that ended last; sums: one int per thread of block memory.
ASSAY_DEVICE void sum_up(int* counts, int count, int* sums) {
    const int each = (count + schedule_threads - 1) / schedule_threads;
    const int first = thread_index() * each;
    const int begin = first < count ? first : count;
    const int end = begin + each < count ? begin + each : count;
    int sum = 0;
    for (int i = begin; i < end; ++i) sum += load_of_other_block(counts + i);
    sums[thread_index()] = sum;
    block_barrier();
    int before = 0;
    for (int t = 0; t < thread_index(); ++t) before += sums[t];
    for (int i = begin; i < end; ++i) {
        const int value = load_of_other_block(counts + i);
        counts[i] = before;
        before += value;
    }
    if (thread_index() == schedule_threads - 1) counts[count] = before;
    block_barrier();
}

ASSAY_KERNEL(schedule_threads, 1)
schedule_kernel(ASSAY_PARAMETER AssayDispatch call, int* counter) {
    const int expert = block_index().x, ranks = call.ranks, mine = call.rank;
    int* const memory = reinterpret_cast<int*>(block_memory());
    // Rows of the expert that a rank does not keep; what a rank could still take.
    int* const overflow = memory;
    int* const free = memory + ranks;
    int* const shares = memory + 2 * ranks;
    int* const per_warp = memory + 4 * ranks;
    int* const sent = call.send_first + expert;  // to a peer, at peer * experts
    int* const received = call.receive_first + expert;
    wait_for_previous_kernel();
    allow_next_kernel();

    for (int j = thread_index(); j < ranks; j += schedule_threads) {
        overflow[j] = call.tokens[static_cast<std::ptrdiff_t>(expert) * ranks + j];
        free[j] = call.replicas[static_cast<std::ptrdiff_t>(expert) * ranks + j];
        sent[j * call.experts] = received[j * call.experts] = 0;
    }
    if (thread_index() == 0) call.expert_first[expert] = 0;
    block_barrier();
    int rows = 0, replicas = 0;
    for (int j = 0; j < ranks; ++j) {
        rows += overflow[j];
        replicas += free[j];
    }
    block_barrier();
    if (rows > 0 && replicas > 0) {
        // Each holder's capacity, of which it keeps what it can for its own rows.
        split(rows, free, replicas, ranks, shares, per_warp, [&](int j, int capacity) {
            const int local = capacity < overflow[j] ? capacity : overflow[j];
            free[j] = capacity - local;
            overflow[j] -= local;
            if (j == mine) {
                call.expert_first[expert] = capacity;
                sent[j * call.experts] = received[j * call.experts] = local;
            }
        });
        int free_sum = 0;
        for (int j = 0; j < ranks; ++j) free_sum += free[j];
        // The rest, source by source, over what is free then. A rank that sends receives nothing.
        const int last = overflow[mine] > 0 ? mine : free[mine] > 0 ? ranks - 1 : -1;
        for (int source = 0; source <= last; ++source) {
            const int amount = overflow[source];
            if (amount == 0) continue;
            split(amount, free, free_sum, ranks, shares, per_warp, [&](int j, int part) {
                free[j] -= part;
                if (source == mine && j != mine) sent[j * call.experts] = part;
                if (j == mine && source != mine) received[source * call.experts] = part;
            });
            free_sum -= amount;
        }
    }
    if (!is_last_block(counter, call.experts)) return;
    sum_up(call.send_first, ranks * call.experts, memory);
    sum_up(call.receive_first, ranks * call.experts, memory);
    sum_up(call.expert_first, call.experts, memory);
}

ASSAY_KERNEL(places_threads, 1) places_kernel(ASSAY_PARAMETER AssayDispatch call) {
    const int expert = block_index().x, ranks = call.ranks, experts = call.experts;
    const int lane = thread_index() % lanes, warp = thread_index() / lanes;
    int* const ends =
        reinterpret_cast<int*>(block_memory());  // rows for this rank and those before
    int* const counts = ends + ranks + 1;        // one per warp
    wait_for_previous_kernel();
    allow_next_kernel();

    const auto size = [&](const int* first, int peer) {
        const int* const segment = first + peer * experts + expert;
        return segment[1] - segment[0];
    };
    for (int j = thread_index(); j < ranks; j += places_threads) {
        int end = 0;
        for (int i = 0; i <= j; ++i) end += size(call.send_first, i);
        ends[j] = end;
    }
    const auto place = [&](int ordinal) {
        int peer = 0, beyond = ranks;  // the first rank whose end lies above the ordinal
        while (peer < beyond) {
            const int middle = (peer + beyond) / 2;
            if (ends[middle] > ordinal)
                beyond = middle;
            else
                peer = middle + 1;
        }
        if (peer == ranks) return -1;
        return call.send_first[peer * experts + expert] + ordinal - (peer > 0 ? ends[peer - 1] : 0);
    };
    block_barrier();
    int before = 0;  // rows of this expert in earlier rounds
    for (int first = 0; first < call.rows; first += places_threads * places_rows) {
        const int row = first + thread_index() * places_rows;
        bool is_mine[places_rows];
        int lower = 0, in_warp = 0;
#pragma unroll
        for (int i = 0; i < places_rows; ++i) {
            const int choice = row + i < call.rows ? call.choices[row + i] : expert + 1;
            is_mine[i] = choice == expert;
            const std::uint32_t ballot = warp_ballot(is_mine[i]);
            in_warp += bits_set(ballot);
            lower += bits_set(ballot & ((1u << lane) - 1u));
            if (expert == 0 && row + i < call.rows && (choice < 0 || choice >= experts))
                call.places[row + i] = -1;
        }
        if (lane == 0) counts[warp] = in_warp;
        block_barrier();
        int ordinal = before + lower;
        for (int w = 0; w < places_warps; ++w) {
            if (w < warp) ordinal += counts[w];
            before += counts[w];
        }
#pragma unroll
        for (int i = 0; i < places_rows; ++i)
            if (is_mine[i]) call.places[row + i] = place(ordinal++);
        block_barrier();
    }

    int grouped = call.expert_first[expert];
    for (int source = 0; source < ranks; ++source) {
        const int begin = call.receive_first[source * experts + expert];
        const int rows = size(call.receive_first, source);
        for (int i = thread_index(); i < rows; i += places_threads)
            if (begin + i < call.receive_room) call.grouped[begin + i] = grouped + i;
        grouped += rows;
    }
}

template <bool back>
ASSAY_KERNEL(move_threads, move_blocks_per_multiprocessor)
move_kernel(ASSAY_PARAMETER AssayRowMove call) {
    constexpr int unit = 16;
    const int lane = thread_index() % lanes;
    const int row = block_index().x * move_warps + thread_index() / lanes;
    wait_for_previous_kernel();
    allow_next_kernel();
    if (row >= call.rows) return;
    const int place = call.places[row];
    if (place < 0 || place >= call.places_end) return;
    const auto bytes = static_cast<std::ptrdiff_t>(call.row_bytes);
    const std::byte* const from =
        static_cast<const std::byte*>(call.from) + (back ? place : row) * bytes + lane * unit;
    std::byte* const to =
        static_cast<std::byte*>(call.to) + (back ? row : place) * bytes + lane * unit;
    constexpr std::ptrdiff_t step = lanes * unit;
    for (std::ptrdiff_t at = 0; at < bytes - lane * unit; at += move_loads_in_flight * step) {
        Words4 words[move_loads_in_flight];
#pragma unroll
        for (int i = 0; i < move_loads_in_flight; ++i)
            if (at + i * step < bytes - lane * unit) words[i] = load_once(from + at + i * step);
#pragma unroll
        for (int i = 0; i < move_loads_in_flight; ++i)
            if (at + i * step < bytes - lane * unit) store(to + at + i * step, words[i]);
    }
}

template <class Machine>
void launch_schedule(Machine& machine, const AssayDispatch& call) {
    machine.launch(schedule_kernel, schedule_launch(call), call, machine.counters());
}

template <class Machine>
void launch_places(Machine& machine, const AssayDispatch& call) {
    machine.launch(places_kernel, places_launch(call), call);
}

template <bool back, class Machine>
void launch_move(Machine& machine, const AssayRowMove& call) {
    if (call.rows > 0) machine.launch(move_kernel<back>, move_launch(call), call);
}

}  // namespace assay::kernels::cuda
