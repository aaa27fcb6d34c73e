// Records between marks: each format as programs write it, and damaged.

#include "inspect/formats/items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json/json.h"
#include "base/random.h"
#include "base/text/text.h"
#include "inspect/describe/describe.h"
#include "inspect/formats/markup_text.h"
#include "inspect/records/record_reader.h"
#include "testing/cpu_time.h"

namespace dossier::inspect {
namespace {

// The rows that code gets, as JSON; "" if there are none. The name has no extension.
std::string RowsOf(std::string_view text, std::string_view name = "unnamed") {
  const Description description = DescribeText(text, name, {});
  if (!HasRecords(description)) return "";
  const auto reader = RecordReader::Open(text, description);
  EXPECT_TRUE(reader);
  EXPECT_EQ(reader->count(), description.records->records) << text;
  std::uint64_t next = 0;
  return reader->ReadJson(0, reader->count(), 1 << 20, &next).value_or("broken");
}

Format FormatOf(std::string_view text) { return DescribeText(text, "unnamed", {}).format; }

struct Case {
  std::string_view text, rows;
};

void Expect(Format format, std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(FormatOf(c.text), format) << c.text;
    EXPECT_EQ(RowsOf(c.text), c.rows) << c.text;
  }
}

TEST(ItemsTest, Calendars) {
  Expect(
      Format::kCalendar,
      {{"BEGIN:VCALENDAR\r\nX-WR-CALNAME:Work\r\nBEGIN:VEVENT\r\n"
        "DTSTART;TZID=Europe/Berlin:20240301T090000\r\nDTEND;TZID=Europe/Berlin:20240301T103000\r\n"
        "SUMMARY:Stand-up\\, all of th\r\n e team\r\nATTENDEE;CN=\"A:B\":mailto:a@x.org\r\n"
        "ATTENDEE:MAILTO:b@x.org\r\nBEGIN:VALARM\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\nEND:VEVENT\r\n"
        "BEGIN:VTODO\r\nDUE;VALUE=DATE:20240501\r\nEND:VTODO\r\nEND:VCALENDAR\r\n",
        R"([{"kind":"event","dtstart":"2024-03-01T09:00:00","dtend":"2024-03-01T10:30:00",)"
        R"("summary":"Stand-up, all of the team","attendee":"a@x.org; b@x.org","minutes":90},)"
        R"({"kind":"todo","due":"2024-05-01"}])"},
       // No end of the first event, a line without a colon, a date that is none.
       {"BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:tomorrow\nbroken\nBEGIN:VEVENT\n"
        "DTSTART:20240301\nDURATION:P1DT2H\n",
        R"([{"kind":"event","dtstart":"tomorrow"},)"
        R"({"kind":"event","dtstart":"2024-03-01","duration":"P1DT2H","minutes":1560}])"}});
}

TEST(ItemsTest, AddressCards) {
  Expect(
      Format::kVcard,
      {{"BEGIN:VCARD\r\nVERSION:3.0\r\nN:Lee;Ann;;;\r\nFN:Ann Lee\r\nTEL;TYPE=CELL:1\r\n"
        "item1.TEL;TYPE=WORK:2\r\nADR;TYPE=HOME:;;Main St 1;Bern;;3000;CH\r\nBDAY:19800310\r\n"
        "NOTE:one\\ntw\r\n o\r\nPHOTO;ENCODING=b:AAAA\r\nEND:VCARD\r\n",
        R"([{"family_name":"Lee","given_name":"Ann","name":"Ann Lee","tel":"1; 2","tel_cell":1,)"
        R"("tel_work":2,"address":"Main St 1, Bern, 3000, CH","street":"Main St 1","city":"Bern",)"
        R"("region":"","postcode":3000,"country":"CH","bday":"1980-03-10","note":"one\ntwo"}])"},
       {"BEGIN:VCARD\nVERSION:2.1\nFN;ENCODING=QUOTED-PRINTABLE:J=C3=B6rg =\nM=C3=BCller\n"
        "EMAIL;HOME:j@x.org\nEND:VCARD\nBEGIN:VCARD\nFN:cut",
        R"([{"name":"Jörg Müller","email":"j@x.org","email_home":"j@x.org"},{"name":"cut"}])"}});
}

TEST(ItemsTest, References) {
  Expect(
      Format::kBibtex,
      {{"% by hand\n@string{x = {y}}\n\n@Article{a1,\n  author = {M{\\\"u}ller, A and Lee, B},\n"
        "  title = \"The {BERT}\n    thing\",\n  year = 2019,\n}\n@book{b2, title={X}, "
        "year=2020}\n",
        R"([{"type":"article","key":"a1","author":"Müller, A and Lee, B","title":"The BERT thing",)"
        R"("year":2019},{"type":"book","key":"b2","title":"X","year":2020}])"},
       // A brace is missing: the next entry begins all the same.
       {"@article{a,\n  title = {open,\n  year = 2019\n\n@article{b,\n  year = {2020}\n}\n",
        R"([{"type":"article","key":"a","title":"open, year = 2019"},)"
        R"({"type":"article","key":"b","year":2020}])"}});
  Expect(Format::kRis, {{"TY  - JOUR\r\nAU  - A\r\nAU  - B\r\nPY  - 2001/05\r\nAB  - One\r\ntwo\r\n"
                         "ER  - \r\n\r\nTY  - BOOK\r\nPY  - 2002\r\n",
                         R"([{"type":"JOUR","author":"A; B","year":2001,"abstract":"One two"},)"
                         R"({"type":"BOOK","year":2002}])"}});
}

TEST(ItemsTest, Subtitles) {
  Expect(Format::kSubtitles,
         {{"\xEF\xBB\xBF"
           "1\r\n00:00:01,500 --> 00:00:04,000\r\n<i>Hi</i>\r\n- you\r\n\r\n2\r\n"
           "01:00:00,000 --> 01:00:01,250\r\nBye\r\n",
           R"([{"start":1.5,"end":4,"seconds":2.5,"text":"Hi\n- you"},)"
           R"({"start":3600,"end":3601.25,"seconds":1.25,"text":"Bye"}])"},
          {"WEBVTT\n\nNOTE x\n\n00:01.000 --> 00:02.000 align:start\n<v Ann>Hello\n\n"
           "00:09.000 --> 00:08.000\nback\n\n00:zz --> 1\nno\n",
           R"([{"start":1,"end":2,"seconds":1,"speaker":"Ann","text":"Hello"},)"
           R"({"start":9,"end":8,"seconds":0,"text":"back"}])"}});
}

TEST(ItemsTest, Journals) {
  Expect(Format::kLedger,
         {{"; mine\n2024-01-02 * (#7) Shop | x  ; note\n    Expenses:Food    €10.50\n"
           "    Expenses:Fee     €1.25  ; tag\n    Assets:Bank\n\n"
           "2024/2/3=2024/2/5 Rent\n  a:rent  1.800,50 EUR\n  a:bank  -1.800,50 EUR = 5 EUR\n",
           R"([{"date":"2024-01-02","status":"*","code":"#7","payee":"Shop | x",)"
           R"("account":"Expenses:Food","amount":10.5,"commodity":"€"},)"
           R"({"date":"2024-01-02","status":"*","code":"#7","payee":"Shop | x",)"
           R"("account":"Expenses:Fee","amount":1.25,"commodity":"€","comment":"tag"},)"
           R"({"date":"2024-01-02","status":"*","code":"#7","payee":"Shop | x",)"
           R"("account":"Assets:Bank","amount":-11.75,"commodity":"€"},)"
           R"({"date":"2024-02-03","payee":"Rent","account":"a:rent","amount":1800.5,)"
           R"("commodity":"EUR"},)"
           R"({"date":"2024-02-03","payee":"Rent","account":"a:bank","amount":-1800.5,)"
           R"("commodity":"EUR"}])"},
          // The other side of an amount is written as exactly as it, or not at all.
          {"2024-01-02 Shop\n  a:b  184467440737095516160 WEI\n  a:c\n\n"
           "2024-01-03 Shop\n  a:b  0.123456789012 ETH\n  a:c\n",
           R"([{"date":"2024-01-02","payee":"Shop","account":"a:b",)"
           R"("amount":"184467440737095516160","commodity":"WEI"},)"
           R"({"date":"2024-01-02","payee":"Shop","account":"a:c",)"
           R"("amount":"-184467440737095516160","commodity":"WEI"},)"
           R"({"date":"2024-01-03","payee":"Shop","account":"a:b","amount":"0.123456789012",)"
           R"("commodity":"ETH"},)"
           R"({"date":"2024-01-03","payee":"Shop","account":"a:c","amount":"","commodity":""}])"}});
  // A log with the frames of an error is none.
  EXPECT_NE(FormatOf("2024-01-01 10:00:00 ERROR x\n    at a.b(C.java:10)\n    at a.c(C.java:12)\n"
                     "2024-01-01 10:00:01 ERROR y\n    at a.b(C.java:10)\n"),
            Format::kLedger);
}

TEST(ItemsTest, Commits) {
  const std::string hash(40, 'a');
  const std::string text =
      "commit " + hash +
      " (HEAD -> main)\nAuthor: Ann Lee <a@x.org>\n"
      "Date:   Mon Jan 1 10:00:00 2024 +0100\n\n    Fix it\n    \n    More.\n\n"
      " a.c | 3 +-\n 1 file changed, 2 insertions(+), 1 deletion(-)\n\ncommit " +
      hash + "\nDate:   2024-01-02 10:00:00 +0100\n";
  Expect(
      Format::kGitLog,
      {{text,
        "[{\"commit\":\"" + hash +
            "\",\"refs\":\"HEAD -> main\",\"author\":\"Ann Lee\",\"author_email\":\"a@x.org\","
            "\"date\":\"2024-01-01T10:00:00+01:00\",\"files_changed\":1,\"insertions\":2,"
            "\"deletions\":1,\"subject\":\"Fix it\",\"body\":\"More.\"},{\"commit\":\"" +
            hash + "\",\"date\":\"2024-01-02T10:00:00+01:00\",\"subject\":\"\",\"body\":\"\"}]"}});
}

TEST(ItemsTest, MailFolders) {
  Expect(
      Format::kMail,
      {{"From a@x.org Mon Jan  1 10:00:00 2024\nFrom: =?UTF-8?Q?M=C3=BCller?= <a@x.org>\n"
        "To: b@x.org,\n c@x.org\nSubject: =?utf-8?B?SGFsbG8=?= you\n"
        "Date: Mon, 1 Jan 2024 10:00:00 +0100\nContent-Transfer-Encoding: quoted-printable\n\n"
        "Hi=2C\n>From here.\n\nFrom x@y Tue Jan  2 10:00:00 2024\nFrom: x@y\nSubject: two\n"
        "Content-Type: multipart/mixed; boundary=\"BB\"\n\n--BB\nContent-Type: text/html\n\n"
        "<b>no</b>\n--BB\nContent-Type: text/plain\n\nyes\n--BB--\n",
        R"([{"from":"Müller <a@x.org>","to":"b@x.org, c@x.org","date":"2024-01-01T10:00:00+01:00",)"
        R"("subject":"Hallo you","body":"Hi,\nFrom here."},)"
        R"({"from":"x@y","to":"","date":"","subject":"two","body":"yes"}])"}});
  // One message alone is mail without records.
  EXPECT_EQ(RowsOf("From: a@b\nTo: c@d\nSubject: x\n\nhello\n"), "");
}

TEST(ItemsTest, RuledTables) {
  Expect(Format::kFixedWidth,
         {{"id   name        amount\n---- ----------- ------\n   1 Ada Lovelace  1.5\n   2 Bob\n"
           "   3 Änne        12.25\n---- ----------- ------\n                  13.75\n\n(3 rows)\n",
           R"([{"id":1,"name":"Ada Lovelace","amount":1.5},{"id":2,"name":"Bob","amount":null},)"
           R"({"id":3,"name":"Änne","amount":12.25}])"},
          {"Report\n\nRegion   Product Name    Units\n==============================\n"
           "North    Big Thing           5\nSouth    Red Box            12\n",
           R"([{"Region":"North","Product Name":"Big Thing","Units":5},)"
           R"({"Region":"South","Product Name":"Red Box","Units":12}])"}});
  for (const std::string_view text :
       {"Title\n=====\n\nText of some length.\n", "-----\n-----\n", "a\n---\nb\nc\nd\n"}) {
    EXPECT_NE(FormatOf(text), Format::kFixedWidth) << text;
  }
}

TEST(ItemsTest, ElementsOfXml) {  // INS-142
  Expect(
      Format::kXml,
      {{"<?xml version=\"1.0\"?>\n<!DOCTYPE c [<!ENTITY x \"y>\">]><c><!-- <b id=\"0\"/> -->"
        "<b id=\"1\"><p cur=\"EUR\">5.95</p><t>x</t><t>y &amp; z</t></b>"
        "<b id=\"2\"><p cur=\"EUR\">6.05</p><t><![CDATA[<b>]]></t></b></c>",
        R"([{"id":1,"p.cur":"EUR","p":5.95,"t":"x; y & z"},{"id":2,"p.cur":"EUR","p":6.05,"t":"<b>"}])"},
       {"<?xml version=\"1.0\"?><gpx creator=\"x\"><trk><name>A &amp; B</name><trkseg>"
        "<trkpt lat=\"52.5\" lon=\"13.4\"><ele>34.5</ele><time>2024-05-04T08:00:00Z</time>"
        "<extensions><g:TrackPointExtension><g:hr>120</g:hr></g:TrackPointExtension></extensions>"
        "</trkpt></trkseg></trk><trk><trkseg><trkpt lat=\"1\" lon=\"2\"/></trkseg></trk></gpx>",
        R"([{"trk.name":"A & B","lat":52.5,"lon":13.4,"ele":34.5,"time":"2024-05-04T08:00:00Z",)"
        R"("hr":120},{"lat":1,"lon":2}])"},
       {"<?xml version=\"1.0\"?><kml><Document><Style id=\"s\"/><Style id=\"t\"/><Folder>"
        "<name>F</name><Placemark><name>P</name><ExtendedData><Data name=\"price\"><value>7"
        "</value></Data></ExtendedData><Point><coordinates>\n13.4,52.5,0 </coordinates></Point>"
        "</Placemark></Folder></Document></kml>",
        R"([{"Folder.name":"F","name":"P","price":7,"lon":13.4,"lat":52.5,"alt":0}])"},
       // The end of the first is missing, and the last is cut.
       {"<?xml version=\"1.0\"?><c><b><x>1</x><b><x>2</x></b><b><x>3</x></b><b><x>4</x></b>"
        "<b><x>5</",
        R"([{"x":1},{"x":2},{"x":3},{"x":4},{"x":5}])"}});
  EXPECT_EQ(RowsOf("<?xml version=\"1.0\"?><c><b>1</b></c>"), "");
}

TEST(ItemsTest, TablesOfHtml) {
  Expect(Format::kHtml,
         {{"<!DOCTYPE html><html><script>if (a<b) '<tr><td>'</script><h2>P</h2><table><thead>"
           "<tr><th>Item<th>Price &euro;</thead><tr><td>It&eacute;m<td><b>1.50</b>&nbsp;"
           "<tr><td>B<td>2.25</table></html>",
           R"([{"Item":"Itém","Price €":1.50},{"Item":"B","Price €":2.25}])"},
          {"<html><table><tr><td>n</td><td>v</td></tr><tr><td>a</td><td>1</td></tr>"
           "<tr><td>b</td><td>2</td></tr></table>",
           R"([{"n":"a","v":1},{"n":"b","v":2}])"},
          {"<html><h2>A</h2><table><tr><th>x</th></tr><tr><td>1</td></tr></table>"
           "<table><caption>B</caption><tr><th>y</th></tr><tr><td>2</td></tr></table>",
           R"([{"_table":"A","x":1},{"_table":"B","y":2}])"}});
  // Layout: a single row without names, and rows that hold a table.
  EXPECT_EQ(RowsOf("<table><tr><td>menu</td></tr></table><table><tr><td><table><tr><th>x</th></tr>"
                   "<tr><td>100</td></tr><tr><td>200</td></tr></table></td></tr></table>"),
            R"([{"x":100},{"x":200}])");
  EXPECT_EQ(RowsOf("<html><p>Many words that stand here, more than in the table, many more</p>"
                   "<table><tr><td>1</td></tr><tr><td>2</td></tr></table></html>"),
            "");
}

TEST(ItemsTest, Settings) {
  EXPECT_EQ(RowsOf("; c\n[server]\nhost = a b\nport=8080 ; p\n\n[db \"x\"]\nurl=\"u#1\"\n"),
            R"([{"section":"server","key":"host","value":"a b"},)"
            R"({"section":"server","key":"port","value":"8080"},)"
            R"({"section":"db \"x\"","key":"url","value":"u#1"}])");
  EXPECT_EQ(RowsOf("# c\nA=1\nexport B='x y'\n#\nC=3\n"),
            R"([{"key":"A","value":"1"},{"key":"B","value":"x y"},)"
            R"({"key":"C","value":"3"}])");
}

// Behind the head that decides, records are counted in a stream, and found in the whole text.
TEST(ItemsTest, LargeTextsAreCountedAsTheyAreFound) {
  struct Large {
    std::string_view front, item, back;
  };
  constexpr Large kLarge[] = {
      {"BEGIN:VCALENDAR\n", "BEGIN:VEVENT\nDTSTART:20240301\nEND:VEVENT\n", "END:VCALENDAR\n"},
      {"<?xml version=\"1.0\"?><c>", "<b id=\"1\"><x>5</x></b>\n", "</c>"},
      {"<html><table><tr><th>x</th></tr>", "<tr><td>5</td></tr>\n", "</table>"},
      {"", "00:01 --> 00:02\nHi\n\n", ""},
      {"", "2024-01-01 x\n  a:b  5 EUR\n\n", ""}};
  constexpr std::uint64_t kCount = 100'000;
  for (const Large& large : kLarge) {
    std::string text(large.front);
    for (std::uint64_t i = 0; i < kCount; ++i) text += large.item;
    text += large.back;
    const Description d = DescribeText(text, "unnamed", {});
    ASSERT_TRUE(d.records) << large.item;
    EXPECT_EQ(d.records->records, kCount) << large.item;
    EXPECT_EQ(RecordReader::Open(text, d)->count(), kCount) << large.item;
  }
}

// Any split of a stream gives the same count; no record is empty.
TEST(ItemsTest, CountersAgreeWithTheWalk) {
  constexpr std::string_view kPieces[] = {"BEGIN:VEVENT\n",
                                          "END:VEVENT\n",
                                          "BEGIN:VCARD\r\n",
                                          "@article{a,\n",
                                          "}\n",
                                          "\n",
                                          "TY  - X\n",
                                          "ER  - \n",
                                          "00:01 --> 00:02\n",
                                          "2024-01-01 x\n",
                                          "  a:b  5 EUR\n",
                                          "<row a='1'>",
                                          "</row>",
                                          "<row/>",
                                          "<table>",
                                          "</table>",
                                          "<tr>",
                                          "<td>5",
                                          "<th>n",
                                          "<!-- ",
                                          "-->",
                                          "<![CDATA[",
                                          "]]>",
                                          "--- ---\n",
                                          "[s]\n",
                                          "a = [\n",
                                          "From a@b\n",
                                          "<name>q</name>",
                                          "<script>",
                                          "</script>",
                                          "\"",
                                          "<g id='1'>",
                                          "</g>",
                                          "\r"};
  Random random(/*seed=*/8);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (std::size_t i = random.Below(60); i > 0; --i) {
      text += kPieces[random.Below(std::size(kPieces))];
    }
    for (int f = 0; f <= static_cast<int>(Format::kUnknown); ++f) {
      const auto format = static_cast<Format>(f);
      if (!HasItems(format)) continue;
      const std::string_view shape = random.Below(2) ? "row" : "row+ first";
      const Items items = FindItems(format, shape, text);
      for (const ByteRange& range : items.ranges) {
        ASSERT_LT(range.begin, range.end);
        ReadItem(format, shape, text, items, range);
      }
      const auto counter = MakeItemCounter(format, shape);
      const std::size_t cut = random.Below(text.size() + 1);
      counter->Feed(std::string_view(text).substr(0, cut));
      counter->Feed(std::string_view(text).substr(cut));
      ASSERT_EQ(counter->Finish(), items.ranges.size()) << FormatName(format) << "\n" << text;
    }
  }
}

// The time grows with the text and not with its square, whatever is repeated.
TEST(ItemsTest, HostileTextsAreReadInLinearTime) {
  constexpr std::string_view kPieces[] = {"<g><name>x</name>",
                                          "<name>x</name>",
                                          "<a b='",
                                          "<!--",
                                          "<table><tr><th>x",
                                          "<tr><td>",
                                          "<row><row>",
                                          "&amp",
                                          "{",
                                          "@article{",
                                          "a;b=\"",
                                          "2024-01-01 x\n  a\n",
                                          "  a:b\n",
                                          "--- ---\n",
                                          "=?",
                                          "--BB\n",
                                          "BEGIN:VEVENT\n",
                                          " fold\n",
                                          "[x]\n",
                                          "a=[\n"};
  constexpr std::size_t kSize = 500'000;  // bytes
  constexpr double kNoise = 0.01;         // seconds; below that the clock tells little
  for (const std::string_view piece : kPieces) {
    std::string text;
    while (text.size() < kSize) text += piece;
    for (int f = 0; f <= static_cast<int>(Format::kUnknown); ++f) {
      const auto format = static_cast<Format>(f);
      if (!HasItems(format)) continue;
      const auto seconds = [&](std::string_view part) {
        return dossier::testing::CpuSeconds([&] {
          const ShapeScan found = DetectItems(format, part);
          const std::string shape = found.fits ? found.shape : "row";
          const Items items = FindItems(format, shape, part);
          for (const ByteRange& range : items.ranges) ReadItem(format, shape, part, items, range);
        });
      };
      // Four times the text: a quadratic reader takes sixteen times as long.
      const double quarter = seconds(std::string_view(text).substr(0, kSize / 4));
      EXPECT_LT(seconds(text), 10 * std::max(quarter, kNoise))
          << FormatName(format) << " of " << piece;
    }
  }
}

}  // namespace
}  // namespace dossier::inspect
