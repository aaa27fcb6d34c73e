#include "chat/store/import.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/files/file.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "base/yaml/yaml.h"
#include "chat/context/plan.h"
#include "chat/document/folder.h"
#include "store/sqlite.h"

namespace dossier::chat {
namespace {

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);
constexpr std::size_t kMaxSession = 64 << 20;  // bytes of a session in YAML
constexpr std::size_t kMaxNodes = 1'000'000;
constexpr std::size_t kMostImported = 512u << 20;  // bytes read from one log
constexpr std::string_view kNothingOfThese =
    "neither the log of llm (SQLite), a session of aichat (YAML with messages) nor a conversation "
    "of ours (JSON with messages)";
constexpr std::size_t kMaxDepth = 100'000;  // messages of one conversation

// Data of a conversation before it becomes a Document.
struct Found {
  std::string program, id, model, title;
  std::string created, updated;  // in our time format
  std::vector<JsonObject> messages;
};

std::string IdOf(std::string_view program, std::string_view name) {
  std::string id = fmt::format("{}-{}", program, name);
  for (char& c : id) {
    if (!IsAlnum(c) && c != '-' && c != '_') c = '-';
  }
  return id.substr(0, kMaxIdLength);
}

// Converts "2026-11-25 15:43:18.171836+00:00", with T or a space, with or without a fraction, to
// our time format.
std::string TimeOf(std::string_view text, std::string_view otherwise) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00";
  if (text.size() < kShape.size()) return std::string(otherwise);
  std::string time(text.substr(0, kShape.size()));
  if (time[10] == ' ') time[10] = 'T';
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == '0' ? !IsDigit(time[i]) : time[i] != kShape[i]) return std::string(otherwise);
  }
  std::string fraction;
  if (text.size() > kShape.size() && text[kShape.size()] == '.') {
    for (const char c : text.substr(kShape.size() + 1)) {
      if (!IsDigit(c) || fraction.size() == 6) break;
      fraction += c;
    }
  }
  fraction.resize(6, '0');
  return fmt::format("{}.{}Z", time, fraction);
}

Result<Document> Make(Found found, std::string_view now) {
  const std::string created = found.created.empty() ? std::string(now) : found.created;
  const std::string id = IdOf(found.program, found.id);
  Document document = Document::Make(id, found.model, created);
  std::string title = TitleOf(found.title);
  for (JsonObject& message : found.messages) {
    if (title.empty() && FindString(Json(message), "role") == "user") {
      title = TitleOf(StoredMessage{"user", message}.Text());
    }
    document.AppendMessage(std::move(message));
  }
  document.SetUpdated(found.updated.empty() ? created : found.updated);
  DOSSIER_RETURN_IF_ERROR(document.Apply());
  JsonPatch& metadata = document.metadata();
  DOSSIER_RETURN_IF_ERROR(metadata.Set({"dossier", "version"}, 1));
  DOSSIER_RETURN_IF_ERROR(metadata.Set({"dossier", "title"}, Json(title)));
  DOSSIER_RETURN_IF_ERROR(
      metadata.Set({"dossier", "imported"},
                   JsonObject{{"program", found.program}, {"id", found.id}, {"at", now}}));
  return document;
}

JsonObject ImportedText(std::string_view role, std::string_view text) {
  return {{"role", role}, {"content", utf8::Sanitize(text)}};
}

JsonObject ImagePart(const std::string& url) {
  return {{"type", "image_url"}, {"image_url", JsonObject{{"url", url}}}};
}

// A text alone stays a plain text.
JsonObject PartsMessage(std::string_view role, std::string text, JsonArray images) {
  if (images.empty()) return ImportedText(role, text);
  if (!text.empty()) images.push_back(JsonObject{{"type", "text"}, {"text", utf8::Sanitize(text)}});
  return {{"role", role}, {"content", std::move(images)}};
}

void AddLine(std::string_view line, std::string* text) {
  if (!text->empty()) *text += "\n";
  *text += line;
}

// Describes a tool call and its result as text, because the tools are not available here.
std::string CallLine(std::string_view tool, std::string_view arguments) {
  return fmt::format("[tool_call {}{}{}]", tool, arguments.empty() ? "" : " ", arguments);
}
std::string ResultLine(std::string_view tool, std::string_view output, std::string_view failure) {
  std::string line = fmt::format("[tool_result {}]", tool);
  for (const std::string_view text : {output, failure}) {
    if (!text.empty()) AddLine(text, &line);
  }
  return line;
}

// The log of `llm` in both generations: `threads` and `turns` over hashed messages (since 0.32),
// and `conversations` and `responses` before.
class LlmLog {
 public:
  LlmLog(store::Database& db, std::string_view now) : db_(db), now_(now) {}

  Result<std::vector<Document>> Read() {
    std::vector<Document> out;
    DOSSIER_ASSIGN_OR_RETURN(const bool threads, Has("threads"));
    DOSSIER_ASSIGN_OR_RETURN(const bool conversations, Has("conversations"));
    if (!threads && !conversations) {
      return MakeError(ErrorCode::kDamaged, "it is a database, but not the log of llm");
    }
    DOSSIER_RETURN_IF_ERROR(RefuseMadeRows());
    std::vector<std::string> done;
    if (threads) DOSSIER_RETURN_IF_ERROR(ReadThreads(&done, &out));
    if (conversations) DOSSIER_RETURN_IF_ERROR(ReadConversations(done, &out));
    return out;
  }

 private:
  Result<bool> Has(std::string_view table) {
    DOSSIER_ASSIGN_OR_RETURN(
        store::Statement query,
        db_.Prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"));
    return query.With(table).Step();
  }

  // Views, virtual tables and generated columns could produce rows without end or values of any
  // size; stored ones are bounded by the file. llm has views and indexes of its own, which are not
  // read. What SQLite has parsed counts: a forged row of sqlite_master may claim to be a table.
  Status RefuseMadeRows() {
    constexpr std::string_view kRead =
        "t.name COLLATE NOCASE IN ('threads', 'turns', 'messages', 'parts', 'fragments', "
        "'attachments', 'conversations', 'responses', 'system_fragments', 'prompt_fragments', "
        "'prompt_attachments', 'tool_calls', 'tool_results')";
    constexpr std::string_view kMade[] = {
        "SELECT t.type, t.name FROM pragma_table_list t WHERE t.type <> 'table' AND {}",
        "SELECT 'generated column', c.name FROM pragma_table_list t, pragma_table_xinfo(t.name) c "
        "WHERE c.hidden IN (2, 3) AND {}"};
    for (const std::string_view text : kMade) {
      DOSSIER_ASSIGN_OR_RETURN(store::Statement query, db_.Prepare(ReplaceAll(text, "{}", kRead)));
      DOSSIER_ASSIGN_OR_RETURN(const bool found, query.Step());
      if (!found) continue;
      return MakeError(ErrorCode::kRefused,
                       "it has the {} {}, which is not of llm; import a copy without it",
                       query.Text(0) == "virtual" ? "virtual table" : query.Text(0), query.View(1));
    }
    return {};
  }

  // The next row, its bytes counted: one fragment may be named by many messages.
  Result<bool> Next(store::Statement* query) {
    DOSSIER_ASSIGN_OR_RETURN(const bool row, query->Step());
    if (row) bytes_ += query->RowBytes();
    if (bytes_ <= kMostImported) return row;
    return MakeError(ErrorCode::kTooLong, "the log holds more than {} MiB of messages",
                     kMostImported >> 20);
  }

  // For each thread, reads the longest chain that ends in its tip.
  Status ReadThreads(std::vector<std::string>* done, std::vector<Document>* out) {
    DOSSIER_ASSIGN_OR_RETURN(
        store::Statement threads,
        db_.Prepare("SELECT t.id, t.name, t.tip_message_hash, min(u.datetime_utc), "
                    "max(u.datetime_utc), (SELECT model FROM turns WHERE thread_id = t.id "
                    "ORDER BY datetime_utc DESC, id DESC LIMIT 1) FROM threads t "
                    "JOIN turns u ON u.thread_id = t.id GROUP BY t.id ORDER BY min(u.id)"));
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, Next(&threads));
      if (!row) return {};
      Found found{.program = "llm",
                  .id = threads.Text(0),
                  .model = threads.Text(5),
                  .title = threads.Text(1),
                  .created = TimeOf(threads.View(3), now_),
                  .updated = TimeOf(threads.View(4), now_),
                  .messages = {}};
      DOSSIER_RETURN_IF_ERROR(ReadChain(threads.Text(2), &found.messages));
      done->push_back(found.id);
      DOSSIER_ASSIGN_OR_RETURN(Document document, Make(std::move(found), now_));
      out->push_back(std::move(document));
    }
  }

  Status ReadChain(std::string hash, std::vector<JsonObject>* messages) {
    DOSSIER_ASSIGN_OR_RETURN(store::Statement query,
                             db_.Prepare("SELECT role, parent_hash FROM messages WHERE hash = ?"));
    std::set<std::string> seen;
    while (!hash.empty()) {
      if (messages->size() == kMaxDepth || !seen.insert(hash).second) {
        return MakeError(ErrorCode::kDamaged, "a chain of messages has no beginning");
      }
      DOSSIER_ASSIGN_OR_RETURN(const bool there, Next(&query.With(hash)));
      if (!there) return MakeError(ErrorCode::kDamaged, "message {} is missing", hash);
      const std::string role = query.Text(0);
      std::string parent = query.Text(1);
      DOSSIER_ASSIGN_OR_RETURN(JsonObject message, ReadMessage(role, hash));
      messages->push_back(std::move(message));
      hash = std::move(parent);
    }
    std::reverse(messages->begin(), messages->end());
    return {};
  }

  Result<JsonObject> ReadMessage(std::string_view role, const std::string& hash) {
    DOSSIER_ASSIGN_OR_RETURN(store::Statement query,
                             db_.Prepare("SELECT type, text, payload, tool_name FROM parts "
                                         "WHERE message_hash = ? ORDER BY position"));
    query.With(hash);
    std::string text;
    JsonArray images;
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, Next(&query));
      if (!row)
        return PartsMessage(role == "tool" ? "user" : role, std::move(text), std::move(images));
      const std::string type = query.Text(0);
      const auto payload = ReadValue(query.View(2));
      if (type == "text") {
        DOSSIER_ASSIGN_OR_RETURN(const std::string whole,
                                 query.IsNull(1) && payload ? JoinRefs(*payload) : query.Text(1));
        AddLine(whole, &text);
      } else if (type == "attachment" && payload) {
        const Json* attachment = Find(*payload, "attachment");
        DOSSIER_RETURN_IF_ERROR(
            AddAttachment(attachment ? TextAt(*attachment, "id") : "", &text, &images));
      } else if (type == "tool_call") {
        const Json* arguments = payload ? Find(*payload, "arguments") : nullptr;
        AddLine(CallLine(query.View(3), arguments ? ToJson(*arguments) : ""), &text);
      } else if (type == "tool_result") {
        const Json result = payload ? *payload : Json();
        AddLine(ResultLine(query.View(3), TextAt(result, "output"), TextAt(result, "exception")),
                &text);
        if (const Json* list = Find(result, "attachments"); list && list->is_array()) {
          for (const Json& one : list->get_array()) {
            DOSSIER_RETURN_IF_ERROR(AddAttachment(TextAt(one, "id"), &text, &images));
          }
        }
      } else if (type != "reasoning") {
        AddLine(fmt::format("[{} {}]", type, query.Text(3)), &text);
      }
    }
  }

  // {"text_ref": [{"fragment": 1}, {"literal": "…"}]}
  Result<std::string> JoinRefs(const Json& payload) {
    std::string out;
    const Json* refs = Find(payload, "text_ref");
    if (!refs || !refs->is_array()) return out;
    for (const Json& ref : refs->get_array()) {
      if (const auto literal = FindString(ref, "literal")) out += *literal;
      if (const auto fragment = FindInt(ref, "fragment")) {
        DOSSIER_ASSIGN_OR_RETURN(store::Statement query,
                                 db_.Prepare("SELECT content FROM fragments WHERE id = ?"));
        DOSSIER_ASSIGN_OR_RETURN(const bool there, Next(&query.With(*fragment)));
        if (there) out += query.Text(0);
      }
    }
    return out;
  }

  // An image with data or URL in the log becomes an image; everything else is named.
  Status AddAttachment(const std::string& id, std::string* text, JsonArray* images) {
    DOSSIER_ASSIGN_OR_RETURN(
        store::Statement query,
        db_.Prepare("SELECT type, path, url, content FROM attachments WHERE id = ?"));
    DOSSIER_ASSIGN_OR_RETURN(const bool there, Next(&query.With(id)));
    if (!there) return {};
    const std::string type = query.Text(0);
    const bool image = type.starts_with("image/");
    if (image && !query.IsNull(3)) {
      images->push_back(ImagePart(fmt::format("data:{};base64,{}", type, Base64(query.Bytes(3)))));
    } else if (image && !query.IsNull(2)) {
      images->push_back(ImagePart(query.Text(2)));
    } else {
      AddLine(fmt::format("[attachment {} {}]", type, query.Text(query.IsNull(1) ? 2 : 1)), text);
    }
    return {};
  }

  // Reads the older tables; threads that were already read are in both.
  Status ReadConversations(const std::vector<std::string>& done, std::vector<Document>* out) {
    DOSSIER_ASSIGN_OR_RETURN(
        store::Statement query,
        db_.Prepare("SELECT id, name, model FROM conversations c WHERE EXISTS "
                    "(SELECT 1 FROM responses WHERE conversation_id = c.id) ORDER BY id"));
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, Next(&query));
      if (!row) return {};
      Found found{.program = "llm",
                  .id = query.Text(0),
                  .model = query.Text(2),
                  .title = query.Text(1),
                  .created = {},
                  .updated = {},
                  .messages = {}};
      if (std::ranges::find(done, found.id) != done.end()) continue;
      DOSSIER_RETURN_IF_ERROR(ReadResponses(&found));
      DOSSIER_ASSIGN_OR_RETURN(Document document, Make(std::move(found), now_));
      out->push_back(std::move(document));
    }
  }

  Status ReadResponses(Found* found) {
    DOSSIER_ASSIGN_OR_RETURN(
        store::Statement query,
        db_.Prepare("SELECT id, system, prompt, response, datetime_utc, model FROM responses "
                    "WHERE conversation_id = ? ORDER BY datetime_utc, id"));
    query.With(found->id);
    std::string holds;  // the current system text
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, Next(&query));
      if (!row) return {};
      const std::string id = query.Text(0);
      found->updated = TimeOf(query.View(4), now_);
      if (found->created.empty()) found->created = found->updated;
      if (found->model.empty()) found->model = query.Text(5);
      DOSSIER_ASSIGN_OR_RETURN(std::string system, Fragments("system_fragments", id));
      AddLine(query.View(1), &system);
      // The log repeats the current text; a new one applies from here on.
      if (const std::string_view text = TrimSpace(system); !text.empty() && text != holds) {
        found->messages.push_back(ImportedText("system", text));
        holds = text;
      }
      DOSSIER_ASSIGN_OR_RETURN(std::string prompt, Fragments("prompt_fragments", id));
      if (!query.View(2).empty()) AddLine(query.View(2), &prompt);
      DOSSIER_RETURN_IF_ERROR(ToolLines("tool_results", "output", ResultOf, id, &prompt));
      JsonArray images;
      DOSSIER_RETURN_IF_ERROR(Attachments(id, &prompt, &images));
      found->messages.push_back(PartsMessage("user", std::move(prompt), std::move(images)));
      std::string answer = query.Text(3);
      DOSSIER_RETURN_IF_ERROR(ToolLines("tool_calls", "arguments", CallLine, id, &answer));
      found->messages.push_back(ImportedText("assistant", answer));
    }
  }

  static std::string ResultOf(std::string_view tool, std::string_view output) {
    return ResultLine(tool, output, "");
  }

  // Collects the tool lines of `table`: calls in a response, or results given to a prompt.
  Status ToolLines(std::string_view table, std::string_view column,
                   std::string (*line)(std::string_view tool, std::string_view value),
                   const std::string& response, std::string* text) {
    DOSSIER_ASSIGN_OR_RETURN(const bool there, Has(table));
    if (!there) return {};
    DOSSIER_ASSIGN_OR_RETURN(
        store::Statement query,
        db_.Prepare(fmt::format("SELECT name, {} FROM {} WHERE response_id = ? ORDER BY id", column,
                                table)));
    query.With(response);
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, Next(&query));
      if (!row) return {};
      AddLine(line(query.View(0), query.View(1)), text);
    }
  }

  Result<std::string> Fragments(std::string_view table, const std::string& response) {
    std::string out;
    DOSSIER_ASSIGN_OR_RETURN(const bool there, Has(table));
    if (!there) return out;
    DOSSIER_ASSIGN_OR_RETURN(
        store::Statement query,
        db_.Prepare(fmt::format("SELECT f.content FROM {} p JOIN fragments f ON f.id = "
                                "p.fragment_id WHERE p.response_id = ? ORDER BY p.\"order\"",
                                table)));
    query.With(response);
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, Next(&query));
      if (!row) return out;
      AddLine(query.View(0), &out);
    }
  }

  Status Attachments(const std::string& response, std::string* text, JsonArray* images) {
    DOSSIER_ASSIGN_OR_RETURN(const bool there, Has("prompt_attachments"));
    if (!there) return {};
    DOSSIER_ASSIGN_OR_RETURN(store::Statement query,
                             db_.Prepare("SELECT attachment_id FROM prompt_attachments "
                                         "WHERE response_id = ? ORDER BY \"order\""));
    query.With(response);
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, Next(&query));
      if (!row) return {};
      DOSSIER_RETURN_IF_ERROR(AddAttachment(query.Text(0), text, images));
    }
  }

  store::Database& db_;
  const std::string_view now_;
  std::size_t bytes_ = 0;  // number of bytes read
};

// Converts a message of an aichat session: a text, parts of text and image, or a form of its own.
JsonObject SessionMessage(const Json& message) {
  std::string role = TextAt(message, "role");
  if (role == "tool") role = "user";
  const Json* content = Find(message, "content");
  if (!content) return ImportedText(role, "");
  if (content->is_string()) return ImportedText(role, content->get_string());
  if (!content->is_array()) return ImportedText(role, TextAt(*content, "text"));
  std::string text;
  JsonArray images;
  for (const Json& part : content->get_array()) {
    const Json* image = Find(part, "image_url");
    const std::string url = image ? TextAt(*image, "url") : "";
    if (url.starts_with("data:") || url.starts_with("http")) {
      images.push_back(ImagePart(url));
    } else {
      AddLine(image ? fmt::format("[attachment {}]", url) : TextAt(part, "text"), &text);
    }
  }
  return PartsMessage(role, std::move(text), std::move(images));
}

// Reads a session of `aichat`. Messages that it has compressed come in full before the rest, which
// then begins with its summary.
Result<Document> ReadSession(std::string_view text, const std::string& path, std::string_view now) {
  DOSSIER_ASSIGN_OR_RETURN(
      const YamlNode root,
      ParseYaml(text, path, {.max_bytes = kMaxSession, .max_nodes = kMaxNodes}));
  const Json session = ToJsonValue(root);
  const Json* messages = Find(session, "messages");
  if (!messages || !messages->is_array()) {
    return MakeError(ErrorCode::kDamaged, "{}", kNothingOfThese);
  }
  Found found{.program = "aichat",
              .id = std::filesystem::path(path).stem().string(),
              .model = TextAt(session, "model"),
              .title = {},
              .created = {},
              .updated = {},
              .messages = {}};
  // "openai:gpt-4o"; a model tag may follow: "ollama:llama3:8b".
  if (const std::size_t colon = found.model.find(':'); colon != found.model.npos) {
    found.model[colon] = '/';
  }
  const Json* old = Find(session, "compressed_messages");
  const bool compressed = old && old->is_array() && !old->get_array().empty();
  if (compressed) {
    for (const Json& one : old->get_array()) found.messages.push_back(SessionMessage(one));
  }
  bool first = true;
  for (const Json& one : messages->get_array()) {
    const bool summary =
        compressed && std::exchange(first, false) && TextAt(one, "role") == "system";
    if (!summary) found.messages.push_back(SessionMessage(one));
  }
  return Make(std::move(found), now);
}

std::string StartOf(const std::string& path, std::size_t size) {
  std::ifstream in(path, std::ios::binary);
  std::string start(size, '\0');
  in.read(start.data(), static_cast<std::streamsize>(size));
  start.resize(static_cast<std::size_t>(in.gcount()));
  return start;
}

Result<Document> ReadOurs(std::string bytes, const std::string& path) {
  const std::string stem = std::filesystem::path(path).stem().string();
  const std::string id = CheckId(stem) ? stem : IdOf("conv", stem);
  DOSSIER_ASSIGN_OR_RETURN(Document document, Document::Parse(std::move(bytes), id));
  const bool ours = !document.id().empty() && document.ForeignKeys().empty();
  if (document.message_count() == 0 && !ours) {
    return MakeError(ErrorCode::kDamaged, "{}", kNothingOfThese);
  }
  if (document.id() != id) DOSSIER_RETURN_IF_ERROR(document.SetId(id));
  return document;
}

Result<std::vector<Document>> ReadKnown(const std::string& path, std::string_view now) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return MakeError(ErrorCode::kNotFound, "no such file");
  if (!std::filesystem::is_regular_file(status)) {
    return MakeError(ErrorCode::kUsage, "not a regular file");
  }
  const std::string start = StartOf(path, kSqliteMagic.size());
  if (start == kSqliteMagic) {
    DOSSIER_ASSIGN_OR_RETURN(store::Database db,
                             store::Database::Open(path, {.file = store::FileMode::kExisting}));
    return LlmLog(db, now).Read();
  }
  const bool json = TrimSpace(start).starts_with('{');
  DOSSIER_ASSIGN_OR_RETURN(std::string bytes,
                           ReadFile(path, json ? Document::kMaxBytes : kMaxSession));
  DOSSIER_ASSIGN_OR_RETURN(Document document,
                           json ? ReadOurs(std::move(bytes), path) : ReadSession(bytes, path, now));
  std::vector<Document> out;
  out.push_back(std::move(document));
  return out;
}

// Returns "PROGRAM ID" for an imported conversation; "" for our own.
std::string OriginOf(const Document& document) {
  const auto metadata = document.ReadMetadata();
  const Json* dossier = metadata ? Find(*metadata, "dossier") : nullptr;
  const Json* imported = dossier ? Find(*dossier, "imported") : nullptr;
  // A copy is independent.
  if (!imported || Find(*dossier, "forked_from")) return {};
  return TextAt(*imported, "program") + " " + TextAt(*imported, "id");
}

}  // namespace

Result<std::vector<Document>> ReadForeign(const std::string& path, std::string_view now) {
  auto found = ReadKnown(path, now);
  if (found || found.error().message.find(path) != std::string::npos) return found;
  return MakeError(found.error().code, "{}: {}", path, found.error().message);
}

Status FollowRenamed(const ConversationStore& store, std::vector<Document>* found) {
  std::map<std::string, std::string> names;  // the current name of each import
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> ids, store.Ids());
  for (const std::string& id : ids) {
    auto bytes = ReadConversation(store.folder(), id);
    if (!bytes || !*bytes) continue;
    const auto document = Document::Parse(std::move(**bytes), id);
    if (document) names.emplace(OriginOf(*document), id);
  }
  for (Document& document : *found) {
    const std::string origin = OriginOf(document);
    const auto name = names.find(origin);
    const bool renamed = !origin.empty() && name != names.end() &&
                         std::ranges::find(ids, document.name()) == ids.end();
    if (renamed) DOSSIER_RETURN_IF_ERROR(document.SetId(name->second));
  }
  return {};
}

}  // namespace dossier::chat
