// What a trace looks like in numbers.
#include <algorithm>

#include "suite/scenario/trace_moments.hpp"

namespace assay {

TraceStatistics trace_statistics(const AvailabilityTrace& trace) {
    const std::vector<TraceMoment> all = moments(trace);
    TraceStatistics found;
    int alive = found.initial = found.most = found.fewest =
        static_cast<int>(all.front().added.size());
    double node_seconds = 0, since_s = 0, first_loss_s = 0, last_loss_s = 0;
    int loss_moments = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
        const TraceMoment& moment = all[i];
        node_seconds += alive * (moment.t_s - since_s);
        since_s = moment.t_s;
        const int lost = static_cast<int>(moment.lost.size());
        const int added = static_cast<int>(moment.added.size());
        if (lost > 0) {
            if (loss_moments++ == 0) first_loss_s = moment.t_s;
            last_loss_s = moment.t_s;
            found.largest_loss_share =
                std::max(found.largest_loss_share, static_cast<double>(lost) / alive);
        }
        if (lost > found.largest_loss) {
            found.largest_loss = lost;
            found.largest_loss_at_s = moment.t_s;
        }
        found.losses += lost;
        found.additions += added;
        alive += added - lost;
        found.most = std::max(found.most, alive);
        found.fewest = std::min(found.fewest, alive);
    }
    const double end_s = std::max(trace.duration_s, since_s);
    node_seconds += alive * (end_s - since_s);
    found.mean = end_s > 0 ? node_seconds / end_s : found.initial;
    if (loss_moments > 1)
        found.mean_between_losses_s = (last_loss_s - first_loss_s) / (loss_moments - 1);
    return found;
}

}  // namespace assay
