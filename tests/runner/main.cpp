// Tests whose program can also be a sample's process (the runner starts its own program again), and
// a runner that is there to be killed: `victim DATABASE ROUNDS HOW…`, of dummy/behave.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "suite/runner/runner.hpp"
#include "tests/runner/dummy_system.hpp"

namespace {

int victim(const char* file, int rounds, const std::vector<std::string>& how) {
    namespace runner = assay::runner;
    using assay::store::Access;
    using assay::store::Store;
    const assay::Registry registry = assay::testing::make_dummy_registry();
    Store database = Store::open(file, Access::write);
    runner::Request request;
    request.patterns = {"dummy/behave"};
    request.axes["how"].assign(how.begin(), how.end());
    request.rounds = rounds;
    request.lock = false;
    const auto plan = runner::make_plan(registry, request);
    runner::execute(registry, plan, request, database, {});
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "sample") == 0)
        return assay::runner::sample_main(assay::testing::make_dummy_registry());
    if (argc > 4 && std::strcmp(argv[1], "victim") == 0)
        return victim(argv[2], std::stoi(argv[3]), {argv + 4, argv + argc});
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
