#include "ask/documents/context_set.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <span>

#include "ask/documents/loaded_context.h"
#include "base/cancel.h"
#include "base/files/missing_file.h"
#include "base/files/secret_files.h"
#include "base/files/walk.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/containers/archive_library.h"
#include "inspect/containers/binary_kinds.h"
#include "inspect/containers/binary_marks.h"
#include "inspect/text/redacted_source.h"
#include "store/content.h"

namespace dossier::ask {
namespace {

// Up to this size a file is read into memory at once, described and stored before the first
// request; a larger one is copied during the model's first reply.
constexpr std::uint64_t kReadWhole = 4u << 20;  // bytes

// Waits until stdin has something to read, so that a silent pipe does not outlast Ctrl-C.
Status WaitForInput(const std::optional<Millis>& silence, const CancelToken& cancel) {
  const CancelFd stop(cancel);
  pollfd entries[] = {{STDIN_FILENO, POLLIN, 0}, {stop.fd(), POLLIN, 0}};
  while (entries[0].revents == 0) {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "stopped while reading stdin");
    const int ready = poll(entries, 2, silence ? static_cast<int>(silence->count()) : -1);
    if (ready < 0 && errno != EINTR) return MakeErrnoError(errno, "stdin");
    if (ready == 0) {
      return MakeError(ErrorCode::kTimeout,
                       "stdin stayed silent for {} ms; end its writer, or allow more by "
                       "--stdin-timeout",
                       silence->count());
    }
  }
  return {};
}

// Only `dossier inspect` looks into packed files on request; here they are already unpacked.
inspect::Options Closed(inspect::Options options) {
  options.inside_limit = 0;
  return options;
}

// Returns true if most field names of `text`'s records are also in those of `other`.
bool SharesFields(const inspect::Description& text, const inspect::Description& other) {
  const auto shared = std::ranges::count_if(text.fields, [&](const inspect::Field& field) {
    return std::ranges::any_of(
        other.fields, [&](const inspect::Field& known) { return known.path == field.path; });
  });
  return inspect::HasRecords(text) && shared * 2 > std::ssize(text.fields);
}

class Loader {
 public:
  Loader(const ContextOptions& options, const CancelToken& cancel)
      : options_(options), inspect_(Closed(options.inspect)), cancel_(cancel) {}

  Status Add(const ContextSource& source) {
    if (source.text) return AddText(source);
    if (source.path == "-") return AddStream();
    if (!source.shown.empty()) return AddFile(source.path, source.name, source.shown);
    struct stat info{};
    if (stat(source.path.c_str(), &info) != 0) {
      return tl::unexpected(ExplainMissing(ErrnoError(errno, source.path), source.path));
    }
    if (S_ISDIR(info.st_mode)) return AddFolder(source.path);
    return AddFile(source.path, source.name.empty() ? BaseName(source.path) : source.name);
  }

  Result<std::shared_ptr<const ContextSet>> Finish() {
    JudgeTogether();
    MakeNamesUnique();
    std::sort(entries_.begin(), entries_.end(),
              [](const auto& a, const auto& b) { return a->document.name < b->document.name; });
    auto set =
        std::make_shared<LoadedContext>(std::move(entries_), Notes(), FilesLeftOut(), cancel_);
    set->StartCopies(options_);
    return std::shared_ptr<const ContextSet>(std::move(set));
  }

 private:
  static std::string BaseName(const std::string& path) {
    return path.substr(path.find_last_of('/') + 1);
  }

  Status AddInMemory(std::string_view text, std::string path, std::string name,
                     const std::optional<FileReference>& named = std::nullopt) {
    return AddInMemory(text, std::move(path), std::move(name), named, inspect_);
  }

  Status AddInMemory(std::string_view text, std::string path, std::string name,
                     const std::optional<FileReference>& named, const inspect::Options& how) {
    auto entry = std::make_unique<LoadedDocument>();
    const auto source = inspect::MemorySource(text, path.empty() ? name : path);
    DOSSIER_ASSIGN_OR_RETURN(inspect::Description description,
                             inspect::Describe(*source, how, cancel_));
    DOSSIER_RETURN_IF_ERROR(inspect::RefuseBinary(description, path.empty() ? "the text" : path));
    entry->stored = options_.content
                        ? StoreDecoded(*source, description, named, *options_.content, cancel_)
                        : Seal(text, name);
    if (!entry->stored) return tl::unexpected(entry->stored.error());
    entry->document = {
        .name = std::move(name), .path = std::move(path), .description = std::move(description)};
    entries_.push_back(std::move(entry));
    return {};
  }

  Status AddText(const ContextSource& source) {
    DOSSIER_RETURN_IF_ERROR(AddInMemory(
        *source.text, "", source.named == ContextSource::Named::kFile ? source.name : ""));
    ContextDocument& document = entries_.back()->document;
    document.name = source.name;
    if (source.named == ContextSource::Named::kFile) document.description.name = source.name;
    if (source.like) JudgeBy(*source.like, *entries_.back());
    document.description.part = source.part;
    for (const std::string& note : source.notes) {
      document.description.notes.push_back(
          {.code = "source", .offset = {}, .line = {}, .text = note});
      given_notes_.push_back(fmt::format("{}: {}", source.name, note));
    }
    return {};
  }

  Status AddStream() {
    DOSSIER_ASSIGN_OR_RETURN(auto writer, store::ContentWriter::Start(*options_.content));
    const auto stream = inspect::StdinSource("stdin");
    std::string block(kCopyBlock, '\0');
    for (std::uint64_t at = 0;;) {
      DOSSIER_RETURN_IF_ERROR(WaitForInput(options_.stdin_silence, cancel_));
      DOSSIER_ASSIGN_OR_RETURN(const std::size_t got, stream->ReadAt(at, block));
      if (got == 0) break;
      at += got;
      DOSSIER_RETURN_IF_ERROR(writer.Write(std::string_view(block).substr(0, got)));
    }
    DOSSIER_ASSIGN_OR_RETURN(const store::StoredBody body, std::move(writer).Finish());
    // The name of the stored file is a hash, which means nothing to users.
    return AddFile(options_.content->PathOf(body.sha256), "stdin", "stdin");
  }

  Status AddFile(const std::string& path, std::string name) {
    return AddFile(path, std::move(name), path);
  }

  // `shown` is the path for messages and the description.
  Status AddFile(const std::string& path, std::string name, const std::string& shown) {
    DOSSIER_ASSIGN_OR_RETURN(std::unique_ptr<inspect::ByteSource> opened, Open(path, shown));
    if (IsGivenAlready(*opened, shown)) return {};
    std::optional<ContextDocument::Packed> packed;
    DOSSIER_ASSIGN_OR_RETURN(auto inside, Unpacked(*opened, shown, &packed));
    const auto size = inside ? std::optional(inside->bytes) : opened->size();
    if (inside) opened = std::move(inside->source);
    std::optional<FileReference> named;
    // Input from stdin has no other name than the store's.
    if (!inside && size && *size > options_.copy_limit && shown == path) {
      named = FileReference{.path = std::filesystem::absolute(path).lexically_normal().string(),
                            .bytes = *size,
                            .modified_ns = opened->state().modified_ns};
    }
    std::string head(16, '\0');
    DOSSIER_ASSIGN_OR_RETURN(const std::size_t got, opened->ReadAt(0, head));
    if (inspect::IsSqliteFile(std::string_view(head).substr(0, got))) {
      return AddDatabase(*opened, std::move(name), shown, named);
    }
    DOSSIER_ASSIGN_OR_RETURN(const bool redacts, MustHide(*opened));
    if (redacts) {
      opened = inspect::RedactedSource(std::move(opened), cancel_);
      named.reset();  // what is kept is not the file
      if (redacted_++ == 0) redacted_example_ = shown;
    }
    if (size && *size <= kReadWhole) {
      // Uses the same descriptor, since another file may have replaced it meanwhile.
      DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadWhole(*opened));
      DOSSIER_RETURN_IF_ERROR(AddInMemory(text, shown, std::move(name), named));
      if (packed) NotePacked(*packed, &entries_.back()->document);
      return {};
    }
    auto entry = std::make_unique<LoadedDocument>();
    entry->source = std::move(opened);
    // The store updates the time of a body that is stored again.
    if (shown == path) entry->before = entry->source->state();
    entry->named = named;
    DOSSIER_ASSIGN_OR_RETURN(inspect::Description description,
                             inspect::Describe(*entry->source, inspect_, cancel_));
    if (shown != path) description.name = description.path = shown;
    DOSSIER_RETURN_IF_ERROR(inspect::RefuseBinary(description, shown));
    if (description.read_error) {
      return MakeError(ErrorCode::kIo, "{}: {}", shown, *description.read_error);
    }
    entry->document = {
        .name = std::move(name), .path = shown, .description = std::move(description)};
    if (packed) NotePacked(*packed, &entry->document);
    if (entry->before && !entry->document.description.stable) {
      entry->document.warnings.push_back(
          ChangedSentence(shown, *entry->before, entry->source->state(), entry->named));
    }
    entries_.push_back(std::move(entry));
    return {};
  }

  // Returns true if secrets in it must be replaced.
  Result<bool> MustHide(const inspect::ByteSource& source) const {
    if (!options_.redact_unless) return false;
    DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t secrets, inspect::CountSecrets(source, cancel_));
    return secrets > 0;
  }

  // Code that unpacks it again would fail.
  static void NotePacked(const ContextDocument::Packed& packed, ContextDocument* document) {
    document->packed = packed;
    document->description.notes.push_back(
        {.code = "unpacked",
         .offset = {},
         .line = {},
         .text = fmt::format("the {} file is unpacked already: read it as plain text, not by a "
                             "module for {}",
                             packed.kind, packed.kind)});
  }

  // Returns a compressed file's content; none for other files. A context is complete or an error.
  Result<std::optional<inspect::Inside>> Unpacked(
      const inspect::ByteSource& source, std::string_view shown,
      std::optional<ContextDocument::Packed>* packed) const {
    std::string head(4096, '\0');
    DOSSIER_ASSIGN_OR_RETURN(const std::size_t got, source.ReadAt(0, std::span(head)));
    head.resize(got);
    const std::string_view kind = inspect::BinaryKind(head);
    if (!inspect::IsCompression(kind) || !inspect::HasBinaryMark(head)) return std::nullopt;
    auto inside = inspect::OpenInside(source, source.size().value_or(UINT64_MAX), kind,
                                      options_.inspect.inside_limit, cancel_);
    if (!inside && inside.error().code == ErrorCode::kCancelled) {
      return tl::unexpected(std::move(inside).error());
    }
    const std::string why = inside ? inside->why_cut : inside.error().message;
    if (why.empty()) {
      *packed = {.kind = std::string(kind), .bytes = source.size().value_or(0)};
      return std::move(*inside);
    }
    return MakeError(inside ? ErrorCode::kDamaged : inside.error().code,
                     "{}: {}; unpack it and give the file that comes of it", shown, why);
  }

  Result<std::unique_ptr<inspect::ByteSource>> Open(const std::string& path,
                                                    const std::string& shown) const {
    if (!options_.open && shown == path) return inspect::OpenFileSource(path);
    struct stat info{};
    DOSSIER_ASSIGN_OR_RETURN(UniqueFd fd,
                             options_.open ? options_.open(path) : OpenRegularFile(path, &info));
    return inspect::FileSourceOf(std::move(fd), shown, path);
  }

  static Result<std::string> ReadWhole(const inspect::ByteSource& source) {
    std::string text;
    for (std::size_t got = 1; got > 0;) {
      const std::size_t had = text.size();
      text.resize(had + kCopyBlock);
      DOSSIER_ASSIGN_OR_RETURN(got, source.ReadAt(had, std::span(text).subspan(had)));
      text.resize(had + got);
      if (text.size() > kReadWhole * 16) {
        return MakeError(ErrorCode::kTooLong, "{}: grew while it was read", source.name());
      }
    }
    return text;
  }

  // Copies its bytes unchanged; the text for reading is its schema.
  Status AddDatabase(const inspect::ByteSource& source, std::string name, const std::string& shown,
                     const std::optional<FileReference>& named) {
    using Keep = store::ContentWriter::Keep;
    DOSSIER_ASSIGN_OR_RETURN(const bool hides, MustHide(source));
    if (hides) {
      return MakeError(ErrorCode::kRefused,
                       "{} is a database that holds keys or passwords, which cannot be replaced in "
                       "it, and is not read; a person can allow it by {}",
                       shown, *options_.redact_unless);
    }
    DOSSIER_ASSIGN_OR_RETURN(
        auto writer,
        store::ContentWriter::Start(*options_.content, named ? Keep::kOpen : Keep::kStored));
    std::string block(kCopyBlock, '\0');
    for (std::uint64_t at = 0;;) {
      if (cancel_.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel_.reason());
      DOSSIER_ASSIGN_OR_RETURN(const std::size_t got, source.ReadAt(at, block));
      if (got == 0) break;
      // A write-ahead log is not copied, and without it SQLite does not open such a file.
      if (at == 0 && got > 19) block[18] = block[19] = '\1';
      at += got;
      DOSSIER_RETURN_IF_ERROR(writer.Write(std::string_view(block).substr(0, got)));
    }
    DOSSIER_ASSIGN_OR_RETURN(store::StoredBody body, std::move(writer).Finish());
    DOSSIER_ASSIGN_OR_RETURN(const MappedFile map, MappedFile::FromFd(body.fd.get(), shown));
    auto file = inspect::ReadSqliteFile(map.bytes());
    if (!file) {
      return MakeError(ErrorCode::kDamaged, "{}: {}; `.recover` of the sqlite3 shell may help",
                       shown, file.error().message);
    }
    inspect::Options how = inspect_;
    how.format = inspect::Format::kPlainText;
    DOSSIER_ASSIGN_OR_RETURN(
        inspect::Description as_file,
        inspect::Describe(*inspect::MemorySource(map.bytes(), shown), inspect_, cancel_));
    DOSSIER_RETURN_IF_ERROR(AddInMemory(SchemaText(*file), shown, std::move(name), named, how));
    LoadedDocument& entry = *entries_.back();
    entry.document.database_file = std::move(as_file);
    entry.document.database = std::move(*file);
    entry.stored->database = std::move(body.fd);
    entry.stored->database_bytes = body.bytes;
    std::error_code none;
    if (std::filesystem::file_size(shown + "-wal", none) > 0 && !none) {
      given_notes_.push_back(fmt::format(
          "{0}: what its log {0}-wal holds is not read; `PRAGMA wal_checkpoint` writes it back",
          shown));
    }
    return {};
  }

  static std::string SchemaText(const inspect::SqliteFile& file) {
    std::string text = fmt::format("SQLite database of {} tables; sql() reads its rows.\n",
                                   GroupDigits(file.tables.size()));
    for (const inspect::SqliteTable& table : file.tables) {
      const std::string rows =
          table.rows ? fmt::format(" -- {} rows", GroupDigits(*table.rows)) : std::string();
      text += fmt::format("\n{};{}\n", table.sql, rows);
    }
    return text;
  }

  Status AddFolder(const std::string& path) {
    WalkOptions walk;
    walk.max_files = options_.max_files;
    DOSSIER_ASSIGN_OR_RETURN(const WalkResult found, WalkFolder(path, walk, cancel_));
    std::size_t added = 0;
    const std::string prefix = path.ends_with('/') ? path : path + "/";
    for (const SkippedPath& skipped : found.skipped) unreadable_.push_back(skipped.path);
    for (const std::string& file : found.files) {
      if (cancel_.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel_.reason());
      const std::string below =
          file.starts_with(prefix) ? file.substr(prefix.size()) : BaseName(file);
      // The user did not name the file: no secret may be sent to a model by accident.
      if (options_.secrets == ContextOptions::Secrets::kLeftOut && IsSecretFile(file)) {
        if (secrets_++ == 0) secret_example_ = file;
        continue;
      }
      // Binary and unreadable files of a folder are left out and are not fatal.
      const Status done = AddFile(file, below);
      if (done) {
        ++added;
      } else if (done.error().code == ErrorCode::kCancelled ||
                 done.error().code == ErrorCode::kUnavailable) {
        return done;
      } else if (done.error().code == ErrorCode::kRefused) {
        given_notes_.push_back(done.error().message);  // includes the remedy
        ++refused_;
      } else {
        (done.error().code == ErrorCode::kDamaged ? binary_ : unreadable_).push_back(file);
      }
    }
    if (added == 0) {
      return MakeError(ErrorCode::kNotFound, "{}: holds no readable text file", path);
    }
    if (found.stopped) {
      given_notes_.push_back(fmt::format("{}: only the first {} files are read", path,
                                         GroupDigits(options_.max_files)));
    }
    return {};
  }

  // Compares the file itself, not its name: a link or another form of the path is the same file.
  bool IsGivenAlready(const inspect::ByteSource& source, const std::string& shown) {
    const inspect::SourceState state = source.state();
    if (state.inode == 0) return false;  // the system does not report it
    const auto [first, is_new] = given_.try_emplace({state.device, state.inode}, shown);
    if (is_new) return false;
    if (twice_++ == 0) twice_example_ = fmt::format("{} and {}", first->second, shown);
    return true;
  }

  // Returns "3 binary files are left out: a.pdf, b.zip, c.png"; empty: there are none.
  static std::string LeftOutNote(const std::vector<std::string>& files, std::string_view kind) {
    constexpr std::size_t kShown = 3;
    if (files.empty()) return {};
    const std::vector<std::string> shown(
        files.begin(), files.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, files.size())));
    const std::size_t more = files.size() - shown.size();
    return fmt::format("{} {} {} left out: {}{}", GroupDigits(files.size()), kind,
                       files.size() == 1 ? "file is" : "files are", Join(shown, ", "),
                       more > 0 ? fmt::format(" and {} more", GroupDigits(more)) : "");
  }

  std::uint64_t FilesLeftOut() const {
    return binary_.size() + unreadable_.size() + secrets_ + refused_;
  }

  std::vector<std::string> Notes() const {
    std::vector<std::string> notes = given_notes_;
    for (std::string note :
         {LeftOutNote(binary_, "binary"), LeftOutNote(unreadable_, "unreadable")}) {
      if (!note.empty()) notes.push_back(std::move(note));
    }
    if (secrets_ > 0) {
      notes.push_back(fmt::format("{} holds secrets and is left out{}; name it to use it",
                                  secret_example_,
                                  secrets_ > 1 ? fmt::format(", and {} more", secrets_ - 1) : ""));
    }
    if (redacted_ > 0) {
      notes.push_back(fmt::format(
          "{} holds keys or passwords, which are read as [redacted:KIND]{}; a person can allow "
          "them "
          "by {}",
          redacted_example_, redacted_ > 1 ? fmt::format(", and so do {} more", redacted_ - 1) : "",
          *options_.redact_unless));
    }
    if (twice_ > 0) {
      notes.push_back(fmt::format("{} are one file, which is used once", twice_example_));
      if (twice_ > 1) {
        notes.back() += fmt::format("; so it is with {} others", GroupDigits(twice_ - 1));
      }
    }
    for (const auto& entry : entries_) {
      const bool told = !given_notes_.empty();
      if (!told && entries_.size() == 1 && entry->document.description.counts.chars == 0) {
        const std::string& name = entry->document.name;
        notes.push_back(fmt::format("{} is empty", name.empty() ? "the context" : name));
      }
    }
    return notes;
  }

  // Any text may contain a block of fields.
  static bool IsStanzas(const inspect::Description& about) {
    return inspect::FormOf(about.format) == inspect::RecordForm::kStanzas;
  }

  // A text with too few records to judge alone gets the record format of texts beside it.
  void JudgeTogether() {
    constexpr std::size_t kMostKinds = 8;
    std::vector<const inspect::Description*> kinds;
    for (const auto& entry : entries_) {
      const inspect::Description& about = entry->document.description;
      const bool known = std::ranges::any_of(kinds, [&](const auto* kind) {
        return kind->format == about.format && kind->flavour == about.flavour &&
               kind->records_in == about.records_in && kind->records_key == about.records_key;
      });
      const bool inside = !about.records_in.empty() || !about.records_key.empty();
      const bool tells = IsStanzas(about) || inside;
      if (tells && !known && kinds.size() < kMostKinds) kinds.push_back(&about);
    }
    for (const auto& entry : entries_) {
      inspect::Description& about = entry->document.description;
      if (!entry->stored || inspect::HasRecords(about)) continue;
      for (const inspect::Description* kind : kinds) {
        if (!IsStanzas(*kind) && about.format != kind->format) continue;
        if (JudgeBy(*kind, *entry)) break;
      }
    }
  }

  // Treats the text as one of `kind` if its records match; returns whether they do.
  bool JudgeBy(const inspect::Description& kind, LoadedDocument& entry) const {
    inspect::Description& about = entry.document.description;
    if (!entry.stored || inspect::HasRecords(about)) return false;
    if (kind.fields.empty()) return false;  // records have nothing to share
    inspect::Options how = inspect_;
    how.like = &kind;
    auto again = inspect::DescribeText(entry.stored->map.bytes(),
                                       about.path.empty() ? kind.path : about.path, how);
    if (again.format != kind.format || !SharesFields(again, kind)) return false;
    again.name = about.name;
    again.path = about.path;
    again.encoding = about.encoding;
    again.counts = about.counts;
    about = std::move(again);
    return true;
  }

  void MakeNamesUnique() {
    for (const auto& entry : entries_) {
      std::string& name = entry->document.name;
      if (name.empty() && entries_.size() > 1) name = "text";
    }
    while (LengthenEqualNames()) {
    }
    std::set<std::string> taken, databases;  // SQL tells names apart without regard to case
    for (const auto& entry : entries_) {
      std::string& name = entry->document.name;
      name = utf8::Sanitize(name);  // code and models call it so
      const std::string base = name;
      const auto is_new = [&] {
        if (!taken.insert(name).second) return false;
        return !entry->document.database || databases.insert(ToLowerAscii(name)).second;
      };
      for (int copy = 2; !is_new(); ++copy) name = fmt::format("{}#{}", base, copy);
    }
  }

  // Adds one more folder to equal names of different files; returns true if any name got longer.
  bool LengthenEqualNames() {
    std::map<std::string, std::set<std::string>> paths;
    for (const auto& entry : entries_) paths[entry->document.name].insert(entry->document.path);
    bool changed = false;
    for (const auto& entry : entries_) {
      std::string& name = entry->document.name;
      if (paths[name].size() < 2) continue;
      std::string longer = WithFolder(entry->document.path, name);
      changed = changed || longer != name;
      name = std::move(longer);
    }
    return changed;
  }

  // jan/sales.csv and feb/sales.csv: extends `name`, the end of `path`, by one more folder of it.
  static std::string WithFolder(std::string_view path, const std::string& name) {
    if (!path.ends_with("/" + name)) return name;
    const std::string folder = BaseName(std::string(path.substr(0, path.size() - name.size() - 1)));
    return folder.empty() || folder == "." || folder == ".." ? name : folder + "/" + name;
  }

  const ContextOptions& options_;
  const inspect::Options inspect_;
  const CancelToken cancel_;
  std::vector<std::unique_ptr<LoadedDocument>> entries_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> given_;  // device, inode: path
  std::uint64_t twice_ = 0;                                               // files given again
  std::string twice_example_;
  std::vector<std::string> given_notes_;  // from the sources
  // Files of folders that were left out.
  std::vector<std::string> binary_, unreadable_;
  std::uint64_t secrets_ = 0, refused_ = 0;
  std::string secret_example_;
  std::uint64_t redacted_ = 0;  // files whose secrets were replaced
  std::string redacted_example_;
};

}  // namespace

inspect::Description DescriptionOfFile(const ContextDocument& document) {
  if (document.database_file) return *document.database_file;
  inspect::Description about = document.description;
  if (document.packed) {
    about.compression = {.kind = document.packed->kind, .inside_bytes = about.counts.bytes};
    about.counts.bytes = document.packed->bytes;
  }
  return about;
}

Result<std::vector<sandbox::ContextText>> DatabasesOf(const ContextSet& context) {
  std::vector<sandbox::ContextText> databases;
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    const ContextDocument& document = context.documents()[i];
    if (!document.database) continue;
    DOSSIER_ASSIGN_OR_RETURN(const StoredText* stored, context.Stored(i));
    databases.push_back({.name = document.name,
                         .fd = stored->database.get(),
                         .bytes = stored->database_bytes,
                         .kind = sandbox::ContextText::Kind::kDatabase});
  }
  return databases;
}

Result<std::shared_ptr<const ContextSet>> LoadContext(const std::vector<ContextSource>& sources,
                                                      const ContextOptions& options,
                                                      const CancelToken& cancel) {
  Loader loader(options, cancel);
  for (const ContextSource& source : sources) {
    const Status added = loader.Add(source);
    if (added || added.error().code != ErrorCode::kUnavailable) {
      DOSSIER_RETURN_IF_ERROR(added);
      continue;
    }
    return MakeError(
        ErrorCode::kIo,
        "{}; each file of a context stays open: give fewer, or raise the limit (ulimit "
        "-n)",
        added.error().message);
  }
  return loader.Finish();
}

}  // namespace dossier::ask
