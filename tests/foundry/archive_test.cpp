// Archives: what went in comes out, whatever the graphs; equal input gives equal bytes; any damage
// is refused; a write that fails leaves nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "impls/foundry/commands/archive_tool.hpp"
#include "impls/foundry/method/archive/archive.hpp"
#include "impls/foundry/method/archive/byte_stream.hpp"
#include "impls/foundry/method/archive/image_folder.hpp"
#include "impls/foundry/method/graphs/decode_family.hpp"
#include "impls/foundry/method/graphs/graph_lines.hpp"
#include "suite/base/sha256.hpp"
#include "tests/base/shell.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::foundry {
namespace {

namespace fs = std::filesystem;
using assay::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string content_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
void write_file(const fs::path& file, std::string_view content) {
    std::ofstream(file, std::ios::binary) << content;
}

/// What a call refuses with; empty: it does not.
template <class Call>
std::string refusal(Call&& call) {
    try {
        call();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

/// Few topologies, and nodes that differ in every way that one topology allows.
class Dice {
  public:
    explicit Dice(unsigned seed) : engine_(seed) {}
    std::uint64_t below(std::uint64_t n) { return engine_() % n; }

    Graph graph(std::int64_t batch) {
        const std::uint64_t topology = below(3);
        Graph graph{.batch = batch, .nodes = {}, .edges = {}};
        for (std::uint64_t i = 0; i < 4 + topology; ++i) {
            const auto type = static_cast<NodeType>(i % 3 == 0 ? 0 : i % 6);
            graph.nodes.push_back(type == NodeType::kernel ? kernel(i == 3 && topology == 1)
                                                           : other(type));
            for (std::uint32_t from = 0; from < i; from += 2)
                graph.edges.push_back({.from = from, .to = static_cast<std::uint32_t>(i)});
        }
        if (topology == 2) graph.edges[0] = {.from = 0, .to = 1, .from_port = 1, .type = 1};
        std::ranges::sort(graph.edges);
        return graph;
    }

  private:
    Integer integer() {
        return below(2) ? Integer::of(engine_() >> below(64))
                        : Integer::of(-1 - static_cast<std::int64_t>(engine_() >> 1 >> below(63)));
    }
    Extent extent() {
        return {1 + static_cast<std::uint32_t>(below(3)), 1, static_cast<std::uint32_t>(engine_())};
    }
    Node kernel(bool large_cluster) {
        Launch launch{.image = sha256_hex(std::to_string(below(2))),
                      .name = "kernel" + std::to_string(below(3)),
                      .grid = extent(),
                      .block = extent(),
                      .shared_bytes = static_cast<std::uint32_t>(below(2) * engine_()),
                      .attributes = {},
                      .params = std::vector<std::byte>(below(8) ? 37 : below(40))};
        const auto one = Integer::of(std::uint64_t{1});
        if (large_cluster)
            launch.attributes = {{"cluster", Integer::of(std::uint64_t{4})}, {"priority", one}};
        else if (below(2))  // the default, said in one of its ways
            launch.attributes = {
                {"cluster", below(2) ? Attribute(one) : Attribute(std::vector{one, one, one})}};
        for (std::byte& byte : launch.params)
            if (below(4) == 0) byte = static_cast<std::byte>(engine_());
        return {.type = NodeType::kernel, .launch = std::move(launch), .fields = {}};
    }
    Node other(NodeType type) {
        Node node{.type = type, .launch = {}, .fields = {}};
        if (below(3)) node.fields.emplace_back("dst", integer());
        if (below(3)) node.fields.emplace_back("value", integer());
        return node;
    }

    std::mt19937_64 engine_;
};

std::vector<Graph> random_graphs(unsigned seed, std::int64_t count) {
    Dice dice(seed);
    std::vector<Graph> graphs;
    for (std::int64_t batch = 0; batch < count; ++batch)
        graphs.push_back(dice.graph(count - batch));
    return graphs;
}

/// Graphs of `nodes` kernels with 300 bytes of parameters each, of which in every graph but the
/// first one word in twenty is another.
std::vector<Graph> sparsely_different(std::int64_t count, std::size_t nodes) {
    std::mt19937_64 engine(7);
    Graph first{.batch = 1, .nodes = {}, .edges = {}};
    for (std::size_t i = 0; i < nodes; ++i) {
        Launch launch{.image = std::string(64, 'a'),
                      .name = "k",
                      .attributes = {},
                      .params = std::vector<std::byte>(300)};
        for (std::byte& byte : launch.params) byte = static_cast<std::byte>(engine());
        first.nodes.push_back({.type = NodeType::kernel, .launch = launch, .fields = {}});
    }
    std::vector<Graph> graphs{first};
    for (std::int64_t batch = 2; batch <= count; ++batch) {
        Graph graph = first;
        graph.batch = batch;
        for (Node& node : graph.nodes)
            for (std::size_t at = 0; at < 300; at += 4)
                if (engine() % 20 == 0)
                    for (std::size_t i = 0; i < 4; ++i)
                        node.launch.params[at + i] ^= static_cast<std::byte>(1 + engine() % 255);
        graphs.push_back(std::move(graph));
    }
    return graphs;
}

GraphEncoder encoded(const std::vector<Graph>& graphs) {
    GraphEncoder encoder;
    for (const Graph& graph : graphs) encoder.add(graph);
    return encoder;
}

std::string ptx = ".version 8.0\n.target sm_90\n";

ImageToStore ptx_image() {
    const auto bytes = std::as_bytes(std::span(ptx));
    return {.sha256 = sha256_hex(ptx), .content = bytes, .image = read_image(bytes)};
}

void write(const fs::path& folder, const GraphEncoder& graphs, const WriteStep& step = {}) {
    write_archive(folder,
                  {.graphs = graphs,
                   .images = {ptx_image()},
                   .fingerprint = Fingerprint{.gpu_chip = "GH100", .sm_count = 132},
                   .region = SavedRegion{.settings = {}, .final = 7, .live = {{1, 2}, {5, 6}}}},
                  step);
}

TEST(ByteStream, NumbersTakeSevenBitsOfEachByte) {
    ByteWriter writer;
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{300},
                                       std::numeric_limits<std::uint64_t>::max()})
        writer.number(number);
    writer.text("ab");
    std::string bytes;
    for (const std::byte byte : writer.bytes()) bytes += static_cast<char>(byte);
    EXPECT_EQ(bytes, std::string("\0\x7f\xac\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02"
                                 "ab",
                                 17));
    ByteReader reader(writer.bytes(), "f");
    EXPECT_EQ(reader.number(), 0U);
    EXPECT_EQ(reader.number(), 127U);
    EXPECT_EQ(reader.number(), 300U);
    EXPECT_EQ(reader.number(), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(reader.text(), "ab");
    EXPECT_TRUE(reader.at_end());
    const auto too_large = std::vector<std::byte>(10, std::byte{0xff});
    EXPECT_THROW(ByteReader(too_large, "f").number(), DamagedArchive);
    EXPECT_THROW(ByteReader(std::span(too_large).first(3), "f").number(), DamagedArchive);
}

TEST(SectionFile, LiesAsItsHeaderSays) {
    SectionWriter writer("8 bytes!");
    const std::vector<char> letter{'x'};
    writer.add(1, letter);
    const std::vector<std::uint32_t> numbers{1, 2};
    writer.add(5, numbers);
    std::vector<std::byte> file;
    writer.write([&](auto bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); });
    EXPECT_EQ(file.size(), 16U + 2 * 24 + 16 + 8);
    EXPECT_EQ(file[8], std::byte{1}) << "the version";
    const SectionFile read(file, "8 bytes!", "f");
    EXPECT_EQ(read.array<std::uint32_t>(5)[1], 2U);
    EXPECT_THAT(refusal([&] { read.array<char>(2); }), HasSubstr("section 2 is missing"));
    EXPECT_THAT(refusal([&] { read.array<std::uint32_t>(1); }), HasSubstr("section 1 is cut"));
    EXPECT_THAT(refusal([&] { SectionFile(file, "another!", "f"); }), HasSubstr("no file of this"));
    file[8] = std::byte{2};
    EXPECT_THAT(refusal([&] { SectionFile(file, "8 bytes!", "f"); }), HasSubstr("of version 2"));
}

/// The files of an encoder, in memory.
class Stored {
  public:
    explicit Stored(const std::vector<Graph>& graphs) {
        const GraphEncoder encoder = encoded(graphs);
        const auto to = [](std::vector<std::byte>& file) {
            return [&](auto bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); };
        };
        encoder.write_graphs(to(graphs_));
        encoder.write_deltas(to(deltas_));
    }
    GraphStore store() const {
        return GraphStore(SectionFile(graphs_, graphs_magic, "graphs"),
                          SectionFile(deltas_, deltas_magic, "deltas"));
    }

  private:
    std::vector<std::byte> graphs_, deltas_;
};

TEST(GraphStore, GivesEveryGraphAgainInItsPlace) {
    std::size_t templates = 0, members = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        const std::vector<Graph> graphs = random_graphs(seed, 1 + seed);
        const Stored stored(graphs);
        const GraphStore store = stored.store();
        ASSERT_EQ(store.size(), graphs.size());
        PreparedGraph prepared;
        for (std::size_t i = 0; i < graphs.size(); ++i) {
            ASSERT_EQ(store.graph(i), graphs[i]) << seed << ' ' << i;
            ASSERT_EQ(store.batch(i), graphs[i].batch);
            const std::size_t whole = store.template_of(store.group(i));
            EXPECT_EQ(strong_key(graphs[whole]), strong_key(graphs[i]));
            EXPECT_LE(whole, i) << "the first of its group";
            EXPECT_EQ(store.is_template(i), whole == i);
            ++(whole == i ? templates : members);
            store.prepare(i, prepared);
            for (std::size_t node = 0; node < graphs[i].nodes.size(); ++node) {
                const auto params = prepared.params_of(node);
                ASSERT_TRUE(std::ranges::equal(params, graphs[i].nodes[node].launch.params));
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(params.data()) % 8, 0U);
            }
        }
    }
    EXPECT_GT(members, 5 * templates);
}

TEST(Archive, GroupsAsTheStrongKeyDoes) {
    const DecodeFamily family{.layers = 2,
                              .rules = {{.change = Change::tile, .from = 5},
                                        {.change = Change::priority, .from = 9},
                                        {.change = Change::edges, .from = 20}}};
    const std::vector<Graph> graphs = family.graphs(32);
    TemporaryFolder folder;
    const GraphEncoder encoder = encoded(graphs);
    write(folder / "a", encoder);
    const Archive archive(folder / "a");
    EXPECT_EQ(static_cast<std::int64_t>(archive.graphs().groups()), family.groups(32, Key::strong));
    for (std::size_t i = 0; i < graphs.size(); ++i) EXPECT_EQ(archive.graphs().graph(i), graphs[i]);
    const auto manifest = nlohmann::json::parse(content_of(folder / "a" / "manifest.json"));
    EXPECT_EQ(manifest["batches"].size(), 32U);
    EXPECT_EQ(manifest["groups"][1]["template"], 9);
    EXPECT_EQ(manifest["groups"][1]["members"][0], 10);
}

TEST(Archive, KeepsImagesAndWhatTheManifestSays) {
    TemporaryFolder folder;
    write(folder / "a", encoded(random_graphs(1, 5)));
    const Archive archive(folder / "a");
    ASSERT_EQ(archive.images().size(), 1U);
    const StoredImage& image = archive.images()[0];
    EXPECT_EQ(image.sha256, sha256_hex(ptx));
    EXPECT_EQ(image.image, ptx_image().image);
    const auto content = archive.content(image);
    EXPECT_EQ(std::memcmp(content.data(), ptx.c_str(), ptx.size() + 1), 0) << "with its NUL";
    EXPECT_EQ(archive.manifest().fingerprint, (Fingerprint{.gpu_chip = "GH100", .sm_count = 132}));
    EXPECT_EQ(archive.manifest().region->final, 7U);
    EXPECT_EQ(archive.manifest().region->live, (std::vector<Range>{{1, 2}, {5, 6}}));
    const std::string text = content_of(folder / "a" / "manifest.json");
    EXPECT_THAT(text, HasSubstr(R"("driver":null)"));
    EXPECT_THAT(text, ::testing::Not(HasSubstr(folder.path().string())));
    assay::testing::printed_by(assay::testing::shell("cd '" + (folder / "a").string() +
                                                     "' && sha256sum -c manifest.sha256"));
}

TEST(Archive, EqualInputGivesEqualBytes) {
    TemporaryFolder folder;
    write(folder / "a", encoded(random_graphs(3, 40)));
    write(folder / "b", encoded(random_graphs(3, 40)));
    std::size_t files = 0;
    for (const auto& file : fs::directory_iterator(folder / "a")) {
        ++files;
        EXPECT_EQ(content_of(file.path()), content_of(folder / "b" / file.path().filename()));
    }
    EXPECT_EQ(files, 6U);
}

TEST(Archive, RefusesEveryDamagedByte) {
    TemporaryFolder folder;
    const fs::path archive = folder / "a";
    write(archive, encoded(random_graphs(4, 4)));
    std::size_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(archive)) {
        const std::string whole = content_of(entry.path());
        bytes += whole.size();
        std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
        const auto put = [&](std::size_t at, char byte) {
            file.seekp(static_cast<std::streamoff>(at));
            file.put(byte).flush();
        };
        const auto refused = [&](const std::string& damaged) {
            write_file(entry.path(), damaged);
            return refusal([&] { Archive{archive}; });
        };
        for (std::size_t at = 0; at < whole.size(); ++at) {
            put(at, static_cast<char>(whole[at] ^ (1 << at % 8)));
            ASSERT_THAT(refusal([&] { Archive{archive}; }), StartsWith(archive.string() + '/'))
                << entry << at;
            put(at, whole[at]);
        }
        for (std::size_t at = 0; at < whole.size(); at += 16)
            EXPECT_THAT(refused(whole.substr(0, at)), StartsWith(archive.string())) << entry << at;
        EXPECT_THAT(refused(whole + '\0'), StartsWith(archive.string())) << entry;
        fs::remove(entry.path());
        EXPECT_THAT(refusal([&] { Archive{archive}; }), HasSubstr("cannot be read"));
        write_file(entry.path(), whole);
    }
    EXPECT_EQ(Archive(archive).bytes(), bytes) << "whole again";
}

/// With hashes that fit: what the version gate and the manifest's own rules refuse.
TEST(Archive, RefusesAnotherVersionAndOtherFiles) {
    TemporaryFolder folder;
    const fs::path archive = folder / "a";
    write(archive, encoded(random_graphs(4, 4)));
    const std::string manifest = content_of(archive / "manifest.json");
    const std::string sums = content_of(archive / "manifest.sha256");
    const auto refused = [&](const std::string& from, const std::string& to) {
        std::string changed = manifest;
        changed.replace(changed.find(from), from.size(), to);
        write_file(archive / "manifest.json", changed);
        write_file(archive / "manifest.sha256", sum_line(sha256_hex(changed), "manifest.json") +
                                                    sums.substr(sums.find('\n') + 1));
        return refusal([&] { Archive{archive}; });
    };
    EXPECT_EQ(refused("GH100", "GH101"), "") << "the hashes fit";
    EXPECT_THAT(refused("\"version\": 1", "\"version\": 2"), HasSubstr("of version 2"));
    EXPECT_THAT(refused("images.bin", "../a/images.bin"), HasSubstr("not of an archive"));
    EXPECT_THAT(refused("\"sm_count\":132", "\"sm_count\":\"x\""), HasSubstr("manifest.json"));
    EXPECT_THAT(refused("\"scratch\"", "\"scrotch\""), HasSubstr("manifest.json"));
}

TEST(Archive, OfSparselyDifferentGraphsTakesAFifthOfTheirParameters) {
    const std::vector<Graph> graphs = sparsely_different(512, 6);
    TemporaryFolder folder;
    write(folder / "a", encoded(graphs));
    const Archive archive(folder / "a");
    std::uint64_t params = 0;
    for (const Graph& graph : graphs)
        for (const Node& node : graph.nodes) params += node.launch.params.size();
    EXPECT_LE(static_cast<double>(archive.bytes() - ptx.size()), 0.2 * static_cast<double>(params));
    EXPECT_EQ(archive.graphs().graph(511), graphs[511]);
}

TEST(Archive, WritesNothingWhereAFolderIs) {
    TemporaryFolder folder;
    const GraphEncoder graphs = encoded(random_graphs(5, 3));
    fs::create_directory(folder / "a");
    EXPECT_THAT(refusal([&] { write(folder / "a", graphs); }), HasSubstr("is there already"));
    EXPECT_THAT(refusal([&] { write(folder / "b" / "c", graphs); }), HasSubstr("mkdir -p"));
    EXPECT_TRUE(fs::is_empty(folder / "a"));
    write(folder.path().string() + "/d/", graphs);
    EXPECT_EQ(Archive(folder / "d").graphs().size(), 3U);
}

/// In a process of its own, which `act` must end.
template <class Act>
int exit_code_of(Act&& act) {
    const pid_t child = fork();
    if (child == 0) {
        act();
        _exit(99);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

TEST(Archive, AWriteThatEndsAnywhereLeavesNoneOfThatName) {
    const GraphEncoder graphs = encoded(random_graphs(6, 3));
    TemporaryFolder folder;
    const fs::path archive = folder / "a";
    std::vector<fs::path> steps;
    write(folder / "whole", graphs, [&](const fs::path& step) { steps.push_back(step); });
    fs::remove_all(folder / "whole");
    ASSERT_EQ(steps.size(), 7U) << "six files and the name";
    for (std::size_t fatal = 0; fatal < steps.size(); ++fatal) {
        std::size_t at = 0;
        EXPECT_THROW(write(archive, graphs,
                           [&](const fs::path&) {
                               if (at++ == fatal) throw std::runtime_error("stop");
                           }),
                     std::runtime_error);
        EXPECT_TRUE(fs::is_empty(folder.path())) << "failed at " << fatal;
        const int code = exit_code_of([&] {
            std::size_t step = 0;
            write(archive, graphs, [&](const fs::path&) {
                if (step++ == fatal) _exit(3);
            });
        });
        EXPECT_EQ(code, 3);
        EXPECT_FALSE(fs::exists(archive)) << "killed at " << fatal;
        write(archive, graphs);
        EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1)
            << "what was killed is cleared away";
        EXPECT_EQ(Archive(archive).graphs().size(), 3U);
        fs::remove_all(archive);
    }
}

TEST(Archive, AFullDiskLeavesNothing) {
    const GraphEncoder graphs = encoded(random_graphs(6, 3));
    TemporaryFolder folder;
    for (const rlim_t most : {0, 100, 1000}) {
        const int code = exit_code_of([&] {
            signal(SIGXFSZ, SIG_IGN);  // then writing fails, as on a full disk
            const rlimit limit{most, most};
            setrlimit(RLIMIT_FSIZE, &limit);
            const std::string said = refusal([&] { write(folder / "a", graphs); });
            _exit(said.find("cannot be written") != std::string::npos ? 3 : 4);
        });
        EXPECT_EQ(code, 3) << most;
        EXPECT_TRUE(fs::is_empty(folder.path())) << most;
    }
}

/// The commands, with images as compilers wrote them.
class ArchiveTool : public ::testing::Test {
  protected:
    ArchiveTool() { fs::create_directory(folder_ / "images"); }

    std::string output(std::size_t subcommand, std::vector<std::string> arguments) {
        const Tool tool = make_archive_tool();
        Command& command = *tool.subcommands.at(subcommand).command;
        CLI::App app;
        command.options(app);
        std::ranges::reverse(arguments);
        app.parse(arguments);
        ::testing::internal::CaptureStdout();
        try {
            command.run();
        } catch (...) {
            EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
            throw;
        }
        return ::testing::internal::GetCapturedStdout();
    }
    std::string path(const char* name) { return (folder_ / name).string(); }
    std::string pack(const std::vector<Graph>& graphs, std::vector<std::string> more = {}) {
        std::string lines;
        for (const Graph& graph : graphs) lines += to_line(graph) + "\n\n";
        write_file(path("graphs"), lines);
        more.insert(more.end(), {"--graphs", path("graphs"), "--images", path("images"), "--out",
                                 path("archive")});
        return output(0, more);
    }
    std::string pack_refusal(const std::vector<Graph>& graphs,
                             const std::vector<std::string>& more = {}) {
        const std::string said = refusal([&] { pack(graphs, more); });
        EXPECT_FALSE(fs::exists(path("archive")));
        return said;
    }
    /// The image's hash.
    std::string add_image(const std::string& name, const std::string& content) {
        write_file(folder_ / "images" / name, content);
        return sha256_hex(content);
    }
    Graph launch_of(const std::string& image, const std::string& kernel, std::size_t bytes,
                    std::int64_t batch = 1) {
        Launch launch{.image = image,
                      .name = kernel,
                      .attributes = {},
                      .params = std::vector<std::byte>(bytes)};
        return {.batch = batch,
                .nodes = {{.type = NodeType::empty, .launch = {}, .fields = {}},
                          {.type = NodeType::kernel, .launch = launch, .fields = {}}},
                .edges = {{.from = 0, .to = 1}}};
    }
    static std::string cubin() {
        return content_of(std::string(ASSAY_FOUNDRY_IMAGES) + "/pointers.cubin");
    }
    static Kernel kernel_of_cubin() {
        const std::string bytes = cubin();
        return read_image(std::as_bytes(std::span(bytes))).entries.at(0).kernels.at(0);
    }

    TemporaryFolder folder_;
};

TEST_F(ArchiveTool, PacksShowsAndChecks) {
    const std::string image = add_image("any name", cubin());
    add_image("unused", ptx);
    add_image("no image", "hello");
    fs::create_directory(folder_ / "images" / "within");
    const Kernel kernel = kernel_of_cubin();
    std::vector<Graph> graphs;
    for (const std::int64_t batch : {4, 2, 1})
        graphs.push_back(launch_of(image, kernel.name, kernel.params_bytes(), batch));
    graphs[1].nodes[1].launch.grid = {7, 1, 1};
    EXPECT_THAT(pack(graphs), StartsWith("graphs     3\ntemplates  1\nimages     1 ("));

    std::istringstream shown(output(1, {path("archive")}));
    EXPECT_EQ(read_graphs(shown, "shown"), graphs);
    const auto held = nlohmann::json::parse(output(2, {path("archive"), "--json"}));
    EXPECT_EQ(held["graphs"], 3);
    EXPECT_EQ(held["templates"], 1);
    EXPECT_EQ(held["images"], 1);
    EXPECT_EQ(held["image_bytes"], cubin().size());
    EXPECT_EQ(held["bytes"], Archive(path("archive")).bytes());
    const auto manifest = nlohmann::json::parse(content_of(path("archive") + "/manifest.json"));
    EXPECT_TRUE(manifest["region"].is_null());
    EXPECT_TRUE(manifest["fingerprint"].is_null());

    EXPECT_THAT(refusal([&] { pack(graphs); }), HasSubstr("is there already"));
    write_file(path("archive") + "/deltas.bin", "x");
    for (const std::size_t subcommand : {1, 2})
        EXPECT_THAT(refusal([&] { output(subcommand, {path("archive")}); }),
                    HasSubstr("deltas.bin: it has 1 bytes instead of"));
}

TEST_F(ArchiveTool, KnowsAnImageByItsExtentToo) {
    const std::string whole = add_image("followed", cubin() + "what follows");
    const Kernel kernel = kernel_of_cubin();
    const std::vector<Graph> graphs{
        launch_of(sha256_hex(cubin()), kernel.name, kernel.params_bytes(), 1),
        launch_of(whole, kernel.name, kernel.params_bytes(), 2)};
    pack(graphs);
    const Archive archive(path("archive"));
    ASSERT_EQ(archive.images().size(), 2U);
    for (const StoredImage& image : archive.images()) {
        const auto content = archive.content(image);
        EXPECT_EQ(sha256_hex({reinterpret_cast<const char*>(content.data()), content.size()}),
                  image.sha256);
    }
}

TEST_F(ArchiveTool, RefusesGraphsWhoseKernelsAreNotThere) {
    const std::string image = add_image("i", cubin());
    const std::string ptx_hash = add_image("p", ptx), text = add_image("t", "hello");
    const Kernel kernel = kernel_of_cubin();
    const std::uint32_t bytes = kernel.params_bytes();
    const Graph right = launch_of(image, kernel.name, bytes, 9);
    const std::string place = path("graphs") + ":3: nodes[1].";
    EXPECT_THAT(pack_refusal({right, launch_of(std::string(64, 'f'), "k", 8)}),
                AllOf(StartsWith(place + "image: "), HasSubstr("no file whose SHA-256 is ffff")));
    EXPECT_THAT(pack_refusal({right, launch_of(text, "k", 8)}),
                AllOf(StartsWith(place + "image: "), HasSubstr("neither a cubin")));
    EXPECT_THAT(pack_refusal({right, launch_of(image, "absent", 8)}),
                AllOf(StartsWith(place + "name: "), HasSubstr("has no kernel absent")));
    EXPECT_THAT(pack_refusal({right, launch_of(image, kernel.name, bytes - 1)}),
                StartsWith(place + "params: "));
    EXPECT_THAT(pack_refusal({right, right}), HasSubstr("batch 9 has a graph already"));
    EXPECT_THAT(pack_refusal({}), HasSubstr("there is no graph"));
    EXPECT_THAT(refusal([&] {
                    output(0, {"--graphs", path("graphs"), "--images", path("none"), "--out",
                               path("archive")});
                }),
                HasSubstr("--images"));
    // Which kernels PTX has is known once it is compiled.
    EXPECT_EQ(refusal([&] { pack({right, launch_of(ptx_hash, "any", 3)}); }), "");
}

TEST_F(ArchiveTool, KeepsTheMemoryThatTheGraphsWereCapturedIn) {
    const std::string image = add_image("p", ptx);
    const Graph graph = launch_of(image, "k", 8);
    write_file(path("wrong"), "alloc c 3000000\n");
    EXPECT_THAT(pack_refusal({graph}, {"--memory", path("wrong")}), StartsWith(path("wrong")));
    // The trace of specification 3.12.1.
    write_file(path("save"),
               "alloc c 3000000\nboundary\nalloc w 5000000\nbegin g1\nalloc t 100\nfree t\nend\n"
               "alloc o 64\n");
    pack({graph}, {"--memory", path("save")});
    const auto manifest = nlohmann::json::parse(content_of(path("archive") + "/manifest.json"));
    EXPECT_EQ(manifest["region"],
              nlohmann::json::parse(R"({"base": 105553116266496, "size": 274877906944,
                  "scratch": 1073741824, "final": 105554200494080,
                  "live": [[105553116266496, 105553120460800], [105554190008320, 105554196299776],
                           [105554198396928, 105554200494080]]})"));
    const auto fingerprint = manifest["fingerprint"];
    EXPECT_EQ(fingerprint.size(), 8U);
    for (const auto& [name, value] : fingerprint.items()) EXPECT_TRUE(value.is_null()) << name;
    EXPECT_EQ(output(1, {path("archive")}), to_line(graph) + "\n");
}

}  // namespace
}  // namespace assay::foundry
