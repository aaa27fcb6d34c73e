#include "cli/terminal/line_editor.h"

#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/files/file.h"
#include "base/process/shared_library.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {
namespace {

constexpr std::string_view kPasteOn = "\x1b[?2004h", kPasteOff = "\x1b[?2004l";
constexpr std::string_view kPasteEnd = "\x1b[201~";
constexpr std::size_t kMaxPaste = 1 << 20;  // bytes; the excess is cut off, with a notice
constexpr std::int64_t kShownLines = 8;     // lines of a paste; a longer one is folded
constexpr std::size_t kShownBytes = 2'000;
constexpr int kWindowPoll = 200;            // ms after which a new width is noticed
constexpr char kEscapeMark = '\1';  // around colours in a prompt: they take no columns

// Sets UTF-8 for libedit's conversions, whatever the locale of the process.
class Utf8Locale {
 public:
  Utf8Locale() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (locale_) before_ = uselocale(locale_);
  }
  ~Utf8Locale() {
    if (!locale_) return;
    uselocale(before_);
    freelocale(locale_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t locale_, before_ = nullptr;
};

// Cleans a paste: line ends become LF, other control characters except tabs are removed.
std::string CleanPaste(std::string_view paste) {
  std::string clean;
  for (std::size_t i = 0; i < paste.size(); ++i) {
    const char c = paste[i];
    if (c == '\r') {
      if (i + 1 == paste.size() || paste[i + 1] != '\n') clean += '\n';
    } else if (c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20) {
      if (c != '\x7f') clean += c;
    }
  }
  clean.erase(clean.find_last_not_of('\n') + 1);
  return utf8::Sanitize(clean);
}

// Returns the placeholder for a paste that would flood the screen; "" if the paste may be shown.
std::string FoldOf(std::string_view paste, std::size_t before) {
  const std::int64_t lines = 1 + std::ranges::count(paste, '\n');
  if (lines <= kShownLines && paste.size() <= kShownBytes) return {};
  const std::string number = before == 0 ? "" : fmt::format(" #{}", before + 1);
  if (lines == 1) return fmt::format("[{} bytes pasted{}]", GroupDigits(paste.size()), number);
  return fmt::format("[{} lines pasted{}]", GroupDigits(static_cast<std::uint64_t>(lines)), number);
}

std::string CommonStart(const std::vector<std::string>& words) {
  std::string start = words.front();
  for (const std::string& word : words) {
    const auto [end, other] = std::ranges::mismatch(start, word);
    start.erase(end, start.end());
  }
  return start;
}

// Lists the words in columns, without their first `skipped` bytes, which all of them share.
std::string Choices(const std::vector<std::string>& words, std::size_t skipped) {
  std::vector<std::string> shown;
  int widest = 0;
  for (const std::string& word : words) {
    shown.push_back(Safe(word.substr(skipped)));
    widest = std::max(widest, DisplayWidth(shown.back()));
  }
  constexpr int kGap = 2;
  const auto per_line =
      static_cast<std::size_t>(std::max(1, ColumnsNow(Terminal()) / (widest + kGap)));
  std::string out;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const bool last = (i + 1) % per_line == 0 || i + 1 == shown.size();
    out += shown[i];
    if (!last) out.append(static_cast<std::size_t>(widest + kGap - DisplayWidth(shown[i])), ' ');
    if (last) out += '\n';
  }
  return out;
}

class EditLineEditor final : public LineEditor {
 public:
  EditLineEditor(const EditApi& api, LineEditorOptions options)
      : api_(api),
        options_(std::move(options)),
        history_file_(options_.history),
        wake_(eventfd(0, EFD_CLOEXEC)) {
    const char* term = std::getenv("TERM");
    dumb_ = !term || std::string_view(term) == "dumb";
    cancel_id_ = options_.cancel.OnCancel([fd = wake_.get()] {
      const std::uint64_t one = 1;
      static_cast<void>(!write(fd, &one, sizeof one));
    });
  }

  ~EditLineEditor() override {
    options_.cancel.Forget(cancel_id_);
    const Utf8Locale locale;
    if (history_) api_.history_end(history_);
    if (edit_) api_.end(edit_);
  }

  Status Open() {
    const Utf8Locale locale;
    edit_ = api_.init("dossier", stdin, stdout, stderr);
    history_ = api_.history_init();
    if (!edit_ || !history_) {
      return MakeError(ErrorCode::kUnavailable, "libedit cannot use this terminal");
    }
    HistEvent event{};
    api_.history(history_, &event, H_SETSIZE, static_cast<int>(InputHistory::kMaxEntries));
    for (const std::string& message : history_file_.Load()) {
      api_.history(history_, &event, H_ENTER, message.c_str());
    }
    api_.set(edit_, EL_CLIENTDATA, this);
    api_.set(edit_, EL_GETCFN, &GetCharacter);
    api_.set(edit_, EL_SIGNAL, 0);
    api_.set(edit_, EL_EDITOR, "emacs");
    api_.set(edit_, EL_HIST, api_.history, history_);
    api_.set(edit_, EL_PROMPT_ESC, &Prompt, kEscapeMark);
    api_.set(edit_, EL_RPROMPT_ESC, &RightPrompt, kEscapeMark);
    api_.source(edit_, nullptr);
    // Read control characters as keys, not signals; the program's own handler is for running work.
    api_.set(edit_, EL_SETTY, "-d", "-isig", nullptr);
    Bind("^C", "dossier-interrupt", &OnInterrupt);
    Bind("^D", "dossier-end", &OnEnd);
    Bind("^Z", "dossier-suspend", &OnSuspend);
    Bind("^I", "dossier-complete", &OnComplete);
    if (!dumb_) Bind("\\e[200~", "dossier-paste", &OnPaste);
    api_.set(edit_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    return {};
  }

  Result<InputLine> Read(const LinePrompt& prompt) override {
    const Utf8Locale locale;
    prompt_ = Colored(prompt.text, "1");
    right_ = prompt.right.empty() ? std::string() : Colored(prompt.right, "2");
    kind_ = InputLine::Kind::kText;
    was_ = InputLine::Was::kEmpty;
    api_.resize(edit_);
    columns_ = ColumnsNow(Terminal());
    prompt_width_ = DisplayWidth(prompt.text);
    reading_ = false;
    folded_.clear();
    int count = 0;
    const char* text = api_.gets(edit_, &count);
    Send(kPasteOff);
    if (kind_ != InputLine::Kind::kText) {
      std::fputs("\n", stdout);
      std::fflush(stdout);
      return InputLine{.kind = kind_, .text = {}, .was = was_};
    }
    if (!text || count <= 0) return InputLine{.kind = InputLine::Kind::kEnd, .text = {}};
    InputLine line{.text = std::string(text, static_cast<std::size_t>(count))};
    if (line.text.ends_with('\n')) line.text.pop_back();
    Unfold(&line.text);
    return line;
  }

  void Remember(std::string_view message) override {
    const Utf8Locale locale;
    HistEvent event{};
    const std::string text(message);
    if (history_) api_.history(history_, &event, H_ENTER, text.c_str());
    history_file_.Add(message);
  }

 private:
  using Handler = unsigned char (*)(EditLine*, int);

  void Bind(const char* key, const char* name, Handler handler) {
    api_.set(edit_, EL_ADDFN, name, name, handler);
    api_.set(edit_, EL_BIND, key, name, nullptr);
  }

  std::string Colored(const std::string& text, std::string_view code) const {
    if (options_.color == Terminal::Color::kNo) return text;
    // libedit writes a sequence before the next character; at the end it would be lost.
    const std::string_view shown = TrimSpace(text);
    return fmt::format("{0}\x1b[{1}m{0}{2}{0}\x1b[0m{0} ", kEscapeMark, code, shown);
  }

  void Send(std::string_view sequence) const {
    if (dumb_) return;
    std::fwrite(sequence.data(), 1, sequence.size(), stdout);
    std::fflush(stdout);
  }

  // Every handler needs its editor; libedit's `get` is in that editor's table, so the first step is
  // through the one loaded library.
  static EditLineEditor& Of(EditLine* edit) {
    void* self = nullptr;
    (*LoadEdit())->get(edit, EL_CLIENTDATA, &self);
    return *static_cast<EditLineEditor*>(self);
  }

  static char* Prompt(EditLine* edit) { return Of(edit).prompt_.data(); }
  static char* RightPrompt(EditLine* edit) { return Of(edit).right_.data(); }

  std::string_view TextBeforeCursor() const {
    const LineInfo* line = api_.line(edit_);
    return {line->buffer, static_cast<std::size_t>(line->cursor - line->buffer)};
  }

  bool Empty() const {
    const LineInfo* line = api_.line(edit_);
    return line->buffer == line->lastchar;
  }

  unsigned char Leave(InputLine::Kind kind) {
    was_ = Empty() ? InputLine::Was::kEmpty : InputLine::Was::kFilled;
    kind_ = kind;
    return CC_EOF;
  }

  static unsigned char OnInterrupt(EditLine* edit, int) {
    return Of(edit).Leave(InputLine::Kind::kInterrupted);
  }

  static unsigned char OnEnd(EditLine* edit, int) {
    EditLineEditor& self = Of(edit);
    if (self.Empty()) return self.Leave(InputLine::Kind::kEnd);
    const LineInfo* line = self.api_.line(edit);
    if (line->cursor == line->lastchar) return CC_ERROR;
    self.api_.cursor(edit, 1);
    self.api_.deletestr(edit, 1);
    return CC_REFRESH;
  }

  static unsigned char OnSuspend(EditLine* edit, int) {
    EditLineEditor& self = Of(edit);
    self.Send(kPasteOff);
    self.api_.set(edit, EL_PREP_TERM, 0);
    raise(SIGTSTP);
    self.api_.set(edit, EL_PREP_TERM, 1);
    self.Send(kPasteOn);
    return CC_REDISPLAY;
  }

  static unsigned char OnComplete(EditLine* edit, int) {
    EditLineEditor& self = Of(edit);
    const std::string typed(self.TextBeforeCursor());
    const std::vector<std::string> words =
        self.options_.complete ? self.options_.complete(typed) : std::vector<std::string>();
    if (words.empty()) return CC_ERROR;
    std::string more = CommonStart(words).substr(typed.size());
    // A folder is only the start of a path.
    if (words.size() == 1 && !words.front().ends_with('/')) more += " ";
    if (!more.empty()) {
      self.api_.insertstr(edit, more.c_str());
      return CC_REFRESH;
    }
    std::fputs(("\n" + Choices(words, typed.find_last_of(" \t") + 1)).c_str(), stdout);
    return CC_REDISPLAY;
  }

  static unsigned char OnPaste(EditLine* edit, int) {
    EditLineEditor& self = Of(edit);
    std::string paste, tail;
    wchar_t character = 0;
    while (tail != kPasteEnd && self.api_.wgetc(edit, &character) == 1) {
      const std::size_t before = paste.size();
      utf8::Append(static_cast<char32_t>(character), &paste);
      tail.append(paste, before);
      tail.erase(0, tail.size() - std::min(tail.size(), kPasteEnd.size()));
      if (paste.size() > kMaxPaste) paste.resize(kMaxPaste);
    }
    if (paste.size() == kMaxPaste) {
      std::fputs("\n(a paste of more than 1 MiB is left out; use a pipe or /edit)\n", stdout);
      return CC_REDISPLAY;
    }
    if (paste.ends_with(kPasteEnd)) paste.resize(paste.size() - kPasteEnd.size());
    std::string text = CleanPaste(paste);
    if (std::string fold = FoldOf(text, self.folded_.size()); !fold.empty()) {
      self.folded_.emplace_back(fold, std::move(text));
      text = std::move(fold);
    }
    return self.api_.insertstr(edit, text.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  }

  // A fold that the user has edited stays as plain text.
  void Unfold(std::string* line) const {
    for (const auto& [fold, text] : folded_) {
      const std::size_t at = line->find(fold);
      if (at != line->npos) line->replace(at, fold.size(), text);
    }
  }

  // Reads one code point from descriptor 0; 0 at the end or on cancellation.
  static int GetCharacter(EditLine* edit, wchar_t* character) {
    return Of(edit).NextCharacter(character);
  }

  int NextCharacter(wchar_t* character) {
    // Now the terminal is in editing mode: pastes, and tests, may begin.
    if (!std::exchange(reading_, true)) Send(kPasteOn);
    while (!HasWholeCodePoint()) {
      FollowWindow();
      pollfd watched[] = {{STDIN_FILENO, POLLIN, 0}, {wake_.get(), POLLIN, 0}};
      const int ready = poll(watched, std::size(watched), kWindowPoll);
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      if (ready < 0 || watched[1].revents != 0) return EndOfInput();
      char bytes[4096];
      const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return EndOfInput();
      typed_.append(bytes, static_cast<std::size_t>(got));
    }
    std::size_t end = 0;
    *character = static_cast<wchar_t>(utf8::Next(typed_, &end));
    typed_.erase(0, end);
    return 1;
  }

  // A terminal wraps what is on it when it gets narrower: draws the line anew from its first row,
  // without the text at the right edge, whose place has changed.
  void FollowWindow() {
    const int columns = ColumnsNow(Terminal());
    if (dumb_ || columns == columns_) return;
    columns_ = columns;
    right_.clear();
    const int rows = (prompt_width_ + DisplayWidth(TextBeforeCursor())) / std::max(1, columns);
    Send((rows > 0 ? fmt::format("\x1b[{}A", rows) : "") + "\r\x1b[J");
    api_.resize(edit_);
    api_.set(edit_, EL_REFRESH);
  }

  bool HasWholeCodePoint() const {
    if (typed_.empty()) return false;
    const auto lead = static_cast<unsigned char>(typed_[0]);
    const std::size_t length = lead < 0xC0 ? 1 : (lead < 0xE0 ? 2 : (lead < 0xF0 ? 3 : 4));
    return typed_.size() >= length;
  }

  int EndOfInput() {
    kind_ = InputLine::Kind::kEnd;
    return 0;
  }

  const EditApi& api_;
  const LineEditorOptions options_;
  InputHistory history_file_;
  const UniqueFd wake_;
  std::uint64_t cancel_id_ = 0;
  EditLine* edit_ = nullptr;
  History* history_ = nullptr;
  bool dumb_ = false;
  bool reading_ = false;  // the first character of this line was asked for
  std::string prompt_, right_;
  int columns_ = 0, prompt_width_ = 0;
  std::vector<std::pair<std::string, std::string>> folded_;  // pastes of this line
  std::string typed_;  // bytes read from descriptor 0 but not used yet
  InputLine::Kind kind_ = InputLine::Kind::kText;
  InputLine::Was was_ = InputLine::Was::kEmpty;
};

}  // namespace

Result<std::unique_ptr<LineEditor>> LineEditor::Make(LineEditorOptions options) {
  DOSSIER_ASSIGN_OR_RETURN(const EditApi* api, LoadEdit());
  auto editor = std::make_unique<EditLineEditor>(*api, std::move(options));
  DOSSIER_RETURN_IF_ERROR(editor->Open());
  return editor;
}

namespace {

Result<EditApi> Load() {
  DOSSIER_ASSIGN_OR_RETURN(SharedLibrary library, SharedLibrary::Load("libedit.so.2", "libedit2"));
  EditApi api{};
  library.Find("el_init", api.init);
  library.Find("el_end", api.end);
  library.Find("el_gets", api.gets);
  library.Find("el_wgetc", api.wgetc);
  library.Find("el_set", api.set);
  library.Find("el_get", api.get);
  library.Find("el_line", api.line);
  library.Find("el_insertstr", api.insertstr);
  library.Find("el_deletestr", api.deletestr);
  library.Find("el_cursor", api.cursor);
  library.Find("el_resize", api.resize);
  library.Find("el_source", api.source);
  library.Find("history_init", api.history_init);
  library.Find("history_end", api.history_end);
  library.Find("history", api.history);
  DOSSIER_RETURN_IF_ERROR(library.Check("version 3.1 is needed (package libedit2)"));
  return api;
}

}  // namespace

Result<const EditApi*> LoadEdit() {
  static const Result<EditApi> api = Load();
  if (!api) return tl::unexpected(api.error());
  return &*api;
}

namespace {

constexpr std::uint64_t kMaxFile = 64ull * 1024 * 1024;

std::string Escape(std::string_view message) {
  return ReplaceAll(ReplaceAll(message, "\\", "\\\\"), "\n", "\\n");
}

std::string Unescape(std::string_view line) {
  std::string message;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      message += line[i];
    } else {
      ++i;
      message += line[i] == 'n' ? '\n' : line[i];
    }
  }
  return message;
}

std::string Folder(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

std::vector<std::string> InputHistory::Load() const {
  std::vector<std::string> messages;
  if (path_.empty()) return messages;
  const Result<std::string> text = ReadFile(path_, kMaxFile);
  if (!text) return messages;
  for (const std::string_view line : Split(*text, '\n')) {
    if (!line.empty()) messages.push_back(Unescape(line));
  }
  if (messages.size() <= kMaxEntries) return messages;
  messages.erase(messages.begin(), messages.end() - kMaxEntries);
  std::string kept;
  for (const std::string& message : messages) kept += Escape(message) + "\n";
  // Rewriting it when it is twice too long is often enough.
  if (kept.size() * 2 < text->size()) static_cast<void>(WriteFileAtomic(path_, kept, 0600));
  return messages;
}

void InputHistory::Add(std::string_view message) {
  if (path_.empty() || message.empty() || message.size() > kMaxEntry || message == last_) return;
  last_ = message;
  if (!MakeFolders(Folder(path_), 0700)) return;
  const UniqueFd file(
      open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return;
  // One write, so that lines of two sessions do not mix.
  static_cast<void>(WriteAll(file.get(), Escape(Redact(message)) + "\n"));
}

}  // namespace dossier::cli
