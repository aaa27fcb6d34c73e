#include "cli/system/models_try.h"

#include "base/clock.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/wiring/model_flags.h"
#include "model/client/gate.h"
#include "model/providers/connect.h"

namespace dossier::cli {
namespace {

std::string Safe(std::string_view text) { return utf8::CleanForTerminal(utf8::Sanitize(text)); }

struct Measured {
  model::Reply reply;
  double first = 0, total = 0;  // seconds to the first text, and to the end
  int deltas = 0;               // more than one: it streams
};

class Trial {
 public:
  Trial(const model::Choice& choice, model::Connection connection, const CancelToken& cancel)
      : choice_(choice),
        connection_(std::move(connection)),
        cancel_(cancel),
        gate_(
            model::Gate::Make(connection_.client, {.concurrency = 1, .retries = 1}, SystemClock())),
        ledger_({.calls = 4}, SystemClock()) {}

  Result<Measured> Ask(std::string_view question, std::optional<Json> schema) {
    model::Request request{.model = choice_.model, .purpose = model::Purpose::kTest};
    request.messages.turns.push_back(
        {.role = assembly::Role::kUser, .blocks = {{.text = std::string(question)}}});
    request.sampling.max_output = 64;
    if (connection_.entry.sampling) request.sampling.temperature = 0;
    request.schema = std::move(schema);
    Measured measured;
    const auto begin = SystemClock()->Now();
    const auto seconds = [begin] {
      return std::chrono::duration<double>(SystemClock()->Now() - begin).count();
    };
    DOSSIER_ASSIGN_OR_RETURN(
        measured.reply, gate_->Complete(std::move(request), ledger_, model::Stage::kNormal, cancel_,
                                        [&](std::string_view) {
                                          if (measured.deltas++ == 0) measured.first = seconds();
                                        }));
    measured.total = seconds();
    return measured;
  }

 private:
  const model::Choice& choice_;
  const model::Connection connection_;
  const CancelToken& cancel_;
  const std::unique_ptr<model::Gate> gate_;
  model::Ledger ledger_;
};

Json NumberSchema() {
  return JsonObject{{"type", "object"},
                    {"properties", JsonObject{{"number", JsonObject{{"type", "integer"}}}}},
                    {"required", JsonArray{"number"}},
                    {"additionalProperties", false}};
}

double Rate(const Measured& measured) {
  const double writing = measured.total - measured.first;
  const auto tokens = static_cast<double>(measured.reply.usage.output - 1);
  return writing > 0.001 && tokens > 0 ? tokens / writing : 0;
}

}  // namespace

Status TryModel(const ModelsArguments& arguments, const CancelToken& cancel, std::ostream& out,
                std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(const ModelData data, LoadModelData());
  DOSSIER_ASSIGN_OR_RETURN(const model::Choice choice,
                           data.catalog.Choose({.name = arguments.name,
                                                .base_url = arguments.base_url,
                                                .key_env = arguments.key_env,
                                                .script = arguments.script,
                                                .config = data.config},
                                               Environment));
  const auto say = [&err](std::string_view line) {
    err << "dossier: " << Safe(line) << "\n" << std::flush;
  };
  for (const std::string& warning : choice.warnings) say("warning: " + warning);
  model::ConnectOptions options = ConnectOptionsFor(data, choice);
  options.progress = say;
  if (arguments.offline) options.network = model::ConnectOptions::Network::kNone;
  DOSSIER_ASSIGN_OR_RETURN(model::Connection connection, model::Connect(choice, options, cancel));
  const std::string description = connection.description;
  const bool schema = connection.entry.json_schema;
  Trial trial(choice, std::move(connection), cancel);
  DOSSIER_ASSIGN_OR_RETURN(const Measured plain,
                           trial.Ask("Count from one to ten in words.", std::nullopt));
  JsonObject report{{"schema", "dossier.models-test/1"},
                    {"model", description},
                    {"why", choice.why},
                    {"first_seconds", plain.first},
                    {"seconds", plain.total},
                    {"tokens_input", plain.reply.usage.input},
                    {"tokens_output", plain.reply.usage.output},
                    {"tokens_per_second", Rate(plain)},
                    {"streaming", plain.deltas > 1},
                    {"reply", plain.reply.text}};
  std::string json_words = "not offered";
  if (schema) {
    const auto structured =
        trial.Ask("Which number comes after four? Reply as JSON.", NumberSchema());
    const auto value =
        structured ? ParseJson(structured->reply.text) : tl::unexpected(structured.error());
    const bool good = value && FindInt(*value, "number").has_value();
    report["json_schema"] = good;
    json_words = good ? "kept"
                 : !structured
                     ? "failed: " + structured.error().message
                     : fmt::format("not kept: {}", utf8::Prefix(structured->reply.text, 100));
  }
  if (arguments.json) {
    out << ToJson(report) << "\n";
    return {};
  }
  out << fmt::format("model        {} ({})\n", Safe(description), Safe(choice.why))
      << fmt::format("first text   {:.2f} s\n", plain.first)
      << fmt::format("whole reply  {:.2f} s, {} tokens in, {} out, {:.1f} tokens/s\n", plain.total,
                     plain.reply.usage.input, plain.reply.usage.output, Rate(plain))
      << fmt::format("streaming    {}\n", plain.deltas > 1 ? "yes" : "no")
      << fmt::format("JSON schema  {}\n", Safe(json_words))
      << fmt::format("reply        {}\n",
                     Safe(ReplaceAll(utf8::Prefix(TrimSpace(plain.reply.text), 100), "\n", " ")));
  return {};
}

}  // namespace dossier::cli
