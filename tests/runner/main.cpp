// Tests whose program can also be a sample's process (the runner starts its own program again), and
// a runner that is there to be killed: `victim DATABASE`.
#include <gtest/gtest.h>

#include <cstring>

#include "suite/runner/runner.hpp"
#include "tests/runner/dummy_system.hpp"

namespace {

int victim(const char* file) {
    namespace runner = assay::runner;
    using assay::store::Access;
    using assay::store::Store;
    const assay::Registry registry = assay::testing::make_dummy_registry();
    Store database = Store::open(file, Access::write);
    runner::Request request;
    request.patterns = {"dummy/behave"};
    request.axes["how"] = {std::string("slow"), std::string("child")};
    request.rounds = 200;
    request.lock = false;
    const auto plan = runner::make_plan(registry, request);
    runner::execute(registry, plan, request, database, {});
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "sample") == 0)
        return assay::runner::sample_main(assay::testing::make_dummy_registry());
    if (argc == 3 && std::strcmp(argv[1], "victim") == 0) return victim(argv[2]);
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
