// Chains of small kernels on the fake driver: every way to make one launchable computes the same,
// one that was not updated shows, and so do the fake's quirks; the experiments on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "impls/foundry/chain/chain.hpp"
#include "impls/foundry/chain/probes.hpp"
#include "impls/foundry/driver/fake/control.hpp"
#include "impls/foundry/experiments/live/live_experiments.hpp"
#include "impls/foundry/live/course.hpp"
#include "impls/foundry/live/read_graph.hpp"
#include "impls/foundry/method/memory/region.hpp"
#include "suite/base/error.hpp"
#include "suite/claim/claim.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::foundry {
namespace {

class FoundryChain : public testing::Test {
  protected:
    ~FoundryChain() override { EXPECT_EQ(fake.count("live") - fake.count("live contexts"), 0); }

    static std::shared_ptr<const Driver> as_new() {
        auto driver = open_chain_driver(fake_driver());
        fake::FakeControl(*driver).reset();
        return driver;
    }
    const Device device{as_new()};
    const Driver& driver = device.driver();
    const fake::FakeControl fake{driver};
};

/// Of member b, made of a.
struct Ways {
    Ways(const Device& device, const Chain& chain)
        : graph(chain.build(Member::a)),
          again(chain.build(Member::a)),
          fresh_graph(chain.build(Member::b)),
          fresh(device.driver(), fresh_graph.get()),
          written(device.driver(), graph.get()),
          updated(device.driver(), again.get()) {
        graph.write_nodes(chain.graph(Member::a), chain.graph(Member::b), written);
        again.rewrite(chain.graph(Member::b));
        EXPECT_EQ(updated.update(again.get()), "");
        own = Executable(device.driver(), again.get());
    }
    BuiltGraph graph, again, fresh_graph;
    Executable fresh, written, updated, own;
};

TEST_F(FoundryChain, EachWayComputesTheSame) {
    for (const int nodes : {1, 7, 130})
        for (const double changed : {0.0, 0.25, 1.0}) {
            const Chain chain(device, {.nodes = nodes, .changed = changed, .seed = 3});
            for (const Member member : {Member::a, Member::b}) {
                const CapturedGraph captured = chain.capture(member);
                const BuiltGraph built = chain.build(member);
                const Graph data = chain.graph(member);
                for (const CUgraph graph : {captured.get(), built.get()}) {
                    EXPECT_EQ(read_graph(driver, chain.images(), graph, data.batch), data);
                    EXPECT_EQ(chain.run(Executable(driver, graph)), chain.expected(member));
                }
            }
            const Ways ways(device, chain);
            for (const Executable* one : {&ways.fresh, &ways.written, &ways.updated, &ways.own}) {
                EXPECT_EQ(chain.run(*one), chain.expected(Member::b)) << nodes << " " << changed;
                EXPECT_EQ(chain.run(*one), chain.expected(Member::b)) << "a second time";
            }
        }
}

TEST_F(FoundryChain, OneNodeThatWasNotUpdatedShows) {
    const Chain chain(device, {.nodes = 40, .changed = 0.5});
    EXPECT_NE(chain.expected(Member::a), chain.expected(Member::b));
    const Graph a = chain.graph(Member::a), b = chain.graph(Member::b);
    int changed = 0;
    for (std::size_t node = 0; node < a.nodes.size(); ++node) {
        if (a.nodes[node] == b.nodes[node]) continue;
        ++changed;
        Graph left = b;
        left.nodes[node] = a.nodes[node];
        const BuiltGraph built(device, chain.images(), left);
        EXPECT_NE(chain.run(Executable(driver, built.get())), chain.expected(Member::b)) << node;
    }
    EXPECT_EQ(changed, 20);
}

TEST_F(FoundryChain, ChangesItsShareSpreadOut) {
    for (const auto& [nodes, share, wanted] :
         {std::tuple(129, 0.25, 32), {64, 1.0, 64}, {3, 0.1, 0}, {1000, 0.25, 250}}) {
        const Chain chain(device, {.nodes = nodes, .changed = share});
        const Graph a = chain.graph(Member::a), b = chain.graph(Member::b);
        int changed = 0, in_first_half = 0;
        for (int node = 0; node < nodes; ++node) {
            const auto at = static_cast<std::size_t>(node);
            changed += a.nodes[at] != b.nodes[at];
            in_first_half += node < nodes / 2 && a.nodes[at] != b.nodes[at];
        }
        EXPECT_EQ(changed, wanted);
        EXPECT_EQ(chain.changed_nodes(), wanted);
        EXPECT_NEAR(in_first_half, wanted / 2.0, 1);
    }
}

TEST_F(FoundryChain, QuirkOfUpdatesShowsFromItsThresholdOn) {
    for (const int penalty_ns : {0, 100})
        for (const int nodes : {128, 129}) {
            fake.set("update_penalty_ns", penalty_ns);
            const Chain chain(device, {.nodes = nodes, .changed = 0.25});
            const Ways ways(device, chain);
            const double fresh = chain.launch_us(ways.fresh, 2);
            EXPECT_NEAR(fresh, 5 + nodes, 1e-3);  // the virtual clock's costs
            EXPECT_NEAR(chain.launch_us(ways.own, 2), fresh, 1e-3);
            EXPECT_NEAR(chain.launch_us(ways.written, 2), fresh, 1e-3);
            EXPECT_NEAR(chain.launch_us(ways.updated, 2) - fresh,
                        nodes > 128 ? 1e-3 * penalty_ns * chain.changed_nodes() : 0, 1e-3);
        }
}

TEST_F(FoundryChain, RefusesWhatIsNoChainAndLeaksNothing) {
    EXPECT_THROW(Chain(device, {.nodes = 0}), std::logic_error);
    for (const double share : {-0.1, 1.1, std::nan("")})
        EXPECT_THROW(Chain(device, {.changed = share}), std::logic_error);
    for (const auto& [call, most] : {std::pair("cuLibraryLoadData", 1),
                                     {"cuStreamCreate", 1},
                                     {"cuEventCreate", 2},
                                     {"cuMemAlloc", 1},
                                     {"cuMemcpyHtoDAsync", 3}})
        for (int nth = 1; nth <= most; ++nth) {
            fake.fail(call, nth, CUDA_ERROR_OUT_OF_MEMORY);
            EXPECT_THROW(Chain(device, {}), DriverError) << call << nth;
        }
    const Chain chain(device, {.nodes = 3});
    fake.fail("cuLaunchKernel", 2, CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_THROW(chain.capture(Member::a), DriverError);
    EXPECT_EQ(fake.count("live graphs"), 0);
    EXPECT_EQ(chain.run(Executable(driver, chain.capture(Member::a).get())),
              chain.expected(Member::a));
}

// ---- Probes: that they tell one answer from another. Which one a GPU gives is not known here.

TEST_F(FoundryChain, NodesShowTheHandleTheyWereGiven) {
    std::map<std::string, std::pair<bool, bool>> shown;
    for (const ShownHandle& one : shown_handles(device))
        shown[one.node] = {one.function, one.kernel};
    const std::pair function(true, false), kernel(false, true);
    EXPECT_EQ(shown,
              (std::map<std::string, std::pair<bool, bool>>{{"captured by function", function},
                                                            {"captured by kernel", kernel},
                                                            {"added by function", function},
                                                            {"added by kernel", kernel}}));
}

TEST_F(FoundryChain, BulkEdgeBugIsSeen) {
    const auto kept = [&] {
        std::map<std::string, double> by_edges;
        for (const KeptEdges& one : kept_edges(device)) by_edges[one.edges] = one.kept;
        return by_edges;
    };
    EXPECT_EQ(
        kept(),
        (std::map<std::string, double>{
            {"captured", 1}, {"one by one", 1}, {"plain first", 1}, {"programmatic first", 1}}));
    fake.set("bulk_edge_bug");
    EXPECT_EQ(kept(), (std::map<std::string, double>{{"captured", 1},
                                                     {"one by one", 1},
                                                     {"plain first", 2.0 / 3},
                                                     {"programmatic first", 1.0 / 3}}));
}

TEST_F(FoundryChain, UpdatesAnswerEachChange) {
    const auto answers = [&] {
        std::map<std::string, int> by_change;
        for (const UpdateAnswer& one : update_answers(device)) by_change[one.change] = one.result;
        return by_change;
    };
    const std::map<std::string, int> all = answers();
    EXPECT_EQ(all.size(), 14u);
    for (const char* taken : {"nothing", "params", "grid", "shared_bytes", "function"})
        EXPECT_EQ(all.at(taken), CU_GRAPH_EXEC_UPDATE_SUCCESS) << taken;
    for (const char* refused :
         {"cooperative", "cooperative, no longer", "cluster", "preferred_cluster"})
        EXPECT_EQ(all.at(refused), CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED) << refused;
    for (const char* other : {"edge, programmatic", "edge, gone"})
        EXPECT_EQ(all.at(other), CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED) << other;
    EXPECT_EQ(all.at("node, empty"), CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    fake.set("keep_preferred_cluster");
    EXPECT_EQ(answers().at("preferred_cluster"), CU_GRAPH_EXEC_UPDATE_SUCCESS);
    fake.set("capability", 80);  // has no clusters: nothing is said of them
    EXPECT_FALSE(answers().contains("cluster"));
    EXPECT_TRUE(answers().contains("cooperative"));
}

TEST_F(FoundryChain, CapturesAnswerEachCallInEachMode) {
    std::map<std::pair<std::string, std::string>, std::pair<int, bool>> answers;
    std::set<std::string> calls;
    for (const CaptureAnswer& one : capture_answers(device)) {
        answers[{one.call, one.mode}] = {one.result, one.ended};
        calls.insert(one.call);
    }
    EXPECT_EQ(answers.size(), 3 * calls.size());
    const std::pair refused(int{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED}, true);
    const std::pair done(int{CUDA_SUCCESS}, false);
    for (const char* call : {"cuMemAlloc", "cuMemFree", "cuCtxSynchronize"}) {
        EXPECT_EQ((answers.at({call, "global"})), refused) << call;
        EXPECT_EQ((answers.at({call, "thread_local"})), refused) << call;
        EXPECT_EQ((answers.at({call, "relaxed"})), done) << call;
    }
    for (const char* mode : {"global", "thread_local", "relaxed"}) {
        EXPECT_EQ((answers.at({"cuStreamSynchronize, the capturing one", mode})), refused) << mode;
        EXPECT_EQ((answers.at({"cuStreamSynchronize, another", mode})), done) << mode;
        EXPECT_EQ((answers.at({"cuEventCreate", mode})), done) << mode;
    }
}

TEST_F(FoundryChain, DeviceMemoryIsCounted) {
    EXPECT_EQ(executable_bytes(device, 100), 100 * 3072);  // what the fake takes for a node
    for (const bool ahead : {false, true}) {
        const std::int64_t mappings = fake.count("cuMemMap");
        const MappedMemory memory = map_memory(device, 20, ahead);
        EXPECT_EQ(fake.count("cuMemMap") - mappings, ahead ? 1 : 20);
        EXPECT_EQ(memory.kept, 1);
        EXPECT_EQ(memory.device_bytes, static_cast<double>(granule));
        EXPECT_GT(memory.us, 0);
    }
}

TEST_F(FoundryChain, CostsAreOfEachStep) {
    const auto before = fake.count("cuGraphExecKernelNodeSetParams");
    const std::map<std::string, double> costs = graph_costs(device, 10, 4);
    std::set<std::string> steps;
    for (const auto& [what, ms] : costs) {
        steps.insert(what);
        EXPECT_GT(ms, 0) << what;
    }
    EXPECT_EQ(steps, (std::set<std::string>{"build", "capture", "instantiate", "rewrite", "update",
                                            "write_nodes"}));
    // All nodes each time, with the warm-up.
    EXPECT_EQ(fake.count("cuGraphExecKernelNodeSetParams") - before, 5 * 10);
}

TEST_F(FoundryChain, NewProcessesReserve) {
    const std::array<std::uint64_t, 2> bases{0x2f0000000000, 0x2e0000000000};
    EXPECT_THAT(reserved_in_new_process(fake_driver(), bases), testing::ElementsAreArray(bases));
    ::setenv("ASSAY_FAKE_DRIVER", R"({"reserve_elsewhere": 1})", 1);
    const std::vector<std::uint64_t> elsewhere = reserved_in_new_process(fake_driver(), bases);
    ::unsetenv("ASSAY_FAKE_DRIVER");
    for (std::size_t i = 0; i < bases.size(); ++i) EXPECT_NE(elsewhere[i], bases[i]);
    EXPECT_THROW(reserved_in_new_process("no/such/driver.so", bases), std::runtime_error);
    ::setenv("ASSAY_FAKE_DRIVER", R"({"fail": {"cuMemAddressReserve": [1, 2]}})", 1);
    const std::vector<std::uint64_t> refused = reserved_in_new_process(fake_driver(), bases);
    ::unsetenv("ASSAY_FAKE_DRIVER");
    EXPECT_THAT(refused, testing::ElementsAre(0, bases[1]));
}

// ---- Experiments

SampleSpec sample(const Experiment& experiment, const std::string& variant, Case axes) {
    SampleSpec spec;
    spec.experiment = experiment.id;
    spec.variant = variant;
    spec.axes = std::move(axes);
    for (const auto& [axis, values] : experiment.plan(Profile::toy)->axes)
        if (values.size() == 1) spec.axes.try_emplace(axis, values.front());
    return spec;
}

/// At profile toy.
MemoryRecorder run(const Experiment& experiment, const std::string& variant, Case axes) {
    const SampleSpec spec = sample(experiment, variant, std::move(axes));
    experiment.validate(spec);
    MemoryRecorder recorder;
    experiment.run(spec, recorder);
    return recorder;
}

Case penalty_case(int nodes, double changed, int penalty_ns) {
    return {{"nodes", std::int64_t{nodes}},
            {"changed", changed},
            {"update_penalty_ns", std::int64_t{penalty_ns}}};
}

TEST(FoundryChainExperiments, PenaltyReplaysTheQuirk) {
    const Experiment experiment = x_penalty();
    for (const std::string& variant : experiment.variants)
        for (const auto& [nodes, changed, penalty_ns, more_us] :
             {std::tuple(128, 1.0, 100, 0.0), {129, 0.25, 100, 3.2}, {129, 1.0, 0, 0.0}}) {
            const MemoryRecorder seen =
                run(experiment, variant, penalty_case(nodes, changed, penalty_ns));
            const double more = variant == "updated" ? more_us : 0, fresh = 5 + nodes;
            EXPECT_NEAR(seen.value("over_fresh"), (fresh + more) / fresh, 1e-5) << variant;
            EXPECT_NEAR(seen.value("launch_us"), fresh + more, 1e-3) << variant;
            EXPECT_NEAR(seen.value("node_us"), more / std::floor(nodes * changed), 1e-4) << variant;
            EXPECT_THROW(seen.value("make_us"), std::out_of_range);
        }
    // A sample leaves nothing of the quirk.
    run(experiment, "updated", penalty_case(129, 1, 100));
    const Device device(open_chain_driver(fake_driver()));
    const Chain chain(device, {.nodes = 200});
    const Ways ways(device, chain);
    EXPECT_NEAR(chain.launch_us(ways.updated, 1), 205, 1e-3);
}

TEST(FoundryChainExperiments, PenaltyIsOfTheFakeAlone) {
    const Experiment experiment = x_penalty();
    SampleSpec spec = sample(experiment, "updated", penalty_case(129, 1, 100));
    spec.profile = Profile::gpu;
    EXPECT_THROW(experiment.validate(spec), UserError);
    spec.axes.erase("update_penalty_ns");
    EXPECT_NO_THROW(experiment.validate(spec));
    for (const ProfilePlan& plan : experiment.profiles)
        EXPECT_EQ(plan.provenances,
                  std::vector{plan.profile == Profile::gpu ? Provenance::measured
                                                           : Provenance::emulated});
}

/// What a store has of such a sample.
Observation observed(Profile profile, int nodes, double over_fresh, double node_us,
                     std::string metric) {
    Observation one;
    one.experiment = "foundry/x_penalty";
    one.variant = "updated";
    one.axes = {{"nodes", std::int64_t{nodes}}, {"changed", 1.0}};
    one.profile = profile;
    one.provenance = profile == Profile::gpu ? Provenance::measured : Provenance::emulated;
    one.metric = std::move(metric);
    one.value = one.metric == "node_us" ? node_us : over_fresh;
    one.seed = 1;
    return one;
}

TEST(FoundryChainExperiments, ClaimsAreJudgedByAGpuAlone) {
    const auto claims =
        read_claims(std::filesystem::path(ASSAY_TEST_DATASETS) / "claims/foundry.toml");
    const auto verdicts = [&](Profile profile, double below, double above) {
        std::vector<Observation> seen;
        for (const char* metric : {"over_fresh", "node_us"})
            for (const int nodes : {64, 128, 129, 256, 365, 1000}) {
                const double node_us = nodes > 128 ? above : below;
                seen.push_back(observed(profile, nodes, 1 + node_us / 1.5, node_us, metric));
            }
        std::map<std::string, ClaimVerdict> by_claim;
        for (const Claim& claim : claims)
            if (claim.experiment == "foundry/x_penalty" && !claim.test.name.empty())
                by_claim[claim.id] = check(claim, seen, {}).verdict;
        return by_claim;
    };
    const std::string threshold = "foundry/x_penalty/threshold", node = "foundry/x_penalty/node";
    using Verdicts = std::map<std::string, ClaimVerdict>;
    const auto both = [&](ClaimVerdict one, ClaimVerdict other) {
        return Verdicts{{threshold, one}, {node, other}};
    };
    EXPECT_EQ(verdicts(Profile::gpu, 0, 0.1),
              both(ClaimVerdict::supported, ClaimVerdict::supported));
    EXPECT_EQ(verdicts(Profile::gpu, 0.1, 0.1),
              both(ClaimVerdict::contradicted, ClaimVerdict::supported));
    EXPECT_EQ(verdicts(Profile::gpu, 0, 0),
              both(ClaimVerdict::supported, ClaimVerdict::contradicted));
    EXPECT_EQ(verdicts(Profile::toy, 0, 0.1),
              both(ClaimVerdict::not_checkable_here, ClaimVerdict::not_checkable_here));
}

TEST(FoundryChainExperiments, DriverAnswersEachProbe) {
    const Experiment experiment = x_driver();
    const std::map<std::string, std::string> metric_of{
        {"reserve", "reserved"},     {"handles", "shows_kernel"},
        {"edges", "edges_kept"},     {"updates", "update_result"},
        {"captures", "call_result"}, {"executables", "executable_bytes"},
        {"mapping", "mapped_bytes"}};
    const auto& variants = experiment.plan(Profile::toy)->variants;
    EXPECT_EQ(variants.size(), metric_of.size());
    for (const std::string& variant : variants) {
        const MemoryRecorder seen =
            run(experiment, variant,
                {{"processes", std::int64_t{1}}, {"allocations", std::int64_t{10}}});
        std::set<std::string> names;
        for (const auto& metric : seen.metrics) {
            names.insert(metric.name);
            const MetricSpec* const declared = experiment.metric(metric.name);
            ASSERT_NE(declared, nullptr) << metric.name;
            EXPECT_TRUE(declared->only.empty()) << metric.name << ": a time of the fake's";
            EXPECT_EQ(metric.labels.size(), declared->labels.size()) << metric.name;
        }
        EXPECT_TRUE(names.contains(metric_of.at(variant))) << variant;
    }
    EXPECT_EQ(run(experiment, "executables", {}).value("node_bytes"), 3072);
    EXPECT_THROW(experiment.validate(sample(experiment, "costs", {})), UserError);
}

}  // namespace
}  // namespace assay::foundry
