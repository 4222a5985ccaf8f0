// `assay model`: looking at language models, measuring them on a text, letting them write.
#pragma once

#include "suite/experiment/system.hpp"

namespace assay::model {

Tool make_model_tool();

}  // namespace assay::model
