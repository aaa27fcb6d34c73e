#include "evaluation/families/rows.h"

#include <re2/re2.h>

#include <array>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/process/process.h"
#include "evaluation/families/lines.h"

namespace dossier::evaluation {
namespace {

constexpr std::string_view kForms[] = {" Answer with the number only.",
                                       " Answer with the name or time only, as it stands there."};

class RowProver final : public Prover {
 public:
  RowProver(TempFolder folder, store::Database db, std::span<const RowProof> proofs)
      : folder_(std::move(folder)), db_(std::move(db)), proofs_(proofs) {}

  Result<Json> Recompute(const Task& task) override {
    std::array<std::string, 2> found;
    const std::array<RE2::Arg, 2> all{&found[0], &found[1]};
    const std::array<const RE2::Arg*, 2> arguments{&all[0], &all[1]};
    for (const RowProof& proof : proofs_) {
      const RE2 pattern(proof.question);
      re2::StringPiece at(task.question);
      if (!RE2::ConsumeN(&at, pattern, arguments.data(), pattern.NumberOfCapturingGroups()))
        continue;
      DOSSIER_ASSIGN_OR_RETURN(store::Statement query, db_.Prepare(proof.sql));
      query.With(found[0], found[1]);
      DOSSIER_ASSIGN_OR_RETURN(const bool first, query.Step());
      const auto answer = first ? query.OptionalText(0) : std::nullopt;
      DOSSIER_ASSIGN_OR_RETURN(const bool second, first ? query.Step() : Result<bool>(false));
      if (answer && !second) return OneGold(*answer);
      return MakeError(ErrorCode::kCheckFailed, "{}: the files give {} right answers", task.id,
                       answer ? "several" : "no");
    }
    return MakeError(ErrorCode::kDamaged, "{}: its question is of no kind of this family", task.id);
  }

 private:
  TempFolder folder_;
  store::Database db_;
  std::span<const RowProof> proofs_;
};

}  // namespace

std::optional<std::int64_t> Percentile(const std::vector<std::int64_t>& histogram, int percent) {
  std::int64_t all = 0;
  for (const std::int64_t count : histogram) all += count;
  const std::int64_t rank = (all * percent + 99) / 100;
  std::int64_t seen = 0;
  for (std::size_t value = 0; value < histogram.size(); ++value) {
    seen += histogram[value];
    if (all > 0 && seen >= rank) return static_cast<std::int64_t>(value);
  }
  return std::nullopt;
}

Status AddRowTasks(std::string_view family, const std::string& window,
                   const std::vector<ContextFile>& contexts,
                   const std::vector<RowQuestion>& questions, std::int64_t wanted, TaskSink& sink) {
  std::int64_t number = 0;
  for (const RowQuestion& question : questions) {
    if (number >= wanted) return {};
    if (!question.gold) {
      sink.Refuse(question.rule);
      continue;
    }
    Task task{.id = fmt::format("{}-q{}", window, number++),
              .family = std::string(family),
              .window = window,
              .question = question.text + std::string(kForms[static_cast<int>(question.kind)]),
              .scorer = question.kind == RowQuestion::Kind::kNumber ? "number" : "exact",
              .gold = OneGold(*question.gold),
              .contexts = contexts,
              .meta = {{"kind", question.name}}};
    DOSSIER_RETURN_IF_ERROR(sink.Add(std::move(task)));
  }
  if (number > 0) return {};
  return MakeError(ErrorCode::kConfig,
                   "{}: no question has one clear answer; take a larger --length", window);
}

Result<std::unique_ptr<Prover>> OpenRows(const Task& task, const TaskSet& set,
                                         std::span<const RowProof> proofs) {
  if (!FindProgram("python3")) {
    return MakeError(ErrorCode::kUnavailable,
                     "{}: its proof needs python3, which is not on this machine; install python3",
                     task.id);
  }
  DOSSIER_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make("dossier-rows"));
  const std::string database = folder.path() + "/rows.db";
  ProcessSpec spec{.argv = {"python3", "-I", "-c",
                            std::string(*BuiltInAsset("data/evaluation/load_rows.py")), database}};
  for (const ContextFile& file : task.contexts) spec.argv.push_back(set.PathOf(file));
  DOSSIER_ASSIGN_OR_RETURN(const ProcessResult result, RunProcess(spec));
  if (result.exit_code != 0) {
    return MakeError(
        ErrorCode::kCheckFailed, "{}: Python cannot read its files: {}", task.id,
        result.err.substr(result.err.size() - std::min<std::size_t>(200, result.err.size())));
  }
  DOSSIER_ASSIGN_OR_RETURN(store::Database db, store::Database::Open(database));
  return std::make_unique<RowProver>(std::move(folder), std::move(db), proofs);
}

}  // namespace dossier::evaluation
