// Whether a chat template is ChatML, which is the only kind that chat_prompt writes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::nn {

/// The system message that a ChatML template puts in front when the first message is none; empty:
/// it puts none there. nullopt: the template does anything else or more.
std::optional<std::string> chatml_default_system(std::string_view source);

}  // namespace assay::nn
