// What every back end's dispatch must do; a test program says how a problem is run there.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/reference/dispatch_problem.hpp"

namespace assay::kernels::reference {

using RunDispatch = std::function<void(DispatchProblem&)>;

/// As the CPU back end has it, which lazarus' own dispatcher is compared with.
inline void expect_dispatch(DispatchProblem problem, const RunDispatch& run) {
    DispatchProblem expected = problem;
    const AssayKernels& cpu = *assay_cpu_kernels(nullptr);
    const Context context = make_context(&cpu, 1);
    const AssayDispatch call = expected.call();
    ASSERT_EQ(cpu.dispatch(context.get(), &call), ASSAY_OK);
    run(problem);
    const std::string where = std::to_string(problem.experts) + " experts on " +
                              std::to_string(problem.ranks) + " ranks, rank " +
                              std::to_string(problem.rank);
    ASSERT_EQ(problem.send_first, expected.send_first) << where;
    ASSERT_EQ(problem.receive_first, expected.receive_first) << where;
    ASSERT_EQ(problem.expert_first, expected.expert_first) << where;
    ASSERT_EQ(problem.places, expected.places) << where;
    ASSERT_EQ(problem.grouped, expected.grouped) << where;
}

inline void expect_dispatches_of_random_shapes(const RunDispatch& run, int rounds) {
    std::mt19937_64 random(11);
    for (int round = 0; round < rounds; ++round)
        expect_dispatch({draw(random, 1, 20), draw(random, 1, round % 4 ? 12 : 150),
                         draw(random, 1, round % 5 ? 90 : 5000), random()},
                        run);
}

/// Choices that are no experts, counts that do not agree with the choices, too little room.
inline void expect_dispatches_of_wrong_input(const RunDispatch& run) {
    DispatchProblem problem(5, 4, 100, 3);
    for (std::size_t i = 0; i < problem.choices.size(); i += 3)
        problem.choices[i] = i % 2 ? -1 : i % 4 ? 5 : 2;
    problem.receive_room /= 4;
    problem.clear();
    expect_dispatch(problem, run);
}

/// Runs shuffle or, back, unshuffle; how many bytes lie at `from` and at `to`.
using RunMove = std::function<void(const AssayRowMove& call, std::size_t from_bytes,
                                   std::size_t to_bytes, bool back)>;

/// Rows of random bytes, moved there and back.
inline void expect_moves(const RunMove& run, int rounds) {
    std::mt19937_64 random(23);
    for (int round = 0; round < rounds; ++round) {
        const int rows = draw(random, 0, 200), room = rows + draw(random, 0, 50);
        const std::size_t bytes = 16 * static_cast<std::size_t>(draw(random, 1, 300));
        std::vector<std::int32_t> places(static_cast<std::size_t>(room));
        std::iota(places.begin(), places.end(), 0);
        std::shuffle(places.begin(), places.end(), random);
        places.resize(static_cast<std::size_t>(rows));
        for (std::int32_t& place : places)
            if (draw(random, 0, 9) == 0) place = draw(random, 0, 1) ? -1 : room + place;
        std::vector<std::byte> from(places.size() * bytes);
        for (std::byte& byte : from) byte = static_cast<std::byte>(random());
        const std::byte poison{0xa5};
        std::vector<std::byte> there(static_cast<std::size_t>(room) * bytes, poison);
        const auto move = [&](const std::vector<std::byte>& source, std::vector<std::byte>& to,
                              bool back) {
            run({rows, room, bytes, places.data(), source.data(), to.data()}, source.size(),
                to.size(), back);
        };
        move(from, there, false);
        std::vector<std::byte> expected(there.size(), poison), back_again(from.size(), poison),
            expected_back = back_again;
        for (std::size_t row = 0; row < places.size(); ++row) {
            if (places[row] < 0 || places[row] >= room) continue;
            std::memcpy(&expected[static_cast<std::size_t>(places[row]) * bytes],
                        &from[row * bytes], bytes);
            std::memcpy(&expected_back[row * bytes], &from[row * bytes], bytes);
        }
        ASSERT_TRUE(there == expected) << rows << " rows of " << bytes << " bytes";
        move(there, back_again, true);
        ASSERT_TRUE(back_again == expected_back) << rows << " rows of " << bytes << " bytes, back";
    }
}

}  // namespace assay::kernels::reference
