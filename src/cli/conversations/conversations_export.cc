#include "cli/conversations/conversations_export.h"

#include "cli/conversations/conversations_view.h"

namespace dossier::cli {

using chat::Loaded;
using chat::Stored;

Result<ExportFormat> ExportFormatOf(std::string_view format, bool json) {
  if (json && !format.empty() && format != "json") {
    return MakeError(ErrorCode::kUsage, "--json and --format {} exclude each other", format);
  }
  if (json) return ExportFormat::kObject;
  if (format == "json") return ExportFormat::kFile;
  return format == "jsonl" ? ExportFormat::kLines : ExportFormat::kMarkdown;
}

void Exporter::Add(const Loaded& loaded) {
  if (format_ == ExportFormat::kMarkdown && !text_.empty()) text_ += '\n';
  if (format_ == ExportFormat::kObject && !text_.empty()) text_ += ',';
  text_ += One(loaded);
  if (format_ == ExportFormat::kFile || format_ == ExportFormat::kLines) text_ += '\n';
}

std::string Exporter::Text() const {
  if (format_ != ExportFormat::kObject) return text_;
  return fmt::format("{{\"schema\":\"dossier.conversation-export/1\",\"conversations\":[{}]}}\n",
                     text_);
}

JsonArray Exporter::Messages(const Stored& stored) const {
  JsonArray list;
  if (view_ == ExportView::kAsSent) {
    for (const ShownMessage& one : MessagesAsSent(stored)) {
      list.push_back(JsonObject{{"role", one.role}, {"content", one.text}});
    }
  } else {
    for (const chat::Message& one : stored.messages) list.push_back(one.json);
  }
  return list;
}

std::string Exporter::One(const Loaded& loaded) const {
  const Stored& stored = loaded.stored;
  const bool as_sent = view_ == ExportView::kAsSent;
  if (format_ == ExportFormat::kMarkdown) {
    return ToMarkdown(stored,
                      as_sent ? MessagesAsSent(stored) : MessagesOf(stored, /*turn=*/std::nullopt));
  }
  if (format_ == ExportFormat::kLines) return ToJson(JsonObject{{"messages", Messages(stored)}});
  if (!as_sent) return loaded.document.Render().Joined();
  return ToJson(JsonObject{{"id", loaded.id}, {"messages", Messages(stored)}});
}

}  // namespace dossier::cli
