// The form of a cell: which words, numbers, codes and marks follow each other in it. A cell that
// has the form of all cells below it may be no name of their column.
//
//   FormOfCell("a@x.org") == FormOfCell("carl@z.org");
//
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_DESCRIPTION_CELL_FORM_H_
#define DOSSIER_INSPECT_DESCRIPTION_CELL_FORM_H_

#include <string>
#include <string_view>

namespace dossier::inspect {

struct CellForm {
  std::string text;   // w: a word, n: a number, C4: a code of four bytes; marks as they are
  bool names = true;  // false: names do not have it; an address, a path, a code, several numbers
  bool operator==(const CellForm&) const = default;
};

// Spaces at both ends are not looked at.
CellForm FormOfCell(std::string_view cell);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_CELL_FORM_H_
