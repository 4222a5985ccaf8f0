// What metrics are measured in, for readers that do not have the registry.
#include "suite/store/impl.hpp"
#include "suite/store/row_codec.hpp"

namespace assay::store {
namespace {

Direction direction_of(const std::string& text) {
    for (const auto direction : {Direction::lower, Direction::higher, Direction::none})
        if (to_string(direction) == text) return direction;
    throw std::invalid_argument("the direction \"" + text + "\"");
}

}  // namespace

void Store::put_metric_units(const std::vector<MetricUnit>& units) {
    impl_->database.write("store the units of metrics", [&](SQLite::Database& sql) {
        SQLite::Statement insert(
            sql,
            "INSERT INTO metric_unit (experiment, name, unit, better) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (experiment, name) DO UPDATE SET unit = excluded.unit, "
            "better = excluded.better");
        for (const auto& unit : units) {
            insert.bind(1, unit.experiment);
            insert.bind(2, unit.name);
            insert.bind(3, unit.unit);
            bind_text(insert, 4, to_string(unit.better));
            insert.exec();
            insert.reset();
        }
    });
}

std::vector<MetricUnit> Store::metric_units(std::string_view experiment) const {
    return impl_->database.read("read the units of metrics", [&](SQLite::Database& sql) {
        SQLite::Statement rows(
            sql,
            "SELECT experiment, name, unit, better FROM metric_unit WHERE experiment = ? "
            "ORDER BY name");
        bind_text(rows, 1, experiment);
        std::vector<MetricUnit> units;
        while (rows.executeStep())
            units.push_back({rows.getColumn(0).getString(), rows.getColumn(1).getString(),
                             rows.getColumn(2).getString(),
                             direction_of(rows.getColumn(3).getString())});
        return units;
    });
}

}  // namespace assay::store
