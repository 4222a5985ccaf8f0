// What a request gets alone, in this process, one after the other.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "impls/decode/campaign/heard_requests.hpp"
#include "impls/decode/campaign/served_models.hpp"

namespace assay::decode {

class AnswersAlone {
  public:
    explicit AnswersAlone(const ServedModel& model) : model_(model) {}

    /// Its tokens and log-probabilities are those of the weights of the versions that they name,
    /// and so is its end. Throws BrokenRule.
    void check(const HeardRequest& request, const EngineSettings& settings,
               const std::function<std::string(int version)>& weights_of);

  private:
    BatchEngine& engine(const EngineSettings& settings, const std::string& weights);

    const ServedModel& model_;
    std::map<std::string, std::unique_ptr<BatchEngine>> engines_;  // by weights
};

}  // namespace assay::decode
