// Reads a prompt from the command line, from stdin, or from both, for every command with a prompt.
//
//   StdinStream in;
//   DOSSIER_ASSIGN_OR_RETURN(const PromptInput input,
//       ReadPromptInput({.prompt = "review this", .timeout = flags_timeout}, in, warn));
//   Send(input.text);        // "review this\n" and what came through the pipe
//
// Thread-safety: one reader of stdin per process.

#ifndef DOSSIER_CLI_WIRING_PROMPT_INPUT_H_
#define DOSSIER_CLI_WIRING_PROMPT_INPUT_H_

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/messages.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/net/named_place.h"
#include "base/result.h"
#include "base/text/text.h"
#include "chat/context/gather.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

inline constexpr Millis kSilenceBeforeWarning{200};
inline constexpr Millis kTimeoutWithPrompt{60'000};

// The source of stdin; tests supply a scripted one.
class InputStream {
 public:
  enum class Ready { kYes, kNo, kClosed };  // kClosed: there is no stdin at all

  virtual ~InputStream() = default;
  virtual bool IsTerminal() const = 0;
  // Waits until bytes or the end are available, at most `limit` (unset: for ever).
  virtual Result<Ready> Wait(std::optional<Millis> limit, const CancelToken& cancel) = 0;
  // Returns the next bytes; "" at the end.
  virtual Result<std::string> Read() = 0;
};

// Descriptor 0.
class StdinStream final : public InputStream {
 public:
  bool IsTerminal() const override;
  Result<Ready> Wait(std::optional<Millis> limit, const CancelToken& cancel) override;
  Result<std::string> Read() override;
};

struct PromptRequest {
  enum class Stdin { kAuto, kNever };            // kNever: --no-stdin
  enum class Trim { kFinalNewline, kBothEnds };  // kBothEnds: --compat

  std::optional<std::string> prompt;  // "-" always means stdin
  Stdin stdin_use = Stdin::kAuto;
  Trim trim = Trim::kFinalNewline;
  std::optional<Millis> timeout;  // --stdin-timeout; 0 means for ever
};

struct PromptInput {
  std::string text;
  enum class From { kPrompt, kStdin, kBoth, kNothing } from = From::kNothing;
};

// Errors: kTimeout (no input on stdin; exit 7), kUsage with the byte offset for invalid UTF-8,
// kCancelled, kIo. No prompt and no stdin is not an error: `from` is kNothing.
Result<PromptInput> ReadPromptInput(const PromptRequest& request, InputStream& in,
                                    const std::function<void(std::string_view)>& warn,
                                    const CancelToken& cancel = {});

// Returns true for a pipe, a socket or a file: somebody may have put text into it.
bool IsPiped(int fd);
// Returns true if it is one and has unread bytes right now.
bool HoldsUnreadBytes(int fd);
// Returns true if stdin is piped and may be read although no "-" names it. It may be empty.
bool StdinIsPiped(const GlobalFlags& flags);
// Returns true if it also has bytes: waits for some or for the end, and warns of silence like
// ReadPromptInput. Errors: kTimeout (60 s without --stdin-timeout), kUsage, kCancelled, kIo.
Result<bool> StdinHoldsText(const GlobalFlags& flags, const CancelToken& cancel, std::ostream& err);
// Warns of a pipe that was not read although the user may expect it: no "-" is among `named`.
void WarnOfUnreadStdin(const std::vector<std::string>& named, const GlobalFlags& flags,
                       std::ostream& err);

// Reads files and addresses that a person named for one message: texts and images.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Attachments found,
//                            ReadAttachments({"notes.txt", "plan.png"}, {.network = …}, cancel));
//
// The content decides what a file is. Texts may have any encoding that `inspect` knows; images are
// PNG, JPEG, GIF and WebP. Only a named address is fetched, once and up to a size limit; redirects
// to other addresses are not followed. Thread-safety: a function over files and the network.

inline constexpr std::uint64_t kMaxAttachment = 16 << 20;  // bytes of one file or address

struct Attachments {
  std::vector<NamedText> texts;
  std::vector<assembly::Block> images;
  std::vector<std::string> warnings;

  bool empty() const { return texts.empty() && images.empty(); }
  void Add(Attachments more);
};

// `places`: paths, addresses, and `-` for stdin. Errors: kNotFound, kTooLong, kInvalidArgument (a
// folder, or a file that is neither text nor image), kIo, those of ReadNamedPlace.
Result<Attachments> ReadAttachments(const std::vector<std::string>& places, Network network,
                                    const CancelToken& cancel);

// Returns the files named in a typed line: `@PATH`, `@"PATH WITH SPACES"`, `@~/PATH`, `@https://…`,
// if they exist. An @ before anything else is text.
std::vector<std::string> MentionedFiles(std::string_view line);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_PROMPT_INPUT_H_
