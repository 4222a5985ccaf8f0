#include "impls/model/tool.hpp"

#include <utility>

#include "impls/model/commands.hpp"

namespace assay::model {

Tool make_model_tool() {
    Tool tool{"model", "Language models: their shape, perplexity on a text, continuations", {}};
    tool.subcommands.push_back({"show", "Shape, sizes, tokenizer and memory", make_show_command()});
    tool.subcommands.push_back(
        {"eval", "Perplexity and bits per byte of a text", make_eval_command()});
    tool.subcommands.push_back(
        {"generate", "Continue a prompt on the CPU", make_generate_command()});
    return tool;
}

}  // namespace assay::model
