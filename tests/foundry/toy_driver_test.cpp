// The toy decode step on the fake driver: launched at once, and captured and replayed, it decodes
// the oracle's tokens; its graphs are as the closed forms say.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "impls/foundry/driver/fake/control.hpp"
#include "impls/foundry/toy/decode_step.hpp"
#include "impls/foundry/toy/host_kernels.hpp"
#include "impls/foundry/toy/reference.hpp"

namespace assay::foundry::toy {
namespace {

/// Plain allocations, and the committed image.
class PlainResources final : public StepResources {
  public:
    explicit PlainResources(const Driver& driver) : driver_(driver) {
        check(driver_,
              driver_.cuLibraryLoadData(&library_, decode_image().data(), nullptr, nullptr, 0,
                                        nullptr, nullptr, 0),
              "cuLibraryLoadData");
        unsigned count = 0;
        check(driver_, driver_.cuLibraryGetKernelCount(&count, library_), "count");
        std::vector<CUkernel> kernels(count);
        check(driver_, driver_.cuLibraryEnumerateKernels(kernels.data(), count, library_), "list");
        for (const CUkernel kernel : kernels) {
            const char* name = nullptr;
            check(driver_, driver_.cuKernelGetName(&name, kernel), "cuKernelGetName");
            check(driver_, driver_.cuKernelGetFunction(&kernels_[name], kernel), "function");
        }
    }
    ~PlainResources() override {
        for (const CUdeviceptr address : addresses_) driver_.cuMemFree(address);
        driver_.cuLibraryUnload(library_);
    }
    CUdeviceptr allocate(const std::string& name, std::uint64_t bytes) override {
        names.push_back(name);
        check(driver_, driver_.cuMemAlloc(&addresses_.emplace_back(), bytes), "cuMemAlloc");
        return addresses[name] = addresses_.back();
    }
    CUfunction kernel(const std::string& name) override { return kernels_.at(name); }

    std::map<std::string, CUdeviceptr> addresses;
    std::vector<std::string> names;

  private:
    const Driver& driver_;
    CUlibrary library_ = nullptr;
    std::map<std::string, CUfunction> kernels_;
    std::vector<CUdeviceptr> addresses_;
};

const DecodeSettings settings{.split_from = 3, .cluster_from = {4}, .programmatic_from = 5};
constexpr int batches[] = {1, 3, 4, 6};

class ToyOnDriver : public testing::Test {
  protected:
    ToyOnDriver() { start(); }
    void start() {
        fake::FakeControl control(*driver);
        control.reset();
        control.add_kernels(host_kernels());
        check(*driver, driver->cuInit(0), "cuInit");
        CUcontext context = nullptr;
        check(*driver, driver->cuDevicePrimaryCtxRetain(&context, 0), "retain");
        check(*driver, driver->cuCtxSetCurrent(context), "current");
        check(*driver, driver->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "stream");
    }
    ~ToyOnDriver() override {
        driver->cuStreamDestroy(stream);
        driver->cuDevicePrimaryCtxRelease(0);
        EXPECT_EQ(fake::FakeControl(*driver).count("live"), 0);
    }

    CUgraph capture(DecodeStep& step, int batch) {
        CUgraph graph = nullptr;
        check(*driver, driver->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
              "begin");
        step.launch(batch, stream);
        check(*driver, driver->cuStreamEndCapture(stream, &graph), "end");
        return graph;
    }

    /// Batch sizes in turn, each with sequences of its own; launch(batch) runs a step.
    void decodes(DecodeStep& step, const std::function<void(int)>& launch) {
        std::mt19937 random(7);
        for (const int batch : batches) {
            std::vector<ReferenceSequence> oracle(static_cast<std::size_t>(batch),
                                                  ReferenceSequence(settings));
            std::vector<Row> rows(oracle.size());
            for (std::size_t row = 0; row < rows.size(); ++row)
                for (int block = 0; block < table_blocks(settings); ++block)
                    rows[row].blocks.push_back(static_cast<int>(row) + batch * block);
            for (int position = 0; position < 5; ++position) {
                const RandomState draw{random(), random()};
                for (Row& row : rows) row.position = position;
                step.set_inputs(rows, draw);
                launch(batch);
                check(*driver, driver->cuStreamSynchronize(stream), "synchronize");
                const std::vector<int> sampled = step.tokens(batch);
                for (std::size_t row = 0; row < rows.size(); ++row) {
                    EXPECT_EQ(sampled[row], oracle[row].next(rows[row].token, draw)) << batch;
                    rows[row].token = sampled[row];
                }
            }
        }
    }

    std::shared_ptr<const Driver> driver = open_driver(ASSAY_FOUNDRY_FAKE);
    CUstream stream = nullptr;
};

TEST_F(ToyOnDriver, DecodesLaunchByLaunch) {
    PlainResources resources(*driver);
    DecodeStep step(*driver, resources, settings);
    decodes(step, [&](int batch) { step.launch(batch, stream); });
}

TEST_F(ToyOnDriver, DecodesByGraphsOnEachArchitecture) {
    for (const int capability : {80, 90, 100}) {
        fake::FakeControl(*driver).set("capability", capability);
        PlainResources resources(*driver);
        DecodeSettings made = settings;
        if (capability == 80) made.cluster_from.clear();  // it has none
        DecodeStep step(*driver, resources, made);
        std::map<int, CUgraphExec> execs;
        for (const int batch : batches) {
            const CUgraph graph = capture(step, batch);
            check(*driver, driver->cuGraphInstantiate(&execs[batch], graph, 0), "instantiate");
            driver->cuGraphDestroy(graph);
        }
        decodes(step, [&](int batch) {
            check(*driver, driver->cuGraphLaunch(execs.at(batch), stream), "launch");
        });
        for (const auto& [batch, exec] : execs) driver->cuGraphExecDestroy(exec);
    }
}

TEST_F(ToyOnDriver, GraphsAreAsTheClosedFormsSay) {
    PlainResources resources(*driver);
    DecodeStep step(*driver, resources, settings);
    for (const int batch : batches) {
        const CUgraph graph = capture(step, batch);
        std::size_t nodes = 0, edges = 0;
        check(*driver, driver->cuGraphGetNodes(graph, nullptr, &nodes), "nodes");
        EXPECT_EQ(static_cast<int>(nodes), nodes_of_step(settings, batch));
        std::vector<CUgraphNode> from(100), to(100);
        std::vector<CUgraphEdgeData> data(100);
        edges = data.size();
        check(*driver, driver->cuGraphGetEdges(graph, from.data(), to.data(), data.data(), &edges),
              "edges");
        data.resize(edges);
        EXPECT_EQ(static_cast<int>(edges), edges_of_step(settings, batch));
        EXPECT_EQ(
            std::ranges::count(data, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, &CUgraphEdgeData::type),
            shape_of(settings, batch).programmatic);
        driver->cuGraphDestroy(graph);
    }
    // What a replay of the allocations counts on: the shared buffers, then each batch size's own.
    EXPECT_EQ(resources.names.front(), "tokens");
    const std::size_t shared = resources.names.size() - 2 * std::size(batches);
    EXPECT_EQ(resources.names.at(shared), "activations/1");
    EXPECT_EQ(resources.names.at(shared + 3), "row_values/3");
    EXPECT_EQ(std::set(resources.names.begin(), resources.names.end()).size(),
              resources.names.size());
}

// Whichever call of the constructor fails, what it has made is given back (the fixture counts).
TEST_F(ToyOnDriver, FailingConstructorsLeakNothing) {
    for (const auto& [call, most] : {std::pair("cuStreamCreate", 1),
                                     {"cuEventCreate", 2},
                                     {"cuMemAlloc", 14},
                                     {"cuMemsetD8Async", 14},
                                     {"cuStreamSynchronize", 1},
                                     {"cuMemcpyHtoD", 4}})
        for (int nth = 1; nth <= most; ++nth) {
            PlainResources resources(*driver);
            fake::FakeControl(*driver).fail(call, nth, CUDA_ERROR_OUT_OF_MEMORY);
            EXPECT_THROW(DecodeStep(*driver, resources, settings), DriverError) << call << nth;
        }
}

TEST_F(ToyOnDriver, DecodesAgainAfterAKernelsFault) {
    {
        PlainResources resources(*driver);
        DecodeStep step(*driver, resources, settings);
        const CUgraph graph = capture(step, 4);
        CUgraphExec exec = nullptr;
        check(*driver, driver->cuGraphInstantiate(&exec, graph, 0), "instantiate");
        step.set_inputs(std::vector<Row>(4), {});
        check(*driver, driver->cuMemFree(resources.addresses.at("activations/4")), "free");
        driver->cuGraphLaunch(exec, stream);
        EXPECT_EQ(driver->cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    start();
    PlainResources resources(*driver);
    DecodeStep step(*driver, resources, settings);
    decodes(step, [&](int batch) { step.launch(batch, stream); });
}

TEST_F(ToyOnDriver, RefusesWhatDoesNotFit) {
    PlainResources resources(*driver);
    DecodeStep step(*driver, resources, settings);
    EXPECT_THROW(step.launch(0, stream), std::logic_error);
    EXPECT_THROW(step.launch(settings.most_rows + 1, stream), std::logic_error);
    EXPECT_THROW(step.set_inputs({}, {}), std::logic_error);
    EXPECT_THROW(step.set_inputs(std::vector<Row>(17), {}), std::logic_error);
    EXPECT_THROW(step.set_inputs(std::vector{Row{0, 0, std::vector<int>(9)}}, {}),
                 std::logic_error);
}

}  // namespace
}  // namespace assay::foundry::toy
