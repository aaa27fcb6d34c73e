// What fills the sections of a layout from outside: files, folders, descriptions, and what makers
// give; the same for `assemble` and for every driver.
//
//   SectionReader reader(layout, {.makers = makers, .counter = counter, .cancel = cancel});
//   DOSSIER_ASSIGN_OR_RETURN(auto sections, reader.ReadAll({{"notes", "@notes.md"}}, std::cin));
//
//   DOSSIER_ASSIGN_OR_RETURN(const UserSections own, ReadUserSections(layout, sources));
//
// A driver makes the content of the sections that the built-in layout declares. A section that the
// user's layout adds, or to which it gives another source, is filled from that source, and stands
// for the driver's. Nothing is read for a built-in layout.
//
// All sections of one prompt see one state of the files: a path is read once. Paths are
// relative to the current folder. Whether a layout of a project may be used at all is decided where
// layouts are looked for. Thread-safety: none needed; one owner.

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

// Makes the content of sections of one source (header, memory) from what `with` says and from the
// values of templates by name; none: there is nothing to make it from.
using SectionValues = std::map<std::string, std::string>;
using SectionMaker = std::function<Result<std::optional<std::string>>(const Json& with,
                                                                      const SectionValues& values)>;
using SectionMakers = std::map<std::string, SectionMaker>;  // by source

struct SectionSources {
  SectionMakers makers;
  SectionValues values;                            // of templates and conditions
  std::shared_ptr<const tokens::Counter> counter;  // of the files of a folder
  CancelToken cancel;
};

class SectionReader {
 public:
  SectionReader(const assembly::Layout& layout, SectionSources sources)
      : layout_(layout), sources_(std::move(sources)) {}

  // The sections for which there is content; those of source text, var and template need none.
  // `given`: of --source, by section: "@FILE", "-" (`in`), "text:TEXT", "dir:PATH" or a folder.
  // Errors: kUsage (a bad --source), kNotFound ("section files: src/x.cc not found; …"), kConfig
  // (a file that does not hold what its section needs).
  Result<std::vector<assembly::Section>> ReadAll(const std::map<std::string, std::string>& given,
                                                 std::istream& in);
  // The content of one section from its declared source, added to `out`. Errors: as ReadAll.
  Status ReadDeclared(const assembly::LayoutSection& rule, std::vector<assembly::Section>* out);
  // Whether `when` or `unless` leaves the section out, by the values. kSome: more may be set later.
  enum class Known { kAll, kSome };
  bool IsLeftOut(const assembly::LayoutSection& rule, Known values) const;

  // Of the sources, after a read.
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

// The content of the sections that are the user's own in `layout`.
struct UserSections {
  std::vector<assembly::Section> sections;
  std::vector<std::string> warnings;

  // Before `made`, so that they stand for sections of the same name.
  std::vector<assembly::Section> With(std::vector<assembly::Section> made) const;
  bool Has(std::string_view name) const;
  // {NAME: SHA-256 of its content}, for records of what a run has seen.
  JsonObject Hashes() const;
};

// A section that a condition leaves out by `sources.values` is not read; one whose condition only
// the prompt decides may be missing. Errors: as ReadAll; kNotFound for a source that nobody fills.
Result<UserSections> ReadUserSections(const assembly::Layout& layout, SectionSources sources);

}  // namespace dossier::driver

#endif  // DOSSIER_DRIVER_SECTION_READER_H_
