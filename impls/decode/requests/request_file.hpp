// Requests as JSON lines (assay model batch): one object a line, blank lines apart.
//
//     {"id": "a", "ids": [1, 504, 3575], "max_tokens": 8, "at_step": 3}
//     {"id": "b", "prompt": "The capital of France is", "stop": [".", "\n"]}
#pragma once

#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "impls/decode/requests/batch_run.hpp"

namespace assay::decode {

/// What a model and its cache allow.
struct RequestLimits {
    int vocabulary = 0, context = 0;
    std::optional<int> blocks;  ///< of the cache; none: as many as are needed
    std::vector<int> stop_ids;  ///< of requests that name none
    std::function<std::vector<int>(const std::string&)> encode;  ///< empty: there is no tokenizer
    std::string no_tokenizer = "the model has no tokenizer";     ///< why that is
};

struct NamedJob {
    std::string id;  ///< as JSON: "\"a\"", "7"
    BatchJob job;
    bool as_text = false;  ///< its prompt was given as one
};

/// At least one. Throws UserError "NAME:LINE: …".
std::vector<NamedJob> read_requests(std::istream& in, const std::string& name,
                                    const RequestLimits& limits);

}  // namespace assay::decode
