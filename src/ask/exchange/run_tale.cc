#include "ask/exchange/run_tale.h"

#include <algorithm>
#include <map>

#include "base/text/parse.h"
#include "store/event_data.h"

namespace dossier::ask {
namespace {

bool IsTurn(std::string_view purpose) {
  return purpose == "root" || purpose == "direct" || purpose == "extract" || purpose == "repair";
}

// Returns the seconds from one journal time to another.
double Between(std::string_view from, std::string_view to) {
  const auto first = ParseTime(from), last = ParseTime(to);
  if (!first || !last) return 0;
  return static_cast<double>(std::chrono::duration_cast<Millis>(*last - *first).count()) / 1000;
}

TaleUsage UsageOf(const Json& data) {
  return {.input = FindInt(data, "input").value_or(0),
          .output = FindInt(data, "output").value_or(0),
          .cached = FindInt(data, "cached").value_or(0),
          .nano_usd = FindInt(data, "nano_usd")};
}

// Inserts the long texts of the field, which the journal stores elsewhere.
void PutTexts(store::Journal& journal, Json* value) {
  JsonObject* object = value->if_object();
  if (object && object->size() == 2 && object->contains("sha256") && object->contains("bytes")) {
    if (auto text = journal.ReadBody(*value)) *value = *text;
  } else if (object) {
    for (auto& [key, below] : *object) PutTexts(journal, &below);
  } else if (JsonArray* array = value->if_array()) {
    for (Json& below : *array) PutTexts(journal, &below);
  }
}

// Returns what an imported file contained.
JsonObject GivenOf(store::Journal& journal, const Json& data) {
  const Json* given = Find(data, "trajectory");
  if (!given || !given->is_object()) return {};
  Json whole = *given;
  PutTexts(journal, &whole);
  return std::move(whole.get_object());
}

class Reader {
 public:
  Reader(store::Journal& journal, RunTale* tale) : journal_(journal), tale_(*tale) {}

  Status Read(const store::Event& event);

 private:
  // The current position of a call.
  struct At {
    std::size_t index = 0;  // in the tale
    std::string turn_time;
    std::int64_t turn = 0;
    JsonObject given;
    std::string offered;
    // The position of code's requests by their id: turn, block (npos: outside blocks), request.
    struct Place {
      std::size_t turn, block, request;
    };
    std::map<std::int64_t, Place> requests;
    std::map<std::int64_t, std::string> sent;  // send times
    std::string asked_time;
  };

  At& Of(std::int64_t call) {
    const auto [at, added] = calls_.try_emplace(call);
    if (added) {
      at->second.index = tale_.calls.size();
      tale_.calls.push_back({.call = call, .parent = call == 0 ? -1 : 0});
    }
    return at->second;
  }
  std::vector<TaleTurn>& TurnsOf(At& at) { return tale_.calls[at.index].turns; }
  TaleTurn* TurnOf(At& at) { return TurnsOf(at).empty() ? nullptr : &TurnsOf(at).back(); }

  Status Text(const Json& data, std::string_view field, std::string* to) {
    const Json* body = Find(data, field);
    if (!body) return {};
    if (body->is_string()) {
      *to = body->get_string();
      return {};
    }
    if (const auto why = store::WhyLeftOut(*body); !why.empty()) {
      *to = why;
      return {};
    }
    DOSSIER_ASSIGN_OR_RETURN(*to, journal_.ReadBody(*body));
    return {};
  }

  Status Started(const store::Event& event, const Json& data) {
    tale_.started = event;
    if (Find(data, "trajectory")) tale_.started.data["trajectory"] = GivenOf(journal_, data);
    DOSSIER_RETURN_IF_ERROR(Text(data, "question", &tale_.question));
    tale_.calls[Of(0).index].model = TextAt(data, "model");
    return {};
  }

  Status CallStarted(const store::Event& event, const Json& data) {
    const std::int64_t parent = FindInt(data, "parent").value_or(0);
    TaleCall& call = tale_.calls[Of(event.call).index];
    call.depth = static_cast<int>(FindInt(data, "depth").value_or(call.depth));
    if (const auto model = FindString(data, "model")) call.model = *model;
    call.path = TextAt(data, "path");
    DOSSIER_RETURN_IF_ERROR(Text(data, "question", &call.question));
    if (event.call == 0 || call.parent > 0) return {};
    call.parent = parent;
    if (call.seq == 0) call.seq = event.seq;
    if (TaleTurn* turn = TurnOf(Of(parent)); turn && !turn->blocks.empty()) {
      auto& children = turn->blocks.back().children;
      if (std::ranges::find(children, event.call) == children.end()) {
        children.push_back(event.call);
      }
    }
    return {};
  }

  Status CallFinished(const store::Event& event, const Json& data) {
    TaleCall& call = tale_.calls[Of(event.call).index];
    call.status = TextAt(data, "status");
    return Text(data, "answer", &call.answer);
  }

  Status TurnStarted(const store::Event& event, const Json& data) {
    At& at = Of(event.call);
    at.turn = FindInt(data, "turn").value_or(at.turn + 1);
    at.turn_time = event.time;
    at.given = GivenOf(journal_, data);
    return {};
  }

  // A request that a killed process left without a reply is made again by the next process.
  TaleTurn& NextTurn(At& at) {
    std::vector<TaleTurn>& turns = TurnsOf(at);
    if (turns.empty() || !turns.back().finish.empty() || !turns.back().error.empty()) {
      turns.emplace_back();
    }
    turns.back() = TaleTurn();
    return turns.back();
  }

  Status RequestSent(const store::Event& event, const Json& data) {
    At& at = Of(event.call);
    const std::string purpose = TextAt(data, "purpose");
    if (!IsTurn(purpose)) return BesideSent(event, data, at);
    TaleTurn& turn = NextTurn(at);
    turn.turn = FindInt(data, "turn").value_or(at.turn);
    turn.purpose = purpose;
    turn.time = at.turn_time.empty() ? event.time : std::exchange(at.turn_time, "");
    turn.given = std::exchange(at.given, {});
    turn.tokens = FindInt(data, "tokens").value_or(0);
    const Json* sections = Find(data, "sections");
    for (const Json& one : sections && sections->is_array() ? sections->get_array() : JsonArray()) {
      const JsonArray* pair = one.if_array();
      if (!pair || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_int64()) continue;
      turn.sections.emplace_back((*pair)[0].get_string(), (*pair)[1].get_int64());
    }
    const Json* messages = Find(data, "messages");
    for (const Json& one : messages && messages->is_array() ? messages->get_array() : JsonArray()) {
      DOSSIER_ASSIGN_OR_RETURN(TaleMessage message, MessageOf(one));
      turn.prompt.push_back(std::move(message));
    }
    return {};
  }

  // A message is written once and later referred to by its number.
  Result<TaleMessage> MessageOf(const Json& one) {
    if (one.is_int64()) {
      const auto told = told_.find(one.get_int64());
      return told == told_.end() ? TaleMessage{.role = "user", .text = "(unknown)"} : told->second;
    }
    TaleMessage message{.role = TextAt(one, "role")};
    DOSSIER_RETURN_IF_ERROR(Text(one, "body", &message.text));
    if (const auto number = FindInt(one, "n")) told_[*number] = message;
    return message;
  }

  Status BesideSent(const store::Event& event, const Json& data, At& at) {
    TaleRequest request{.id = FindInt(data, "request").value_or(-1),
                        .purpose = TextAt(data, "purpose"),
                        .model = TextAt(data, "model"),
                        .seq = event.seq,
                        .given = GivenOf(journal_, data)};
    const Json* messages = Find(data, "messages");
    if (messages && messages->is_array()) {
      for (const Json& one : messages->get_array()) {
        DOSSIER_ASSIGN_OR_RETURN(const TaleMessage message, MessageOf(one));
        request.prompt = message.text;
      }
    } else {
      DOSSIER_RETURN_IF_ERROR(Text(data, "messages", &request.prompt));
    }
    std::vector<TaleTurn>& turns = TurnsOf(at);
    if (turns.empty()) turns.push_back({.time = event.time});
    TaleTurn& turn = turns.back();
    const bool of_code = request.id >= 0 && !turn.blocks.empty();
    auto& list = of_code ? turn.blocks.back().requests : turn.asides;
    const std::size_t block = of_code ? turn.blocks.size() - 1 : std::string::npos;
    at.sent[request.id] = event.time;
    const auto again = std::ranges::find(list, request.id, &TaleRequest::id);
    const auto place = static_cast<std::size_t>(again - list.begin());
    if (request.id >= 0 && again != list.end()) {
      list[place] = std::move(request);
      return {};
    }
    at.requests[request.id] = {turns.size() - 1, block, list.size()};
    list.push_back(std::move(request));
    return {};
  }

  TaleRequest* RequestOf(At& at, std::int64_t id) {
    const auto place = at.requests.find(id);
    if (place == at.requests.end()) return nullptr;
    TaleTurn& turn = TurnsOf(at)[place->second.turn];
    return place->second.block == std::string::npos
               ? &turn.asides[place->second.request]
               : &turn.blocks[place->second.block].requests[place->second.request];
  }

  Status ReplyReceived(const store::Event& event, const Json& data) {
    At& at = Of(event.call);
    const std::int64_t id = FindInt(data, "request").value_or(-1);
    if (id < 0 && IsTurn(TextAt(data, "purpose"))) {
      TaleTurn* turn = TurnOf(at);
      if (!turn) return {};
      turn->usage = UsageOf(data);
      turn->finish = FindString(data, "finish").value_or("stop");
      turn->seconds = Between(turn->time, event.time);
      return Text(data, "body", &turn->reply);
    }
    if (Find(data, "from_cache")) DOSSIER_RETURN_IF_ERROR(BesideSent(event, data, at));
    TaleRequest* request = RequestOf(at, id);
    if (!request) return {};
    if (Find(data, "from_cache")) request->from = TaleRequest::From::kCache;
    request->usage = UsageOf(data);
    request->seconds = Between(at.sent[id], event.time);
    return Text(data, "body", &request->reply);
  }

  Status RequestFailed(const store::Event& event, const Json& data) {
    At& at = Of(event.call);
    const std::int64_t id = FindInt(data, "request").value_or(-1);
    if (Find(data, "unsent")) DOSSIER_RETURN_IF_ERROR(RequestSent(event, data));
    const bool beside = id >= 0 || !IsTurn(TextAt(data, "purpose"));
    if (TaleRequest* request = beside ? RequestOf(at, id) : nullptr) {
      request->error = TextAt(data, "message");
      request->seconds = Between(at.sent[id], event.time);
    } else if (TaleTurn* turn = beside ? nullptr : TurnOf(at)) {
      turn->error = TextAt(data, "message");
      turn->seconds = Between(turn->time, event.time);
    }
    return {};
  }

  Status BlockStarted(const store::Event& event, const Json& data) {
    TaleTurn* turn = TurnOf(Of(event.call));
    if (!turn) return {};
    const std::int64_t number = FindInt(data, "block").value_or(0);
    if (turn->blocks.empty() || turn->blocks.back().number != number) turn->blocks.emplace_back();
    TaleBlock& block = turn->blocks.back();
    block = {.number = number};
    return Text(data, "code", &block.code);
  }

  Status BlockDone(const store::Event& event, const Json& data) {
    TaleTurn* turn = TurnOf(Of(event.call));
    if (!turn) return {};
    const std::int64_t number = FindInt(data, "block").value_or(0);
    if (turn->blocks.empty() || turn->blocks.back().number != number) {
      turn->blocks.push_back({.number = number});  // refused before it ran
    }
    TaleBlock& block = turn->blocks.back();
    block.status = TextAt(data, "status");
    block.seconds = static_cast<double>(FindInt(data, "wall_ms").value_or(0)) / 1000;
    block.given = GivenOf(journal_, data);
    if (const Json* list = Find(data, "variables"); list && list->is_array()) {
      block.variables = list->get_array();
    }
    turn->seconds = std::max(turn->seconds, Between(turn->time, event.time));
    DOSSIER_RETURN_IF_ERROR(Text(data, "error", &block.error));
    if (block.error.empty()) block.error = TextAt(data, "refused");
    return Text(data, "output", &block.output);
  }

  Status Offered(const store::Event& event, const Json& data) {
    return Text(data, "value", &Of(event.call).offered);
  }

  Status Accepted(const store::Event& event, const Json& data) {
    At& at = Of(event.call);
    TaleTurn* turn = TurnOf(at);
    if (!turn) return {};
    turn->answer = TextAt(data, "source") == "extract" ? turn->reply : at.offered;
    turn->seconds = std::max(turn->seconds, Between(turn->time, event.time));
    return {};
  }

  Status Note(const store::Event& event, const Json& data) {
    std::string text;
    if (event.type == "warning") {
      const Json* what = Find(data, "data");
      text = TextAt(data, "code");
      if (what && what->is_string()) text += ": " + std::string(what->get_string());
    } else if (event.type == "answer.refused") {
      text = "answer refused (" + TextAt(data, "gate") + "): " + TextAt(data, "reason");
    } else if (event.type == "limit.reached") {
      text = TextAt(data, "reason");
    } else {
      text = event.type;
    }
    TaleTurn* turn = TurnOf(Of(event.call));
    (turn ? turn->notes : tale_.notes).push_back(std::move(text));
    return {};
  }

  Status Finished(const store::Event& event, const Json& data) {
    tale_.finished = event.data;
    tale_.status = TextAt(data, "status");
    tale_.error = TextAt(data, "error");
    tale_.seconds = static_cast<double>(FindInt(data, "ms").value_or(0)) / 1000;
    DOSSIER_RETURN_IF_ERROR(Text(data, "answer", &tale_.answer));
    // A single plain call has no separate step that accepts an answer.
    TaleTurn* turn = TurnOf(Of(0));
    if (turn && turn->purpose == "direct" && tale_.status == "final") turn->answer = tale_.answer;
    return {};
  }

  store::Journal& journal_;
  RunTale& tale_;
  std::map<std::int64_t, At> calls_;
  std::map<std::int64_t, TaleMessage> told_;
};

Status Reader::Read(const store::Event& event) {
  using ReadOne = Status (Reader::*)(const store::Event& event, const Json& data);
  static constexpr std::pair<std::string_view, ReadOne> kReaders[] = {
      {"run.started", &Reader::Started},
      {"call.started", &Reader::CallStarted},
      {"call.finished", &Reader::CallFinished},
      {"turn.started", &Reader::TurnStarted},
      {"request.sent", &Reader::RequestSent},
      {"reply.received", &Reader::ReplyReceived},
      {"request.failed", &Reader::RequestFailed},
      {"block.started", &Reader::BlockStarted},
      {"block.done", &Reader::BlockDone},
      {"answer.offered", &Reader::Offered},
      {"answer.accepted", &Reader::Accepted},
      {"answer.refused", &Reader::Note},
      {"warning", &Reader::Note},
      {"limit.reached", &Reader::Note},
      {"run.resumed", &Reader::Note},
      {"run.forked", &Reader::Note},
      {"replay.diverged", &Reader::Note},
      {"compaction.done", &Reader::Note},
      {"attempt.started", &Reader::Note},
      {"run.finished", &Reader::Finished}};
  const Json data(event.data);
  for (const auto& [type, read] : kReaders) {
    if (event.type == type) return (this->*read)(event, data);
  }
  return {};
}

}  // namespace

void TaleUsage::Add(const TaleUsage& more) {
  input += more.input;
  output += more.output;
  cached += more.cached;
  if (more.nano_usd) nano_usd = nano_usd.value_or(0) + *more.nano_usd;
}

TaleUsage TaleCall::usage() const {
  TaleUsage sum;
  for (const TaleTurn& turn : turns) {
    sum.Add(turn.usage);
    for (const TaleRequest& request : turn.asides) sum.Add(request.usage);
    for (const TaleBlock& block : turn.blocks) {
      for (const TaleRequest& request : block.requests) {
        if (request.from == TaleRequest::From::kModel) sum.Add(request.usage);
      }
    }
  }
  return sum;
}

std::int64_t TaleCall::answered() const {
  using From = TaleRequest::From;
  std::int64_t count = 0;
  const auto add = [&count](const std::vector<TaleRequest>& requests) {
    count += std::ranges::count_if(requests, [](const TaleRequest& request) {
      return request.from == From::kModel && request.error.empty();
    });
  };
  for (const TaleTurn& turn : turns) {
    if (!turn.purpose.empty() && turn.error.empty()) ++count;
    add(turn.asides);
    for (const TaleBlock& block : turn.blocks) add(block.requests);
  }
  return count;
}

Result<RunTale> ReadTale(store::Journal& journal, const std::string& run) {
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<store::Event> events, journal.Events(run));
  const std::string kind = TextAt(Json(events.front().data), "kind");
  if (!kind.empty() && kind != "ask" && kind != "serve") {
    return MakeError(ErrorCode::kUsage, "{} is a run of {}; this is for runs of ask and serve", run,
                     kind);
  }
  RunTale tale{.run = run};
  Reader reader(journal, &tale);
  for (const store::Event& event : events) DOSSIER_RETURN_IF_ERROR(reader.Read(event));
  if (tale.status.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(tale.status, journal.StatusOf(run));
  }
  return tale;
}

}  // namespace dossier::ask
