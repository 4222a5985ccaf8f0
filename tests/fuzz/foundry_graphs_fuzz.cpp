// Graphs as lines of JSON, and --costs: refused with a sentence, or read so that what is written of
// it is read as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "impls/foundry/method/graphs/graph_lines.hpp"
#include "impls/foundry/method/graphs/grouping.hpp"
#include "impls/foundry/method/ready_time.hpp"
#include "suite/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay::foundry;
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        parse_costs(text);
    } catch (const assay::UserError&) {
    }
    std::vector<Graph> graphs;
    try {
        std::istringstream in(text);
        graphs = read_graphs(in, "graphs");
    } catch (const assay::UserError&) {
        return 0;
    }
    std::stringstream again;
    for (const Graph& graph : graphs) again << to_line(graph) << '\n';
    if (read_graphs(again, "again") != graphs) std::abort();
    for (const Key key : {Key::paper, Key::strong}) {
        const Grouping grouping = group(graphs, key, TemplateChoice::largest);
        if (grouping.templates.size() + grouping.members.size() != graphs.size()) std::abort();
    }
    return 0;
}
