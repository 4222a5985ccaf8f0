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
#include <optional>
#include <span>
#include <sstream>

#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"
#include "suite/import_export/json_lines.hpp"
#include "suite/import_export/tools/benchmark_file.hpp"
#include "suite/store/database.hpp"
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

}  // namespace

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

namespace {

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

/// Of a file that is read from its beginning, for it may be a pipe.
struct OpenedFile {
    std::ifstream in;
    std::string beginning;
    std::istringstream piped;  // of which the beginning cannot be read again

    explicit OpenedFile(const fs::path& file) : in(file, std::ios::binary), beginning(4096, '\0') {
        if (!in)
            throw UserError(
                fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
        pass_over_byte_order_mark(in);
        in.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
        beginning.resize(static_cast<std::size_t>(in.gcount()));
        if (fs::is_regular_file(file)) {
            in.clear();
            in.seekg(0);
            pass_over_byte_order_mark(in);
        } else {
            piped.str(beginning + all_of(in));
        }
        is_piped_ = !fs::is_regular_file(file);
    }
    std::istream& text() { return is_piped_ ? static_cast<std::istream&>(piped) : in; }

  private:
    bool is_piped_ = false;
};

}  // namespace

struct ArrivedFile::Contents {
    fs::path file;  ///< a database
    std::optional<Staging> staging{};
    std::map<std::string, Direction> better;
    std::vector<std::string> notes{};
    long samples = 0, here_already = 0;

    void read(const fs::path& named, const ImportOptions& options, const store::Store* here);
    void insert(const Row&);
    RowSink sink(const std::string& source);
};

void ArrivedFile::Contents::insert(const Row& row) {
    if (row.table == "sample") ++samples;
    staging->insert(row);
}

/// Other readers than that of JSON lines, which adds line and column itself, make the rows.
RowSink ArrivedFile::Contents::sink(const std::string& source) {
    return [this, source](const Row& row) {
        try {
            insert(row);
        } catch (const UserError& error) {
            throw UserError(fmt::format("{}: {}", source, error.what()));
        }
    };
}

void ArrivedFile::Contents::read(const fs::path& named, const ImportOptions& options,
                                 const store::Store* here) {
    const std::string source = named.string();
    if (std::error_code unreachable; fs::is_directory(named, unreachable)) {
        const BenchmarkFile folder = read_benchmark_folder(named, options.from);
        staging.emplace(schema_of_json_lines(""));
        notes = add_benchmark_file(folder, source, sink(source), options.machine);
        return;
    }
    OpenedFile opened(named);
    if (opened.beginning.starts_with("SQLite format 3")) {
        file = named;
        return;
    }
    staging.emplace(schema_of_json_lines(opened.beginning));
    const bool is_csv = options.from == "csv";
    if (looks_like_json_lines(opened.beginning) && options.from.empty()) {
        read_json_lines(opened.text(), source, [&](const Row& row) { insert(row); });
    } else if (!is_csv && (!options.from.empty() || looks_like_benchmark_file(opened.beginning))) {
        notes = add_benchmark_file(read_benchmark_file(all_of(opened.text()), source, options.from),
                                   source, sink(source), options.machine);
    } else {
        CsvRead csv = read_csv_results(
            all_of(opened.text()), source, sink(source),
            {.sample = [&](const std::string& id) { return here && here->has_sample(id); },
             .session = [&](const std::string& id) { return here && here->session(id); }},
            options);
        here_already = csv.left_out;
        notes = std::move(csv.notes);
    }
}

ArrivedFile::ArrivedFile(const fs::path& file, const ImportOptions& options,
                         const store::Store* here)
    : contents_(std::make_unique<Contents>()) {
    contents_->better = options.better;
    contents_->read(file, options, here);
    if (!contents_->staging) {
        check_database(contents_->file);
        return;
    }
    contents_->file = contents_->staging->complete();
    if (contents_->samples + contents_->here_already == 0)
        throw UserError(fmt::format("{}: there is no sample in it", file.string()));
}

ArrivedFile::~ArrivedFile() = default;

Imported ArrivedFile::add_to(store::Store& store) {
    Imported imported{store.merge(contents_->file), contents_->notes, {}};
    if (imported.sessions == 0) imported.notes.clear();  // told when it came
    imported.directions = state_directions(store, contents_->file, contents_->better);
    imported.skipped += contents_->here_already;
    return imported;
}

void check_database(const fs::path& file) {
    store::Database database = store::Database::open_older(file);
    if (database.sql().execAndGet("SELECT count(*) FROM session").getInt64() == 0)
        throw UserError(fmt::format("{}: there is no session in it", file.string()));
}

Imported import_file(store::Store& store, const fs::path& file, const ImportOptions& options) {
    return ArrivedFile(file, options, &store).add_to(store);
}

}  // namespace assay::import_export
