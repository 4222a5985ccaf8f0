#include "gui/data/last_look.hpp"

#include <algorithm>

#include "gui/data/counted.hpp"

namespace assay::gui {
namespace {

QString text(const std::string& words) { return QString::fromStdString(words); }

long count(const std::map<std::string, long>& counts, const std::string& key) {
    const auto found = counts.find(key);
    return found == counts.end() ? 0 : found->second;
}

/// "lazarus/fig8, lazarus/fig9 and 3 more"
QString few(const QStringList& names) {
    constexpr qsizetype most = 3;
    if (names.size() <= most) return names.join(QStringLiteral(", "));
    return names.mid(0, most).join(QStringLiteral(", ")) +
           QStringLiteral(" and %1 more").arg(names.size() - most);
}

}  // namespace

LastLook look_at(const Overview& overview, const QString& at) {
    LastLook look{at, {}, overview.candidates, overview.confirmed};
    for (const OverviewSystem& system : overview.systems)
        for (const OverviewExperiment& experiment : system.experiments)
            look.experiments[experiment.id] = {experiment.claims, experiment.samples};
    return look;
}

QStringList news_since(const LastLook& before, const Overview& now) {
    long samples = 0, failed = 0;
    QStringList sampled, news;
    std::map<std::string, QStringList> turned;  // by verdict: figures that have more of it
    for (const OverviewSystem& system : now.systems)
        for (const OverviewExperiment& experiment : system.experiments) {
            const auto known = before.experiments.find(experiment.id);
            const LastLook::Seen seen =
                known == before.experiments.end() ? LastLook::Seen() : known->second;
            long more = 0;
            for (const auto& [status, n] : experiment.samples)
                if (status != "running") more += n - count(seen.samples, status);
            if (more > 0) {
                samples += more;
                sampled << text(experiment.id);
            }
            failed +=
                std::max(0L, count(experiment.samples, "failed") - count(seen.samples, "failed"));
            for (const auto& [verdict, n] : experiment.claims)
                if (known != before.experiments.end() && n > count(seen.claims, verdict))
                    turned[verdict] << QStringLiteral("%1 of %2")
                                           .arg(n - count(seen.claims, verdict))
                                           .arg(text(experiment.id));
        }
    if (samples > 0)
        news << counted(samples, "new sample") + QStringLiteral(" of ") + few(sampled) +
                    (failed > 0 ? QStringLiteral(" (%1 failed)").arg(failed) : QString());
    for (const auto& [verdict, where] : turned)
        news << QStringLiteral("claims now %1: %2").arg(text(verdict), few(where));
    if (now.confirmed > before.confirmed)
        news << counted(now.confirmed - before.confirmed, "regression") +
                    QStringLiteral(" confirmed");
    if (now.candidates > before.candidates)
        news << counted(now.candidates - before.candidates, "regression") +
                    QStringLiteral(" to confirm");
    return news;
}

}  // namespace assay::gui
