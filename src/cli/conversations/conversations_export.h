// `dossier conversations export`: conversations as text for people and for other programs.
//
//   Exporter exporter(ExportFormat::kMarkdown, ExportView::kStored);
//   exporter.Add(loaded);
//   out << exporter.Text();
//
// Thread-safety: none needed.

#ifndef DOSSIER_CLI_CONVERSATIONS_CONVERSATIONS_EXPORT_H_
#define DOSSIER_CLI_CONVERSATIONS_CONVERSATIONS_EXPORT_H_

#include <string>
#include <string_view>

#include "base/json/json.h"
#include "chat/store/store.h"

namespace dossier::cli {

enum class ExportFormat {
  kMarkdown,  // md
  kFile,      // json: one file after the other, byte for byte
  kLines,     // jsonl: {"messages":[…]} a line
  kObject,    // --json: one object for all, which holds the files byte for byte
};
// Errors: kUsage if both are given and do not agree. `format` is md, json, jsonl or "", which is
// md.
Result<ExportFormat> ExportFormatOf(std::string_view format, bool json);

enum class ExportView { kStored, kAsSent };  // kAsSent: as a request holds it, compacted

class Exporter {
 public:
  Exporter(ExportFormat format, ExportView view) : format_(format), view_(view) {}

  void Add(const chat::Loaded& loaded);
  std::string Text() const;

 private:
  JsonArray Messages(const chat::Stored& stored) const;
  std::string One(const chat::Loaded& loaded) const;

  const ExportFormat format_;
  const ExportView view_;
  std::string text_;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CONVERSATIONS_CONVERSATIONS_EXPORT_H_
