// What an archive takes on disk: graphs whole, or as differences from their template.
#include <filesystem>
#include <string>

#include "impls/foundry/experiments/decode_families.hpp"
#include "impls/foundry/experiments/experiments.hpp"
#include "impls/foundry/method/archive/archive.hpp"
#include "impls/foundry/method/graphs/graph_lines.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::foundry {
namespace {

/// lines: JSON. whole: an archive of one graph for each, as one that knows no templates.
enum class Form { archive, whole, lines };
ASSAY_NAMES(Form, archive, whole, lines)

struct Storage {
    int graphs = 512, layers = 8;
    Choices choices{};
    Form form{};
    std::string scratch;
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric bytes = exact("bytes", "bytes", "of all graphs on disk, without kernel binaries", lower);
    Metric per_graph = exact("per_graph", "bytes", "of them for each graph", lower);
    Metric over_params =
        exact("over_params", "ratio", "over the bytes of all kernels' parameters", lower);
};

double params_bytes(const std::vector<Graph>& graphs) {
    double bytes = 0;
    for (const Graph& graph : graphs)
        for (const Node& node : graph.nodes)
            bytes += static_cast<double>(node.launch.params.size());
    return bytes;
}

double archived_bytes(const std::vector<Graph>& graphs, const std::filesystem::path& folder) {
    GraphEncoder encoder;
    for (const Graph& graph : graphs) encoder.add(graph);
    write_archive(folder, {.graphs = encoder});
    return static_cast<double>(Archive(folder).bytes());
}

void run(const Storage& storage, Recorder& recorder) {
    const auto graphs = family_of(storage.choices, storage.layers).graphs(storage.graphs);
    const std::filesystem::path folder = storage.scratch;
    double bytes = 0;
    if (storage.form == Form::lines) {
        for (const Graph& graph : graphs) bytes += static_cast<double>(to_line(graph).size() + 1);
    } else if (storage.form == Form::archive) {
        bytes = archived_bytes(graphs, folder / "archive");
    } else {
        for (const Graph& graph : graphs)
            bytes += archived_bytes({graph}, folder / std::to_string(graph.batch));
    }
    const Found found(recorder);
    found.bytes(bytes);
    found.per_graph(bytes / static_cast<double>(graphs.size()));
    found.over_params(bytes / params_bytes(graphs));
}

}  // namespace

Experiment storage() {
    Declaration<Storage> storage(
        {.id = "foundry/storage",
         .title = "What an archive of graphs takes on disk",
         .source = "arXiv 2604.06664v1, storage table",
         .says =
             "The graphs of fig11's families written to disk: as one archive of templates and "
             "differences, each as an archive of its own, and as lines of JSON. Kernel binaries "
             "are not counted: the paper's archives are mostly those, by a measurement of the "
             "public code partly by a mistake in their length.",
         .metrics = declared<Found>(),
         .profiles = exact_profiles(2),
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "per_graph",
                    .x = "choices",
                    .x_title = "what a library chooses by batch size",
                    .y_title = "bytes for each graph",
                    .log_y = true}});
    storage.axis("graphs", &Storage::graphs, "batch sizes, from 1 on", {512}, between(1, 4096));
    storage.axis("layers", &Storage::layers, "of the decoder; nine nodes each", {8},
                 between(1, 128));
    storage.axis("choices", &Storage::choices, "what a library chooses by batch size",
                 {Choices::same, Choices::all});
    storage.variants(&Storage::form);
    storage.given(&Storage::scratch, &SampleSpec::scratch);
    return storage.runs(run);
}

}  // namespace assay::foundry
