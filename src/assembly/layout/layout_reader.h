// A layout file as a tree of checked values, before `extends` is resolved.
//
//   DOSSIER_ASSIGN_OR_RETURN(LayoutFile file, ReadLayoutFile(yaml, "layouts/coding.yaml"));
//   DOSSIER_ASSIGN_OR_RETURN(Layout layout, FinishLayout(std::move(file)));
//
// Thread-safety: plain data and pure functions.

#ifndef DOSSIER_ASSEMBLY_LAYOUT_LAYOUT_READER_H_
#define DOSSIER_ASSEMBLY_LAYOUT_LAYOUT_READER_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/layout.h"
#include "base/yaml/yaml.h"

namespace dossier::assembly {

// A section as one file writes it: its keys matter when it is merged into a base section.
struct SectionEntry {
  std::string name;
  YamlNode node;              // the whole map
  std::string before, after;  // where to insert a new section
};

struct LayoutFile {
  Layout layout;        // all but its sections
  std::string extends;  // empty if none
  int extends_line = 0, extends_column = 0;
  std::set<std::string> keys;  // of the top level
  std::vector<std::string> remove;
  std::vector<SectionEntry> sections;
};

// Reads and checks keys and types of the top level; sections are kept as nodes.
// Errors: kConfig, "FILE:LINE:COL: reason".
Result<LayoutFile> ReadLayoutFile(std::string_view yaml, std::string_view file);

// Turns the section nodes into sections and checks conditions that span several keys.
Result<Layout> FinishLayout(LayoutFile file);

// Merges `over` into `base`: sections by name, key by key. Messages about keys of `over` keep its
// file name.
Result<LayoutFile> MergeLayouts(LayoutFile base, LayoutFile over);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_LAYOUT_READER_H_
