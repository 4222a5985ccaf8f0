// Inputs of the cost model that nobody publishes, each with a name and a range. A simulated
// experiment takes what the profiles say, or values of the user's; at profile paper it runs at both
// ends of every range as well, since a statement that only holds in the middle is none.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "impls/lazarus/cost/modelled_model.hpp"
#include "suite/scenario/cost_model.hpp"

namespace assay::lazarus {

struct AssumedInput {
    const char* name;  ///< of the axis, of the label, and of the key in a claim's `assumes`
    const char* says;  ///< one line: what it is, its unit, where its range comes from
    double low, high;
};

/// detect_s, regroup_s, matmul_efficiency, link_efficiency, overlap.
std::span<const AssumedInput> assumed_inputs();

/// Values by name. What is not there is as the profiles say (overlap: 0).
using AssumedValues = std::map<std::string, double, std::less<>>;

/// Every choice of ends of the inputs that `fixed` does not name, with `fixed` in each; the last
/// input changes fastest.
std::vector<AssumedValues> corners_of_ranges(const AssumedValues& fixed);

/// The cluster's costs with these values in place of its profiles' (their source says so). Throws
/// UserError where a value makes no sense, naming it. Without a network communication is priced in
/// closed form.
CostModel costs_with(const std::string& cluster, const AssumedValues& values,
                     std::shared_ptr<const Network> network = nullptr);

/// `modelling` with the overlap among the values, where there is one.
Modelling modelling_with(Modelling modelling, const AssumedValues& values);

/// {"detect_s": [10, 20], …}, for a calibration: of the inputs that `fixed` does not name.
nlohmann::json ranges_to_json(const AssumedValues& fixed);

}  // namespace assay::lazarus
