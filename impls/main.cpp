// The program. This file alone names the systems, and tensors_module.cpp what they do with
// libtorch.
#include <exception>
#include <iostream>
#include <utility>

#include "impls/decode/register.hpp"
#include "impls/dr_post_training/register.hpp"
#include "impls/hetermoe/register.hpp"
#include "impls/lazarus/register.hpp"
#include "impls/lte/register.hpp"
#include "impls/model/tool.hpp"
#include "impls/plato/register.hpp"
#include "impls/tensors/module.hpp"
#include "suite/cli/command.hpp"

int main(int argc, char** argv) {
    assay::Registry registry;
    // A sample judges nothing, and a claims file that is edited must not end a campaign that runs.
    const bool one_sample = assay::cli::runs_one_sample(argc, argv);
    const auto claims = one_sample ? assay::Claims::leave : assay::Claims::read;
    if (!one_sample) assay::tensors::hold_module();
    try {
        registry.add(assay::lazarus::make_system(claims));
        registry.add(assay::lte::make_system(claims));
        registry.add(assay::hetermoe::make_system(claims));
        registry.add(assay::plato::make_system(claims));
        registry.add(assay::dr_post_training::make_system(claims));
        registry.add(assay::decode::make_system(claims));
        registry.add(assay::model::make_model_tool());
    } catch (const std::exception& error) {
        // A claims file that cannot be read, or a registration that contradicts itself.
        std::cerr << "assay: " << error.what() << std::endl;
        return assay::cli::exit_error;
    }
    return assay::cli::main(argc, argv, std::move(registry));
}
