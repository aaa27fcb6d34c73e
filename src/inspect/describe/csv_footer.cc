#include "inspect/describe/csv_footer.h"

#include "inspect/records/record_table.h"

namespace dossier::inspect {

TableFooter FindFooter(std::string_view text, const TableShape& shape) {
  const Rows rows(text, shape.delimiter, shape.comment, shape.marked_row_cells);
  std::vector<ByteRange> ranges;
  std::size_t position = 0;
  TakeHeader(text, shape, &position);
  for (ByteRange range; rows.Next(&position, &range);) ranges.push_back(range);
  return FindFooter({.rows = ranges.size(), .columns = shape.columns, .row = [&](std::size_t row) {
                       return FooterRow{ranges[row].begin,
                                        ParseCells(Slice(text, ranges[row]), shape.delimiter)};
                     }});
}

}  // namespace dossier::inspect
