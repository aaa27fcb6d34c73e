// eval stub, eval proxy: run the two servers alone, for other harnesses.

#include <ostream>

#include "app/open_model.h"
#include "base/cancel.h"
#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/text/text.h"
#include "cli/evaluation/eval_commands.h"
#include "cli/tree/command.h"
#include "cli/wiring/shared_flags.h"
#include "evaluation/run/proxy.h"
#include "evaluation/stub/stub.h"
#include "model/scripted/serve_script.h"

namespace dossier::cli {
namespace {

constexpr std::uint64_t kMostPlanBytes = 1u << 20;

struct StubArguments {
  std::string table, plan, record;
  std::vector<std::string> latency;
  evaluation::StubErrors errors;
  evaluation::StubFaults faults;
  int port = 0;
};

// Reads a pool's file, or a task set whose labelled windows are the table.
Result<evaluation::StubTable> ReadTable(const std::string& path) {
  if (!IsFolder(path)) return evaluation::StubTable::Load(path);
  DOSSIER_ASSIGN_OR_RETURN(const evaluation::TaskSet set, evaluation::TaskSet::Load(path));
  return evaluation::StubTable::FromSet(set);
}

Status ServeStub(const StubArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(evaluation::StubTable table, ReadTable(given.table));
  evaluation::StubOptions options{.errors = given.errors, .faults = given.faults};
  for (const std::string& text : given.latency) {
    DOSSIER_ASSIGN_OR_RETURN(const Millis time, ReadTimeFlag("--latency", text, Zero::kTaken));
    options.latency.push_back(time);
  }
  if (!given.plan.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadNamedFile(given.plan, kMostPlanBytes));
    DOSSIER_ASSIGN_OR_RETURN(options.plan, evaluation::StubPlan::Parse(text, given.plan));
  }
  DOSSIER_ASSIGN_OR_RETURN(
      const auto server,
      model::ServeScript(evaluation::MakeStub(std::move(table), std::move(options)),
                         {.port = given.port, .record_path = given.record}));
  context.out << fmt::format("http://127.0.0.1:{}/v1\n", server->port()) << std::flush;
  while (WaitUnlessCancelled(std::chrono::hours(1), context.cancel)) continue;
  return {};
}

void DeclareStub(Flags& flags, StubArguments& to) {
  flags.Add("--table", &to.table, "JSONL of text and label, or a task set").Required().Kind(kPath);
  flags.Add("--errors", &to.errors.share, "share of texts that get another label")
      .Between(0, 1)
      .ShowDefault();
  flags.Add("--seed", &to.errors.seed, "which texts, and which faults").ShowDefault();
  flags.Add("--plan", &to.plan, "what it says as a root model").Kind(kPath);
  flags.Add("--port", &to.port, "0: any free one").Between(0, 65535);
  flags.Add("--record", &to.record, "append every request to this file, as JSONL").Kind(kPath);
  flags.Add("--latency", &to.latency, "of replies (repeat: in turn)").Kind(kTime);
  Flags faults = flags.In("Faults");
  struct Fault {
    const char *name, *about;
    double* to;
  };
  for (const Fault& fault :
       {Fault{"--dropped", "share of items whose line is missing", &to.faults.dropped},
        Fault{"--foreign", "share of items with a label that nobody offered", &to.faults.foreign},
        Fault{"--prose", "share of replies with a sentence in front", &to.faults.prose},
        Fault{"--cut", "share of replies that end in the middle", &to.faults.cut},
        Fault{"--busy", "share of requests that get status 429", &to.faults.busy},
        Fault{"--broken", "share of requests that get status 500", &to.faults.broken}}) {
    faults.Add(fault.name, fault.to, fault.about).Between(0, 1);
  }
}

struct ProxyArguments {
  std::string upstream, model, key_env, transcript;
  std::int64_t calls = 500;
  std::optional<double> temperature;
  std::optional<std::uint64_t> seed;
  int port = 0;
};

Status ServeProxy(const ProxyArguments& given, Context& context) {
  evaluation::ModelUpstream upstream{.base_url = given.upstream, .model = given.model};
  if (!given.key_env.empty()) {
    const auto key = app::Environment(given.key_env);
    if (!key) return MakeError(ErrorCode::kAuth, "--key-env: {} is not set", given.key_env);
    upstream.headers.push_back("Authorization: Bearer " + *key);
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto proxy, evaluation::Proxy::Start({.port = given.port}));
  const auto question = proxy->Open(
      upstream, {.calls = given.calls, .temperature = given.temperature, .seed = given.seed},
      given.transcript);
  context.out << question->url() << "\n" << std::flush;
  while (WaitUnlessCancelled(std::chrono::hours(1), context.cancel)) continue;
  const evaluation::Traffic traffic = question->Close();
  context.out << ToJson(JsonObject{{"schema", "dossier.traffic/1"},
                                   {"calls", traffic.calls},
                                   {"failed", traffic.failed},
                                   {"limit_met", traffic.limit_met},
                                   {"tokens", JsonObject{{"input", traffic.tokens.input},
                                                         {"cached", traffic.tokens.cached},
                                                         {"output", traffic.tokens.output},
                                                         {"counted", traffic.tokens.counted}}}})
              << "\n";
  return {};
}

void DeclareProxy(Flags& flags, ProxyArguments& to) {
  flags.Add("--upstream", &to.upstream, "address of the model, with /v1").Required();
  flags.Add("-m,--model", &to.model, "the one model that may be asked").Required();
  flags.Add("--key-env", &to.key_env, "environment variable that holds the key").Kind(kName);
  flags.Add("--limit-calls", &to.calls, "further ones are refused").Positive().ShowDefault();
  flags.Add("--transcript", &to.transcript, "file for requests and replies").Kind(kPath);
  flags.Add("--temperature", &to.temperature, "where a request sets none").Between(0, 2);
  flags.Add("--seed", &to.seed, "where a request sets none");
  flags.Add("--port", &to.port, "0: any free one").Between(0, 65535);
}

}  // namespace

Command EvalStubCommand() {
  return {.name = "stub",
          .summary = "serve a model that is none: its answers are known before",
          .examples =
              "dossier eval stub --table set --errors 0.1 --plan bench/plans/dossier.yml\n"
              "    labels the texts of a task set, one in ten wrongly",
          .binding = Bind(DeclareStub, ServeStub)};
}

Command EvalProxyCommand() {
  return {.name = "proxy",
          .summary = "stand between a system and its model, and count what is sent",
          .binding = Bind(DeclareProxy, ServeProxy)};
}

}  // namespace dossier::cli
