// Engines that roll out: as many as are wanted, with the weights that are published, another one
// for each that is lost.
#pragma once

#include <deque>
#include <string>

#include "impls/decode/service/engines.hpp"
#include "impls/rl/policy/sample_groups.hpp"

namespace assay::rl {

class RolloutEngines {
  public:
    /// `engines` outlives it. The first of them are there once weights are published.
    RolloutEngines(decode::Engines& engines, const decode::EngineSettings& settings, int wanted);

    /// Requests that are given out from now on go to engines that have them, once they do. What is
    /// with an engine still should be over: it would go on with other weights.
    void publish(int version, const std::string& weights);
    /// What is due, after something was heard. Throws std::runtime_error: an engine ended by
    /// itself, or weights were refused.
    void look();
    long lost() const { return lost_; }  ///< engines, so far

  private:
    struct Host {
        decode::EngineClient* engine = nullptr;
        int asked = 0;  // version of the weights
        bool commits = false, gone = false;
    };
    void start_one();
    void look_at(Host& host);

    decode::Engines& engines_;
    decode::EngineSettings settings_;
    int wanted_, version_ = 0;
    StaticPool chooser_;
    std::deque<Host> hosts_;
    long lost_ = 0;
};

}  // namespace assay::rl
