#include "host_object.h"

#include <js/Array.h>
#include <js/Conversions.h>
#include <js/ErrorReport.h>
#include <js/Exception.h>
#include <js/Object.h>
#include <js/Proxy.h>
#include <js/String.h>
#include <jsfriendapi.h>

#include <algorithm>

#include "values.h"

namespace dossier::worker {
namespace {

constexpr std::size_t kStep = 64u << 10;
constexpr std::size_t kMostRead = 1000;  // parts of the texts that are told apart in one block

bool IsLead(char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }
// A code point of four bytes is two units.
std::uint64_t UnitsOf(std::string_view text) {
  std::uint64_t units = 0;
  for (const char c : text) units += IsLead(c) + (static_cast<unsigned char>(c) >= 0xF0u);
  return units;
}

HostState& StateOf(JSContext* cx) { return *static_cast<HostState*>(JS_GetContextPrivate(cx)); }

bool Fail(JSContext* cx, std::string_view message) {
  JS_ReportErrorUTF8(cx, "%.*s", static_cast<int>(message.size()), message.data());
  return false;
}

std::string TextArgument(JSContext* cx, const JS::CallArgs& args, unsigned index) {
  JS::RootedString text(cx, args.get(index).isString() ? args.get(index).toString() : nullptr);
  return text ? TextOf(cx, text) : std::string();
}

std::uint64_t NumberArgument(const JS::CallArgs& args, unsigned index) {
  const double number = args.get(index).isNumber() ? args.get(index).toNumber() : 0;
  return number > 0 ? static_cast<std::uint64_t>(number) : 0;
}

// The context that an argument names; null, with an exception, for another number.
const MappedContext* ContextArgument(JSContext* cx, const JS::CallArgs& args) {
  const auto& contexts = StateOf(cx).session.contexts;
  const std::uint64_t index = NumberArgument(args, 0);
  if (index < contexts.size()) return &contexts[index];
  Fail(cx, "there is no such document");
  return nullptr;
}

UnitIndex& IndexArgument(JSContext* cx, const JS::CallArgs& args) {
  return StateOf(cx).indexes[NumberArgument(args, 0)];
}

void NotePart(HostState& state, std::size_t context, std::uint64_t at, std::uint64_t length) {
  state.touched = true;
  if (!state.read.empty()) {
    sandbox::ReadPart& last = state.read.back();
    if (last.context == context && last.at + last.length == at) {
      last.length += length;
      return;
    }
  }
  if (state.read.size() < kMostRead) state.read.push_back({context, at, length});
}

bool Write(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  StateOf(cx).session.capture->Write(TextArgument(cx, args, 0));
  args.rval().setUndefined();
  return true;
}

bool Utf8Length(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  JSLinearString* text =
      args.get(0).isString() ? JS_EnsureLinearString(cx, args.get(0).toString()) : nullptr;
  if (!text) return Fail(cx, "utf8Length takes a string");
  args.rval().setNumber(static_cast<double>(JS::GetDeflatedUTF8StringLength(text)));
  return true;
}

struct Request {
  std::string method, raw;
  JsonObject args;
};

bool ReadRequest(JSContext* cx, const JS::CallArgs& args, Request* request) {
  StateOf(cx).touched = true;
  request->method = TextArgument(cx, args, 0);
  JS::RootedValue value(cx, args.get(1));
  Result<Json> json = ToJsonValue(cx, value, request->method);
  if (!json) return Fail(cx, json.error().message);
  if (json->is_object()) request->args = std::move(json->get_object());
  if (!args.get(2).isObject()) return true;
  JS::RootedObject list(cx, &args.get(2).toObject());
  std::uint32_t count = 0;
  if (!JS::GetArrayLength(cx, list, &count)) return false;
  JS::RootedString text(cx);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!JS_GetElement(cx, list, i, &value)) return false;
    if (!value.isString()) continue;
    text = value.toString();
    request->raw += TextOf(cx, text);
  }
  return true;
}

bool Call(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  Request request;
  if (!ReadRequest(cx, args, &request)) return false;
  JSObject* promise = StateOf(cx).engine->BeginCall(
      std::move(request.method), std::move(request.args), std::move(request.raw));
  if (!promise) return false;
  args.rval().setObject(*promise);
  return true;
}

bool Ask(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  Request request;
  if (!ReadRequest(cx, args, &request)) return false;
  Engine& engine = *StateOf(cx).engine;
  const CallOutcome outcome =
      engine.bridge().Call(std::move(request.method), std::move(request.args),
                           std::move(request.raw), 1, [&engine] { return engine.interrupted(); });
  if (outcome.kind != CallOutcome::Kind::kOk) return engine.ThrowOutcome(outcome);
  return FromJsonValue(cx, outcome.value, outcome.raw, args.rval());
}

bool Sql(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  HostState& state = StateOf(cx);
  state.touched = true;
  const std::string query = TextArgument(cx, args, 0);
  JS::RootedValue values(cx, args.get(1));
  const Result<Json> params = ToJsonValue(cx, values, "params");
  if (!params) return Fail(cx, params.error().message);
  if (!params->is_array()) return Fail(cx, "params must be a list");
  Engine& engine = *state.engine;
  const CallOutcome outcome = state.session.sql->Query(
      query, params->get_array(), engine.bridge(), 1, [&engine] { return engine.interrupted(); });
  if (outcome.kind != CallOutcome::Kind::kOk) return engine.ThrowOutcome(outcome);
  return FromJsonValue(cx, outcome.value, {}, args.rval());
}

bool Contexts(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  HostState& state = StateOf(cx);
  JsonArray list;
  for (std::size_t i = 0; i < state.session.contexts.size(); ++i) {
    const sandbox::ContextText& context = state.session.contexts[i].description();
    list.push_back(JsonObject{{"name", context.name},
                              {"bytes", context.bytes},
                              {"units", state.indexes[i].units()},
                              {"meta", context.meta}});
  }
  return FromJsonValue(cx, Json(std::move(list)), {}, args.rval());
}

bool Text(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  const MappedContext* context = ContextArgument(cx, args);
  if (!context) return false;
  const std::uint64_t size = context->bytes().size();
  const std::uint64_t at = std::min(NumberArgument(args, 1), size);
  const std::uint64_t length = std::min(NumberArgument(args, 2), size - at);
  NotePart(StateOf(cx), NumberArgument(args, 0), at, length);
  JSString* text = MakeString(cx, context->bytes().substr(at, length));
  if (!text) return false;
  args.rval().setString(text);
  return true;
}

bool Whole(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  const MappedContext* context = ContextArgument(cx, args);
  if (!context) return false;
  HostState& state = StateOf(cx);
  const std::uint64_t index = NumberArgument(args, 0);
  NotePart(state, index, 0, context->bytes().size());
  if (!state.texts[index]) {
    JSString* text = MakeString(cx, context->bytes());
    if (!text) return false;
    state.texts[index] = text;
    // Sessions that are opened later are forked from a process that holds it.
    state.session.bridge->ReportContextText();
  }
  args.rval().setString(state.texts[index]);
  return true;
}

bool ToBytes(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  if (!ContextArgument(cx, args)) return false;
  args.rval().setNumber(
      static_cast<double>(IndexArgument(cx, args).ToByte(NumberArgument(args, 1))));
  return true;
}

bool ToUnits(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  if (!ContextArgument(cx, args)) return false;
  args.rval().setNumber(
      static_cast<double>(IndexArgument(cx, args).ToUnit(NumberArgument(args, 1))));
  return true;
}

bool NoteRead(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  NotePart(StateOf(cx), NumberArgument(args, 0), NumberArgument(args, 1), NumberArgument(args, 2));
  args.rval().setUndefined();
  return true;
}

bool Features(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  return FromJsonValue(cx, Json(StateOf(cx).session.features), {}, args.rval());
}

// Without an exception: nothing that code wrote can go on behind it.
bool Hand(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  Handed handed{.form = TextArgument(cx, args, 0), .text = TextArgument(cx, args, 1)};
  JS::RootedValue value(cx, args.get(2));
  if (!value.isUndefined()) {
    Result<Json> json = ToJsonValue(cx, value, "answer");
    if (!json) return Fail(cx, json.error().message);
    handed.value = std::move(*json);
  }
  StateOf(cx).engine->Hand(std::move(handed));
  return false;
}

bool SetTimer(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  if (!args.get(0).isObject()) return Fail(cx, "a timer needs a function");
  JS::RootedObject callback(cx, &args.get(0).toObject());
  std::uint32_t id = 0;
  const double ms = args.get(1).isNumber() ? args.get(1).toNumber() : 0;
  if (!StateOf(cx).engine->SetTimer(callback, ms, &id)) return false;
  args.rval().setNumber(id);
  return true;
}

bool ClearTimer(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  StateOf(cx).engine->ClearTimer(static_cast<std::uint32_t>(NumberArgument(args, 0)));
  args.rval().setUndefined();
  return true;
}

bool Now(JSContext*, unsigned argc, JS::Value* vp) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  JS::CallArgsFromVp(argc, vp).rval().setNumber(
      std::chrono::duration<double, std::milli>(now).count());
  return true;
}

bool Promise(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  args.rval().setUndefined();
  if (!args.get(0).isObject()) return true;
  JS::RootedObject promise(cx, &args.get(0).toObject());
  if (!JS::IsPromiseObject(promise)) return true;
  const JS::PromiseState state = JS::GetPromiseState(promise);
  const bool pending = state == JS::PromiseState::Pending;
  JS::RootedValueArray<2> pair(cx);
  JSString* name = JS_NewStringCopyZ(cx, pending                                ? "pending"
                                         : state == JS::PromiseState::Fulfilled ? "fulfilled"
                                                                                : "rejected");
  if (!name) return false;
  pair[0].setString(name);
  if (!pending) pair[1].set(JS::GetPromiseResult(promise));
  JSObject* list = JS::NewArrayObject(cx, pair);
  if (list) args.rval().setObject(*list);
  return list != nullptr;
}

bool IsProxy(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  static_cast<void>(cx);
  args.rval().setBoolean(args.get(0).isObject() && js::IsProxy(&args.get(0).toObject()));
  return true;
}

bool Evaluate(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  if (!args.get(0).isString()) return Fail(cx, "evaluate takes a string");
  JS::RootedString code(cx, args.get(0).toString());
  const std::string file = TextArgument(cx, args, 1);
  return StateOf(cx).engine->Evaluate(code, file.c_str(), static_cast<int>(NumberArgument(args, 2)),
                                      args.rval());
}

// The class, file and line that the engine itself noted for an error, whatever code made of its
// properties: [line, file, message]; undefined for other values.
bool ErrorPlace(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  args.rval().setUndefined();
  if (!args.get(0).isObject()) return true;
  JS::RootedObject error(cx, &args.get(0).toObject());
  const JSErrorReport* report = JS_ErrorFromException(cx, error);
  if (!report) return true;
  const JsonArray place{report->lineno, report->filename ? report->filename : "",
                        report->message() ? report->message().c_str() : ""};
  return FromJsonValue(cx, Json(place), {}, args.rval());
}

constexpr JSFunctionSpec kFunctions[] = {JS_FN("write", Write, 1, 0),
                                         JS_FN("utf8Length", Utf8Length, 1, 0),
                                         JS_FN("call", Call, 3, 0),
                                         JS_FN("ask", Ask, 3, 0),
                                         JS_FN("sql", Sql, 2, 0),
                                         JS_FN("contexts", Contexts, 0, 0),
                                         JS_FN("text", Text, 3, 0),
                                         JS_FN("whole", Whole, 1, 0),
                                         JS_FN("toBytes", ToBytes, 2, 0),
                                         JS_FN("toUnits", ToUnits, 2, 0),
                                         JS_FN("noteRead", NoteRead, 3, 0),
                                         JS_FN("features", Features, 0, 0),
                                         JS_FN("hand", Hand, 3, 0),
                                         JS_FN("setTimer", SetTimer, 2, 0),
                                         JS_FN("clearTimer", ClearTimer, 1, 0),
                                         JS_FN("now", Now, 0, 0),
                                         JS_FN("promise", Promise, 1, 0),
                                         JS_FN("isProxy", IsProxy, 1, 0),
                                         JS_FN("evaluate", Evaluate, 3, 0),
                                         JS_FN("errorPlace", ErrorPlace, 1, 0),
                                         JS_FS_END};

}  // namespace

void UnitIndex::Make() {
  if (!before_.empty()) return;
  std::uint64_t units = 0;
  for (std::size_t at = 0; at <= text_.size(); at += kStep) {
    before_.push_back(units);
    units += UnitsOf(text_.substr(at, kStep));
  }
  before_.push_back(units);
}

std::uint64_t UnitIndex::units() {
  if (is_ascii_) return text_.size();
  Make();
  return before_.back();
}

std::uint64_t UnitIndex::ToByte(std::uint64_t unit) {
  if (is_ascii_) return std::min<std::uint64_t>(unit, text_.size());
  Make();
  if (unit >= before_.back()) return text_.size();
  const auto above = std::upper_bound(before_.begin(), before_.end() - 1, unit);
  const auto step = static_cast<std::size_t>(above - before_.begin()) - 1;
  std::uint64_t left = unit - before_[step];
  std::size_t at = step * kStep;
  while (at < text_.size() && !IsLead(text_[at])) ++at;  // counted with the step before
  while (at < text_.size()) {
    const std::uint64_t units = UnitsOf(text_.substr(at, 1));
    if (left < units) return at;
    left -= units;
    do ++at;
    while (at < text_.size() && !IsLead(text_[at]));
  }
  return at;
}

std::uint64_t UnitIndex::ToUnit(std::uint64_t byte) {
  byte = std::min<std::uint64_t>(byte, text_.size());
  if (is_ascii_) return byte;
  Make();
  const std::size_t step = byte / kStep;
  return before_[step] + UnitsOf(text_.substr(step * kStep, byte - step * kStep));
}

JSObject* MakeHostObject(JSContext* cx, HostState* state) {
  JS_SetContextPrivate(cx, state);
  JS::RootedObject host(cx, JS_NewPlainObject(cx));
  if (!host || !JS_DefineFunctions(cx, host, kFunctions)) return nullptr;
  return host;
}

}  // namespace dossier::worker
