#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/text/chat_template.hpp"
#include "impls/nn/text/json_parts.hpp"
#include "impls/nn/text/tokenizer.hpp"

namespace assay::nn {

std::optional<std::string> chat_default_system(const TensorFile& file) {
    const nlohmann::json& source =
        file.format() == FileFormat::gguf
            ? member(file.metadata(), "tokenizer.chat_template")
            : member(member(file.metadata(), "tokenizer_config"), "chat_template");
    if (!source.is_string()) return std::nullopt;
    return chatml_default_system(source.get_ref<const std::string&>());
}

}  // namespace assay::nn
