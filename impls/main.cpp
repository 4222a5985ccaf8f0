// The program. This file alone names the systems, and tensors_module.cpp what they do with
// libtorch.
#include <exception>
#include <iostream>
#include <string>
#include <utility>

#include "impls/decode/register.hpp"
#include "impls/dr_post_training/register.hpp"
#include "impls/foundry/commands/archive_tool.hpp"
#include "impls/foundry/register.hpp"
#include "impls/hetermoe/register.hpp"
#include "impls/lazarus/register.hpp"
#include "impls/lte/register.hpp"
#include "impls/model/tool.hpp"
#include "impls/plato/register.hpp"
#include "impls/rl/tool/tool.hpp"
#include "impls/rlboost/register.hpp"
#include "impls/tensors/module.hpp"
#include "impls/weights/tool/tool.hpp"
#include "suite/cli/command.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace {

assay::Registry systems(assay::Claims claims) {
    assay::Registry registry;
    registry.add(assay::lazarus::make_system(claims));
    registry.add(assay::lte::make_system(claims));
    registry.add(assay::hetermoe::make_system(claims));
    registry.add(assay::plato::make_system(claims));
    registry.add(assay::dr_post_training::make_system(claims));
    registry.add(assay::foundry::make_system(claims));
    registry.add(assay::rlboost::make_system(claims));
    registry.add(assay::decode::make_system(claims));
    registry.add(assay::model::make_model_tool());
    registry.add(assay::rl::make_rl_tool());
    registry.add(assay::weights::make_weights_tool());
    registry.add(assay::foundry::make_archive_tool());
    return registry;
}

}  // namespace

int main(int argc, char** argv) {
    // A sample judges nothing, and a claims file that is edited must not end a campaign that runs.
    const bool one_sample = assay::cli::runs_one_sample(argc, argv);
    if (!one_sample) assay::tensors::hold_module();
    try {
        assay::Registry registry;
        std::string lacks;
        try {
            registry = systems(one_sample ? assay::Claims::leave : assay::Claims::read);
        } catch (const std::exception& error) {  // claims that are not there, or malformed
            lacks = error.what();
            registry = systems(assay::Claims::leave);
        }
        return assay::cli::main(argc, argv, std::move(registry), lacks);
    } catch (const std::exception& error) {  // a registration that contradicts itself
        std::cerr << "assay: " + assay::report::printable(error.what()) << std::endl;
        return assay::cli::exit_error;
    }
}
