// What `dossier assemble` puts into the sections of a layout: files, standard input, values.
//
//   SectionReader reader(layout, {{"notes", "@notes.md"}}, counter, cancel);
//   DOSSIER_ASSIGN_OR_RETURN(std::vector<assembly::Section> sections, reader.Read(std::cin));
//
// All sections of one prompt see one state of the files: a path is read once. Thread-safety: none
// needed; one owner.

#ifndef DOSSIER_APP_SECTION_SOURCES_H_
#define DOSSIER_APP_SECTION_SOURCES_H_

#include <functional>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/assemble.h"
#include "base/cancel.h"
#include "base/result.h"
#include "tokens/counter/counter.h"

namespace dossier::app {

class SectionReader {
 public:
  // `given`: of --source, by section: "@FILE", "-", "text:TEXT", "dir:PATH" or a folder.
  // `counter` counts the files of a folder.
  SectionReader(const assembly::Layout& layout, std::map<std::string, std::string> given,
                std::shared_ptr<const tokens::Counter> counter, CancelToken cancel)
      : layout_(layout),
        given_(std::move(given)),
        counter_(std::move(counter)),
        cancel_(std::move(cancel)) {}

  // Who makes the content of sections of a source (header, memory) from what `with` says; none:
  // there is nothing to make it from.
  using Maker = std::function<Result<std::optional<std::string>>(const Json& with)>;
  void set_maker(const std::string& source, Maker maker) { makers_[source] = std::move(maker); }

  // The sections for which there is content; those of source text, var and template need none.
  // Errors: kUsage (a bad --source), kNotFound ("section files: src/x.cc not found; …"), kConfig
  // (a file that does not hold what its section needs).
  Result<std::vector<assembly::Section>> Read(std::istream& in);

  // Of the sources, after Read.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Status ReadGiven(const assembly::LayoutSection& rule, const std::string& reference,
                   std::istream& in, std::vector<assembly::Section>* out);
  Status ReadFiles(const assembly::LayoutSection& rule, const std::vector<std::string>& paths,
                   std::vector<assembly::Section>* out);
  Status ReadMade(const assembly::LayoutSection& rule, const Maker& maker,
                  std::vector<assembly::Section>* out);
  Status ReadDeclared(const assembly::LayoutSection& rule, std::vector<assembly::Section>* out);
  Result<std::string> ReadPath(const assembly::LayoutSection& rule, const std::string& path);

  const assembly::Layout& layout_;
  std::map<std::string, std::string> given_;
  std::shared_ptr<const tokens::Counter> counter_;
  CancelToken cancel_;
  std::map<std::string, Maker> makers_;  // by source
  std::vector<std::string> warnings_;
  std::map<std::string, std::string> snapshot_;  // path to content
};

}  // namespace dossier::app

#endif  // DOSSIER_APP_SECTION_SOURCES_H_
