#include "ask/run/asked_session.h"

#include <algorithm>
#include <map>
#include <set>

#include "ask/run/recorded_run.h"
#include "base/json/find_uint.h"
#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kLongestName = 64;

bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name[0] != '.' &&
         std::ranges::all_of(name, [](char c) { return IsWordByte(c) || c == '.' || c == '-'; });
}

// Reads one run: the code that it ran, and its transcript.
class PastReader {
 public:
  explicit PastReader(store::Journal& journal) : journal_(journal) {}

  Result<PastQuestion> Read(const std::string& run) {
    past_ = {.run = run};
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<store::Event> events, journal_.Events(run));
    for (const store::Event& event : events) {
      if (event.call == 0) DOSSIER_RETURN_IF_ERROR(Take(event.type, Json(event.data)));
    }
    for (const auto& [block, code] : code_) {
      if (ran_.contains(block)) past_.blocks.push_back(code);
    }
    return std::move(past_);
  }

 private:
  Status Take(std::string_view type, const Json& data) {
    if (type == "run.started") {
      if (const auto seed = FindUint(data, "seed")) past_.seed = *seed;
      return Add("question", Find(data, "question"), &past_.question);
    }
    if (type == "files.collected") past_.files = PastQuestion::Files::kWritten;
    const std::int64_t block = FindInt(data, "block").value_or(0);
    if (type == "block.started") {
      DOSSIER_ASSIGN_OR_RETURN(code_[block], Text(Find(data, "code")));
    } else if (type == "block.done") {
      // A stopped block would have to be stopped again, so its names are lost.
      const auto status = FindString(data, "status").value_or("");
      if (status == "ok" || status == "final" || status == "error") ran_.insert(block);
      return Add("output", Find(data, "output"), nullptr);
    } else if (type == "reply.received" && FindString(data, "purpose") == "root") {
      return Add("reply", Find(data, "body"), nullptr);
    } else if (type == "run.finished") {
      return Add("answer", Find(data, "answer"), nullptr);
    }
    return {};
  }

  Result<std::string> Text(const Json* body) const {
    if (!body || body->is_null()) return std::string();
    if (const auto* text = body->if_string()) return std::string(*text);
    return journal_.ReadBody(*body);
  }

  Status Add(std::string_view what, const Json* body, std::string* to) {
    DOSSIER_ASSIGN_OR_RETURN(std::string text, Text(body));
    if (!TrimSpace(text).empty()) {
      past_.transcript += fmt::format("[{}]\n{}\n\n", what, TrimSpace(text));
    }
    if (to) *to = std::move(text);
    return {};
  }

  store::Journal& journal_;
  PastQuestion past_;
  std::map<std::int64_t, std::string> code_;
  std::set<std::int64_t> ran_;
};

}  // namespace

Result<AskedSession> ReadSession(store::Journal& journal, const WantedSession& wanted,
                                 const ContextOptions& options, const CancelToken& cancel) {
  if (!IsName(wanted.name)) {
    return MakeError(
        ErrorCode::kUsage,
        "--session {}: a name has letters, digits, \".\", \"-\" and \"_\", and at most "
        "{} of them",
        wanted.name, kLongestName);
  }
  AskedSession session{.name = wanted.name};
  DOSSIER_ASSIGN_OR_RETURN(std::vector<std::string> runs,
                           journal.RunsStartedWith({{"session", wanted.name}}));
  std::ranges::reverse(runs);
  for (const std::string& run : runs) {
    if (run == wanted.before) break;
    DOSSIER_ASSIGN_OR_RETURN(const store::Event started, journal.EventAt(run, 1));
    const std::string dialect = TextAt(Json(started.data), "dialect");
    if (dialect != sandbox::DialectName(wanted.dialect)) {
      return MakeError(ErrorCode::kUsage,
                       "--session {}: its names are in {}: give --dialect {}, or another session",
                       wanted.name, dialect, dialect);
    }
    DOSSIER_ASSIGN_OR_RETURN(PastQuestion past, PastReader(journal).Read(run));
    DOSSIER_ASSIGN_OR_RETURN(const auto sources, RecordedSources(journal, run));
    DOSSIER_ASSIGN_OR_RETURN(past.context, LoadContext(sources, options, cancel));
    session.past.push_back(std::move(past));
  }
  return session;
}

}  // namespace dossier::ask
