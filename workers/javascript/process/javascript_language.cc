#include "javascript_language.h"

#include <js/Initialization.h>

#include "engine.h"
#include "host_object.h"
#include "values.h"

extern "C" const char dossier_javascript_code[], dossier_javascript_code_end[];

namespace dossier::worker {
namespace {

JsonObject Failed(std::string message) {
  return {{"failed", JsonObject{{"type", "InternalError"}, {"message", std::move(message)}}}};
}

class JavaScriptLanguage final : public Language {
 public:
  explicit JavaScriptLanguage(std::unique_ptr<Engine> engine)
      : engine_(std::move(engine)), runtime_(engine_->cx()) {
    host_.engine = engine_.get();
  }

  // Makes our own half of the realm, which every session then has.
  Status LoadRuntime();

  Status LoadTexts(const std::vector<MappedContext>& contexts) override;
  Status Attach(SessionParts* parts) override;
  std::uint64_t TextMemory() const override;
  Status StartSession() override;
  void (*interrupt_handler() const)(int) override { return Engine::RequestStop; }
  JsonObject RunBlock(std::string_view code, std::uint32_t block) override;
  JsonObject Check(std::string_view code) override;
  JsonObject Get(std::string_view name, std::int64_t max_bytes) override;
  bool Reset(const Json& keep) override;

 private:
  bool CallRuntime(const char* name, const JS::HandleValueArray& arguments,
                   JS::MutableHandleValue out);
  JsonObject ObjectOf(const char* name, const JS::HandleValueArray& arguments);
  JsonObject Finish(Engine::End end, JS::HandleValue promise, std::uint32_t block);
  void AddEvidence(JsonObject* result);

  std::unique_ptr<Engine> engine_;
  HostState host_;
  JS::PersistentRootedObject runtime_;
};

Status JavaScriptLanguage::LoadRuntime() {
  JSContext* cx = engine_->cx();
  JS::RootedValue made(cx), function(cx);
  JS::RootedObject host(cx, MakeHostObject(cx, &host_));
  const std::string_view code(
      dossier_javascript_code,
      static_cast<std::size_t>(dossier_javascript_code_end - dossier_javascript_code));
  if (!host || !engine_->Evaluate(code, "dossier", 1, &function)) {
    return MakeError(ErrorCode::kInternal, "javascript: {}", engine_->TakeError());
  }
  JS::RootedValueArray<1> arguments(cx);
  arguments[0].setObject(*host);
  if (!JS::Call(cx, JS::UndefinedHandleValue, function, arguments, &made) || !made.isObject()) {
    return MakeError(ErrorCode::kInternal, "javascript: {}", engine_->TakeError());
  }
  runtime_ = &made.toObject();
  JS::RootedValue make_error(cx);
  if (!GetOwn(cx, runtime_, "makeError", &make_error) || !make_error.isObject()) {
    return MakeError(ErrorCode::kInternal, "javascript: its half lacks makeError");
  }
  engine_->set_make_error(&make_error.toObject());
  return {};
}

Status JavaScriptLanguage::LoadTexts(const std::vector<MappedContext>& contexts) {
  for (const MappedContext& context : contexts) {
    JSString* text = MakeString(engine_->cx(), context.bytes());
    if (!text) return MakeError(ErrorCode::kLimit, "{}", engine_->TakeError());
    host_.texts.emplace_back(engine_->cx(), text);
    host_.indexes.emplace_back(context.bytes(), context.description().characters);
    host_.indexes.back().units();  // sessions are forked with it
  }
  return {};
}

Status JavaScriptLanguage::Attach(SessionParts* parts) {
  host_.session = std::move(*parts);
  // Those of the zygote are of the same texts: its maps are this process's, too.
  if (host_.indexes.size() != host_.session.contexts.size()) {
    host_.indexes.clear();
    for (const MappedContext& context : host_.session.contexts) {
      host_.indexes.emplace_back(context.bytes(), context.description().characters);
    }
  }
  const Json limits = host_.session.features["limits"];
  engine_->Enter(host_.session.bridge,
                 TextMemory() + static_cast<std::uint64_t>(FindInt(limits, "memory").value_or(0)));
  return {};
}

std::uint64_t JavaScriptLanguage::TextMemory() const {
  std::uint64_t bytes = 0;
  for (std::size_t i = host_.texts.size(); i < host_.session.contexts.size(); ++i) {
    const sandbox::ContextText& context = host_.session.contexts[i].description();
    // One byte a character, or two a unit and the same again while it is made.
    bytes += (context.bytes == context.characters ? 1 : 4) * context.bytes;
  }
  return bytes;
}

Status JavaScriptLanguage::StartSession() {
  if (host_.texts.size() != host_.session.contexts.size()) {
    host_.texts.clear();
    for (std::size_t i = 0; i < host_.session.contexts.size(); ++i) {
      host_.texts.emplace_back(engine_->cx());
    }
  }
  DOSSIER_RETURN_IF_ERROR(engine_->StartHelper());
  JS::RootedValue ignored(engine_->cx());
  if (CallRuntime("start", JS::HandleValueArray::empty(), &ignored)) return {};
  return MakeError(ErrorCode::kInternal, "javascript: {}", engine_->TakeError());
}

bool JavaScriptLanguage::CallRuntime(const char* name, const JS::HandleValueArray& arguments,
                                     JS::MutableHandleValue out) {
  JSContext* cx = engine_->cx();
  JS::RootedValue function(cx);
  return GetOwn(cx, runtime_, name, &function) &&
         JS::Call(cx, JS::UndefinedHandleValue, function, arguments, out);
}

JsonObject JavaScriptLanguage::ObjectOf(const char* name, const JS::HandleValueArray& arguments) {
  JSContext* cx = engine_->cx();
  JS::RootedValue value(cx);
  if (!CallRuntime(name, arguments, &value)) return Failed(engine_->TakeError());
  Result<Json> json = ToJsonValue(cx, value, name);
  if (json && json->is_object()) return std::move(json->get_object());
  return Failed(json ? "no object" : json.error().message);
}

JsonObject JavaScriptLanguage::RunBlock(std::string_view code, std::uint32_t block) {
  JSContext* cx = engine_->cx();
  engine_->BeginBlock(fmt::format("<block {}>", block));
  host_.read.clear();
  JS::RootedValue promise(cx);
  JS::RootedValueArray<2> arguments(cx);
  JSString* text = MakeString(cx, code);
  if (!text) return Failed(engine_->TakeError());
  arguments[0].setString(text);
  arguments[1].setNumber(block);
  Engine::End end = Engine::End::kSettled;
  if (!CallRuntime("begin", arguments, &promise)) {
    if (!engine_->stopped()) return Failed(engine_->TakeError());
    JS_ClearPendingException(cx);
    end = engine_->StoppedBy();
  } else if (promise.isObject()) {
    JS::RootedObject object(cx, &promise.toObject());
    end = engine_->Settle(object);
    JS_ClearPendingException(cx);
  }
  return Finish(end, promise, block);
}

JsonObject JavaScriptLanguage::Finish(Engine::End end, JS::HandleValue promise,
                                      std::uint32_t block) {
  static constexpr const char* kEnds[] = {"settled", "stopped", "stuck", "memory"};
  JSContext* cx = engine_->cx();
  const bool interrupted = engine_->interrupted();
  std::optional<Handed> handed = engine_->TakeHanded();
  const int line = engine_->stopped_line();
  const std::size_t open = engine_->EndBlock();
  if (end == Engine::End::kMemory) JS_GC(cx);
  engine_->BeginBlock();  // our own half runs again
  JS::RootedValueArray<5> arguments(cx);
  JSString* name = JS_NewStringCopyZ(cx, handed ? "handed" : kEnds[static_cast<int>(end)]);
  if (!name) return Failed(engine_->TakeError());
  arguments[0].setString(name);
  arguments[1].set(promise);
  arguments[2].setNumber(block);
  arguments[3].setNumber(line);
  arguments[4].setNumber(static_cast<double>(open));
  JsonObject result = ObjectOf("end", arguments);
  if (engine_->interrupted() && !interrupted && result.contains("failed")) {
    engine_->BeginBlock();  // an interrupt that came while the result was made
    result = ObjectOf("end", arguments);
  }
  engine_->EndBlock();
  if (handed && !result.contains("failed")) {
    JsonObject answer{{"form", handed->form}, {"text", std::move(handed->text)}};
    if (handed->value) answer["value"] = std::move(*handed->value);
    result["answer"] = std::move(answer);
    result["status"] = "final";
  }
  AddEvidence(&result);
  return result;
}

void JavaScriptLanguage::AddEvidence(JsonObject* result) {
  if (result->contains("failed")) return;
  // Our own half says no where what the block shows is its own words.
  if (!result->contains("touches_data")) (*result)["touches_data"] = host_.touched;
  JsonArray read;
  for (const sandbox::ReadPart& part : host_.read) {
    read.push_back(JsonArray{part.context, part.at, part.length});
  }
  (*result)["read"] = std::move(read);
}

JsonObject JavaScriptLanguage::Check(std::string_view code) {
  engine_->BeginBlock();
  JS::RootedValueArray<1> arguments(engine_->cx());
  JSString* text = MakeString(engine_->cx(), code);
  if (!text) return Failed(engine_->TakeError());
  arguments[0].setString(text);
  return ObjectOf("check", arguments);
}

JsonObject JavaScriptLanguage::Get(std::string_view name, std::int64_t max_bytes) {
  engine_->BeginBlock();
  JS::RootedValueArray<2> arguments(engine_->cx());
  JSString* text = MakeString(engine_->cx(), name);
  if (!text) return {};
  arguments[0].setString(text);
  arguments[1].setNumber(static_cast<double>(max_bytes));
  return ObjectOf("get", arguments);
}

bool JavaScriptLanguage::Reset(const Json& keep) {
  engine_->BeginBlock();
  JS::RootedValueArray<1> arguments(engine_->cx());
  JS::RootedValue ignored(engine_->cx());
  if (!FromJsonValue(engine_->cx(), keep, {}, arguments[0])) return false;
  return CallRuntime("reset", arguments, &ignored);
}

}  // namespace

Result<std::unique_ptr<Language>> StartJavaScript() {
  DOSSIER_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, Engine::Make());
  auto language = std::make_unique<JavaScriptLanguage>(std::move(engine));
  DOSSIER_RETURN_IF_ERROR(language->LoadRuntime());
  return language;
}

std::string EngineVersion() {
  return fmt::format("{}.{}", MOZJS_MAJOR_VERSION, MOZJS_MINOR_VERSION);
}

}  // namespace dossier::worker
