// Statements that are compiled once per connection and used again.
#include "suite/store/prepared.hpp"

namespace assay::store {

Prepared::~Prepared() {
    statement_->tryReset();
    try {
        statement_->clearBindings();
    } catch (const SQLite::Exception&) {  // nothing that a later use would not bind again
    }
}

Prepared PreparedStock::get(SQLite::Database& sql, const char* literal) {
    auto& statement = statements_[literal];
    if (!statement) statement = std::make_unique<SQLite::Statement>(sql, literal);
    return Prepared(*statement);
}

}  // namespace assay::store
