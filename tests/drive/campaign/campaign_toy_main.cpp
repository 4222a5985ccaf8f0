// The real command line over a system that has nothing but campaigns.
#include <memory>

#include "suite/cli/command.hpp"
#include "tests/drive/campaign/toy_campaign.hpp"

int main(int argc, char** argv) {
    assay::System system;
    system.id = "toy";
    system.title = "A toy that breaks the rules now and then";
    system.paper = "none";
    system.campaign = std::make_shared<assay::drive::Campaign>(assay::testing::toy_campaign());
    assay::Registry registry;
    registry.add(std::move(system));
    return assay::cli::main(argc, argv, std::move(registry));
}
