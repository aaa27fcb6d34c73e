#include <fcntl.h>
#include <unistd.h>

#include "base/files/file.h"
#include "benches.h"
#include "chat/store/store.h"
#include "measure.h"

namespace dossier::bench {
namespace {

constexpr int kRounds = 7;
constexpr std::size_t kFileBytes = 50'000'000;
constexpr std::size_t kMessageBytes = 2'000;
constexpr std::size_t kCopyBlock = 1 << 20;
constexpr std::string_view kId = "long";

// Text with what JSON has to escape, as code has it.
std::string Content(std::size_t number) {
  std::string text = fmt::format("message {}\n", number);
  while (text.size() < kMessageBytes) text += "  return \"a line of code\";  // naïve\n";
  return text;
}

// Message by message: making the file must not be what takes the most memory.
Status WriteConversation(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  std::size_t size = 0;
  const auto write = [&](const std::string& text) {
    size += text.size();
    return WriteAll(fd.get(), text);
  };
  DOSSIER_RETURN_IF_ERROR(
      write(fmt::format("{{\n  \"id\": \"{}\",\n  \"model\": \"m\",\n  \"messages\": [", kId)));
  for (std::size_t i = 0; size < kFileBytes; ++i) {
    DOSSIER_RETURN_IF_ERROR(
        write(fmt::format("{}\n    {{\n      \"role\": \"{}\",\n      \"content\": {}\n    }}",
                          i ? "," : "", i % 2 ? "assistant" : "user", ToJson(Json(Content(i))))));
  }
  return write(
      "\n  ],\n  \"created_at\": \"2026-11-21T12:47:14.000000Z\",\n"
      "  \"updated_at\": \"2026-11-21T12:47:15.250000Z\",\n  \"metadata\": {}\n}");
}

// What any replacement of a file costs: each byte read, written and on the disk.
Status CopyAndSync(const std::string& from, const std::string& to) {
  const UniqueFd in(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd out(open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!in.valid() || !out.valid()) return MakeErrnoError(errno, to);
  std::string block(kCopyBlock, '\0');
  for (ssize_t got = 0; (got = read(in.get(), block.data(), block.size())) > 0;) {
    DOSSIER_RETURN_IF_ERROR(
        WriteAll(out.get(), std::string_view(block).substr(0, static_cast<std::size_t>(got))));
  }
  if (fsync(out.get()) != 0) return MakeErrnoError(errno, to);
  return {};
}

Status AppendTurn(const chat::ConversationStore& store, const chat::Loaded& seen) {
  using chat::TurnSave;
  const TurnSave save{.kind = TurnSave::Kind::kAppend, .user = Content(1)};
  chat::FinishedTurn turn{.now = store.Now()};
  turn.messages = {JsonObject{{"role", "assistant"}, {"content", Content(2)}}};
  const auto saved = store.Append(seen, save, turn, {});
  if (!saved) return tl::unexpected(saved.error());
  return {};
}

struct Cost {
  Samples cpu, wall;

  template <typename Work>
  Status Add(Work work) {
    Status done;
    const double before = CpuSeconds();
    wall.Time([&] { done = work(); });
    cpu.Add(CpuSeconds() - before);
    return done;
  }
};

}  // namespace

Status RunConversationBench(const std::string& folder) {
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  const std::string path = fmt::format("{}/{}.json", folder, kId);
  DOSSIER_RETURN_IF_ERROR(WriteConversation(path));
  const chat::ConversationStore store(folder);
  const std::int64_t before = PeakBytes();
  Cost append, copy;
  {
    DOSSIER_ASSIGN_OR_RETURN(const chat::Loaded seen, store.Load(kId));
    for (int round = 0; round < kRounds; ++round) {
      DOSSIER_RETURN_IF_ERROR(append.Add([&] { return AppendTurn(store, seen); }));
      DOSSIER_RETURN_IF_ERROR(copy.Add([&] { return CopyAndSync(path, folder + "/copy"); }));
    }
  }
  Samples grown;
  grown.Add(static_cast<double>(PeakBytes() - before));
  Report("conversation.append_cpu", append.cpu);
  Report("conversation.append_wall", append.wall);
  Report("conversation.copy_cpu", copy.cpu);
  Report("conversation.copy_wall", copy.wall);
  Report("conversation.memory", grown);
  return {};
}

}  // namespace dossier::bench
