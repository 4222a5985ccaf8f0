// A layer whose exchange is cut into parts, so that rows travel while experts compute others:
// adaptive pipelining as in Tutel (arXiv 2206.03382, section 3.3).
#pragma once

namespace assay::lazarus {

/// Seconds of one of its parts.
struct LayerPart {
    double there = 0, experts = 0, back = 0;
};

/// Seconds from the beginning of the exchange until all parts are there, computed, and back.
struct PipelinedLayer {
    double dispatched = 0, computed = 0, combined = 0;
};

/// `parts` equal ones. The network does one thing at a time: it sends all parts there, then each
/// back once it is computed; the experts compute parts in the order in which they arrive. One part:
/// one after the other, nothing overlaps. What a part costs is the caller's to say: it has every
/// latency and every launch of its own, and reads the weights anew, so that more parts are not
/// better in themselves.
PipelinedLayer pipelined_layer(int parts, const LayerPart& part);

}  // namespace assay::lazarus
