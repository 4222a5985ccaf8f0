#include <algorithm>

#include "impls/foundry/chain/chain.hpp"
#include "impls/foundry/chain/probes.hpp"
#include "impls/foundry/live/read_graph.hpp"

namespace assay::foundry {
namespace {

constexpr std::uint32_t threads = 32;  // of the chain's kernel

/// A launch of the chain's first node, with either handle of its kernel.
class FirstNode {
  public:
    explicit FirstNode(const Chain& chain)
        : launch_(chain.graph(Member::a).nodes.at(0).launch),
          resolved_(*chain.images().find(launch_.image, launch_.name)) {
        for (const Parameter& parameter : resolved_.params)
            params_.push_back(launch_.params.data() + parameter.offset);
    }

    CUgraphNode add(const Driver& driver, CUgraph graph, bool by_kernel) {
        CUDA_KERNEL_NODE_PARAMS node{};
        node.func = by_kernel ? nullptr : resolved_.function;
        node.kern = by_kernel ? resolved_.kernel : nullptr;
        node.gridDimX = node.gridDimY = node.gridDimZ = 1;
        node.blockDimX = threads;
        node.blockDimY = node.blockDimZ = 1;
        node.kernelParams = params_.data();
        CUgraphNode added = nullptr;
        check(driver, driver.cuGraphAddKernelNode(&added, graph, nullptr, 0, &node),
              "cuGraphAddKernelNode");
        return added;
    }
    /// A launch takes a kernel where it wants a function.
    void launch(const Driver& driver, CUstream stream, bool by_kernel, bool programmatic) {
        CUlaunchAttribute attribute{};
        attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attribute.value.programmaticStreamSerializationAllowed = 1;
        CUlaunchConfig config{};
        config.gridDimX = config.gridDimY = config.gridDimZ = 1;
        config.blockDimX = threads;
        config.blockDimY = config.blockDimZ = 1;
        config.hStream = stream;
        config.attrs = &attribute;
        config.numAttrs = programmatic ? 1 : 0;
        const CUfunction handle =
            by_kernel ? reinterpret_cast<CUfunction>(resolved_.kernel) : resolved_.function;
        check(driver, driver.cuLaunchKernelEx(&config, handle, params_.data(), nullptr),
              "cuLaunchKernelEx");
    }

  private:
    Launch launch_;
    Images::Resolved resolved_;
    std::vector<void*> params_;
};

std::vector<CUgraphNode> nodes_of(const Driver& driver, CUgraph graph, std::size_t count) {
    std::vector<CUgraphNode> nodes(count);
    check(driver, driver.cuGraphGetNodes(graph, nodes.data(), &count), "cuGraphGetNodes");
    nodes.resize(count);
    return nodes;
}

ShownHandle shown(const Driver& driver, const char* name, CUgraphNode node) {
    CUDA_KERNEL_NODE_PARAMS params{};
    check(driver, driver.cuGraphKernelNodeGetParams(node, &params), "cuGraphKernelNodeGetParams");
    return {.node = name, .function = params.func != nullptr, .kernel = params.kern != nullptr};
}

constexpr Edge programmatic(std::uint32_t from) {
    return {.from = from,
            .to = from + 1,
            .from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
            .to_port = 0,
            .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
}

double kept(const Graph& read, const std::vector<Edge>& given) {
    const auto is_kept = [&](const Edge& edge) {
        return std::ranges::find(read.edges, edge) != read.edges.end();
    };
    return static_cast<double>(std::ranges::count_if(given, is_kept)) /
           static_cast<double>(given.size());
}

Integer number(std::int64_t value) { return Integer::of(value); }
Attribute extent(std::int64_t x) { return std::vector{number(x), number(1), number(1)}; }

struct Change {
    const char* name;
    /// Of two equal graphs of two nodes; the executable is made of the first.
    void (*make)(Graph& from, Graph& to);
};
Launch& second(Graph& graph) { return graph.nodes.at(1).launch; }
void both_with_two_blocks(Graph& from, Graph& to) {
    second(from).grid = second(to).grid = {2, 1, 1};
}

const Change changes[] = {
    {"nothing", [](Graph&, Graph&) {}},
    {"params",
     [](Graph&, Graph& to) { std::swap(second(to).params, to.nodes.at(0).launch.params); }},
    {"grid",
     [](Graph&, Graph& to) {
         second(to).grid = {2, 1, 1};
     }},
    {"shared_bytes", [](Graph&, Graph& to) { second(to).shared_bytes = 1024; }},
    {"function",
     [](Graph&, Graph& to) {
         second(to).name = "toy_embed";  // of the same image
         second(to).params.resize(40);
     }},
    {"cooperative",
     [](Graph&, Graph& to) {
         second(to).attributes = {{"cooperative", number(1)}};
     }},
    {"cooperative, no longer",
     [](Graph& from, Graph&) {
         second(from).attributes = {{"cooperative", number(1)}};
     }},
    {"cluster",
     [](Graph& from, Graph& to) {
         both_with_two_blocks(from, to);
         second(to).attributes = {{"cluster", extent(2)}};
     }},
    {"preferred_cluster",
     [](Graph& from, Graph& to) {
         both_with_two_blocks(from, to);
         second(from).attributes = {{"cluster", extent(1)}};
         second(to).attributes = {{"cluster", extent(1)}, {"preferred_cluster", extent(2)}};
     }},
    {"priority",
     [](Graph&, Graph& to) {
         second(to).attributes = {{"priority", number(-1)}};
     }},
    {"mem_sync_domain",
     [](Graph&, Graph& to) {
         second(to).attributes = {{"mem_sync_domain", number(1)}};
     }},
    {"edge, programmatic", [](Graph&, Graph& to) { to.edges.at(0) = programmatic(0); }},
    {"edge, gone", [](Graph&, Graph& to) { to.edges.clear(); }},
    {"node, empty", [](Graph&, Graph& to) { to.nodes.at(1) = {}; }},
};

}  // namespace

std::vector<ShownHandle> shown_handles(const Device& device) {
    const Driver& driver = device.driver();
    const Chain chain(device, {.nodes = 1});
    FirstNode first(chain);
    std::vector<ShownHandle> all;
    for (const bool by_kernel : {false, true}) {
        const CapturedGraph graph = capture(driver, chain.stream(), [&] {
            first.launch(driver, chain.stream(), by_kernel, false);
        });
        all.push_back(shown(driver, by_kernel ? "captured by kernel" : "captured by function",
                            nodes_of(driver, graph.get(), 1).at(0)));
    }
    for (const bool by_kernel : {false, true}) {
        CUgraph graph = nullptr;
        check(driver, driver.cuGraphCreate(&graph, 0), "cuGraphCreate");
        const CapturedGraph owned(driver, graph);
        all.push_back(shown(driver, by_kernel ? "added by kernel" : "added by function",
                            first.add(driver, graph, by_kernel)));
    }
    return all;
}

std::vector<KeptEdges> kept_edges(const Device& device) {
    const Driver& driver = device.driver();
    const Chain chain(device, {.nodes = 4});
    std::vector<KeptEdges> all;
    const auto read = [&](CUgraph graph) { return read_graph(driver, chain.images(), graph, 1); };
    {
        FirstNode first(chain);
        const CapturedGraph graph = capture(driver, chain.stream(), [&] {
            first.launch(driver, chain.stream(), false, false);
            first.launch(driver, chain.stream(), false, true);
        });
        all.push_back({"captured", kept(read(graph.get()), {programmatic(0)})});
    }
    Graph given = chain.graph(Member::a);
    given.edges.back() = programmatic(2);
    const auto without = [&] {
        Graph graph = given;
        graph.edges.clear();
        return graph;
    }();
    for (const bool plain_first : {true, false}) {
        const BuiltGraph built(device, chain.images(), without);
        const auto nodes = nodes_of(driver, built.get(), given.nodes.size());
        std::vector<Edge> edges = given.edges;
        if (!plain_first) std::ranges::reverse(edges);
        std::vector<CUgraphNode> from, to;
        std::vector<CUgraphEdgeData> data;
        for (const Edge& edge : edges) {
            from.push_back(nodes.at(edge.from));
            to.push_back(nodes.at(edge.to));
            CUgraphEdgeData& one = data.emplace_back();
            one.from_port = edge.from_port;
            one.type = edge.type;
        }
        check(driver,
              driver.cuGraphAddDependencies(built.get(), from.data(), to.data(), data.data(),
                                            from.size()),
              "cuGraphAddDependencies");
        all.push_back(
            {plain_first ? "plain first" : "programmatic first", kept(read(built.get()), edges)});
    }
    const BuiltGraph built(device, chain.images(), given);
    all.push_back({"one by one", kept(read(built.get()), given.edges)});
    return all;
}

std::vector<UpdateAnswer> update_answers(const Device& device) {
    const Driver& driver = device.driver();
    const Chain chain(device, {.nodes = 2});
    std::vector<UpdateAnswer> answers;
    for (const Change& change : changes) {
        Graph from = chain.graph(Member::a), to = from;
        change.make(from, to);
        try {
            const BuiltGraph of(device, chain.images(), from), other(device, chain.images(), to);
            // Both can be instantiated: what is refused is the change.
            const Executable executable(driver, of.get()), of_other(driver, other.get());
            CUgraphExecUpdateResultInfo info{};
            const CUresult result = driver.cuGraphExecUpdate(executable.get(), other.get(), &info);
            if (result != CUDA_SUCCESS && info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS)
                info.result = CU_GRAPH_EXEC_UPDATE_ERROR;
            answers.push_back({change.name, info.result});
        } catch (const DriverError&) {
            // This driver or GPU has no such graph.
        }
    }
    return answers;
}

}  // namespace assay::foundry
