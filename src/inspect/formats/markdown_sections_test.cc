#include "inspect/formats/markdown_sections.h"

#include <gtest/gtest.h>

#include "inspect/describe/describe.h"
#include "inspect/description/hint.h"
#include "inspect/records/record_reader.h"

namespace dossier::inspect {
namespace {

constexpr std::string_view kText =
    "front matter\n# One\nfirst\n\n```sh\n# no heading\n~~~\n```\n## Two ##\n###not one\n#\nlast\n";

TEST(MarkdownSectionsTest, HeadingsOutsideOfFencesBeginThem) {  // INS-143, INS-T20
  std::string told;
  for (const ByteRange& range : FindSections(kText)) {
    for (const auto& [name, value] : ReadSection(Slice(kText, range))) {
      told += fmt::format("{}={}|", name, value);
    }
    told += '\n';
  }
  EXPECT_EQ(told,
            "level=1|title=One|text=first\n\n```sh\n# no heading\n~~~\n```|\n"
            "level=2|title=Two|text=###not one|\n"
            "level=1|title=|text=last|\n");
}

TEST(MarkdownSectionsTest, TheyAreRecordsBesideTheText) {  // INS-143
  const Description about = DescribeText(kText, "a.md", {});
  ASSERT_TRUE(about.records);
  EXPECT_EQ(about.records->records, 3u);
  EXPECT_FALSE(HasRecords(about));
  ASSERT_EQ(about.fields.size(), 3u);
  EXPECT_EQ(about.fields[0].shown, "level");
  EXPECT_TRUE(about.fields[0].types.Has(FieldType::kInteger));
  const auto reader = RecordReader::Open(kText, about);
  ASSERT_TRUE(reader);
  std::uint64_t next = 0;
  EXPECT_EQ(
      *reader->ReadJson(1, 2, 10'000, &next),
      R"([{"level":2,"title":"Two","text":"###not one"},{"level":1,"title":"","text":"last"}])");
  // One heading is a title, and tables come first.
  EXPECT_FALSE(DescribeText("# One\ntext\n", "a.md", {}).records);
  const Description table =
      DescribeText("# One\n\n# Two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "a.md", {});
  EXPECT_EQ(table.records->tables, 1u);
}

}  // namespace
}  // namespace dossier::inspect
