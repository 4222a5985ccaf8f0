// assay model batch FILE --requests FILE
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/decode/back_ends.hpp"
#include "impls/decode/requests/request_file.hpp"
#include "impls/decode/requests/token_texts.hpp"
#include "impls/model/named_models.hpp"
#include "impls/model/new_text.hpp"
#include "impls/model/prompt.hpp"
#include "impls/model/tool.hpp"
#include "suite/base/input_file.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::model {
namespace {

/// `text`: null when the model has no tokenizer.
nlohmann::json answer_json(const decode::NamedJob& job, const decode::BatchAnswer& answer,
                           const NewText* text) {
    nlohmann::json json{{"id", nlohmann::json::parse(job.id)},
                        {"ids", answer.ids},
                        {"text", text ? nlohmann::json(text->text()) : nlohmann::json()},
                        {"logprobs", answer.log_probabilities},
                        {"sampled_logprobs", answer.sampled_log_probabilities},
                        {"versions", answer.versions},
                        {"finish", to_string(answer.finish)},
                        {"reused", answer.reused},
                        {"preemptions", answer.preemptions}};
    if (job.job.request.prompt_log_probabilities) {
        // Nothing is known of the first; nor of what was not reached.
        nlohmann::json scores(job.job.request.prompt.size(), nullptr);
        for (std::size_t i = 0; i < answer.prompt_log_probabilities.size(); ++i)
            scores[i + 1] = answer.prompt_log_probabilities[i];
        json["prompt_logprobs"] = std::move(scores);
    }
    return json;
}

class BatchCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.add_option("file", file_, "GGUF or safetensors file, folder, or data set")
            ->required()
            ->type_name("FILE");
        app.add_option("--requests", requests_, "One JSON object a line; -: standard input")
            ->required()
            ->type_name("FILE");
        app.add_option("--max-batch", engine_.max_batch, "Requests at once, at most")
            ->capture_default_str()
            ->check(CLI::Range(1, 4096))
            ->type_name("N");
        app.add_option("--chunk", engine_.chunk, "Prompt tokens of a step, at most")
            ->capture_default_str()
            ->check(CLI::Range(1, 1 << 20))
            ->type_name("N");
        app.add_option("--kv-blocks", blocks_,
                       "Blocks of the cache, 16 positions each; default: all requests fit")
            ->check(CLI::Range(1, 1 << 22))
            ->type_name("N");
        app.add_option("--prefix", prefix_, "Whether equal beginnings are computed once")
            ->capture_default_str()
            ->check(CLI::IsMember({"on", "off"}))
            ->type_name("on|off");
        app.add_option("--preempt", preempt_,
                       "What becomes of a request that must make room: its cache is computed "
                       "again, or kept in memory outside it")
            ->capture_default_str()
            ->check(CLI::IsMember({"recompute", "swap"}))
            ->type_name("recompute|swap");
        app.add_option("--threads", threads_, "CPU threads; 0: all cores")
            ->check(CLI::Range(0, 1024))
            ->type_name("N");
        app.add_option("--move-at", move_at_,
                       "Before this step what is not finished moves to a second engine")
            ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
            ->type_name("STEP");
        app.add_option("--reload-at", reload_at_,
                       "Before this step the weights are loaded anew, as version 2")
            ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
            ->type_name("STEP");
        app.add_flag("--json", json_, "Print JSON");
        app.footer(
            "A request is {\"id\":\"a\",\"ids\":[1,504,3575]}, or has \"prompt\":\"One, two\" in\n"
            "place of ids. It may have max_tokens (16), temperature (0), top_k (0: all),\n"
            "top_p (1), seed (1), stop (a text or a list, before which the new text ends),\n"
            "stop_ids (those that the model's files name), forced_ids (given in place of what the\n"
            "model would choose; nothing stops them), priority (0; higher first),\n"
            "at_step (0; comes before that step), cancel_at, prompt_logprobs (false).\n"
            "Its tokens are the same bits whatever runs beside it. logprobs are those of the\n"
            "model's softmax, sampled_logprobs those with which the sampler drew.\n"
            "Examples:\n"
            "  assay model batch smollm2-135m-instruct --requests requests.jsonl --json\n"
            "  echo '{\"id\":\"a\",\"ids\":[1,2,3]}' | assay model batch model.gguf --requests - "
            "--max-batch 4\n"
            "  echo '{\"id\":\"a\",\"prompt\":\"One, two\",\"stop\":\".\"}' | assay model batch "
            "model.gguf --requests -");
    }

    int run() override {
        const nn::TensorFile file(locate_file(file_, data::Kind::model));
        const nn::DecoderConfig config = nn::read_decoder_config(file);
        const FoundTokenizer found = find_tokenizer(file);
        decode::RequestLimits limits{
            .vocabulary = config.vocabulary,
            .context = config.context,
            .blocks = blocks_,
            .stop_ids = nn::text_ends(file, found.get(), config.vocabulary),
            .encode = {},
            .no_tokenizer = found.why_not};
        if (found.tokenizer)
            limits.encode = [&](const std::string& text) { return found.tokenizer->encode(text); };
        const std::vector<decode::NamedJob> named = read(limits);
        std::vector<NewText> texts;  // of each answer; empty: there is no tokenizer
        if (found.tokenizer)
            for (const decode::NamedJob& each : named)
                texts.push_back(text_of(each, *found.tokenizer));
        std::vector<decode::BatchJob> jobs;
        for (const decode::NamedJob& each : named) jobs.push_back(each.job);

        const int blocks = blocks_ ? *blocks_ : decode::blocks_for_all(jobs, config.context);
        decode::BatchRunOptions options;
        options.engine = engine_;
        options.engine.prefix = prefix_ == "on";
        options.engine.swap = preempt_ == "swap";
        options.engine.model = file_;
        options.move_at = move_at_;
        options.reload_at = reload_at_;
        options.back_ends = decode::back_ends_of(file, {.threads = threads_, .blocks = blocks});
        options.text_of = decode::texts_of(found.tokenizer);
        const decode::BatchRun result = decode::run_batch(jobs, options);
        for (std::size_t i = 0; i < texts.size(); ++i)
            for (const int id : result.answers[i].ids) texts[i].add(id);
        if (json_)
            print_as_json(named, result, texts);
        else
            print(named, result, texts);
        return 0;
    }

  private:
    std::vector<decode::NamedJob> read(const decode::RequestLimits& limits) const {
        InputFile requests("--requests", requests_, "a file of JSON lines");
        return decode::read_requests(requests.stream(), requests.name(), limits);
    }

    static NewText text_of(const decode::NamedJob& named, const nn::Tokenizer& tokenizer) {
        const decode::BatchRequest& request = named.job.request;
        if (!request.forced_ids.empty()) return {tokenizer, {}, {}};  // nothing stops them
        return {tokenizer, request.stop_ids, request.stops};
    }

    static void print_as_json(const std::vector<decode::NamedJob>& named,
                              const decode::BatchRun& result, const std::vector<NewText>& texts) {
        nlohmann::json requests = nlohmann::json::array();
        for (std::size_t i = 0; i < named.size(); ++i)
            requests.push_back(
                answer_json(named[i], result.answers[i], texts.empty() ? nullptr : &texts[i]));
        cli::print_json({{"requests", std::move(requests)},
                         {"engine",
                          {{"steps", result.steps},
                           {"computed_tokens", result.computed_tokens},
                           {"reused_tokens", result.reused_tokens},
                           {"preemptions", result.preemptions},
                           {"peak_blocks", result.peak_blocks},
                           {"held_blocks", result.held_blocks},
                           {"block", decode::block_positions},
                           {"seconds", result.seconds}}}});
    }

    static void print(const std::vector<decode::NamedJob>& named, const decode::BatchRun& result,
                      const std::vector<NewText>& texts) {
        std::int64_t made = 0;
        for (std::size_t i = 0; i < named.size(); ++i) {
            const decode::BatchAnswer& answer = result.answers[i];
            made += static_cast<std::int64_t>(answer.ids.size());
            std::cout << fmt::format(
                "{}  {}: {}\n", report::printable(named[i].id), to_string(answer.finish),
                named[i].as_text ? report::printable(texts[i].text())
                                 : fmt::format("{}", fmt::join(answer.ids, ",")));
        }
        std::cout << std::flush;
        std::cerr << fmt::format(
            "{} tokens in {} steps and {:.3f} s ({:.1f} tokens/s); {} computed, {} reused, "
            "{} preemptions, at most {} blocks\n",
            made, result.steps, result.seconds,
            result.seconds > 0 ? static_cast<double>(made) / result.seconds : 0.0,
            result.computed_tokens, result.reused_tokens, result.preemptions, result.peak_blocks);
    }

    std::string file_, requests_, prefix_ = "on", preempt_ = "recompute";
    decode::BatchOptions engine_;
    std::optional<int> blocks_;
    int threads_ = 0;
    std::optional<std::int64_t> move_at_, reload_at_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_batch_command() { return std::make_unique<BatchCommand>(); }

}  // namespace assay::model
