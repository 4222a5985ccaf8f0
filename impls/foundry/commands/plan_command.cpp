// `assay plan foundry`: templates of captured graphs, addresses of recorded allocations, kernels of
// a binary; of the user's own files.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "impls/foundry/commands/commands.hpp"
#include "impls/foundry/commands/graphs_output.hpp"
#include "impls/foundry/commands/image_output.hpp"
#include "impls/foundry/commands/memory_output.hpp"
#include "impls/foundry/method/graphs/graph_lines.hpp"
#include "suite/base/bytes.hpp"
#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"
#include "suite/cli/one_of.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::foundry {
namespace {

class PlanCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.description(
            "Which captured CUDA graphs share a template, and when a server that restores them is "
            "ready; where recorded allocations lie, and whether a start that loads would find them "
            "there; which kernels a binary holds. Arithmetic; nothing is run");
        auto* graphs =
            app.add_option("--graphs", graphs_, "captured graphs (below); - reads standard input")
                ->type_name("FILE|-");
        app.add_option("--key", key_,
                       "which graphs share a template. paper: equal types of nodes and clusters. "
                       "strong: all that an update does not carry over")
            ->capture_default_str()
            ->check(cli::one_of<Key>())
            ->needs(graphs)
            ->type_name("NAME");
        app.add_option("--template", template_, "which graph of a group is its template")
            ->capture_default_str()
            ->check(cli::one_of<TemplateChoice>())
            ->needs(graphs)
            ->type_name("NAME");
        auto* costs =
            app.add_option("--costs", costs_,
                           "seconds: of a graph's capture, build, instantiate, rewrite, prepare, "
                           "update; of loading all images. What is not named costs nothing")
                ->needs(graphs)
                ->type_name("NAME=S,…");
        app.add_option("--threads", threads_, "that prepare members; 1 if left out")
            ->needs(costs)
            ->type_name("T");
        add_memory_options(app, graphs);
        app.add_option("--image", image_, "a kernel binary: cubin, fatbin or PTX")
            ->excludes(graphs)
            ->excludes("--memory")
            ->type_name("FILE");
        app.add_flag("--json", json_, "print JSON");
        app.footer(
            "Graphs, a line each:\n"
            "  {\"batch\":8,\"nodes\":[{\"type\":\"kernel\",\"image\":\"<SHA-256>\",\"name\":\"k\","
            "\"grid\":[1,1,1],\n"
            "   "
            "\"block\":[32,1,1],\"smem\":0,\"attrs\":{\"cluster\":[2,1,1]},\"params\":\"00ff\"},\n"
            "   {\"type\":\"memset\",\"fields\":{\"dst\":105553116266496}}],\"edges\":[[0,1]]}\n"
            "  types: kernel, memset, memcpy, event_record, event_wait, empty\n"
            "Allocations, a line each: alloc ID BYTES, free ID, reserve ID BYTES ALIGN, boundary "
            "once,\n"
            "  begin G … end around a graph's capture; in the other start's trace load G instead\n"
            "Examples:\n"
            "  assay plan foundry --graphs graphs.jsonl --key strong\n"
            "  assay plan foundry --graphs graphs.jsonl --costs "
            "capture=0.2,build=0.04,instantiate=0.001 --json\n"
            "  assay plan foundry --memory save.trace --load load.trace\n"
            "  assay plan foundry --image kernels.cubin");
    }

    int run() override {
        if (!image_.empty()) {
            const Image image = read_image_file();
            print(to_json(image), to_text(image, columns));
        } else if (!graphs_.empty()) {
            const GraphsPlan plan = plan_graphs();
            print(to_json(plan), to_text(plan, columns));
        } else if (!save_.empty()) {
            plan_memory();
        } else {
            throw UserError("give --graphs FILE, --memory SAVE or --image FILE");
        }
        return 0;
    }

  private:
    void add_memory_options(CLI::App& app, CLI::Option* graphs) {
        auto* memory = app.add_option("--memory", save_,
                                      "recorded allocations (below); with --graphs: which words of "
                                      "kernel parameters point there")
                           ->type_name("SAVE");
        app.add_option("--load", load_, "the other start's, to be compared")
            ->needs(memory)
            ->excludes(graphs)
            ->type_name("LOAD");
        const auto place = [&](const char* name, std::string& text, const char* says) {
            app.add_option(name, text, says)->capture_default_str()->needs(memory)->type_name("N");
        };
        place("--base", base_, "where the region begins");
        place("--size", size_, "address space of the region");
        place("--scratch", scratch_, "of it, for what start-up allocates");
    }

    void print(const nlohmann::ordered_json& json, const std::string& text) const {
        std::cout << (json_ ? report::printable_dump(json) + '\n' : text);
    }

    Image read_image_file() const {
        const Bytes file = Bytes::of_file(image_);
        try {
            return read_image(file.view());
        } catch (const ImageError& error) {
            throw UserError(
                fmt::format("{}: {}; give a cubin, a fatbin or PTX", image_, error.what()));
        }
    }

    /// The trace and, for what is read beside it, its events.
    std::pair<Trace, SavedMemory> saved_memory() const {
        const RegionSettings settings = region_settings(base_, size_, scratch_);
        InputFile file("--memory", save_, "a trace of allocations");
        Trace trace = read_save_trace(file.stream(), file.name());
        SavedMemory saved = replay_save(trace, settings);
        return {std::move(trace), std::move(saved)};
    }

    GraphsPlan plan_graphs() const {
        const std::optional<Costs> costs =
            costs_.empty() ? std::nullopt : std::optional(parse_costs(costs_, threads_));
        std::optional<SavedMemory> saved;
        if (!save_.empty()) saved = saved_memory().second;
        InputFile file("--graphs", graphs_);
        const std::vector<Graph> graphs = read_graphs(file.stream(), file.name());
        GraphsPlan plan{.grouping = group(graphs, of_word<Key>(key_).value(),
                                          of_word<TemplateChoice>(template_).value())};
        for (const Graph& graph : graphs) plan.batches.push_back(graph.batch);
        if (costs) plan.ready = ready_times(*costs, graphs.size(), plan.grouping.templates.size());
        if (!saved) return plan;
        plan.audited.emplace();
        for (const Graph& graph : graphs)
            for (const AuditItem& item : audit(graph, saved->settings.range(), saved->live))
                plan.audited->push_back(item);
        return plan;
    }

    void plan_memory() const {
        const auto [trace, saved] = saved_memory();
        std::optional<LoadVerdict> verdict;
        if (!load_.empty()) {
            InputFile file("--load", load_, "a trace of allocations");
            verdict = replay_load(read_load_trace(file.stream(), file.name(), trace), saved);
        }
        print(to_json(saved, verdict),
              to_text(saved, verdict, {.save = save_, .load = load_}, columns));
    }

    std::string graphs_, key_ = "paper", template_ = "first", costs_, threads_ = "1", image_;
    std::string save_, load_, base_ = "0x600000000000", size_ = "256GiB", scratch_ = "1GiB";
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace assay::foundry
