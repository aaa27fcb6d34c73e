#include "ask/exchange/run_page.h"

#include <algorithm>

#include "base/text/html.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::uint64_t kMostShown = 200'000;  // code points per text; the journal has all of it

constexpr std::size_t kLongQuestion = 120;  // bytes; a longer one is not a headline

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--bg:#fbfbf9;--card:#fff;--ink:#1c1d1f;--dim:#5c6066;--line:#dcdcd6;
--code:#f3f3ee;--accent:#245f9e;--good:#1f6b35;--bad:#a32a22;--bar:#b9cfe6}
@media(prefers-color-scheme:dark){:root{--bg:#15171a;--card:#1d2024;--ink:#e6e6e3;--dim:#a0a5ac;
--line:#363a40;--code:#121417;--accent:#8ab8ea;--good:#7fcf95;--bad:#f0938a;--bar:#2f4a66}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,sans-serif;
overflow-wrap:anywhere}
main{max-width:72rem;margin:0 auto;padding:1rem}
h1{font-size:1.3rem;line-height:1.3;margin:.5rem 0}
h1.long{font-size:1rem;font-weight:500;white-space:pre-wrap}
h2{font-size:1.05rem;margin:1.5rem 0 .5rem}
h3{font-size:.8rem;color:var(--dim);margin:.8rem 0 .2rem;font-weight:600;
text-transform:uppercase;letter-spacing:.04em}
a{color:var(--accent)}
pre{background:var(--code);border:1px solid var(--line);border-radius:4px;margin:.2rem 0;
padding:.5rem .7rem;font:13px/1.45 ui-monospace,monospace;white-space:pre-wrap;
overflow-wrap:anywhere;max-height:32rem;overflow:auto}
details{background:var(--card);border:1px solid var(--line);border-radius:6px;margin:.5rem 0;
padding:0 .8rem}
details[open]{padding-bottom:.7rem}
summary{cursor:pointer;padding:.45rem 0;display:flex;flex-wrap:wrap;gap:.2rem .8rem;
align-items:baseline}
summary b{flex:0 0 auto}
summary::before{content:'\25B8';color:var(--dim)}
details[open]>summary::before{content:'\25BE'}
summary:focus-visible,a:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.dim{color:var(--dim);font-size:.87rem}
.facts{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;margin:.4rem 0;padding:0;list-style:none}
.final,.ok{color:var(--good)}
.error,.failed,.none,.interrupted{color:var(--bad)}
.answer{border-left:3px solid var(--good)}
.error pre,pre.error{border-left:3px solid var(--bad)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.87rem}
th,td{text-align:left;padding:.15rem .6rem .15rem 0;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td:first-child{overflow-wrap:normal}
td.bar{width:40%;min-width:3rem}
td.bar i{display:block;height:.6rem;margin-top:.35rem;background:var(--bar);border-radius:2px}
.tree,.tree ul{list-style:none;margin:0;padding-left:1rem}
.tree{padding-left:0}
)";

std::string Digits(std::int64_t number) {
  return GroupDigits(static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0)));
}

std::string Dollars(const std::optional<std::int64_t>& nano_usd) {
  return nano_usd ? fmt::format("${:.6f}", static_cast<double>(*nano_usd) / 1e9) : "";
}

std::string Seconds(double seconds) { return fmt::format("{:.2f} s", seconds); }

std::string TokensText(const TaleUsage& usage) {
  return fmt::format("{} tokens in, {} out", Digits(usage.input), Digits(usage.output));
}

// Returns the cost of something in one line.
std::string CostText(const TaleUsage& usage, double seconds) {
  const std::string money = Dollars(usage.nano_usd);
  return fmt::format("{}, {}{}{}", TokensText(usage), Seconds(seconds), money.empty() ? "" : ", ",
                     money);
}

// Returns true for direction marks, which can show a text in a different order.
bool TurnsText(char32_t c) {
  return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F;
}

std::string WithoutTurns(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = at;
    const char32_t c = utf8::Next(text, &at);
    out += TurnsText(c) ? fmt::format("\\u{{{:X}}}", static_cast<std::uint32_t>(c))
                        : std::string(text.substr(from, at - from));
  }
  return out;
}

class PageWriter {
 public:
  explicit PageWriter(const RunTale& tale) : tale_(tale) {}

  std::string Write() && {
    Head();
    Tree();
    for (const TaleCall& call : tale_.calls) Call(call);
    out_ += "</main></body></html>\n";
    return std::move(out_);
  }

 private:
  template <typename... Values>
  void Add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Values>(values)...);
  }

  void Pre(std::string_view title, std::string_view text, std::string_view kind = "",
           int level = 3) {
    if (text.empty()) return;
    if (!title.empty()) Add("<h{0}>{1}</h{0}>", level, title);
    const std::string_view shown = utf8::Prefix(text, kMostShown);
    Add("<pre class=\"{}\" tabindex=\"0\">{}</pre>", kind, PageText(shown));
    if (shown.size() < text.size()) {
      Add("<p class=\"dim\">{} more bytes are in the journal</p>",
          Digits(static_cast<std::int64_t>(text.size() - shown.size())));
    }
  }

  static std::string NameOf(const TaleCall& call) {
    if (call.call == 0) return "root";
    return "child " + (call.path.empty() ? std::to_string(call.call) : PageText(call.path));
  }

  void Head() {
    const std::string status = PageText(tale_.status);
    TaleUsage sum;
    std::int64_t turns = 0, calls = 0;
    for (const TaleCall& call : tale_.calls) {
      sum.Add(call.usage());
      turns += static_cast<std::int64_t>(call.turns.size());
      calls += call.answered();
    }
    // As recorded at the run's end and shown by `runs show`; includes failed requests.
    turns = FindInt(tale_.finished, "turns").value_or(turns);
    calls = FindInt(tale_.finished, "calls").value_or(calls);
    Add("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\"><meta name=\"referrer\" content=\"no-referrer\">"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
        "<title>Run {}</title><style>{}</style></head><body><main>",
        PageText(tale_.run), kStyle);
    Add("<p class=\"dim\">Run {}</p><h1{}>{}</h1><ul class=\"facts\"><li><b "
        "class=\"{}\">{}</b></li>",
        PageText(tale_.run), tale_.question.size() > kLongQuestion ? " class=\"long\"" : "",
        PageText(utf8::Prefix(tale_.question, 2000)), status, status);
    const std::string model = tale_.calls.empty() ? "" : tale_.calls.front().model;
    Add("<li>{}</li><li>{} turn{}, {} call{}</li><li>{}</li></ul>", PageText(model), turns,
        turns == 1 ? "" : "s", calls, calls == 1 ? "" : "s", CostText(sum, tale_.seconds));
    Pre("Answer", tale_.answer, "answer", /*level=*/2);
    Pre("Error", tale_.error, "error", /*level=*/2);
    for (const std::string& note : tale_.notes) Add("<p class=\"dim\">{}</p>", PageText(note));
  }

  void Tree() {
    Add("<nav aria-label=\"Calls\"><h2>Calls</h2><ul class=\"tree\">");
    for (const TaleCall& call : tale_.calls) {
      if (call.parent < 0) Branch(call);
    }
    Add("</ul></nav>");
  }

  void Branch(const TaleCall& call) {
    Add("<li><a href=\"#call-{0}\">{1}</a> <span class=\"dim\">{2}, {3} turns, {4}</span>",
        call.call, NameOf(call), PageText(call.model), call.turns.size(), TokensText(call.usage()));
    const bool below = std::ranges::any_of(
        tale_.calls, [&](const TaleCall& other) { return other.parent == call.call; });
    if (below) {
      out_ += "<ul>";
      for (const TaleCall& other : tale_.calls) {
        if (other.parent == call.call && other.call > call.call) Branch(other);
      }
      out_ += "</ul>";
    }
    out_ += "</li>";
  }

  void Call(const TaleCall& call) {
    Add("<section id=\"call-{}\"><h2>{}</h2>", call.call, call.call == 0 ? "Root" : NameOf(call));
    Pre("Question", call.question);
    if (call.call != 0) Pre("Answer", call.answer, "answer");
    for (const TaleTurn& turn : call.turns) Turn(turn);
    out_ += "</section>";
  }

  void Turn(const TaleTurn& turn) {
    std::size_t calls = 0;
    for (const TaleBlock& block : turn.blocks) calls += block.requests.size();
    const bool raised = std::ranges::any_of(
        turn.blocks, [](const TaleBlock& block) { return !block.error.empty(); });
    Add("<details{}><summary><b>Turn {}</b><span>{}</span><span class=\"dim\">{}{}</span>",
        turn.answer ? " open" : "", turn.turn,
        PageText(turn.purpose.empty() ? "before the first turn" : turn.purpose),
        CostText(turn.usage, turn.seconds),
        calls > 0 ? fmt::format(", {} sub-call{}", calls, calls == 1 ? "" : "s") : "");
    if (raised || !turn.error.empty()) out_ += "<span class=\"error\">error</span>";
    if (turn.answer) out_ += "<span class=\"final\">answer</span>";
    out_ += "</summary>";
    Prompt(turn);
    Pre("Reply", turn.reply);
    Pre("Error", turn.error, "error");
    for (const TaleBlock& block : turn.blocks) Block(block);
    Requests("Steps beside it", turn.asides);
    if (turn.answer) Pre("Answer", *turn.answer, "answer");
    for (const std::string& note : turn.notes) Add("<p class=\"dim\">{}</p>", PageText(note));
    out_ += "</details>";
  }

  void Prompt(const TaleTurn& turn) {
    if (turn.prompt.empty()) return;
    std::int64_t sum = 0;
    for (const auto& [name, tokens] : turn.sections) sum += tokens;
    Add("<details><summary><b>Prompt</b><span class=\"dim\">{} messages, {} tokens</span>"
        "</summary>",
        turn.prompt.size(), Digits(std::max(turn.tokens, sum)));
    if (sum > 0) {
      out_ +=
          "<div class=\"wide\"><table><thead><tr><th>Section</th><th class=\"n\">Tokens</th>"
          "<td></td></tr></thead><tbody>";
      for (const auto& [name, tokens] : turn.sections) {
        Add("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"bar\"><i "
            "style=\"width:{}%\"></i></td></tr>",
            PageText(name), Digits(tokens), std::max<std::int64_t>(tokens * 100 / sum, 1));
      }
      out_ += "</tbody></table></div>";
    }
    for (const TaleMessage& message : turn.prompt) Pre(PageText(message.role), message.text);
    out_ += "</details>";
  }

  void Block(const TaleBlock& block) {
    Pre(fmt::format("Code {} ({}, {})", block.number,
                    PageText(block.status.empty() ? "did not end" : block.status),
                    Seconds(block.seconds)),
        block.code);
    Requests("Sub-calls", block.requests);
    for (const std::int64_t child : block.children) {
      const auto call = std::ranges::find(tale_.calls, child, &TaleCall::call);
      if (call != tale_.calls.end()) {
        Add("<p><a href=\"#call-{}\">{}</a></p>", child, NameOf(*call));
      }
    }
    Pre("Output", block.output);
    Pre("Error", block.error, "error");
    if (block.variables.empty()) return;
    Add("<details><summary><b>Variables</b><span class=\"dim\">{}</span></summary><div "
        "class=\"wide\"><table>",
        block.variables.size());
    for (const Json& variable : block.variables) {
      Add("<tr><td>{}</td><td class=\"dim\">{}</td><td>{}</td></tr>",
          PageText(TextAt(variable, "name")), PageText(TextAt(variable, "type")),
          PageText(TextAt(variable, "preview")));
    }
    out_ += "</table></div></details>";
  }

  void Requests(std::string_view title, const std::vector<TaleRequest>& requests) {
    if (requests.empty()) return;
    Add("<h3>{} ({})</h3>", title, requests.size());
    for (const TaleRequest& request : requests) {
      const std::string_view line = FirstLine(TrimSpace(request.prompt));
      Add("<details><summary><b>{}</b><span>{}</span><span class=\"dim\">{}{}</span>{}</summary>",
          PageText(request.purpose), PageText(utf8::Prefix(line, 80)),
          CostText(request.usage, request.seconds),
          request.from == TaleRequest::From::kCache ? ", from the cache" : "",
          request.error.empty() ? "" : "<span class=\"error\">failed</span>");
      Pre("Prompt", request.prompt);
      Pre("Reply", request.reply);
      Pre("Error", request.error, "error");
      out_ += "</details>";
    }
  }

  const RunTale& tale_;
  std::string out_;
};

// Returns a fence longer than any in the text.
std::string Fenced(std::string_view text, std::string_view tag) {
  std::size_t longest = 2, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{0}{1}\n{2}{3}{0}\n\n", fence, tag, text, text.ends_with('\n') ? "" : "\n");
}

}  // namespace

std::string PageText(std::string_view text) {
  return EscapeHtml(WithoutTurns(utf8::CleanForTerminal(text)));
}

std::string PageOf(const RunTale& tale) { return PageWriter(tale).Write(); }

std::string MarkdownOf(const RunTale& tale) {
  std::string out = fmt::format("# Run {}\n\n", tale.run) + Fenced(tale.question, "text");
  out += fmt::format("Status: {}\n\n", tale.status);
  if (!tale.answer.empty()) out += "## Answer\n\n" + Fenced(tale.answer, "text");
  for (const TaleCall& call : tale.calls) {
    if (call.call != 0) out += fmt::format("## Call {} (of call {})\n\n", call.call, call.parent);
    for (const TaleTurn& turn : call.turns) {
      out += fmt::format("## Turn {} ({}): {}\n\n", turn.turn, turn.purpose,
                         CostText(turn.usage, turn.seconds));
      if (!turn.reply.empty()) out += "Reply:\n\n" + Fenced(turn.reply, "text");
      if (!turn.error.empty()) out += "Error:\n\n" + Fenced(turn.error, "text");
      for (const TaleBlock& block : turn.blocks) {
        out += fmt::format("Code {} ({}):\n\n", block.number, block.status) +
               Fenced(block.code, "python");
        for (const TaleRequest& request : block.requests) {
          out += fmt::format("Sub-call ({}):\n\n", CostText(request.usage, request.seconds)) +
                 Fenced(request.prompt, "text") +
                 Fenced(request.error.empty() ? request.reply : request.error, "text");
        }
        if (!block.output.empty()) out += "Output:\n\n" + Fenced(block.output, "text");
        if (!block.error.empty()) out += "Error:\n\n" + Fenced(block.error, "text");
      }
      for (const std::string& note : turn.notes) {
        out += "Note:\n\n" + Fenced(note, "text");
      }
    }
  }
  return out;
}

namespace {

// The parts of a turn that are compared.
JsonObject DigestOf(const TaleTurn* turn) {
  if (!turn) return {};
  JsonObject sections;
  for (const auto& [name, tokens] : turn->sections) sections[name] = tokens;
  JsonArray code, output;
  for (const TaleBlock& block : turn->blocks) {
    code.emplace_back(block.code);
    output.emplace_back(block.error.empty() ? block.output : block.output + block.error);
  }
  return {{"prompt", std::move(sections)},
          {"code", std::move(code)},
          {"output", std::move(output)},
          {"answer", turn->answer ? Json(*turn->answer) : Json(nullptr)},
          {"cost", JsonObject{{"input", turn->usage.input},
                              {"output", turn->usage.output},
                              {"nano_usd", turn->usage.nano_usd ? Json(*turn->usage.nano_usd)
                                                                : Json(nullptr)}}}};
}

}  // namespace

JsonObject DiffOf(const RunTale& a, const RunTale& b) {
  static constexpr std::string_view kParts[] = {"prompt", "code", "output", "answer", "cost"};
  const auto turns_of = [](const RunTale& tale) {
    return tale.calls.empty() ? std::vector<TaleTurn>() : tale.calls.front().turns;
  };
  const std::vector<TaleTurn> first = turns_of(a), second = turns_of(b);
  JsonArray turns;
  for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    const TaleTurn* one = i < first.size() ? &first[i] : nullptr;
    const TaleTurn* other = i < second.size() ? &second[i] : nullptr;
    const JsonObject before = DigestOf(one), after = DigestOf(other);
    JsonObject row{{"turn", one ? one->turn : other->turn}};
    JsonArray differs;
    JsonObject was, is;
    for (const std::string_view part : kParts) {
      const Json *x = before.if_contains(part), *y = after.if_contains(part);
      if ((x ? *x : Json()) == (y ? *y : Json())) continue;
      differs.emplace_back(part);
      was[part] = x ? *x : Json(nullptr);
      is[part] = y ? *y : Json(nullptr);
    }
    if (differs.empty()) continue;
    row["differs"] = std::move(differs);
    row["a"] = one ? Json(std::move(was)) : Json(nullptr);
    row["b"] = other ? Json(std::move(is)) : Json(nullptr);
    turns.push_back(std::move(row));
  }
  const bool equal = turns.empty() && a.answer == b.answer && a.question == b.question;
  return {{"schema", "dossier.runs-diff/1"},
          {"a", a.run},
          {"b", b.run},
          {"equal", equal},
          {"question", JsonArray{a.question, b.question}},
          {"answer", JsonArray{a.answer, b.answer}},
          {"turns", std::move(turns)}};
}

}  // namespace dossier::ask
