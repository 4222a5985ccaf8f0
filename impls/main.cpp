// The program. This file alone names the systems.
#include <exception>
#include <iostream>
#include <utility>

#include "impls/lazarus/register.hpp"
#include "impls/lte/register.hpp"
#include "impls/model/tool.hpp"
#include "suite/cli/command.hpp"

int main(int argc, char** argv) {
    assay::Registry registry;
    // A sample judges nothing, and a claims file that is edited must not end a campaign that runs.
    const auto claims =
        assay::cli::runs_one_sample(argc, argv) ? assay::Claims::leave : assay::Claims::read;
    try {
        registry.add(assay::lazarus::make_system(claims));
        registry.add(assay::lte::make_system(claims));
        registry.add(assay::model::make_model_tool());
    } catch (const std::exception& error) {
        // A claims file that cannot be read, or a registration that contradicts itself.
        std::cerr << "assay: " << error.what() << std::endl;
        return assay::cli::exit_error;
    }
    return assay::cli::main(argc, argv, std::move(registry));
}
