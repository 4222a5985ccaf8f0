// The dispatch on a GPU, against the CPU back end; skipped where there is none.
#include "kernels/reference/dispatch_test.hpp"

#include "kernels/cuda/harness/device_problem.hpp"
#include "kernels/cuda/harness/gpu_test.hpp"

namespace assay::kernels::cuda::harness {
namespace {

class CudaDispatch : public GpuTest {
  protected:
    void expect_ok(AssayStatus status) {
        ASSERT_EQ(status, ASSAY_OK) << kernels->last_error(context.get());
        ASSERT_EQ(kernels->synchronise(context.get()), ASSAY_OK)
            << kernels->last_error(context.get());
    }
    void run(reference::DispatchProblem& problem) {
        const DeviceDispatch there(problem);
        const AssayDispatch call = there.call();
        expect_ok(kernels->dispatch(context.get(), &call));
        there.fetch(problem);
    }
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
        [&](const AssayRowMove& call, std::size_t from_bytes, std::size_t to_bytes, bool back) {
            const auto* const from = static_cast<const std::byte*>(call.from);
            auto* const to = static_cast<std::byte*>(call.to);
            const DeviceArray<std::int32_t> places(
                std::vector<std::int32_t>(call.places, call.places + call.rows));
            const DeviceArray<std::byte> from_there(
                std::vector<std::byte>(from, from + from_bytes));
            DeviceArray<std::byte> to_there(std::vector<std::byte>(to, to + to_bytes));
            AssayRowMove there = call;
            there.places = places.data();
            there.from = from_there.data();
            there.to = to_there.data();
            expect_ok((back ? kernels->unshuffle : kernels->shuffle)(context.get(), &there));
            std::ranges::copy(to_there.get(), to);
        },
        100);
}

}  // namespace
}  // namespace assay::kernels::cuda::harness
