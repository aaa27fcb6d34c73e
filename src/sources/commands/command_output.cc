#include "sources/commands/command_output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "assembly/sources/fence.h"

namespace dossier::sources {
namespace {

constexpr std::size_t kMaxMemory = 64 << 10;

// A file that nobody else can open and that goes with its descriptor.
Result<UniqueFd> OpenNameless() {
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder && *folder ? folder : "/tmp") + "/dossier-XXXXXX";
  UniqueFd file(mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid()) return MakeErrnoError(errno, path);
  unlink(path.c_str());
  return file;
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos;
}

}  // namespace

Status Spool::Spill() {
  if (!file_.valid()) {
    DOSSIER_ASSIGN_OR_RETURN(file_, OpenNameless());
  }
  DOSSIER_RETURN_IF_ERROR(WriteAll(file_.get(), memory_));
  memory_.clear();
  return {};
}

Status Spool::Add(std::string_view bytes) {
  memory_ += bytes;
  if (memory_.size() > kMaxMemory) return Spill();
  return {};
}

template <typename Visit>
Status Spool::ForEachBlock(Visit visit) const {
  if (file_.valid()) {
    std::string block(kMaxMemory, '\0');
    for (off_t at = 0;;) {
      const ssize_t got = pread(file_.get(), block.data(), block.size(), at);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return MakeErrnoError(errno, "read back stderr");
      if (got == 0) break;
      DOSSIER_RETURN_IF_ERROR(visit(std::string_view(block).substr(0, static_cast<size_t>(got))));
      at += got;
    }
  }
  return visit(memory_);
}

CommandOutput::CommandOutput(const ContextCommand& command, CommandRules rules,
                             const store::ContentStore* store)
    : command_(command),
      store_(command.keep_full ? store : nullptr),
      text_({.cap = command.max_output, .rules = rules}) {}

Status CommandOutput::Take(std::string_view bytes) {
  bytes_ += bytes.size();
  hash_.Update(bytes);
  text_.Add(bytes);
  if (!store_) return {};
  if (!writer_) {
    DOSSIER_ASSIGN_OR_RETURN(store::ContentWriter writer, store::ContentWriter::Start(*store_));
    writer_.emplace(std::move(writer));
  }
  return writer_->Write(bytes);
}

Status CommandOutput::AddOut(std::string_view bytes) { return Take(bytes); }

Status CommandOutput::AddErr(std::string_view bytes) {
  err_blank_ = err_blank_ && IsBlank(bytes);
  return err_.Add(bytes);
}

Status CommandOutput::Finish(CommandResult* result) && {
  text_.EndStream();
  if (!err_blank_) {
    DOSSIER_RETURN_IF_ERROR(Take("\n"));
    DOSSIER_RETURN_IF_ERROR(
        err_.ForEachBlock([this](std::string_view block) { return Take(block); }));
  }
  if (writer_) {
    DOSSIER_ASSIGN_OR_RETURN(const store::StoredBody body, std::move(*writer_).Finish());
    result->notes.stored = body.sha256;
  }
  CommandText::Kept kept = std::move(text_).Finish(assembly::MarkerName(command_.name));
  result->bytes = bytes_;
  result->sha256 = hash_.Hex();
  result->text = std::move(kept.text);
  result->kept = result->text.size();
  result->notes.cut_bytes = kept.cut_bytes;
  result->notes.invalid_bytes = kept.invalid;
  result->notes.terminal_escapes = kept.escapes;
  // Each escaped line gets one byte more.
  result->notes.escaped_lines = assembly::EscapeMarkers(result->text).size() - result->text.size();
  return {};
}

}  // namespace dossier::sources
