// Attempts at a sample that did not succeed and give way to another one.
#include "suite/store/attempt.hpp"

#include <SQLiteCpp/Statement.h>

namespace assay::store {

void remove_attempt(SQLite::Database& sql, const std::string& sample) {
    for (const char* statement :
         {"UPDATE main.annotation SET sample = NULL, "
          "session = (SELECT session FROM main.sample WHERE id = main.annotation.sample), "
          "words = words || ' (about sample ' || sample || ', since tried again)' WHERE sample = ?",
          "DELETE FROM main.sample WHERE id = ?"}) {
        SQLite::Statement run(sql, statement);
        run.bind(1, sample);
        run.exec();
    }
    sql.exec(
        "DELETE FROM main.artifact_blob WHERE sha256 NOT IN (SELECT sha256 FROM main.artifact)");
}

}  // namespace assay::store
