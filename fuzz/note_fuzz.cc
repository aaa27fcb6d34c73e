// Notes: any bytes are one, and marking one red changes nothing but its status.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sources/header/note.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const sources::Note note = sources::ParseNote("scratch/a__b__c.md", text);
  if (note.id.empty()) std::abort();
  const std::string red = sources::WithStatusRed(text);
  if (size < sources::kMaxNoteBytes / 2) {
    const sources::Note marked = sources::ParseNote("scratch/a__b__c.md", red);
    if (!marked.red() || marked.targets != note.targets || marked.rank != note.rank) std::abort();
  }
  if (sources::NoteBody(text).size() > size) std::abort();
  static_cast<void>(sources::FirstHeading(text));
  return 0;
}
