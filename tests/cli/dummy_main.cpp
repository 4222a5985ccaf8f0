// The real command line over the dummy system: everything but the systems themselves.
#include "suite/cli/command.hpp"
#include "tests/runner/dummy_system.hpp"

int main(int argc, char** argv) {
    return assay::cli::main(argc, argv, assay::testing::make_dummy_registry());
}
