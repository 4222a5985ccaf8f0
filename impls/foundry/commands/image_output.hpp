// `assay plan foundry --image FILE`: what a kernel binary holds, for programs and for people.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "impls/foundry/method/images/image.hpp"

namespace assay::foundry {

/// {"container", "bytes", "entries": [{"kind", "sm": n|null, "kernels": [{"name",
/// "params": [[offset, bytes]], "cluster": null|[x, y, z]}]}]}
nlohmann::ordered_json to_json(const Image&);

/// A row per kernel, or per entry without any; tables keep to so many columns.
std::string to_text(const Image&, std::size_t columns);

}  // namespace assay::foundry
