#include "impls/foundry/commands/archive_tool.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "impls/foundry/method/archive/archive.hpp"
#include "impls/foundry/method/archive/image_folder.hpp"
#include "impls/foundry/method/graphs/graph_lines.hpp"
#include "impls/foundry/method/memory/replay.hpp"
#include "suite/base/input_file.hpp"
#include "suite/base/quantity_text.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::foundry {
namespace {

/// What an archive holds.
struct Holds {
    std::size_t graphs = 0, templates = 0, images = 0;
    std::uint64_t bytes = 0, image_bytes = 0;  ///< of all files; of the images among them
};

Holds holds(const Archive& archive) {
    Holds result{.graphs = archive.graphs().size(),
                 .templates = archive.graphs().groups(),
                 .images = archive.images().size(),
                 .bytes = archive.bytes()};
    for (const StoredImage& image : archive.images()) result.image_bytes += image.bytes;
    return result;
}

nlohmann::ordered_json to_json(const Holds& held) {
    return {{"graphs", held.graphs},
            {"templates", held.templates},
            {"images", held.images},
            {"bytes", held.bytes},
            {"image_bytes", held.image_bytes}};
}

std::string to_text(const Holds& held) {
    const auto size = [](std::uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); };
    return fmt::format("graphs     {}\ntemplates  {}\nimages     {} ({})\nsize       {}\n",
                       held.graphs, held.templates, held.images, size(held.image_bytes),
                       size(held.bytes));
}

class ArchiveCommand : public Command {
  protected:
    void add_json(CLI::App& app) { app.add_flag("--json", json_, "Print JSON"); }
    void add_folder(CLI::App& app) {
        app.add_option("archive", folder_, "Folder that `assay archive pack` made")
            ->required()
            ->type_name("DIR");
    }
    void print(const Holds& held) const {
        std::cout << (json_ ? report::printable_dump(to_json(held)) + '\n' : to_text(held));
    }

    std::string folder_;
    bool json_ = false;
};

class PackCommand : public ArchiveCommand {
  public:
    void options(CLI::App& app) override {
        app.add_option("--graphs", graphs_, "Graphs, a line of JSON each; - is standard input")
            ->required()
            ->type_name("FILE");
        app.add_option("--images", images_, "Kernel binaries, under any names")
            ->required()
            ->type_name("FOLDER");
        app.add_option("--memory", memory_, "Trace of the memory that the graphs were captured in")
            ->type_name("SAVE");
        app.add_option("--out", folder_, "The archive; must not be there yet")
            ->required()
            ->type_name("DIR");
        add_json(app);
        app.footer(
            "Examples:\n"
            "  assay archive pack --graphs graphs.jsonl --images images --out archive\n"
            "  assay archive pack --graphs graphs.jsonl --images images --memory save.trace "
            "--out archive-with-memory");
    }

    int run() override {
        refuse_existing(folder_);
        InputFile lines("--graphs", graphs_, "graphs, a line of JSON each");
        std::string trace;
        std::optional<SavedRegion> region = saved_region(trace);
        ImageFolder images(images_);
        GraphReader reader(lines.stream(), lines.name());
        GraphEncoder graphs;
        while (const auto graph = reader.next()) {
            images.check(*graph, fmt::format("{}:{}", reader.name(), reader.line()));
            graphs.add(*graph);
        }
        ArchiveContent content{.graphs = graphs, .images = images.used()};
        if (region) content.fingerprint = Fingerprint();  // what SAVE ran on, no trace says
        content.region = std::move(region);
        content.trace = std::move(trace);
        write_archive(folder_, content);
        print(holds(Archive(folder_)));
        return 0;
    }

  private:
    std::optional<SavedRegion> saved_region(std::string& trace) const {
        if (memory_.empty()) return std::nullopt;
        InputFile file("--memory", memory_, "a trace of memory");
        trace = file.text();
        std::istringstream lines(trace);
        const SavedMemory saved =
            replay_save(read_save_trace(lines, file.name()), RegionSettings());
        return SavedRegion{.settings = saved.settings, .final = saved.final, .live = saved.live};
    }

    std::string graphs_, images_, memory_;
};

class ShowCommand : public ArchiveCommand {
  public:
    void options(CLI::App& app) override {
        add_folder(app);
        app.footer(
            "Prints the graphs as `assay archive pack --graphs` reads them.\n\n"
            "Examples:\n"
            "  assay archive show archive > graphs.jsonl");
    }

    int run() override {
        const Archive archive(folder_);
        const GraphStore& graphs = archive.graphs();
        // Each is read before the first is printed: a refusal leaves nothing on standard output,
        // and the text of all would be much larger than the archive.
        for (std::size_t i = 0; i < graphs.size(); ++i) graphs.graph(i);
        for (std::size_t i = 0; i < graphs.size(); ++i)
            std::cout << report::printable_json(to_line(graphs.graph(i))) << '\n';
        return 0;
    }
};

class CheckCommand : public ArchiveCommand {
  public:
    void options(CLI::App& app) override {
        add_folder(app);
        add_json(app);
        app.footer(
            "Compares every file with its SHA-256 and says what the archive holds; exit code 1 "
            "where a byte is not what was written.\n\n"
            "Examples:\n"
            "  assay archive check archive --json");
    }

    int run() override {
        print(holds(Archive(folder_)));
        return 0;
    }
};

}  // namespace

Tool make_archive_tool() {
    Tool tool{"archive", "CUDA graphs and their kernels, saved for `foundry` to restore", {}};
    tool.subcommands.push_back(
        {"pack", "Make an archive of graphs and kernel binaries", std::make_unique<PackCommand>()});
    tool.subcommands.push_back({"show", "Print its graphs", std::make_unique<ShowCommand>()});
    tool.subcommands.push_back(
        {"check", "Whether it is whole, and what it holds", std::make_unique<CheckCommand>()});
    return tool;
}

}  // namespace assay::foundry
