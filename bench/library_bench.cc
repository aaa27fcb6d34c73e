#include <dossier/ask.h>
#include <fmt/format.h>

#include <iostream>
#include <map>
#include <string>

#include "base/files/file.h"
#include "base/json/json.h"
#include "benches.h"

namespace dossier::bench {
namespace {

// The public library in one process that stays: one pool of sandboxes, one model for each address.
class Asker {
 public:
  explicit Asker(std::string runs_folder) : runs_folder_(std::move(runs_folder)) {}

  Result<std::string> Ask(const Json& line) {
    if (!pool_) {
      DOSSIER_ASSIGN_OR_RETURN(pool_, SandboxPool::Make());
    }
    AskOptions options;
    DOSSIER_ASSIGN_OR_RETURN(options.model, ModelAt(TextAt(line, "url")));
    DOSSIER_ASSIGN_OR_RETURN(Context context, TextOf(TextAt(line, "context")));
    options.mode = AskOptions::Mode::kRecursive;
    options.pool = *pool_;
    options.runs_folder = runs_folder_;
    options.max_calls = 10'000;
    options.max_depth = static_cast<int>(FindInt(line, "depth").value_or(1));
    options.max_turns = static_cast<int>(FindInt(line, "turns").value_or(30));
    DOSSIER_ASSIGN_OR_RETURN(const Answer answer,
                             dossier::Ask(TextAt(line, "question"), {context}, options));
    if (answer.error) return tl::unexpected(*answer.error);
    return answer.text;
  }

 private:
  Result<Model> ModelAt(const std::string& url) {
    if (const auto found = models_.find(url); found != models_.end()) return found->second;
    DOSSIER_ASSIGN_OR_RETURN(
        Model model,
        Model::Open("instant", {.base_url = url, .window = 20'000'000, .concurrency = 64}));
    models_.emplace(url, model);
    return model;
  }

  // Read once, as a program has its text at hand.
  Result<Context> TextOf(const std::string& path) {
    if (path != path_) {
      DOSSIER_ASSIGN_OR_RETURN(text_, ReadFile(path));
      path_ = path;
    }
    return Text(text_);
  }

  const std::string runs_folder_;
  std::optional<SandboxPool> pool_;
  std::map<std::string, Model> models_;
  std::string path_, text_;
};

}  // namespace

Status RunLibraryBench(const std::string& folder) {
  Asker asker(folder);
  for (std::string line; std::getline(std::cin, line);) {
    DOSSIER_ASSIGN_OR_RETURN(const Json request, ParseJson(line));
    const auto answer = asker.Ask(request);
    const JsonObject said =
        answer ? JsonObject{{"answer", *answer}} : JsonObject{{"error", answer.error().message}};
    std::cout << ToJson(said) << std::endl;
  }
  return {};
}

}  // namespace dossier::bench
