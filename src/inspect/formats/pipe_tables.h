// Tables of pipes below a rule, as in Markdown, and as psql and mysql print them.
//
//   | id | name |
//   |----|------|
//   | 1  | Ada  |
//
//   for (const PipeTable& table : FindPipeTables(text)) Use(table.names, table.rows);
//
// A table ends at the first line without a pipe. Fenced code holds none. Thread-safety: pure
// functions.

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

// The field of a row that names its table, where there are several.
inline constexpr std::string_view kRowTable = "_table";

struct PipeTable {
  std::string title;               // of the heading above it; "table 2" if there is none
  std::vector<std::string> names;  // of its columns, unique
  std::uint64_t begin = 0;         // bytes: where its header starts
  std::vector<ByteRange> rows;     // each a line without its end; those of the footer are not here
  TableFooter footer;
};

// Those with rows, in order; titles differ.
std::vector<PipeTable> FindPipeTables(std::string_view text);

// Names and values of the row that starts at byte `begin` of the text. With several tables the
// first is kRowTable.
TextRecord ReadPipeRow(const std::vector<PipeTable>& tables, std::string_view row,
                       std::uint64_t begin);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_PIPE_TABLES_H_
