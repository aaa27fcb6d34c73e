#include "driver/section_reader.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/files/file.h"
#include "testing/result_matchers.h"

namespace dossier::driver {
namespace {

using ::dossier::testing::Succeeds;

// Standard input that changes a file when it is read.
class Meddler final : public std::streambuf {
 public:
  Meddler(std::string path, std::string content)
      : path_(std::move(path)), content_(std::move(content)) {}

 protected:
  int_type underflow() override {
    EXPECT_THAT(WriteFileAtomic(path_, content_), Succeeds());
    return traits_type::eof();
  }

 private:
  const std::string path_, content_;
};

TEST(SectionReaderTest, AFileThatChangesBetweenTwoSectionsIsReadOnce) {  // ASM-9
  const TempFolder folder = std::move(*TempFolder::Make("sources"));
  const std::string path = folder.path() + "/notes.md";
  ASSERT_THAT(WriteFileAtomic(path, "before"), Succeeds());
  const auto layout = assembly::ParseLayout(R"(sections:
  - {name: first, zone: stable, source: file}
  - {name: between, zone: stable, source: data}
  - {name: second, zone: stable, source: file}
  - {name: other_spelling, zone: stable, source: file}
  - {name: hint, zone: stable, source: inspect}
  - {name: q, zone: request, text: Go}
)",
                                            "x.yaml");
  ASSERT_THAT(layout, Succeeds());
  assembly::Layout filled = *layout;
  filled.sections[4].with = JsonObject{{"path", path}};
  SectionReader reader(filled, {.counter = tokens::MakeCharCounter()});
  Meddler meddler(path, "after, and longer");
  std::istream in(&meddler);
  const auto sections = reader.ReadAll({{"first", "@" + path},
                                        {"between", "-"},
                                        {"second", "@" + path},
                                        {"other_spelling", "@" + folder.path() + "/./notes.md"}},
                                       in);
  ASSERT_THAT(sections, Succeeds());
  ASSERT_EQ(*ReadFile(path), "after, and longer") << "it did change in between";
  ASSERT_EQ(sections->size(), 5u);
  EXPECT_EQ((*sections)[0].content, "before");
  EXPECT_EQ((*sections)[2].content, "before");
  EXPECT_EQ((*sections)[3].content, "before") << "the same file by another path";
  EXPECT_EQ((*sections)[2].provenance, (*sections)[0].provenance);
  EXPECT_EQ(FindInt((*sections)[4].provenance, "bytes"), 6);
}

}  // namespace
}  // namespace dossier::driver
