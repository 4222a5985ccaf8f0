// assay model eval FILE --text FILE
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "impls/model/named_models.hpp"
#include "impls/model/perplexity.hpp"
#include "impls/model/tool.hpp"
#include "impls/nn/files/decoder_config.hpp"
#include "impls/nn/files/ffn_sparsity.hpp"
#include "impls/tensors/module.hpp"
#include "suite/base/input_file.hpp"
#include "suite/cli/terminal/output.hpp"

namespace assay::model {
namespace {

std::string read_text(const std::filesystem::path& path) {
    auto text = read_text_file(path);
    if (!text) throw UserError(path.string() + ": cannot be read; give a text file");
    return std::move(*text);
}

class EvalCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.add_option("file", file_, "GGUF or safetensors file, folder, or data set")
            ->required()
            ->type_name("FILE");
        app.add_option("--text", text_, "Text file or data set that is scored")
            ->required()
            ->type_name("FILE");
        app.add_option("--context", context_, "Tokens of a window; default: the model's context")
            ->check(CLI::Range(2, 1 << 24))
            ->type_name("N");
        app.add_option("--limit-tokens", limit_, "Only the first N tokens of the text")
            ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 40))
            ->type_name("N");
        app.add_option("--dtype", dtype_, "f32 or bf16 (matrix products)")
            ->capture_default_str()
            ->check(CLI::IsMember({"f32", "bf16"}))
            ->type_name("TYPE");
        app.add_option(
               "--through", through_,
               "libtorch, or engine: the one that generates, which needs less memory; "
               "default: libtorch where the build has it and the file leaves out no neurons")
            ->check(CLI::IsMember({"libtorch", "engine"}))
            ->type_name("NAME");
        app.add_option("--threads", threads_, "CPU threads; 0: all cores")
            ->check(CLI::Range(0, 1024))
            ->type_name("N");
        app.add_flag("--json", json_, "Print JSON");
        app.footer(
            "The text is cut into windows without overlap, nothing is added in front, and the "
            "first\n"
            "token of each window is not scored.\n"
            "Examples:\n"
            "  assay model eval smollm2-135m-instruct --text bible-kjv --context 2048 "
            "--limit-tokens 20000\n"
            "  assay model eval model.gguf --text held-out.txt --json");
    }

    int run() override {
        const nn::TensorFile file(locate_file(file_, data::Kind::model));
        const nn::DecoderConfig config = nn::read_decoder_config(file);
        if (context_ > config.context)
            throw UserError(fmt::format("--context {}: the model's context is {} tokens", context_,
                                        config.context));
        const nn::Tokenizer tokenizer = nn::Tokenizer::of(file);
        const std::filesystem::path text = locate_file(text_, data::Kind::corpus);
        std::vector<int> ids = tokenizer.encode_named(text.string(), read_text(text));
        if (tokenizer.size() > config.vocabulary)
            throw UserError(fmt::format("{}: the tokenizer has {} tokens, the model {}", file_,
                                        tokenizer.size(), config.vocabulary));
        if (limit_ > 0 && ids.size() > static_cast<std::size_t>(limit_))
            ids.resize(static_cast<std::size_t>(limit_));
        // No more than the text has: memory grows with it.
        const int context = std::min(context_ > 0 ? context_ : config.context,
                                     static_cast<int>(std::max<std::size_t>(ids.size(), 2)));
        const Perplexity result = measure(file, tokenizer, ids, context);
        if (json_)
            cli::print_json(to_json(result));
        else
            std::cout << fmt::format(
                "{} tokens scored, {} bytes, in windows of {} ({:.1f} tokens/s)\n"
                "nats per token  {:.5f}\n"
                "perplexity      {:.4f}\n"
                "bits per byte   {:.5f}\n",
                result.tokens, result.bytes, context,
                static_cast<double>(result.tokens) / result.seconds, result.nll_nats_per_token(),
                result.perplexity(), result.bits_per_byte());
        return 0;
    }

  private:
    Perplexity measure(const nn::TensorFile& file, const nn::Tokenizer& tokenizer,
                       const std::vector<int>& ids, int context) const {
        const ScorerOptions options{context, dtype_ == "bf16", threads_};
        // Only the engine leaves out what a file says is to be left out.
        const bool sparse = nn::read_ffn_sparsity(file, nn::read_decoder_config(file)).has_value();
        const bool libtorch =
            through_.empty() ? tensors::module_is_built() && !sparse : through_ == "libtorch";
        const auto scorer =
            libtorch ? libtorch_scorer(file, options) : engine_scorer(file, options);
        ProgressLine progress(static_cast<std::int64_t>(ids.size()), "tokens");
        return measure_perplexity(ids, tokenizer, context, *scorer,
                                  [&](std::int64_t done) { progress.on(done); });
    }

    std::string file_, text_, dtype_ = "f32", through_;
    int context_ = 0, threads_ = 0;
    std::int64_t limit_ = 0;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_eval_command() { return std::make_unique<EvalCommand>(); }

}  // namespace assay::model
