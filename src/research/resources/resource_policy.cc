#include "research/resources/resource_policy.h"

#include <array>

namespace dossier::research {
namespace {

enum class Default : std::uint8_t { kNo, kYes };

// Bit set of the phases in which something is shown.
constexpr unsigned In(std::initializer_list<Phase> phases) {
  unsigned bits = 0;
  for (const Phase phase : phases) bits |= 1u << static_cast<unsigned>(phase);
  return bits;
}
constexpr unsigned kPlanning = In({Phase::kPlan, Phase::kInstall});
constexpr unsigned kCoding = kPlanning | In({Phase::kCoding});
constexpr unsigned kAllPhases = kCoding | In({Phase::kCompile, Phase::kRun});

struct ClassRow {
  std::string_view name;
  Default tree, content;
  ItemLimits limits;
  unsigned tree_phases, content_phases;
  std::string_view guidance;
};

// In the order of ResourceClass.
constexpr std::array<ClassRow, kResourceClasses> kClasses = {{
    {"template",
     Default::kYes,
     Default::kYes,
     {12, 3500, 12'000},
     kCoding,
     kCoding,
     "Start from a template: copy it into the workspace and change the copy."},
    {"library",
     Default::kNo,
     Default::kNo,
     {6, 2000, 4000},
     0,
     0,
     "Use a library where it is mounted; if it must be built, build a copy in the workspace."},
    {"dataset",
     Default::kNo,
     Default::kNo,
     {0, 0, 0},
     0,
     0,
     "Read a data set where it is mounted; never write into it."},
    {"model",
     Default::kNo,
     Default::kNo,
     {0, 0, 0},
     0,
     0,
     "Load a model from where it is mounted; never fetch it again."},
    {"setup",
     Default::kYes,
     Default::kYes,
     {8, 3000, 8000},
     kPlanning,
     kPlanning,
     "Follow a setup when software is installed."},
    {"document",
     Default::kNo,
     Default::kYes,
     {4, 3000, 8000},
     0,
     kAllPhases,
     "A document says what holds here; it is not a part of the program."},
}};

const ClassRow& RowOf(ResourceClass kind) { return kClasses[static_cast<std::size_t>(kind)]; }

bool Shows(std::optional<bool> flag, Default by_class, unsigned phases, Phase phase) {
  if (flag) return *flag;
  return by_class == Default::kYes && (phases & In({phase})) != 0;
}

}  // namespace

std::string_view ResourceClassName(ResourceClass kind) { return RowOf(kind).name; }
std::string_view GuidanceOf(ResourceClass kind) { return RowOf(kind).guidance; }

ItemLimits LimitsOf(const ResourceItem& item) {
  const ItemLimits& by_class = RowOf(item.kind).limits;
  return {item.max_files.value_or(by_class.files), item.max_chars.value_or(by_class.chars),
          item.max_total_chars.value_or(by_class.total_chars)};
}

bool ShowsTree(const ResourceItem& item, Phase phase) {
  const ClassRow& row = RowOf(item.kind);
  return Shows(item.include_tree, row.tree, row.tree_phases, phase);
}

bool ShowsContent(const ResourceItem& item, Phase phase) {
  const ClassRow& row = RowOf(item.kind);
  return Shows(item.include_content, row.content, row.content_phases, phase);
}

bool EverShowsTree(const ResourceItem& item) {
  return item.include_tree.value_or(RowOf(item.kind).tree == Default::kYes);
}

bool EverShowsContent(const ResourceItem& item) {
  return item.include_content.value_or(RowOf(item.kind).content == Default::kYes);
}

bool IsStaged(ResourceClass kind) {
  return kind == ResourceClass::kTemplate || kind == ResourceClass::kSetup ||
         kind == ResourceClass::kDocument;
}

}  // namespace dossier::research
