// What a worker has of the network: one port each way.
#pragma once

namespace assay::drive {

/// The two directions do not share. All transfers of a worker in one direction share its port.
struct Nic {
    double send_bytes_s = 0;     ///< bytes/s of what it sends; 0: no limit
    double receive_bytes_s = 0;  ///< bytes/s of what it receives; 0: no limit
    /// Seconds one way. The first byte of a transfer arrives after the latencies of both its ends;
    /// waiting for it takes no bandwidth.
    double latency_s = 0;
};

}  // namespace assay::drive
