// Both ways of computing attention, and the expert, against automatic differentiation.
#include "impls/hetermoe/modules/modules.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace assay::hetermoe {
namespace {

const at::TensorOptions doubles = at::TensorOptions().dtype(at::kDouble);

AttentionModule small_attention() {
    AttentionModule module;
    module.heads = 4;
    module.kv_heads = 2;
    module.head_size = 8;
    module.query = at::randn({32, 32}, doubles);
    module.key = at::randn({16, 32}, doubles);
    module.value = at::randn({16, 32}, doubles);
    module.output = at::randn({32, 32}, doubles);
    return module;
}

void expect_near(const at::Tensor& a, const at::Tensor& b) {
    EXPECT_LT((a - b).norm().item<double>(), 1e-9 * (1 + b.norm().item<double>()));
}

TEST(HeterMoEModules, BothKindsOfAttentionAreTheSame) {
    at::manual_seed(1);
    const AttentionModule module = small_attention();
    const at::Tensor x = at::randn({23, 32}, doubles) / 4, dy = at::randn({23, 32}, doubles);
    const AttentionPass fused = attention_pass(module, x, dy, AttentionKind::fused);
    for (const std::int64_t tile : {1, 5, 23, 100}) {
        const AttentionPass tiled =
            attention_pass(module, x, dy, AttentionKind::materialised, tile);
        expect_near(tiled.y, fused.y);
        expect_near(tiled.dx, fused.dx);
        expect_near(tiled.dquery, fused.dquery);
        expect_near(tiled.dkey, fused.dkey);
        expect_near(tiled.dvalue, fused.dvalue);
        expect_near(tiled.doutput, fused.doutput);
    }
}

TEST(HeterMoEModules, AttentionsGradientsAreThoseOfItsOutput) {
    at::manual_seed(2);
    AttentionModule module = small_attention();
    const at::Tensor x = at::randn({7, 32}, doubles) / 4, dy = at::randn({7, 32}, doubles);
    const AttentionPass pass = attention_pass(module, x, dy, AttentionKind::materialised, 3);
    // By differences: along a random direction of everything at once.
    const at::Tensor along_x = at::randn_like(x), along_q = at::randn_like(module.query),
                     along_k = at::randn_like(module.key), along_v = at::randn_like(module.value),
                     along_o = at::randn_like(module.output);
    const auto at_step = [&](double h) {
        AttentionModule moved = module;
        moved.query = module.query + h * along_q;
        moved.key = module.key + h * along_k;
        moved.value = module.value + h * along_v;
        moved.output = module.output + h * along_o;
        return (attention_pass(moved, x + h * along_x, dy, AttentionKind::materialised, 3).y * dy)
            .sum()
            .item<double>();
    };
    const double h = 1e-6, slope = (at_step(h) - at_step(-h)) / (2 * h);
    const at::Tensor expected = (pass.dx * along_x).sum() + (pass.dquery * along_q).sum() +
                                (pass.dkey * along_k).sum() + (pass.dvalue * along_v).sum() +
                                (pass.doutput * along_o).sum();
    EXPECT_NEAR(slope / expected.item<double>(), 1, 1e-6);
}

TEST(HeterMoEModules, TheExpertsGradientsAreAutograds) {
    at::manual_seed(3);
    const auto leaf = [](std::int64_t a, std::int64_t b) {
        return at::randn({a, b}, doubles).requires_grad_();
    };
    const at::Tensor gate = leaf(24, 8), up = leaf(24, 8), down = leaf(8, 24), x = leaf(5, 8);
    const at::Tensor dy = at::randn({5, 8}, doubles);
    const at::Tensor y =
        at::matmul(at::silu(at::matmul(x, gate.t())) * at::matmul(x, up.t()), down.t());
    y.backward(dy);
    const ExpertPass pass =
        expert_pass({gate.detach(), up.detach(), down.detach()}, x.detach(), dy);
    expect_near(pass.y, y);
    expect_near(pass.dx, x.grad());
    expect_near(pass.dgate, gate.grad());
    expect_near(pass.dup, up.grad());
    expect_near(pass.ddown, down.grad());
}

}  // namespace
}  // namespace assay::hetermoe
