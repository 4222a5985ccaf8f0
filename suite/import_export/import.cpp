// Arriving rows are put together in a database of our own, and merged when all of them are there.
#include "suite/import_export/import.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <sstream>

#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"
#include "suite/import_export/json_lines.hpp"
#include "suite/store/database_file.hpp"
#include "suite/store/schema/migration.hpp"

namespace assay::import_export {
namespace fs = std::filesystem;
namespace {

void bind_cell_of_row(SQLite::Statement& insert, int index, const Cell& cell) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
        insert.bind(index, *integer);
    } else if (const auto* real = std::get_if<double>(&cell)) {
        insert.bind(index, *real);
    } else if (const auto* text = std::get_if<std::string>(&cell)) {
        insert.bind(index, *text);
    } else if (const auto* blob = std::get_if<Blob>(&cell)) {
        // A null pointer would be stored as NULL.
        const auto& bytes = blob->bytes;
        insert.bind(index, bytes.empty() ? "" : bytes.data(), static_cast<int>(bytes.size()));
    } else {
        insert.bind(index);
    }
}

class Staging {
  public:
    /// The tables of that version of the schema: of the program that wrote the rows.
    explicit Staging(int schema);

    /// UserError for an unknown column, a value of the wrong type, a row that is there already; who
    /// reads the file adds the place.
    void insert(const Row&);
    /// To be called once, after the last row; the file can be merged then, whatever its schema.
    /// UserError when rows refer to rows that did not come.
    const fs::path& complete();

  private:
    store::TemporaryFolder folder_{"assay-import"};
    fs::path file_;
    std::unique_ptr<SQLite::Database> sql_;
    std::unique_ptr<SQLite::Transaction> transaction_;
    std::map<std::string, SQLite::Statement> inserts_;  // by their text
};

Staging::Staging(int schema) : file_(folder_ / "arriving.db") {
    sql_ = std::make_unique<SQLite::Database>(file_.string(),
                                              SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    sql_->exec(fmt::format("PRAGMA application_id = {}", store::application_id));
    store::migrate(file_, *sql_,
                   std::span(store::migrations()).first(static_cast<std::size_t>(schema)));
    sql_->exec("PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF");
    transaction_ = std::make_unique<SQLite::Transaction>(*sql_);
    sql_->exec("PRAGMA defer_foreign_keys = ON");  // rows may come in any order
}

void Staging::insert(const Row& row) {
    std::string columns, marks;
    for (const auto& [name, cell] : row.cells) {
        columns += (columns.empty() ? "" : ", ") + ('"' + name + '"');
        marks += marks.empty() ? "?" : ", ?";
    }
    const auto text = fmt::format("INSERT INTO {} ({}) VALUES ({})", row.table, columns, marks);
    try {
        auto found = inserts_.find(text);
        if (found == inserts_.end())
            found = inserts_.emplace(text, SQLite::Statement(*sql_, text)).first;
        auto& insert = found->second;
        insert.tryReset();
        for (std::size_t i = 0; i < row.cells.size(); ++i)
            bind_cell_of_row(insert, static_cast<int>(i) + 1, row.cells[i].second);
        insert.exec();
    } catch (const SQLite::Exception& error) {
        throw UserError(
            fmt::format("a row of the table {} does not fit: {}", row.table, error.what()));
    }
}

const fs::path& Staging::complete() {
    inserts_.clear();
    try {
        transaction_->commit();
    } catch (const SQLite::Exception& error) {
        throw UserError(fmt::format(
            "rows are missing to which others refer ({}); export the file again", error.what()));
    }
    transaction_.reset();
    sql_.reset();
    return file_;
}

std::string all_of(std::istream& in) { return {std::istreambuf_iterator<char>(in), {}}; }

/// Puts down which way of the file's metrics is better, as a user stated it.
std::set<std::string> state_directions(store::Store& store, const fs::path& arrived,
                                       const std::map<std::string, Direction>& better) {
    std::set<std::string> found;
    if (better.empty()) return found;
    const store::Store file = store::Store::open(arrived, store::Access::read);
    std::vector<store::MetricUnit> units;
    for (const std::string& experiment : file.experiments()) {
        std::map<std::string, std::string> known;
        for (const store::MetricUnit& unit : store.metric_units(experiment))
            known[unit.name] = unit.unit;
        std::set<std::string> names;
        for (const store::SeriesKey& series : file.series_of(experiment))
            for (const store::MetricKey& metric : file.metrics_of(series))
                names.insert(metric.name);
        for (const auto& [name, direction] : better)
            if (names.contains(name)) {
                units.push_back({experiment, name, known[name], direction});
                found.insert(name);
            }
    }
    store.put_metric_units(units);
    return found;
}

bool is_json_object(std::string_view text) {
    const auto at = text.find_first_not_of(" \t\r\n");
    return at != text.npos && text[at] == '{';
}

}  // namespace

Imported import_file(store::Store& store, const fs::path& file,
                     const std::map<std::string, Direction>& better) {
    const auto refuse = [&](const char* why) {
        throw UserError(fmt::format("{}: cannot be read: {}", file.string(), why));
    };
    std::error_code unreachable;
    if (fs::is_directory(file, unreachable)) refuse("not a file");
    std::ifstream in(file, std::ios::binary);
    if (!in) refuse(std::strerror(errno));
    pass_over_byte_order_mark(in);
    std::string beginning(4096, '\0');
    in.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
    beginning.resize(static_cast<std::size_t>(in.gcount()));
    if (beginning.starts_with("SQLite format 3")) {
        Imported merged{store.merge(file), {}, {}};
        merged.directions = state_directions(store, file, better);
        return merged;
    }
    std::istringstream piped;  // of which the beginning cannot be read again
    std::istream& text = fs::is_regular_file(file) ? static_cast<std::istream&>(in) : piped;
    if (&text == &piped) {
        piped.str(beginning + all_of(in));
    } else {
        in.clear();
        in.seekg(0);
        pass_over_byte_order_mark(in);
    }
    Staging staging(schema_of_json_lines(beginning));
    const auto source = file.string();
    // The reader of JSON lines adds line and column itself; other readers make the rows.
    const auto insert = [&](const Row& row) { staging.insert(row); };
    const auto sink = [&](const Row& row) {
        try {
            staging.insert(row);
        } catch (const UserError& error) {
            throw UserError(fmt::format("{}: {}", source, error.what()));
        }
    };
    Imported imported;
    long here_already = 0;
    if (looks_like_json_lines(beginning))
        read_json_lines(text, source, insert);
    else if (is_json_object(beginning))
        imported.notes = read_benchmark_results(all_of(text), source, sink);
    else
        here_already = read_csv_results(
            all_of(text), source, sink,
            {.sample = [&](const std::string& id) { return store.has_sample(id); },
             .session = [&](const std::string& id) { return store.session(id).has_value(); }});
    const fs::path& arrived = staging.complete();
    static_cast<store::Store::Merged&>(imported) = store.merge(arrived);
    if (imported.sessions == 0) imported.notes.clear();  // told when it came
    imported.directions = state_directions(store, arrived, better);
    imported.skipped += here_already;
    return imported;
}

}  // namespace assay::import_export
