// Fills the sections of a layout from outside: files, folders, descriptions and section makers. The
// `assemble` command and all drivers share it.
//
//   SectionReader reader(layout, {.makers = makers, .counter = counter, .cancel = cancel});
//   DOSSIER_ASSIGN_OR_RETURN(auto sections, reader.ReadAll({{"notes", "@notes.md"}}, std::cin));
//
//   DOSSIER_ASSIGN_OR_RETURN(const UserSections own, ReadUserSections(layout, sources));
//
// A driver makes the content of the sections that the built-in layout declares. A section that the
// user's layout adds, or whose source it changes, is filled from that source and replaces the
// driver's. For a built-in layout nothing is read.
//
// All sections of one prompt see one state of the files: each path is read once. Paths are relative
// to the current folder. The layout lookup decides if a project's layout may be used at all.
// Thread-safety: one owner.

#ifndef DOSSIER_DRIVER_SECTION_READER_H_
#define DOSSIER_DRIVER_SECTION_READER_H_

#include <functional>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assembly/assemble.h"
#include "base/cancel.h"
#include "base/result.h"
#include "tokens/counter/counter.h"

namespace dossier::driver {

// Makes the content of a section of one source (header, memory) from its `with` value and the
// template values by name. Returns nullopt if there is nothing to make it from.
using SectionValues = std::map<std::string, std::string>;
using SectionMaker = std::function<Result<std::optional<std::string>>(const Json& with,
                                                                      const SectionValues& values)>;
using SectionMakers = std::map<std::string, SectionMaker>;  // by source

struct SectionSources {
  SectionMakers makers;
  SectionValues values;                            // for templates and conditions
  std::shared_ptr<const tokens::Counter> counter;  // counts the files of a folder
  CancelToken cancel;
};

class SectionReader {
 public:
  SectionReader(const assembly::Layout& layout, SectionSources sources)
      : layout_(layout), sources_(std::move(sources)) {}

  // Returns the sections that have content; those with source text, var or template need none.
  // `given` holds the --source values by section: "@FILE", "-" (`in`), "text:TEXT", "dir:PATH" or a
  // folder. Errors: kUsage (a bad --source), kNotFound ("section files: src/x.cc not found; …"),
  // kConfig (a file that does not suit its section).
  Result<std::vector<assembly::Section>> ReadAll(const std::map<std::string, std::string>& given,
                                                 std::istream& in);
  // Reads one section from its declared source and appends it to `out`. Errors: as ReadAll.
  Status ReadDeclared(const assembly::LayoutSection& rule, std::vector<assembly::Section>* out);
  // Returns true if a condition excludes the section. kSome: more values may be set later.
  enum class Known { kAll, kSome };
  bool IsLeftOut(const assembly::LayoutSection& rule, Known values) const;

  // Warnings of the sources, after a read.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  bool IsSet(const std::string& name) const;
  Status ReadGiven(const assembly::LayoutSection& rule, const std::string& reference,
                   std::istream& in, std::vector<assembly::Section>* out);
  Status ReadFiles(const assembly::LayoutSection& rule, const std::vector<std::string>& paths,
                   std::vector<assembly::Section>* out);
  Status ReadMade(const assembly::LayoutSection& rule, const SectionMaker& maker,
                  std::vector<assembly::Section>* out);
  Result<std::string> ReadPath(const assembly::LayoutSection& rule, const std::string& path);

  const assembly::Layout& layout_;
  const SectionSources sources_;
  std::vector<std::string> warnings_;
  std::map<std::string, std::string> snapshot_;  // path to content
};

// The content of the sections that the user added to `layout` or changed in it.
struct UserSections {
  std::vector<assembly::Section> sections;
  std::vector<std::string> warnings;

  // Returns these sections, then `made`: the first of a name is used.
  std::vector<assembly::Section> With(std::vector<assembly::Section> made) const;
  bool Has(std::string_view name) const;
  // Returns {NAME: SHA-256 of its content}, to record what a run has seen.
  JsonObject Hashes() const;
};

// Skips sections that a condition excludes by `sources.values`; if only the prompt decides it, a
// section may be missing. Errors: as ReadAll; kNotFound for a source that nobody fills.
Result<UserSections> ReadUserSections(const assembly::Layout& layout, SectionSources sources);

}  // namespace dossier::driver

#endif  // DOSSIER_DRIVER_SECTION_READER_H_
