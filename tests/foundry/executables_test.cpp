// The rules by which graphs become launchable, held against what each way is.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "impls/foundry/method/loader/executables.hpp"

namespace assay::foundry {
namespace {

const std::vector<std::size_t> groups{0, 0, 1, 0, 1, 2};

Make launch(Executables& executables, std::size_t graph) {
    const Make make = executables.next(graph);
    executables.made(graph, make);
    return make;
}

Executables ready(Mode mode) {
    Executables executables(mode, groups);
    for (const auto& [graph, make] : executables.before_ready()) {
        EXPECT_EQ(executables.next(graph), make) << to_string(mode) << graph;
        executables.made(graph, make);
    }
    return executables;
}

std::vector<Make> launched(Mode mode, const std::vector<std::size_t>& graphs) {
    Executables executables = ready(mode);
    std::vector<Make> makes;
    for (const std::size_t graph : graphs) makes.push_back(launch(executables, graph));
    return makes;
}

TEST(FoundryExecutables, SharedOnesAreUpdatedAtEachLaunchOfAnotherMember) {
    const std::vector<Make> updates{Make::nothing, Make::update,  Make::nothing, Make::update,
                                    Make::nothing, Make::nothing, Make::update};
    for (const Mode mode : {Mode::r1, Mode::r2, Mode::dedup})
        EXPECT_EQ(launched(mode, {0, 1, 1, 0, 2, 5, 4}), updates) << to_string(mode);
}

TEST(FoundryExecutables, OthersAreMadeOnce) {
    const auto once = [](Make first) {
        return std::vector<Make>{Make::nothing, first, Make::nothing, Make::nothing};
    };
    EXPECT_EQ(launched(Mode::r3_lazy, {0, 1, 1, 0}), once(Make::own));
    for (const Mode mode : {Mode::capture, Mode::no_templates, Mode::r3_eager, Mode::relocate})
        EXPECT_EQ(launched(mode, {0, 1, 1, 0}), once(Make::nothing)) << to_string(mode);
    EXPECT_EQ(launched(Mode::lazy_capture, {0, 1, 1, 0}),
              (std::vector{Make::capture, Make::capture, Make::nothing, Make::nothing}));
    EXPECT_EQ(launched(Mode::eager, {0, 0}), (std::vector{Make::plain, Make::plain}));
}

TEST(FoundryExecutables, BeforeReadyAsManyAreInstantiatedAsTheModeSays) {
    const std::map<Mode, std::size_t> expected{
        {Mode::capture, 6}, {Mode::eager, 0},   {Mode::lazy_capture, 0}, {Mode::no_templates, 6},
        {Mode::r1, 3},      {Mode::r2, 3},      {Mode::r3_lazy, 3},      {Mode::r3_eager, 6},
        {Mode::dedup, 3},   {Mode::relocate, 6}};
    for (const auto& [mode, word] : names_of(Mode()))
        EXPECT_EQ(ready(mode).instantiated(), expected.at(mode)) << word;
}

TEST(FoundryExecutables, AfterEachFailureTheNextWayIsTriedUpToPlainLaunches) {
    Executables executables = ready(Mode::r1);
    std::vector<Make> tried;
    for (Make make = executables.next(1); make != Make::plain; make = executables.next(1)) {
        tried.push_back(make);
        executables.failed(1, make);
    }
    EXPECT_EQ(tried, (std::vector{Make::update, Make::own, Make::build, Make::capture}));
    EXPECT_THROW(executables.failed(1, Make::plain), std::logic_error);
    EXPECT_EQ(executables.next(3), Make::build) << "what the group shared is lost";
    // What captures has neither template nor archive to go back to.
    Executables shared = ready(Mode::dedup);
    shared.failed(1, Make::update);
    EXPECT_EQ(shared.next(1), Make::capture);
}

TEST(FoundryExecutables, WhatTurnsOutUnfitIsNotLaunchedAgain) {
    Executables lazy = ready(Mode::r3_lazy);
    launch(lazy, 1);
    lazy.failed(1, Make::nothing);  // it was made by Make::own
    EXPECT_EQ(launch(lazy, 1), Make::build);
    EXPECT_EQ(lazy.next(1), Make::nothing);
    // Of a shared one others lose it, too, and make it anew.
    Executables shared = ready(Mode::r1);
    launch(shared, 1);
    shared.failed(1, Make::nothing);
    EXPECT_EQ(launch(shared, 3), Make::build);
    EXPECT_EQ(shared.next(1), Make::own);
}

TEST(FoundryExecutables, WhateverFailsALaunchedGraphIsTheOneAskedFor) {
    // An executable here is the graph that it launches; each step is done as it says.
    std::mt19937 random(3);
    for (int round = 0; round < 400; ++round) {
        const auto mode = static_cast<Mode>(random() % names_of(Mode()).size());
        Executables executables(mode, groups);
        std::map<std::size_t, std::size_t> own, shared;  // by graph; by group
        const auto make_ready = [&](std::size_t graph, Make make) {
            if (make == Make::nothing || make == Make::plain) return;
            if (random() % 4 == 0) return executables.failed(graph, make);
            if (make == Make::update) {
                ASSERT_TRUE(shared.contains(groups[graph])) << "nothing to update";
                shared[groups[graph]] = graph;
            } else if (shares(mode) && !shared.contains(groups[graph])) {
                shared[groups[graph]] = graph;
            } else {
                own[graph] = graph;
            }
            executables.made(graph, make);
        };
        for (const auto& [graph, make] : executables.before_ready()) make_ready(graph, make);
        for (int launches = 0; launches < 40; ++launches) {
            const std::size_t graph = random() % groups.size();
            int tries = 0;
            while (executables.next(graph) != Make::nothing &&
                   executables.next(graph) != Make::plain) {
                make_ready(graph, executables.next(graph));
                ASSERT_LT(++tries, 8);
            }
            if (executables.next(graph) == Make::plain) continue;
            EXPECT_EQ(own.contains(graph) ? own[graph] : shared.at(groups[graph]), graph);
        }
    }
}

}  // namespace
}  // namespace assay::foundry
