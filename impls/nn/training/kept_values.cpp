#include "impls/nn/training/kept_values.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <istream>
#include <ostream>

#include "suite/base/error.hpp"

namespace assay::nn {
namespace {

std::streamsize bytes_of(const at::Tensor& values) {
    return static_cast<std::streamsize>(values.nbytes());
}

}  // namespace

void save_values(StateKeeper& states, const std::string& name,
                 const std::vector<std::unique_ptr<ParameterBlock>>& blocks) {
    states.save(name, [&](std::ostream& out) {
        for (const auto& block : blocks)
            out.write(static_cast<const char*>(block->values().const_data_ptr()),
                      bytes_of(block->values()));
    });
}

bool load_values(StateKeeper& states, const std::string& name,
                 const std::vector<std::unique_ptr<ParameterBlock>>& blocks) {
    std::vector<at::Tensor> read;
    const bool found = states.load(name, [&](std::istream& in) {
        for (const auto& block : blocks) {
            read.push_back(at::empty_like(block->values()));
            in.read(static_cast<char*>(read.back().mutable_data_ptr()), bytes_of(read.back()));
        }
        if (!in || in.peek() != std::istream::traits_type::eof())
            throw UserError("the values kept as \"" + name +
                            "\" are of another model; remove them to start anew");
    });
    if (!found) return false;
    at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i]->values().copy_(read[i]);
    return true;
}

}  // namespace assay::nn
