// The command line with `assay model` and nothing else.
#include <utility>

#include "impls/model/tool.hpp"
#include "suite/cli/command.hpp"

int main(int argc, char** argv) {
    assay::Registry registry;
    registry.add(assay::model::make_model_tool());
    return assay::cli::main(argc, argv, std::move(registry));
}
