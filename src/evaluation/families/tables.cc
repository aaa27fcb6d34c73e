// tables: filtered counts, winners, percentiles and sums over two files, in four formats of rows.

#include <algorithm>
#include <array>
#include <set>

#include "base/text/text.h"
#include "evaluation/families/families.h"
#include "evaluation/families/lines.h"
#include "evaluation/families/rows.h"
#include "evaluation/tasks/dates.h"
#include "evaluation/tasks/grammar.h"
#include "evaluation/tasks/stream.h"

namespace dossier::evaluation {
namespace {

constexpr std::string_view kProducts[] = {"anvil", "bellows", "chisel", "dowel",
                                          "easel", "funnel",  "gimlet", "hinge"};
constexpr std::string_view kCountries[] = {"Austria", "Brazil",  "Chile",
                                           "Denmark", "Estonia", "France"};
constexpr std::size_t kMostQuantity = 500;

struct Order {
  std::int64_t id = 0, customer = 0, quantity = 0, cents = 0;
  std::int32_t day = 0;
  std::size_t product = 0;
  std::string note;
};

// How a format writes the start of a file, an order, and the end.
struct Format {
  std::string_view ending, head, tail;
  void (*write)(const Order& order, std::string* out);
};

void WriteNdjson(const Order& order, std::string* out) {
  out->append(ToJson(JsonObject{{"id", order.id},
                                {"customer", order.customer},
                                {"day", IsoDate(order.day)},
                                {"product", kProducts[order.product]},
                                {"quantity", order.quantity},
                                {"cents", order.cents},
                                {"note", order.note}}))
      .push_back('\n');
}

void WriteCsv(const Order& order, std::string* out) {
  fmt::format_to(std::back_inserter(*out), "{},{},{},{},{},{},\"{}\"\r\n", order.id, order.customer,
                 IsoDate(order.day), kProducts[order.product], order.quantity, order.cents,
                 ReplaceAll(order.note, "\"", "\"\""));
}

void WriteDeb822(const Order& order, std::string* out) {
  fmt::format_to(
      std::back_inserter(*out),
      "Id: {}\nCustomer: {}\nDay: {}\nProduct: {}\nQuantity: {}\nCents: {}\nNote: {}\n\n", order.id,
      order.customer, IsoDate(order.day), kProducts[order.product], order.quantity, order.cents,
      ReplaceAll(order.note, "\n", "\n "));
}

void WriteXml(const Order& order, std::string* out) {
  const std::string note = ReplaceAll(ReplaceAll(order.note, "&", "&amp;"), "<", "&lt;");
  fmt::format_to(std::back_inserter(*out),
                 "<order><id>{}</id><customer>{}</customer><day>{}</day><product>{}</product>"
                 "<quantity>{}</quantity><cents>{}</cents><note>{}</note></order>\n",
                 order.id, order.customer, IsoDate(order.day), kProducts[order.product],
                 order.quantity, order.cents, note);
}

constexpr Format kRowFormats[] = {
    {".ndjson", "", "", WriteNdjson},
    {".csv", "id,customer,day,product,quantity,cents,note\r\n", "", WriteCsv},
    {".deb822", "", "", WriteDeb822},
    {".xml", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<orders>\n", "</orders>\n", WriteXml},
};

struct OrderCounts {
  std::array<std::int64_t, 8> orders{}, large{};  // by product; large: quantity 100 and more
  std::array<std::int64_t, 6> cents{};            // by country: quantity times cents
  std::array<std::vector<std::int64_t>, 8> quantities;
  std::map<std::string, std::int64_t> days;
  std::set<std::int64_t> customers;
  std::int64_t longest_gap = 0;  // between ids
};

constexpr RowProof kTableProofs[] = {
    {"How many orders of the product (\\w+) have a quantity of 100 or more\\?",
     "SELECT count(*) FROM orders WHERE product = ?1 AND quantity >= 100"},
    {"Which product has the most orders\\?",
     "SELECT product FROM (SELECT product, rank() OVER (ORDER BY count(*) DESC) r FROM orders "
     "GROUP BY 1) "
     "WHERE r = 1"},
    {"How many different customers have an order\\?",
     "SELECT count(DISTINCT customer) FROM orders"},
    {"What is the (\\d+)th percentile of the quantity of the product (\\w+), by nearest rank\\?",
     "SELECT quantity FROM orders WHERE product = ?2 ORDER BY quantity LIMIT 1 OFFSET (SELECT "
     "(count(*) * "
     "?1 + 99) / 100 - 1 FROM orders WHERE product = ?2)"},
    {"On which day are the most orders\\?",
     "SELECT day FROM (SELECT day, rank() OVER (ORDER BY count(*) DESC) r FROM orders GROUP BY 1) "
     "WHERE r "
     "= 1"},
    {"What do all orders of customers from (\\w+) cost, quantity times cents, in cents\\?",
     "SELECT ifnull(sum(quantity * cents), 0) FROM orders JOIN customers USING (customer) WHERE "
     "country = "
     "?1"},
    {"Customers from which country have spent the most, by quantity times cents\\?",
     "SELECT country FROM (SELECT country, rank() OVER (ORDER BY sum(quantity * cents) DESC) r "
     "FROM orders "
     "JOIN customers USING (customer) GROUP BY 1) WHERE r = 1"},
    {"The ids rise from order to order\\. What is the largest difference between two that follow "
     "each "
     "other\\?",
     "SELECT max(gap) FROM (SELECT id - lag(id) OVER (ORDER BY rowid) gap FROM orders)"},
};

class Tables final : public Family {
 public:
  std::string_view name() const override { return "tables"; }
  std::string_view about() const override {
    return "counts, percentiles and joins over rows: NDJSON, CSV, deb822, XML";
  }
  std::span<const Parameter> parameters() const override { return {}; }
  std::vector<std::int64_t> default_lengths() const override { return {1 << 20, 16 << 20}; }

  Status Generate(const FamilySpec& spec, TaskSink& sink) const override {
    std::size_t turn = 0;
    for (const std::int64_t length : spec.lengths) {
      for (std::int64_t number = 0; number < spec.windows; ++number, ++turn) {
        DOSSIER_RETURN_IF_ERROR(
            Write(spec, length, number, kRowFormats[turn % std::size(kRowFormats)], sink));
      }
    }
    return {};
  }

  Result<Json> Recompute(const Task& task, const TaskSet& set, const Relabel&) const override {
    DOSSIER_ASSIGN_OR_RETURN(const auto prover, OpenRows(task, set, kTableProofs));
    return prover->Recompute(task);
  }
  Result<std::unique_ptr<Prover>> Open(const Task& task, const TaskSet& set,
                                       const Relabel&) const override {
    return OpenRows(task, set, kTableProofs);
  }

 private:
  Status Write(const FamilySpec& spec, std::int64_t length, std::int64_t number,
               const Format& format, TaskSink& sink) const {
    RandomStream stream =
        RandomStream::For(name(), spec.seed, fmt::format("{}/window/{}", length, number));
    const std::string id = fmt::format("tables-{}-w{}", LengthName(length), number);
    const std::int64_t customers = std::max<std::int64_t>(10, length / 3000);
    std::vector<std::size_t> countries;
    std::string list = "customer,country\r\n";
    for (std::int64_t i = 0; i < customers; ++i) {
      countries.push_back(stream.Below(std::size(kCountries)));
      list += fmt::format("{},{}\r\n", 1000 + i, kCountries[countries.back()]);
    }
    OrderCounts counts;
    for (auto& histogram : counts.quantities) histogram.resize(kMostQuantity + 1);
    DOSSIER_RETURN_IF_ERROR(sink.Open(fmt::format("contexts/{}{}", id, format.ending)));
    const std::int64_t room = length - static_cast<std::int64_t>(list.size());
    DOSSIER_RETURN_IF_ERROR(WriteOrders(spec, format, room, countries, &stream, &counts, sink));
    DOSSIER_ASSIGN_OR_RETURN(const ContextFile orders, sink.Close(0));
    DOSSIER_RETURN_IF_ERROR(sink.Open(fmt::format("contexts/{}-customers.csv", id)));
    DOSSIER_RETURN_IF_ERROR(sink.Write(list));
    DOSSIER_ASSIGN_OR_RETURN(const ContextFile named, sink.Close(0));
    return AddRowTasks(name(), id, {orders, named}, Questions(counts, &stream), spec.questions,
                       sink);
  }

  static Order DrawOrder(std::int64_t last_id, std::size_t customers, RandomStream* stream) {
    const auto topics = grammar::Topics();
    const grammar::Topic& topic = topics[stream->Below(topics.size())];
    Order order{
        .id = last_id + (stream->Below(40) == 0 ? stream->Between(2, 5000) : 1),
        .customer = static_cast<std::int64_t>(1000 + stream->Below(customers)),
        .quantity = stream->Between(1, kMostQuantity),
        .cents = stream->Between(99, 99'999),
        .day = static_cast<std::int32_t>(stream->Between(DayOf(2023, 1, 1), DayOf(2024, 12, 31))),
        .product = stream->Below(std::size(kProducts)),
        .note = grammar::Text(topic, stream->Below(grammar::Count(topic)))};
    // Traps for a reader that only splits lines or commas.
    const std::uint64_t trap = stream->Below(4);
    if (trap == 0) order.note += fmt::format("\n7,1000,2024-01-01,{},400,1,x", kProducts[0]);
    if (trap == 1) order.note = "\"" + order.note + "\", they said; <b> & so on";
    return order;
  }

  static Status WriteOrders(const FamilySpec& spec, const Format& format, std::int64_t room,
                            const std::vector<std::size_t>& countries, RandomStream* stream,
                            OrderCounts* counts, TaskSink& sink) {
    DOSSIER_RETURN_IF_ERROR(sink.Write(format.head));
    auto left = room - static_cast<std::int64_t>(format.head.size() + format.tail.size());
    std::int64_t last_id = 0;
    std::string text;
    while (true) {
      const Order order = DrawOrder(last_id, countries.size(), stream);
      text.clear();
      format.write(order, &text);
      left -= static_cast<std::int64_t>(text.size());
      if (left < 0) return sink.Write(format.tail);
      DOSSIER_RETURN_IF_ERROR(sink.Write(text));
      ++counts->orders[order.product];
      counts->large[order.product] += order.quantity >= 100;
      counts->cents[countries[static_cast<std::size_t>(order.customer - 1000)]] +=
          order.quantity * order.cents;
      ++counts->quantities[order.product][static_cast<std::size_t>(order.quantity)];
      ++counts->days[IsoDate(order.day)];
      counts->customers.insert(order.customer);
      if (last_id > 0) counts->longest_gap = std::max(counts->longest_gap, order.id - last_id);
      last_id = order.id;
      if (spec.cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "stopped");
    }
  }

  static std::vector<RowQuestion> Questions(const OrderCounts& counts, RandomStream* stream) {
    using Kind = RowQuestion::Kind;
    std::vector<RowQuestion> questions;
    const auto number = [&](std::string_view name, std::string text,
                            std::optional<std::int64_t> gold) {
      questions.push_back({.name = name,
                           .text = std::move(text),
                           .gold = gold ? std::optional(std::to_string(*gold)) : std::nullopt});
    };
    const auto winner = [&](const auto& names, const auto& values) {
      std::map<std::string, std::int64_t> by_name;
      for (std::size_t i = 0; i < values.size(); ++i) by_name[std::string(names[i])] = values[i];
      return StrictWinner(by_name);
    };
    const std::size_t product = stream->Below(8), other = stream->Below(8),
                      country = stream->Below(6);
    number(
        "sum",
        fmt::format("What do all orders of customers from {} cost, quantity times cents, in cents?",
                    kCountries[country]),
        counts.cents[country]);
    number("count",
           fmt::format("How many orders of the product {} have a quantity of 100 or more?",
                       kProducts[product]),
           counts.large[product]);
    questions.push_back({.name = "most",
                         .text = "Which product has the most orders?",
                         .gold = winner(kProducts, counts.orders),
                         .kind = Kind::kName});
    number("percentile",
           fmt::format(
               "What is the 90th percentile of the quantity of the product {}, by nearest rank?",
               kProducts[other]),
           Percentile(counts.quantities[other], 90));
    number("distinct", "How many different customers have an order?",
           static_cast<std::int64_t>(counts.customers.size()));
    questions.push_back({.name = "most",
                         .text = "On which day are the most orders? Write it as 2024-03-01.",
                         .gold = StrictWinner(counts.days),
                         .kind = Kind::kName});
    questions.push_back(
        {.name = "most",
         .text = "Customers from which country have spent the most, by quantity times cents?",
         .gold = winner(kCountries, counts.cents),
         .kind = Kind::kName});
    number(
        "gap",
        "The ids rise from order to order. What is the largest difference between two that follow "
        "each other?",
        counts.longest_gap);
    return questions;
  }
};

}  // namespace

const Family& TablesFamily() {
  static const Tables kFamily;
  return kFamily;
}

}  // namespace dossier::evaluation
