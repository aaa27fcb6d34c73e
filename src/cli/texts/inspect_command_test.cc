#include "cli/texts/inspect_command.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "base/files/file.h"
#include "base/json/json.h"

namespace dossier::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class InspectCommandTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, std::string_view text) {
    const std::string path = folder_.path() + "/" + name;
    EXPECT_TRUE(MakeFolders(path.substr(0, path.rfind('/'))));
    EXPECT_TRUE(WriteFileAtomic(path, text));
    return path;
  }
  int Run(const InspectArguments& arguments) {
    out_.str("");
    err_.str("");
    out_.clear();
    return RunInspect(arguments, out_, err_);
  }

  TempFolder folder_ = std::move(*TempFolder::Make("inspect"));
  std::ostringstream out_, err_;
};

TEST_F(InspectCommandTest, WrongArgumentsNameFlagValueAndRange) {  // section 6, INS-T19
  struct Case {
    InspectArguments arguments;
    std::string message;
  };
  const Case cases[] = {
      {{}, "inspect: name a file, a directory, or - for stdin\n"},
      {{.paths = {"a"}, .depth = 9}, "--depth 9: must be 0 to 8\n"},
      {{.paths = {"a"}, .content = {.delimiter = "ab"}}, "--delimiter ab: must be one byte"},
      {{.paths = {"a"}, .content = {.format = "foo"}},
       "--format foo: unknown; one of plain-text, ndjson, json,"},
      {{.paths = {"a"}, .content = {.encoding = "ebcdic"}},
       "--encoding ebcdic: unknown; one of utf-8,"},
      {{.paths = {"a"}, .content = {.header = "maybe"}},
       "--header maybe: must be one of yes, no, auto\n"},
      {{.paths = {"a"}, .meta = "ruby"}, "--meta ruby: must be python or javascript\n"},
      {{.paths = {"a"}, .max_scan = "lots"}, "--max-scan lots: not understood"},
      {{.paths = {"a"}, .json = true, .hint = true}, "give one of --json, --jsonl, --hint"},
      {{.paths = {"-", "-"}}, "inspect: - can be read only once\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Run(c.arguments), 2);
    EXPECT_THAT(err_.str(), HasSubstr(c.message));
    EXPECT_EQ(out_.str().empty(), !c.arguments.json);  // CON-1
  }
}

TEST_F(InspectCommandTest, TheReportHasTheHintsLinesThenEncodingAndNotes) {  // section 3
  const std::string a = Write("a.ndjson", "{\"a\":1}\n{\"a\":2}\nx\n");
  const std::string b = Write("b.txt", "hi\r\n");
  EXPECT_EQ(Run({.paths = {a, b}}), 0);
  EXPECT_EQ(out_.str(),
            "  Source: a.ndjson\n  Format: NDJSON (newline-delimited JSON)\n"
            "  Size: 18 chars, 3 lines\n  Records: 2 (1 malformed)\n  Fields: a\n"
            "  Sample: {\"a\":1}\n  Encoding: utf-8 (ASCII), line ends LF, longest line 7 bytes\n"
            "  Notes:\n    malformed: 1 malformed line: line 3: a value is missing\n"
            "\n"
            "  Source: b.txt\n  Format: Plain text\n  Size: 4 chars, 1 line\n"
            "  Encoding: utf-8 (ASCII), line ends CRLF, longest line 2 bytes\n");
}

TEST_F(InspectCommandTest, HintAndMetaPrintNothingElse) {  // section 3
  const std::string a = Write("a.txt", "hi\n");
  EXPECT_EQ(Run({.paths = {a}, .hint = true, .variable = "ctx"}), 0);
  EXPECT_EQ(out_.str(),
            "[Context available in ctx]\n  Source: a.txt\n  Format: Plain text\n"
            "  Size: 3 chars, 1 line\n");
  EXPECT_EQ(Run({.paths = {a}, .meta = "javascript"}), 0);
  EXPECT_EQ(FindString(*ParseJson(out_.str()), "lengthUnit"), "utf-16 units");
}

TEST_F(InspectCommandTest, OneBadInputNeverStopsTheOthers) {  // INS-132, section 6
  const std::string a = Write("data2.csv", "a,b\n1,2\n");
  EXPECT_EQ(Run({.paths = {folder_.path() + "/data.csv", a, "/dev/null"}, .json = true}), 4);
  const auto all = ParseJson(out_.str());
  ASSERT_TRUE(all) << out_.str();
  EXPECT_EQ(FindString(*all, "schema"), "dossier.inspect/1");
  EXPECT_EQ(all->at("files").as_array().size(), 1u);
  EXPECT_EQ(all->at("errors").as_array().size(), 2u);
  EXPECT_EQ(FindString(all->at("errors").at(0), "code"), "not_found");
  EXPECT_EQ(FindInt(all->at("totals").at("by_format"), "csv"), 1);
  EXPECT_THAT(err_.str(), HasSubstr("data.csv: no such file or folder; did you mean data2.csv?\n"));
  const std::string link = folder_.path() + "/broken";
  ASSERT_EQ(symlink("nowhere", link.c_str()), 0);
  EXPECT_EQ(Run({.paths = {link}}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("broken: a link that leads nowhere: there is no nowhere\n"));
  EXPECT_EQ(Run({.paths = {"/dev/null"}, .json = true}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("/dev/null: not a regular file; pipe it in with - if you"));
}

TEST_F(InspectCommandTest, JsonLinesGiveOneObjectALine) {  // section 3
  const std::string a = Write("a.csv", "a,b\n1,2\n"), b = Write("b.txt", "x");
  EXPECT_EQ(Run({.paths = {a, b}, .jsonl = true}), 0);
  std::istringstream lines(out_.str());
  std::vector<std::string> formats;
  for (std::string line; std::getline(lines, line);) {
    formats.emplace_back(*FindString(*ParseJson(line), "format"));
  }
  EXPECT_EQ(formats, (std::vector<std::string>{"csv", "plain-text"}));
}

TEST_F(InspectCommandTest, AFolderGivesALineForEachFormat) {  // INS-130, INS-T13
  Write("f/a.csv", "a,b\n1,2\n");
  Write("f/b.csv", "a,b\n1,2\n");
  Write("f/c/d.ndjson", "{\"a\":1}\n{\"a\":1}\n");
  Write("f/.hidden", "x");
  Write("f/.gitignore", "*.log\n");
  Write("f/x.log", "x");
  ASSERT_EQ(mkfifo((folder_.path() + "/f/pipe").c_str(), 0600), 0);
  EXPECT_EQ(Run({.paths = {folder_.path() + "/f"}}), 0);
  EXPECT_EQ(out_.str(), "csv     2 files  16 B\nndjson  1 file   16 B\n");
  EXPECT_THAT(err_.str(), EndsWith("/f/pipe: skipped (fifo)\n"));
  EXPECT_EQ(Run({.paths = {folder_.path() + "/f"}, .json = true, .max_files = 2}), 10);
  EXPECT_EQ(ParseJson(out_.str())->at("files").as_array().size(), 2u);
  EXPECT_THAT(err_.str(), HasSubstr("stopped at 2 files; raise --max-files\n"));
}

TEST_F(InspectCommandTest, StrictFindsWhatIsMalformedInexactOrUnknown) {  // section 3
  const std::string good = Write("good.csv", "a,b\n1,2\n");
  const std::string bad = Write("bad.ndjson", "{\"a\":1}\n{\"a\":1}\nx\n");
  const std::string unknown = Write("u.json", "prose");
  EXPECT_EQ(Run({.paths = {good}, .strict = true}), 0);
  EXPECT_EQ(Run({.paths = {bad}, .strict = true}), 15);
  EXPECT_EQ(Run({.paths = {bad}}), 0);
  EXPECT_EQ(Run({.paths = {unknown}, .strict = true}), 15);
  EXPECT_EQ(Run({.paths = {good}, .max_scan = "4", .strict = true}), 15);
}

TEST_F(InspectCommandTest,
       AFileThatGrowsMeanwhileIsSaidToBeUnstable) {  // INS-13, INS-T14, section 6
  const std::string path = Write("a.log", std::string(32 << 20, 'x') + "\n");
  std::atomic<bool> done = false;
  std::thread writer([&] {
    UniqueFd fd(open(path.c_str(), O_WRONLY | O_APPEND));
    while (!done) ASSERT_TRUE(WriteAll(fd.get(), "y"));
  });
  const int code = Run({.paths = {path}});
  const std::string report = out_.str();
  const int strict = Run({.paths = {path}, .strict = true});
  done = true;
  writer.join();
  EXPECT_EQ(code, 0);
  EXPECT_THAT(report, HasSubstr("unstable: the file changed while it was read; counts are of what "
                                "was read\n"));
  EXPECT_EQ(strict, 15);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(InspectCommandTest, HashIsTheSha256OfTheBytes) {  // section 5
  const std::string a = Write("a.txt", "abc");
  EXPECT_EQ(Run({.paths = {a}, .jsonl = true, .hash = true}), 0);
  EXPECT_EQ(FindString(*ParseJson(out_.str()), "sha256"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(InspectCommandTest, ACancelledCommandPrintsWhatIsFinished) {  // INS-133
  const std::string a = Write("a.txt", "abc");
  CancelSource cancel;
  cancel.Cancel("interrupted");
  EXPECT_EQ(Run({.paths = {a}, .json = true, .cancel = cancel.token()}), 130);
  EXPECT_TRUE(ParseJson(out_.str()));
}

TEST_F(InspectCommandTest, AClosedPipeEndsQuietly) {  // section 6
  const std::string a = Write("a.txt", "abc");
  std::ostringstream closed, err;
  closed.setstate(std::ios::badbit);
  EXPECT_EQ(RunInspect({.paths = {a}}, closed, err), 141);
  EXPECT_EQ(err.str(), "");
}

}  // namespace
}  // namespace dossier::cli
