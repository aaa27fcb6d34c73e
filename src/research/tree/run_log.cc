#include "research/tree/run_log.h"

#include <unistd.h>

#include <algorithm>
#include <functional>

#include "base/files/file.h"
#include "base/hash.h"
#include "store/event_data.h"

namespace dossier::research {
namespace {

constexpr std::string_view kPlace = "place";
constexpr std::string_view kPromptSent = "call.sent", kReplied = "call.replied",
                           kOfNoNode = "run";  // "run/LABEL/…": belongs to no node

// The events that a resume reads for each finished node and round.
constexpr std::string_view kReplayed[] = {"node.created", "node.finished", "round.selected"};

std::string_view NodeOf(std::string_view key) { return key.substr(0, key.find('/')); }

Result<std::unique_ptr<store::Journal>> OpenJournal(const std::string& folder,
                                                    std::shared_ptr<const Clock> clock) {
  return store::Journal::Open(folder,
                              {.clock = std::move(clock), .file = std::string(ResearchLog::kFile)});
}

// True for {"sha256": …, "bytes": …} alone: what the journal stores in place of a long text.
bool IsBody(const Json& value) {
  const auto* object = value.if_object();
  if (!object || object->size() != 2 || !FindInt(value, "bytes")) return false;
  return IsSha256Hex(FindString(value, "sha256").value_or(""));
}

// Long texts are their owner's alone: somebody else who looks at the run does without them.
enum class Reader { kWriter, kOnlooker };

Reader ReaderOf(const std::string& folder) {
  return access(folder.c_str(), W_OK) == 0 ? Reader::kWriter : Reader::kOnlooker;
}

// A missing body stays as it is: whoever reads the text then reports the fault.
void PutTextsBack(Json& value, store::Journal& journal, Reader reader) {
  if (IsBody(value)) {
    auto text = journal.ReadBody(value);
    const bool not_ours = !text && text.error().code == ErrorCode::kPermission;
    if (text || (not_ours && reader == Reader::kOnlooker)) value = text.value_or("");
  } else if (auto* object = value.if_object()) {
    for (auto&& member : *object) PutTextsBack(member.value(), journal, reader);
  } else if (auto* array = value.if_array()) {
    for (Json& element : *array) PutTextsBack(element, journal, reader);
  }
}

}  // namespace

ResearchLog::ResearchLog(std::string folder, std::unique_ptr<store::Journal> journal,
                         std::shared_ptr<const Clock> clock, Watch watch)
    : folder_(std::move(folder)),
      journal_(std::move(journal)),
      watch_(std::move(watch)),
      log_({.journal = journal_,
            .clock = std::move(clock),
            .watch = [this](const store::Event& event) -> Status {
              See(event);
              return {};
            },
            .failure = driver::RunLogSetting::Failure::kEnds,
            .seen = watch_ ? driver::RunLogSetting::Seen::kAsKept
                           : driver::RunLogSetting::Seen::kAsGiven}) {}

void ResearchLog::See(const store::Event& event) {
  const Json* place = Find(event.data, kPlace);
  const std::string key(place && place->is_string() ? place->get_string() : "");
  {
    const std::lock_guard lock(mutex_);
    if (!key.empty()) ahead_.clear();  // the replay is over
    Count(event.type, key);
    if (event.type == kReplied) {
      const Json* usage = Find(event.data, "usage");
      AddUsageAt(key, usage ? ReadReplyUsage(*usage) : model::Usage());
    }
  }
  if (watch_) watch_(event);
}

Result<std::unique_ptr<ResearchLog>> ResearchLog::Start(const std::string& folder,
                                                        JsonObject started,
                                                        std::shared_ptr<const Clock> clock,
                                                        Watch watch) {
  if (!clock) clock = SystemClock();
  DOSSIER_ASSIGN_OR_RETURN(auto journal, OpenJournal(folder, clock));
  DOSSIER_ASSIGN_OR_RETURN(const auto runs, journal->List({}, 1));
  if (!runs.empty()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "{} holds the run {} already; `dossier research resume` goes on with it",
                     folder, runs.front().run);
  }
  std::unique_ptr<ResearchLog> log(
      new ResearchLog(folder, std::move(journal), clock, std::move(watch)));
  DOSSIER_RETURN_IF_ERROR(log->log_.Start(std::move(started)));
  log->run_ = log->log_.run();
  return log;
}

Result<std::unique_ptr<ResearchLog>> ResearchLog::Reopen(const std::string& folder,
                                                         std::shared_ptr<const Clock> clock,
                                                         Watch watch,
                                                         const store::Journal::SeeEvent& see) {
  if (!clock) clock = SystemClock();
  const std::string path = fmt::format("{}/{}", folder, kFile);
  if (!Exists(path))
    return MakeError(ErrorCode::kNotFound, "no run in {}: {} is not there", folder, path);
  DOSSIER_ASSIGN_OR_RETURN(auto journal, OpenJournal(folder, clock));
  DOSSIER_ASSIGN_OR_RETURN(const auto runs, journal->List({}, 1));
  if (runs.empty()) return MakeError(ErrorCode::kNotFound, "{} holds no run", path);
  std::unique_ptr<ResearchLog> log(
      new ResearchLog(folder, std::move(journal), clock, std::move(watch)));
  log->run_ = runs.front().run;
  log->by_key_.reserve(static_cast<std::size_t>(runs.front().events));
  DOSSIER_RETURN_IF_ERROR(log->ForEach([&](const store::StoredEvent& event) -> Status {
    DOSSIER_RETURN_IF_ERROR(log->Read(event));
    return see ? see(event) : Status();
  }));
  log->log_.Resume(log->run_, log->events_);
  return log;
}

// Called before anybody else has the log.
Status ResearchLog::Read(const store::StoredEvent& event) {
  const std::string key = KeyOf(event.data);
  Count(event.type, key);
  if (event.type == kReplied) {
    DOSSIER_ASSIGN_OR_RETURN(const model::Usage usage, ReplyUsage(event.data));
    AddUsageAt(key, usage);
  }
  if (std::ranges::find(kReplayed, event.type) != std::end(kReplayed)) {
    ahead_.emplace(event.seq, Ahead{std::string(event.time), std::string(event.data)});
  }
  return {};
}

// 128 bits, so that the keys of any run do not collide.
ResearchLog::KeyHash ResearchLog::HashOf(std::string_view type, std::string_view key) {
  std::uint64_t fnv = 14695981039346656037ULL;
  for (const std::string_view part : {type, key}) {
    fnv = (fnv ^ part.size()) * 1099511628211ULL;
    for (const char c : part) fnv = (fnv ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return {std::hash<std::string_view>()(key), fnv};
}

// Called with the mutex held, or before anybody else has the log.
void ResearchLog::Count(std::string_view type, std::string_view key) {
  ++events_;
  if (key.empty()) return;
  const bool first = by_key_.try_emplace(HashOf(type, key), events_).second;
  if (type != kPromptSent || !first) return;
  ++sent_.try_emplace(std::string(NodeOf(key)), 0).first->second;
}

// As Count.
void ResearchLog::AddUsageAt(std::string_view key, const model::Usage& usage) {
  usage_[std::string(NodeOf(key))].Add(usage);
}

model::UsageSum ResearchLog::UsageOf(std::string_view node) const {
  const std::lock_guard lock(mutex_);
  const auto found = usage_.find(node.empty() ? kOfNoNode : node);
  return found == usage_.end() ? model::UsageSum() : found->second;
}

model::UsageSum ResearchLog::UsageOutside(const std::set<std::string, std::less<>>& nodes) const {
  model::UsageSum sum;
  const std::lock_guard lock(mutex_);
  for (const auto& [node, usage] : usage_) {
    if (!nodes.contains(node)) sum.Add(usage);
  }
  return sum;
}

std::int64_t ResearchLog::PromptsSent(std::string_view node) const {
  const std::lock_guard lock(mutex_);
  const auto found = sent_.find(node.empty() ? kOfNoNode : node);
  return found == sent_.end() ? 0 : found->second;
}

std::optional<std::int64_t> ResearchLog::NumberOf(std::string_view type,
                                                  std::string_view key) const {
  const KeyHash hash = HashOf(type, key);
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(hash);
  return found == by_key_.end() ? std::nullopt : std::optional(found->second);
}

bool ResearchLog::Has(std::string_view type, std::string_view key) const {
  return NumberOf(type, key).has_value();
}

Result<std::optional<store::Event>> ResearchLog::Recorded(std::string_view type,
                                                          std::string_view key) const {
  const std::optional<std::int64_t> number = NumberOf(type, key);
  if (!number) return std::optional<store::Event>();
  DOSSIER_ASSIGN_OR_RETURN(store::Event event, EventAt(*number, type));
  Json data(std::move(event.data));
  PutTextsBack(data, *journal_, ReaderOf(folder_));
  event.data = std::move(data.get_object());
  return std::optional(std::move(event));
}

Result<store::Event> ResearchLog::EventAt(std::int64_t number, std::string_view type) const {
  std::optional<Ahead> read;
  {
    const std::lock_guard lock(mutex_);
    const auto found = ahead_.find(number);
    if (found != ahead_.end()) read = found->second;
  }
  if (!read) return journal_->EventAt(run_, number);
  return ParseEvent({.seq = number, .time = read->time, .type = type, .data = read->data});
}

Result<store::Event> ResearchLog::ParseEvent(const store::StoredEvent& stored) const {
  DOSSIER_ASSIGN_OR_RETURN(Json data, ParseJson(stored.data, store::kMaxEventDepth + 1));
  if (!data.is_object()) {
    return MakeError(ErrorCode::kDamaged, "journal: event {} is no object", stored.seq);
  }
  return store::Event{.run = run_,
                      .seq = stored.seq,
                      .time = std::string(stored.time),
                      .type = std::string(stored.type),
                      .data = std::move(data.get_object())};
}

Status ResearchLog::Add(std::string_view type, std::string_view key, JsonObject data) {
  if (!key.empty()) data[kPlace] = store::CleanText(key);
  return log_.Add(type, std::move(data));
}

Result<std::vector<store::Event>> ResearchLog::EventsOf(std::string_view type) const {
  std::vector<store::Event> events;
  DOSSIER_RETURN_IF_ERROR(ForEach([&](const store::StoredEvent& stored) -> Status {
    if (stored.type != type) return {};
    DOSSIER_ASSIGN_OR_RETURN(store::Event event, ParseEvent(stored));
    events.push_back(std::move(event));
    return {};
  }));
  return events;
}

Status ResearchLog::ForEach(const store::Journal::SeeEvent& see) const {
  return journal_->ForEachEvent(run_, see);
}

JsonObject ResearchLog::Whole(const JsonObject& data) const {
  Json value(data);
  PutTextsBack(value, *journal_, ReaderOf(folder_));
  return std::move(value.get_object());
}

model::Usage ReplyUsage(const Json& data) {
  const Json* usage = Find(data, "usage");
  return usage ? ReadReplyUsage(*usage) : model::Usage();
}

// The rest is not parsed: usage contains only numbers, so its first brace ends it.
Result<model::Usage> ReplyUsage(std::string_view data) {
  constexpr std::string_view kStart = R"("usage":{)";
  const std::size_t at = data.find(kStart);
  if (at == std::string_view::npos) return model::Usage();
  const std::size_t begin = at + kStart.size() - 1;
  const std::string_view usage = data.substr(begin, data.find('}', begin) + 1 - begin);
  DOSSIER_ASSIGN_OR_RETURN(const Json read, ParseJson(usage, store::kMaxEventDepth + 1));
  return ReadReplyUsage(read);
}

// It is the last member, where Add puts it: nothing else of the text need be read. A quote inside a
// value is escaped, so the name cannot occur there in this form.
std::string KeyOf(std::string_view data) {
  constexpr std::string_view kStart = R"("place":")", kEnd = R"("})";
  if (!data.ends_with(kEnd)) return {};
  const std::string_view rest = data.substr(0, data.size() - kEnd.size());
  const std::size_t quote = rest.rfind('"') + 1;
  const std::string_view plain = rest.substr(quote);
  if (rest.substr(0, quote).ends_with(kStart) && plain.find('\\') == std::string_view::npos) {
    return std::string(plain);
  }
  if (data.rfind(kStart) == std::string_view::npos) return {};
  const auto parsed = ParseJson(data, store::kMaxEventDepth + 1);
  return parsed ? TextAt(*parsed, kPlace) : std::string();
}

}  // namespace dossier::research
