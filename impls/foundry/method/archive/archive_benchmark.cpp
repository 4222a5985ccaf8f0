// What an archive costs to read, beside the same graphs as lines of JSON and beside libcrypto's
// SHA-256: 512 graphs of one topology, of which each but the first has one 32-bit word of twenty
// otherwise. Goals: read 50 times and prepared 10 times as fast as JSON, `parameters` at most 0.2,
// checked at 0.8 of the hash's speed at least.
//
//     build/cpu/bin/foundry_archive_benchmark
//
// json_*: one line parsed by nlohmann alone; its parameters made bytes, too; the graph of it. All
// of an archive's are of the whole: opened with its hashes checked, its graphs prepared, its graphs
// made what GraphReader gives. Times are of one graph.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "impls/foundry/method/archive/archive.hpp"
#include "impls/foundry/method/graphs/graph_lines.hpp"
#include "suite/base/sha256.hpp"

namespace assay::foundry {
namespace {

constexpr std::int64_t graphs = 512, nodes = 100;
constexpr std::size_t param_bytes = 300;

Graph first_graph(std::mt19937_64& engine) {
    Graph graph{.batch = 1, .nodes = {}, .edges = {}};
    for (std::uint32_t i = 0; i < nodes; ++i) {
        Launch launch{.image = std::string(64, 'a'),
                      .name = "_ZN7kernels6decodeE" + std::to_string(i % 20),
                      .grid = {i + 1, 1, 1},
                      .block = {128, 1, 1},
                      .shared_bytes = 1024,
                      .attributes = {{"priority", Integer::of(std::int64_t{-1})}},
                      .params = std::vector<std::byte>(param_bytes)};
        for (std::byte& byte : launch.params) byte = static_cast<std::byte>(engine());
        graph.nodes.push_back(
            {.type = NodeType::kernel, .launch = std::move(launch), .fields = {}});
        if (i > 0) graph.edges.push_back({.from = i - 1, .to = i});
    }
    return graph;
}

struct Files {
    std::filesystem::path folder;
    std::string lines;

    Files() {
        std::string name = (std::filesystem::temp_directory_path() / "assay-XXXXXX").string();
        folder = mkdtemp(name.data());
        std::mt19937_64 engine(1);
        const Graph first = first_graph(engine);
        GraphEncoder encoder;
        for (std::int64_t batch = 1; batch <= graphs; ++batch) {
            Graph graph = first;
            graph.batch = batch;
            for (Node& node : graph.nodes)
                for (std::size_t at = 0; batch > 1 && at < param_bytes; at += 4)
                    if (engine() % 20 == 0) node.launch.params[at] ^= std::byte{255};
            encoder.add(graph);
            lines += to_line(graph) + '\n';
        }
        write_archive(archive(), {.graphs = encoder});
    }
    ~Files() { std::filesystem::remove_all(folder); }
    std::filesystem::path archive() const { return folder / "archive"; }
};

const Files& files() {
    static const Files made;
    return made;
}

/// As times of one graph, for ratios of rows.
void per_graph(benchmark::State& state, std::int64_t graphs_of_one) {
    state.counters["graph"] =
        benchmark::Counter(static_cast<double>(state.iterations() * graphs_of_one),
                           benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

template <class Each>
void each_line(benchmark::State& state, Each&& each) {
    const std::string& lines = files().lines;
    for (auto _ : state)
        for (std::size_t at = 0, end = 0; at < lines.size(); at = end + 1) {
            end = lines.find('\n', at);
            each(std::string_view(lines).substr(at, end - at));
        }
    per_graph(state, graphs);
}

void json_parsed(benchmark::State& state) {
    each_line(state,
              [](std::string_view line) { benchmark::DoNotOptimize(nlohmann::json::parse(line)); });
}

void json_prepared(benchmark::State& state) {
    std::vector<std::byte> params;
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    each_line(state, [&](std::string_view line) {
        params.clear();
        const auto graph = nlohmann::json::parse(line);
        for (const auto& node : graph["nodes"]) {
            const auto& hex = node["params"].get_ref<const std::string&>();
            for (std::size_t i = 0; i < hex.size(); i += 2)
                params.push_back(static_cast<std::byte>(digit(hex[i]) << 4 | digit(hex[i + 1])));
        }
        benchmark::DoNotOptimize(params.data());
    });
}

void json_graphs(benchmark::State& state) {
    for (auto _ : state) {
        std::istringstream lines(files().lines);
        GraphReader reader(lines, "lines");
        while (const auto graph = reader.next()) benchmark::DoNotOptimize(graph->nodes.data());
    }
    per_graph(state, graphs);
}

void archive_read(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(Archive(files().archive()).graphs().size());
    per_graph(state, graphs);
    const Archive archive(files().archive());
    state.counters["parameters"] =
        static_cast<double>(archive.bytes()) / static_cast<double>(graphs * nodes * param_bytes);
}

void archive_prepared(benchmark::State& state) {
    const Archive archive(files().archive());
    PreparedGraph prepared;
    for (auto _ : state)
        for (std::size_t i = 0; i < archive.graphs().size(); ++i) {
            archive.graphs().prepare(i, prepared);
            benchmark::DoNotOptimize(prepared.params.data());
        }
    per_graph(state, graphs);
}

void archive_graphs(benchmark::State& state) {
    for (auto _ : state) {
        const Archive archive(files().archive());
        for (std::size_t i = 0; i < archive.graphs().size(); ++i)
            benchmark::DoNotOptimize(archive.graphs().graph(i));
    }
    per_graph(state, graphs);
}

void archive_hashed(benchmark::State& state) {
    for (auto _ : state)
        for (const auto& file : std::filesystem::directory_iterator(files().archive()))
            benchmark::DoNotOptimize(sha256_file_hex(file.path()));
    per_graph(state, graphs);
}

BENCHMARK(json_parsed)->Unit(benchmark::kMillisecond);
BENCHMARK(json_prepared)->Unit(benchmark::kMillisecond);
BENCHMARK(json_graphs)->Unit(benchmark::kMillisecond);
BENCHMARK(archive_read)->Unit(benchmark::kMillisecond);
BENCHMARK(archive_prepared)->Unit(benchmark::kMillisecond);
BENCHMARK(archive_graphs)->Unit(benchmark::kMillisecond);
BENCHMARK(archive_hashed)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::foundry

BENCHMARK_MAIN();
