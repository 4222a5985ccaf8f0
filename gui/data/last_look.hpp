// What is new since somebody last looked.
#pragma once

#include <QString>
#include <QStringList>
#include <map>
#include <string>

#include "gui/data/overview.hpp"

namespace assay::gui {

/// What an overview had when one last looked at it.
struct LastLook {
    QString at;  ///< ISO 8601, UTC
    struct Seen {
        VerdictCounts claims;
        std::map<std::string, long> samples;
    };
    std::map<std::string, Seen> experiments;
    long candidates = 0, confirmed = 0;
};
LastLook look_at(const Overview& overview, const QString& at);
/// "24 new samples of lazarus/fig8 (2 failed)", …: one per kind of news; empty: nothing is new.
QStringList news_since(const LastLook& before, const Overview& now);

}  // namespace assay::gui
