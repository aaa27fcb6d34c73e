#include "cli/conversations/conversations_view.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "chat/context/plan.h"
#include "cli/terminal/terminal.h"
#include "tokens/counter/counter.h"

namespace dossier::cli {
namespace {

using chat::Stored;

std::string Upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return IsLower(c) ? static_cast<char>(c - 'a' + 'A') : c; });
  return out;
}

// Returns "2026-11-21 12:47" for "2026-11-21T12:47:15.250000Z".
std::string ShortTime(std::string_view time) {
  std::string out(time.substr(0, 16));
  std::replace(out.begin(), out.end(), 'T', ' ');
  return out;
}

// Returns "image image/png, 3 B" for a data URL; an address unchanged.
std::string ImageLine(std::string_view url) {
  constexpr std::string_view kData = "data:";
  const std::size_t comma = url.find(',');
  if (!url.starts_with(kData) || comma == url.npos) return fmt::format("image {}", url);
  const std::string_view type = url.substr(kData.size(), url.find(';') - kData.size());
  const std::string_view base64 = url.substr(comma + 1);
  const std::size_t bytes = base64.size() / 4 * 3;
  const auto padding = static_cast<std::size_t>(std::ranges::count(base64, '='));
  return fmt::format("image {}, {}", type, FormatSize(bytes - std::min(bytes, padding)));
}

// Describes the parts of a message that are not text.
std::vector<std::string> MediaOf(const Json& message) {
  std::vector<std::string> out;
  const Json* content = Find(message, "content");
  if (!content || !content->is_array()) return out;
  for (const Json& part : content->get_array()) {
    if (FindString(part, "text")) continue;
    const Json* image = Find(part, "image_url");
    out.push_back(image ? ImageLine(TextAt(*image, "url")) : TextAt(part, "type"));
  }
  return out;
}

// Returns the text, and a line for each part that is not text.
std::string WithMedia(const ShownMessage& message) {
  std::string out;
  for (const std::string& one : message.media) out += fmt::format("[{}]\n", one);
  return out + message.text;
}

}  // namespace

std::vector<ShownMessage> MessagesOf(const Stored& stored, std::optional<std::int64_t> turn) {
  std::size_t begin = 0, end = stored.messages.size();
  if (turn) {
    begin = chat::TurnBegin(stored, *turn);
    end = chat::TurnBegin(stored, *turn + 1);
  }
  std::vector<ShownMessage> out;
  for (std::size_t i = begin; i < end; ++i) {
    const chat::StoredMessage& one = stored.messages[i];
    out.push_back({i, one.role, one.Text(), MediaOf(one.json)});
  }
  const std::int64_t turns = chat::TurnCount(stored);
  for (const chat::TurnRecord& record : stored.turns) {
    // Numbers in a file may be wrong, so they are checked.
    if (record.reply == chat::TurnRecord::Reply::kComplete || record.n < 1 || record.n > turns) {
      continue;
    }
    const std::size_t last = chat::TurnBegin(stored, record.n + 1);
    if (last > begin && last <= end) out[last - 1 - begin].reply = record.reply;
  }
  return out;
}

std::vector<ShownMessage> MessagesAsSent(const Stored& stored) {
  std::vector<ShownMessage> out;
  if (const chat::StoredMessage* system = stored.System()) {
    out.push_back({0, "system", system->Text()});
  }
  std::vector<std::string> warnings;
  constexpr std::int64_t kKeepTurns = 2;  // stored compactions keep their own; this limits new ones
  for (const assembly::Turn& turn : chat::HistoryView(stored, stored.compaction, kKeepTurns,
                                                      *tokens::MakeByteCounter(), &warnings)) {
    out.push_back({out.size(), std::string(assembly::RoleName(turn.role)), turn.Text()});
  }
  return out;
}

void PrintList(const std::vector<chat::Listed>& list, std::ostream& out) {
  std::size_t id_width = 0, model_width = 0;
  for (const auto& one : list) {
    id_width = std::max(id_width, one.id.size());
    model_width = std::max(model_width, one.model.size());
  }
  constexpr std::size_t kWidest = 40;
  id_width = std::min(id_width, kWidest);
  model_width = std::min(model_width, kWidest);
  fmt::memory_buffer text;
  for (const auto& one : list) {
    fmt::format_to(std::back_inserter(text), "{:<{}}  {:<{}}  {:>4}  {}  {}\n", one.id, id_width,
                   Safe(one.model), model_width, one.messages, ShortTime(Safe(one.updated_at)),
                   Safe(one.title));
  }
  out << std::string_view(text.data(), text.size());
}

Json ListJson(const std::vector<chat::Listed>& list) {
  JsonArray rows;
  for (const auto& one : list) {
    rows.push_back(JsonObject{{"id", one.id},
                              {"model", one.model},
                              {"messages", one.messages},
                              {"created_at", one.created_at},
                              {"updated_at", one.updated_at},
                              {"title", one.title}});
  }
  return JsonObject{{"schema", "dossier.conversations/1"}, {"conversations", std::move(rows)}};
}

void PrintHeader(const Stored& stored, std::ostream& out) {
  out << "Model: " << Safe(stored.model) << "\nCreated: " << Safe(stored.created_at)
      << "\nUpdated: " << Safe(stored.updated_at) << "\nMessages: " << stored.messages.size()
      << "\n";
  if (stored.total_tokens.value_or(0) > 0) {
    out << "Tokens: " << GroupCount(*stored.total_tokens) << "\n";
  }
  out << "\n";
}

void PrintMessages(const std::vector<ShownMessage>& messages, std::ostream& out) {
  for (const ShownMessage& message : messages) {
    const bool whole = message.reply == chat::TurnRecord::Reply::kComplete;
    out << "[" << message.number << "] " << Safe(Upper(message.role))
        << (whole ? ":\n" : " (incomplete):\n") << Safe(WithMedia(message)) << "\n\n";
  }
}

void PrintUsage(const Stored& stored, std::ostream& out) {
  for (const chat::TurnRecord& turn : stored.turns) {
    const auto number = [&turn](std::string_view key) {
      return GroupCount(FindInt(turn.usage, key).value_or(0));
    };
    out << fmt::format("turn {}: {}, {} in ({} cached) + {} out\n", turn.n, Safe(turn.model),
                       number("input"), number("cached_read"), number("output"));
  }
}

void PrintCompactions(const Stored& stored, std::ostream& out) {
  for (const chat::CompactionRecord& record : stored.compaction) {
    out << fmt::format("{}: messages {}-{}, {}, {} -> {} tokens, {}\n", record.id, record.from,
                       record.to, Safe(record.method), GroupCount(record.tokens_before),
                       GroupCount(record.tokens_after), Safe(record.at));
    if (!record.text.empty()) out << Safe(record.text) << "\n";
  }
}

Json ShowJson(const Stored& stored, const std::vector<ShownMessage>& messages) {
  JsonArray list, turns, compaction;
  for (const ShownMessage& message : messages) {
    list.push_back(
        JsonObject{{"n", message.number}, {"role", message.role}, {"text", message.text}});
    if (message.media.empty()) continue;
    list.back().get_object()["media"] = JsonArray(message.media.begin(), message.media.end());
  }
  for (const auto& turn : stored.turns) turns.push_back(chat::ToJson(turn));
  for (const auto& record : stored.compaction) compaction.push_back(chat::ToJson(record));
  return JsonObject{{"schema", "dossier.conversation/1"},
                    {"id", stored.id},
                    {"model", stored.model},
                    {"created_at", stored.created_at},
                    {"updated_at", stored.updated_at},
                    {"title", stored.title},
                    {"total_tokens", stored.total_tokens.value_or(0)},
                    {"messages", std::move(list)},
                    {"context", stored.context ? chat::ToJson(*stored.context) : Json()},
                    {"turns", std::move(turns)},
                    {"compaction", std::move(compaction)}};
}

std::string ToMarkdown(const Stored& stored, const std::vector<ShownMessage>& messages) {
  std::string out = "# " + (stored.title.empty() ? stored.id : stored.title) + "\n";
  for (const ShownMessage& message : messages) {
    std::string role = message.role;
    if (!role.empty() && role[0] >= 'a' && role[0] <= 'z') {
      role[0] = static_cast<char>(role[0] - 'a' + 'A');
    }
    out += "\n## " + role + "\n\n" + WithMedia(message) + "\n";
  }
  return out;
}

Result<ConversationFormat> ExportFormatOf(std::string_view format, bool json) {
  if (json && !format.empty() && format != "json") {
    return MakeError(ErrorCode::kUsage, "--json and --format {} exclude each other", format);
  }
  if (json) return ConversationFormat::kObject;
  if (format == "json") return ConversationFormat::kFile;
  return format == "jsonl" ? ConversationFormat::kLines : ConversationFormat::kMarkdown;
}

void Exporter::Add(const chat::Loaded& loaded) {
  if (format_ == ConversationFormat::kMarkdown && !text_.empty()) text_ += '\n';
  if (format_ == ConversationFormat::kObject && !text_.empty()) text_ += ',';
  text_ += One(loaded);
  if (format_ == ConversationFormat::kFile || format_ == ConversationFormat::kLines) text_ += '\n';
}

std::string Exporter::Text() const {
  if (format_ != ConversationFormat::kObject) return text_;
  return fmt::format("{{\"schema\":\"dossier.conversation-export/1\",\"conversations\":[{}]}}\n",
                     text_);
}

JsonArray Exporter::Messages(const chat::Stored& stored) const {
  JsonArray list;
  if (view_ == ExportView::kAsSent) {
    for (const ShownMessage& one : MessagesAsSent(stored)) {
      list.push_back(JsonObject{{"role", one.role}, {"content", one.text}});
    }
  } else {
    for (const chat::StoredMessage& one : stored.messages) list.push_back(one.json);
  }
  return list;
}

std::string Exporter::One(const chat::Loaded& loaded) const {
  const chat::Stored& stored = loaded.stored;
  const bool as_sent = view_ == ExportView::kAsSent;
  if (format_ == ConversationFormat::kMarkdown) {
    return ToMarkdown(stored,
                      as_sent ? MessagesAsSent(stored) : MessagesOf(stored, /*turn=*/std::nullopt));
  }
  if (format_ == ConversationFormat::kLines)
    return ToJson(JsonObject{{"messages", Messages(stored)}});
  if (!as_sent) return loaded.document.Render().Joined();
  return ToJson(JsonObject{{"id", loaded.id}, {"messages", Messages(stored)}});
}

namespace {

std::string Row(std::string_view block, std::string_view source, std::string_view bytes,
                std::string_view tokens, std::string_view cut, std::string_view zone) {
  const std::string name = utf8::CleanForTerminal(block);
  return fmt::format("{:<24}  {:<8}  {:>10}  {:>8}  {:>10}  {}\n", name, source, bytes, tokens, cut,
                     zone);
}

const JsonArray* ListAt(const Json& json, std::string_view key) {
  const Json* list = Find(json, key);
  return list ? list->if_array() : nullptr;
}

}  // namespace

std::string ContextTable(const chat::TurnPlan& plan, std::span<const chat::ContextBlock> blocks) {
  std::string out = Row("block", "source", "bytes", "tokens", "cut", "zone");
  const JsonArray* list = plan.context.if_array();
  for (std::size_t i = 0; list && i < list->size() && i < blocks.size(); ++i) {
    const Json& block = (*list)[i];
    const std::int64_t cut = FindInt(blocks[i].record.notes, "cut_bytes").value_or(0);
    out += Row(FindString(block, "name").value_or(""), "command",
               GroupCount(FindInt(block, "bytes").value_or(0)),
               GroupCount(FindInt(block, "tokens").value_or(0)), cut > 0 ? GroupCount(cut) : "-",
               FindString(block, "zone").value_or(""));
  }
  if (const JsonArray* sections = ListAt(plan.request.report, "sections")) {
    for (const Json& section : *sections) {
      const std::int64_t tokens = FindInt(section, "tokens").value_or(0);
      if (tokens == 0) continue;
      out += Row(FindString(section, "name").value_or(""), "section", "", GroupCount(tokens), "-",
                 FindString(section, "zone").value_or(""));
    }
  }
  return out;
}

std::string FrozenTable(const chat::ContextRecord& context) {
  std::string out = Row("block", "source", "bytes", "tokens", "cut", "outcome");
  for (const chat::CommandRecord& command : context.commands) {
    const std::int64_t cut = FindInt(command.notes, "cut_bytes").value_or(0);
    out += Row(command.name, command.origin, GroupDigits(command.bytes), GroupCount(command.tokens),
               cut > 0 ? GroupCount(cut) : "-", command.outcome);
  }
  return out;
}

Json ContextSections(const Json& report) {
  JsonArray out;
  if (const JsonArray* sections = ListAt(report, "sections")) {
    for (const Json& section : *sections) {
      out.push_back(JsonObject{{"name", FindString(section, "name").value_or("")},
                               {"zone", FindString(section, "zone").value_or("")},
                               {"tokens", FindInt(section, "tokens").value_or(0)}});
    }
  }
  return out;
}

}  // namespace dossier::cli
