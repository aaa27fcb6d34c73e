#include "inspect/description/cell_form.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kShortestCode = 3;  // bytes: Q1 and T2 may well be names

bool IsOfRun(char c) {
  return IsLetter(c) || IsDigit(c) || static_cast<unsigned char>(c) >= 0x80 || c == '.' ||
         c == '-' || c == '_' || c == '+';
}

// Adds a run of letters and digits; whether it is a word.
bool AddRun(std::string_view run, CellForm* form) {
  const bool digits = std::ranges::any_of(run, IsDigit);
  const bool all_digits = std::ranges::all_of(run, IsDigit);
  const bool capitals =
      std::ranges::all_of(run, [](char c) { return IsDigit(c) || (c >= 'A' && c <= 'Z'); });
  if (all_digits) {
    form->text += 'n';
    return false;
  }
  if (digits && capitals && run.size() >= kShortestCode) {
    form->text += 'C' + std::to_string(run.size());
    form->names = false;
    return false;
  }
  form->text += 'w';
  return true;
}

}  // namespace

CellForm FormOfCell(std::string_view cell) {
  cell = TrimSpace(cell);
  CellForm form;
  bool numbers = !cell.empty();  // and spaces, nothing else
  for (std::size_t at = 0; at < cell.size();) {
    std::size_t end = at;
    while (end < cell.size() && IsOfRun(cell[end])) ++end;
    if (end > at) {
      if (AddRun(cell.substr(at, end - at), &form)) numbers = false;
      at = end;
      continue;
    }
    const char c = cell[at++];
    if (c == '@' || c == '/' || c == ':') form.names = false;
    numbers = numbers && c == ' ';
    if (c != ' ' || !form.text.ends_with(' ')) form.text += c;
  }
  if (numbers) form.names = false;
  return form;
}

}  // namespace dossier::inspect
