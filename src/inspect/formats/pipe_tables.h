// Finds tables of pipes below a rule, as in Markdown and in the output of psql and mysql.
//
//   | id | name |
//   |----|------|
//   | 1  | Ada  |
//
//   for (const PipeTable& table : FindPipeTables(text)) Use(table.names, table.rows);
//
// A table ends at the first line without a pipe. Tables in fenced code are ignored. Thread-safety:
// pure functions.

#ifndef DOSSIER_INSPECT_FORMATS_PIPE_TABLES_H_
#define DOSSIER_INSPECT_FORMATS_PIPE_TABLES_H_

#include <string>
#include <string_view>
#include <vector>

#include "inspect/description/description.h"
#include "inspect/description/record_range.h"
#include "inspect/formats/table_footer.h"
#include "inspect/json/text_records.h"

namespace dossier::inspect {

// The field with the table's name in each row, if there are several tables.
inline constexpr std::string_view kRowTable = "_table";

struct PipeTable {
  std::string title;               // the heading above it; "table 2" if there is none
  std::vector<std::string> names;  // unique column names
  std::uint64_t begin = 0;         // bytes: start of its header
  std::vector<ByteRange> rows;     // each a line without its end; without the footer
  TableFooter footer;
};

// Returns the tables that have rows, in order; their titles differ.
std::vector<PipeTable> FindPipeTables(std::string_view text);

// Returns names and values of the row that starts at byte `begin` of the text. If there are several
// tables, the first field is kRowTable.
TextRecord ReadPipeRow(const std::vector<PipeTable>& tables, std::string_view row,
                       std::uint64_t begin);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_PIPE_TABLES_H_
