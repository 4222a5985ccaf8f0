// The dispatch on a GPU, against the CPU back end; skipped where there is none.
#include "kernels/reference/dispatch_test.hpp"

#include "kernels/cuda/harness/device_array.hpp"
#include "kernels/plugin/cuda_plugin.hpp"

namespace assay::kernels::cuda::harness {
namespace {

class CudaDispatch : public testing::Test {
  protected:
    void SetUp() override {
        const Plugin& plugin = cuda_plugin();
        if (!plugin.kernels) GTEST_SKIP() << plugin.why_not;
        kernels = plugin.kernels;
        context = reference::make_context(kernels, 0);
        ASSERT_TRUE(context) << kernels->last_error(nullptr);
    }
    void expect_ok(AssayStatus status) {
        ASSERT_EQ(status, ASSAY_OK) << kernels->last_error(context.get());
        ASSERT_EQ(kernels->synchronise(context.get()), ASSAY_OK)
            << kernels->last_error(context.get());
    }
    void run(reference::DispatchProblem& problem) {
        const DeviceArray<std::int32_t> tokens(problem.tokens), replicas(problem.replicas),
            choices(problem.choices), send_first(problem.send_first),
            receive_first(problem.receive_first), places(problem.places),
            expert_first(problem.expert_first), grouped(problem.grouped);
        AssayDispatch call = problem.call();
        call.tokens = tokens.data();
        call.replicas = replicas.data();
        call.choices = choices.data();
        call.send_first = send_first.data();
        call.receive_first = receive_first.data();
        call.places = places.data();
        call.expert_first = expert_first.data();
        call.grouped = grouped.data();
        expect_ok(kernels->dispatch(context.get(), &call));
        problem.send_first = send_first.get();
        problem.receive_first = receive_first.get();
        problem.places = places.get();
        problem.expert_first = expert_first.get();
        problem.grouped = grouped.get();
    }

    const AssayKernels* kernels = nullptr;
    reference::Context context;
};

TEST_F(CudaDispatch, AgreesForRandomShapes) {
    reference::expect_dispatches_of_random_shapes(
        [&](reference::DispatchProblem& problem) { run(problem); }, 200);
}

TEST_F(CudaDispatch, AgreesForManyRowsAndRanks) {
    reference::expect_dispatch({64, 64, 20000, 1},
                               [&](reference::DispatchProblem& problem) { run(problem); });
    reference::expect_dispatch({8, 1024, 3000, 2},
                               [&](reference::DispatchProblem& problem) { run(problem); });
}

TEST_F(CudaDispatch, LeavesOutWhatIsWrong) {
    reference::expect_dispatches_of_wrong_input(
        [&](reference::DispatchProblem& problem) { run(problem); });
}

TEST_F(CudaDispatch, MovesRowsThereAndBack) {
    reference::expect_moves(
        [&](const std::vector<std::int32_t>& places, int places_end, std::size_t row_bytes,
            const std::vector<std::byte>& from, std::vector<std::byte>& to, bool back) {
            const DeviceArray<std::int32_t> places_there(places);
            const DeviceArray<std::byte> from_there(from), to_there(to);
            const AssayRowMove call{static_cast<std::int32_t>(places.size()),
                                    places_end,
                                    row_bytes,
                                    places_there.data(),
                                    from_there.data(),
                                    to_there.data()};
            expect_ok((back ? kernels->unshuffle : kernels->shuffle)(context.get(), &call));
            to = to_there.get();
        },
        100);
}

}  // namespace
}  // namespace assay::kernels::cuda::harness
