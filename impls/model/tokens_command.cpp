// assay model tokenize FILE --prompt TEXT, assay model detokenize FILE --ids IDS
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/model/named_models.hpp"
#include "impls/model/prompt.hpp"
#include "impls/model/tool.hpp"
#include "suite/cli/terminal/output.hpp"

namespace assay::model {
namespace {

class TokenizeCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.add_option("file", file_, "GGUF or safetensors file, folder, or data set")
            ->required()
            ->type_name("FILE");
        app.add_option("--prompt", prompt_, "Text to encode; -: standard input")->required();
        auto* const chat =
            app.add_flag("--chat", chat_, "Put the text into the model's chat template");
        app.add_flag("--special", special_,
                     "Take special tokens that are written in the text (<|im_start|>) as such")
            ->excludes(chat);
        app.add_flag("--json", json_, "Print JSON, with each token's text");
        app.footer(
            "The ids are what `assay model generate` is fed, and what its --ids takes.\n"
            "Examples:\n"
            "  assay model tokenize smollm2-135m-instruct --prompt 'The capital of France is'\n"
            "  assay model tokenize model.gguf --prompt - --json <text.txt");
    }

    int run() override {
        const std::string text = given_text("--prompt", prompt_);
        if (text.empty()) throw UserError("--prompt: the text is empty");
        const nn::TensorFile file(locate_file(file_, data::Kind::model));
        const nn::Tokenizer tokenizer = nn::Tokenizer::of(file);
        const std::vector<int> ids =
            special_ ? tokenizer.encode(text, true) : prompt_ids(file, tokenizer, text, chat_);
        if (!json_) {
            std::cout << fmt::format("{}\n", fmt::join(ids, ","));
            return 0;
        }
        nlohmann::json tokens = nlohmann::json::array();
        for (const int id : ids) tokens.push_back(tokenizer.decode({&id, 1}));
        cli::print_json({{"ids", ids}, {"tokens", std::move(tokens)}});
        return 0;
    }

  private:
    std::string file_, prompt_;
    bool chat_ = false, special_ = false, json_ = false;
};

class DetokenizeCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.add_option("file", file_, "GGUF or safetensors file, folder, or data set")
            ->required()
            ->type_name("FILE");
        app.add_option("--ids", ids_, "Token ids: 1,504,3575; -: standard input")
            ->required()
            ->type_name("IDS");
        app.add_flag("--json", json_, "Print JSON");
        app.footer(
            "Examples:\n"
            "  assay model detokenize smollm2-135m-instruct --ids 504,3575,282,4649,314");
    }

    int run() override {
        const std::vector<int> ids = parse_ids(given_text("--ids", ids_));
        const nn::TensorFile file(locate_file(file_, data::Kind::model));
        const std::string text = nn::Tokenizer::of(file).decode(ids);
        if (json_)
            cli::print_json({{"ids", ids}, {"text", text}});
        else
            cli::write_output("-", text + "\n");
        return 0;
    }

  private:
    std::string file_, ids_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_tokenize_command() { return std::make_unique<TokenizeCommand>(); }
std::unique_ptr<Command> make_detokenize_command() { return std::make_unique<DetokenizeCommand>(); }

}  // namespace assay::model
