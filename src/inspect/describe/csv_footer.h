// Finds lines after the rows of a CSV table that are not rows.
//
//   TableFooter footer = FindFooter("id;name;sum\n1;a;2\n2;b;3\n;Total;5\n", shape);
//   footer.rows.size() == 1;
//
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_DESCRIBE_CSV_FOOTER_H_
#define DOSSIER_INSPECT_DESCRIBE_CSV_FOOTER_H_

#include <string_view>

#include "inspect/description/description.h"
#include "inspect/formats/table_footer.h"

namespace dossier::inspect {

// `text` is a whole table, starting at its first row.
TableFooter FindFooter(std::string_view text, const TableShape& shape);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIBE_CSV_FOOTER_H_
