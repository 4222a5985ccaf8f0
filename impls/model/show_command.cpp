// assay model show FILE
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "impls/model/commands.hpp"
#include "impls/model/locate_file.hpp"
#include "impls/model/summary.hpp"
#include "suite/cli/json_output.hpp"

namespace assay::model {
namespace {

class ShowCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.add_option("file", file_, "GGUF or safetensors file, folder, or data set")
            ->required()
            ->type_name("FILE");
        app.add_flag("--json", json_, "Print JSON");
        app.footer(
            "Examples:\n"
            "  assay model show smollm2-135m-instruct\n"
            "  assay model show ~/models/gpt2 --json");
    }

    int run() override {
        const Summary summary = summarise(nn::TensorFile(locate_file(file_, data::Kind::model)));
        if (json_)
            cli::print_json(to_json(summary));
        else
            std::cout << to_text(summary);
        return 0;
    }

  private:
    std::string file_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_show_command() { return std::make_unique<ShowCommand>(); }

}  // namespace assay::model
