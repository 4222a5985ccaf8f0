// Tests of adaptive rounds, whose program can also be a sample's process, and a program to ask.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "suite/measure/build_info.hpp"
#include "suite/runner/runner.hpp"
#include "tests/runner/versus/busy_system.hpp"

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "sample") == 0)
        return assay::runner::sample_main(assay::testing::make_busy_registry());
    if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
        std::printf("assay 0.0.1, commit 0123456789ab\nbuilt by GNU 1.2.3, Test\nbuild id %s\n",
                    assay::measure::build_id().c_str());
        return 0;
    }
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
