#include "impls/hetermoe/modules/modules.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::hetermoe {
namespace {

constexpr std::int64_t mixtral_width = 4096, mixtral_ffn = 14336;

at::Tensor weights(std::int64_t out, std::int64_t in, const at::TensorOptions& options) {
    return at::randn({out, in}, options) / std::sqrt(double(in));
}

/// [tokens][own * size] as [heads][tokens][size]: key and value heads are repeated.
at::Tensor by_head(const at::Tensor& x, std::int64_t own, std::int64_t heads) {
    return x.view({x.size(0), own, -1})
        .transpose(0, 1)
        .repeat_interleave(heads / own, 0)
        .contiguous();
}

/// The gradient of by_head().
at::Tensor from_head(const at::Tensor& gradient, std::int64_t own) {
    const std::int64_t heads = gradient.size(0), tokens = gradient.size(1);
    return gradient.view({own, heads / own, tokens, -1})
        .sum(1)
        .transpose(0, 1)
        .reshape({tokens, -1});
}

struct Core {
    at::Tensor out, dq, dk, dv;  ///< [heads][tokens][size]
};

// Scores pass through memory as they are made, for the softmax and for the products, and not once
// more: the scale goes into the queries, the mask only to the square where queries and keys meet.
Core materialised(const at::Tensor& query, const at::Tensor& k, const at::Tensor& v,
                  const at::Tensor& dout, std::int64_t tile) {
    const std::int64_t tokens = query.size(1);
    const double scale = 1 / std::sqrt(double(query.size(2)));
    const at::Tensor q = query * scale;
    Core core{at::empty_like(q), at::empty_like(q), at::zeros_like(k), at::zeros_like(v)};
    for (std::int64_t from = 0; from < tokens; from += tile) {
        const std::int64_t count = std::min(tile, tokens - from), keys = from + count;
        const auto rows = [&](const at::Tensor& t) { return t.narrow(1, from, count); };
        const auto so_far = [&](const at::Tensor& t) { return t.narrow(1, 0, keys); };
        const at::Tensor scores = at::bmm(rows(q), so_far(k).transpose(1, 2));
        const at::Tensor later = at::ones({count, count}, q.options().dtype(at::kBool)).triu_(1);
        scores.narrow(2, from, count).masked_fill_(later, -std::numeric_limits<float>::infinity());
        const at::Tensor shares = at::softmax(scores, -1);
        rows(core.out).copy_(at::bmm(shares, so_far(v)));

        const at::Tensor d = rows(dout);
        so_far(core.dv).baddbmm_(shares.transpose(1, 2), d);
        const at::Tensor dscores = at::_softmax_backward_data(at::bmm(d, so_far(v).transpose(1, 2)),
                                                              shares, -1, q.scalar_type());
        rows(core.dq).copy_(at::bmm(dscores, so_far(k)));
        so_far(core.dk).baddbmm_(dscores.transpose(1, 2), rows(q));
    }
    core.dq.mul_(scale);
    return core;
}

Core fused(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& dout) {
    const auto leaf = [](const at::Tensor& t) { return t.unsqueeze(0).detach().requires_grad_(); };
    const at::Tensor own_q = leaf(q), own_k = leaf(k), own_v = leaf(v);
    const at::Tensor out =
        at::scaled_dot_product_attention(own_q, own_k, own_v, {}, 0.0, /*is_causal=*/true);
    out.backward(dout.unsqueeze(0));
    const auto of = [](const at::Tensor& t) { return t.squeeze(0); };
    return {of(out.detach()), of(own_q.grad()), of(own_k.grad()), of(own_v.grad())};
}

}  // namespace

AttentionModule AttentionModule::random(const at::TensorOptions& options) {
    AttentionModule module;
    const std::int64_t kv = module.kv_heads * module.head_size;
    module.query = weights(mixtral_width, mixtral_width, options);
    module.key = weights(kv, mixtral_width, options);
    module.value = weights(kv, mixtral_width, options);
    module.output = weights(mixtral_width, mixtral_width, options);
    return module;
}

AttentionPass attention_pass(const AttentionModule& module, const at::Tensor& x,
                             const at::Tensor& dy, AttentionKind kind, std::int64_t tile) {
    const auto project = [](const at::Tensor& in, const at::Tensor& w) {
        return at::matmul(in, w.t());
    };
    const std::int64_t heads = module.heads, kv = module.kv_heads;
    const at::Tensor q = by_head(project(x, module.query), heads, heads);
    const at::Tensor k = by_head(project(x, module.key), kv, heads);
    const at::Tensor v = by_head(project(x, module.value), kv, heads);
    const at::Tensor dout = by_head(at::matmul(dy, module.output), heads, heads);
    const Core core =
        kind == AttentionKind::fused ? fused(q, k, v, dout) : materialised(q, k, v, dout, tile);
    const at::Tensor joined = from_head(core.out, heads);
    const at::Tensor dq = from_head(core.dq, heads), dk = from_head(core.dk, kv),
                     dv = from_head(core.dv, kv);
    AttentionPass pass;
    pass.y = project(joined, module.output);
    pass.doutput = at::matmul(dy.t(), joined);
    pass.dquery = at::matmul(dq.t(), x);
    pass.dkey = at::matmul(dk.t(), x);
    pass.dvalue = at::matmul(dv.t(), x);
    pass.dx = at::matmul(dq, module.query);
    pass.dx.addmm_(dk, module.key).addmm_(dv, module.value);
    return pass;
}

ExpertModule ExpertModule::random(const at::TensorOptions& options) {
    return {weights(mixtral_ffn, mixtral_width, options),
            weights(mixtral_ffn, mixtral_width, options),
            weights(mixtral_width, mixtral_ffn, options)};
}

ExpertPass expert_pass(const ExpertModule& module, const at::Tensor& x, const at::Tensor& dy) {
    const at::Tensor gate = at::matmul(x, module.gate.t()), up = at::matmul(x, module.up.t());
    const at::Tensor opened = at::silu(gate), inner = opened * up;
    ExpertPass pass;
    pass.y = at::matmul(inner, module.down.t());

    const at::Tensor dinner = at::matmul(dy, module.down);
    pass.ddown = at::matmul(dy.t(), inner);
    const at::Tensor dgate = at::silu_backward(dinner * up, gate), dup = dinner * opened;
    pass.dgate = at::matmul(dgate.t(), x);
    pass.dup = at::matmul(dup.t(), x);
    pass.dx = at::matmul(dgate, module.gate).addmm_(dup, module.up);
    return pass;
}

}  // namespace assay::hetermoe
