// assay model gradients FILE --general FILE,… --target FILE -o FILE
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/model/gradients.hpp"
#include "impls/model/named_models.hpp"
#include "impls/model/tool.hpp"
#include "impls/nn/files/decoder_config.hpp"
#include "impls/nn/files/ffn_sparsity.hpp"
#include "impls/nn/text/chat.hpp"
#include "suite/base/durable_file.hpp"
#include "suite/base/quantity_text.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::model {
namespace {

class GradientsCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.add_option("file", file_, "GGUF or safetensors file, folder, or data set")
            ->required()
            ->type_name("FILE");
        app.add_option("--general", general_, "General rows, JSON Lines; more files by commas")
            ->required()
            ->delimiter(',')
            ->type_name("FILE,...");
        app.add_option("--target", target_, "Target rows, JSON Lines")
            ->required()
            ->type_name("FILE");
        app.add_option("-o,--output", output_, "safetensors file to write")
            ->required()
            ->type_name("FILE");
        app.add_option("--layers", layers_, "Maps of these layers only, from 0; default: all")
            ->delimiter(',')
            ->check(CLI::Range(0, 1 << 20))
            ->type_name("N,...");
        app.add_option("--context", context_,
                       "Tokens of a row that count; default: the model's context")
            ->check(CLI::Range(1, 1 << 24))
            ->type_name("N");
        app.add_option("--dtype", dtype_, "f32 or bf16 (matrix products)")
            ->capture_default_str()
            ->check(CLI::IsMember({"f32", "bf16"}))
            ->type_name("TYPE");
        app.add_option("--threads", threads_, "CPU threads; 0: all cores")
            ->check(CLI::Range(0, 1024))
            ->type_name("N");
        app.add_flag("--json", json_, "Print JSON");
        app.footer(
            "A row is {\"messages\": [{\"role\": ..., \"content\": ...}]} (the assistant's turns "
            "are "
            "scored),\n"
            "{\"prompt\": ..., \"completion\": ...} or {\"text\": ...}. The file takes four bytes "
            "for "
            "every row and\n"
            "parameter of the layers' linear maps: give few rows, or few layers. `assay plan "
            "dr_post_training\n"
            "--gradients FILE` reads it.\n"
            "Examples:\n"
            "  assay model gradients smollm2-135m-instruct --general pool.jsonl,chat.jsonl "
            "--target mine.jsonl --layers 0,15,29 -o gradients.safetensors");
    }

    int run() override {
        const nn::TensorFile file(locate_file(file_, data::Kind::model));
        const nn::DecoderConfig config = nn::read_decoder_config(file);
        if (nn::read_ffn_sparsity(file, config))
            throw UserError(file_ +
                            ": its feed-forward networks leave out neurons, which only the "
                            "decoding engine knows how to do");
        if (context_ > config.context)
            throw UserError(fmt::format("--context {}: the model's context is {} tokens", context_,
                                        config.context));
        for (const int layer : layers_)
            if (layer >= config.layers)
                throw UserError(fmt::format("--layers {}: the model's layers are 0 to {}", layer,
                                            config.layers - 1));
        const nn::Tokenizer tokenizer = nn::Tokenizer::of(file);
        if (tokenizer.size() > config.vocabulary)
            throw UserError(fmt::format("{}: the tokenizer has {} tokens, the model {}", file_,
                                        tokenizer.size(), config.vocabulary));
        const nn::RowReading reading{context_ > 0 ? context_ : config.context,
                                     nn::chat_default_system(file).value_or("")};
        if (const auto why = missing_folder(output_); !why.empty())
            throw UserError("--output " + why);

        GradientRequest request{.file = file,
                                .general = {},
                                .target = nn::read_scored_rows(target_, tokenizer, reading),
                                .sources = {},
                                .output = output_,
                                .layers = layers_,
                                .bf16 = dtype_ == "bf16",
                                .threads = threads_,
                                .progress = {}};
        for (const std::string& source : general_)
            for (nn::ScoredRow& row : nn::read_scored_rows(source, tokenizer, reading)) {
                request.general.push_back(std::move(row));
                request.sources.push_back(source);
            }
        const auto rows = static_cast<std::int64_t>(request.general.size() + request.target.size());
        {
            ProgressLine progress(rows, "rows");
            request.progress = [&](std::int64_t done) { progress.on(done); };
            write_row_gradients(request);
        }
        const auto bytes = std::filesystem::file_size(output_);
        if (json_)
            cli::print_json({{"n", request.general.size()},
                             {"m", request.target.size()},
                             {"bytes", bytes},
                             {"file", output_}});
        else
            std::cout << fmt::format("{}: gradients of {} general and {} target rows, {}\n",
                                     report::printable(output_), request.general.size(),
                                     request.target.size(), bytes_text(static_cast<double>(bytes)));
        return 0;
    }

  private:
    std::string file_, target_, output_, dtype_ = "f32";
    std::vector<std::string> general_;
    std::vector<int> layers_;
    int context_ = 0, threads_ = 0;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_gradients_command() { return std::make_unique<GradientsCommand>(); }

}  // namespace assay::model
