// `doc` and `records`: the context without loading it. Offsets are UTF-16 units, as in `.length`.

class DataError extends ErrorClass {
  get name() { return "DataError"; }
}

const CONTENT_SIZE = 16_000;  // bytes
const SHOWN_ROWS = 20, BATCH = 1000, BATCH_BYTES = 1 << 20, CACHED = 32;

let sources = [];  // {index, name, bytes, units, meta}


// The range that slice(start, end) means of `length` things.
const rangeOf = (length, start, end) => {
  const place = (value, otherwise) => {
    if (value === undefined) return otherwise;
    const number = +value;
    const whole = number !== number ? 0 : number < 0 ? ceil(number) : floor(number);
    return whole < 0 ? max(length + whole, 0) : min(whole, length);
  };
  const from = place(start, 0);
  return [from, max(from, place(end, length))];
};

// A run of units of one source.
const segment = (source, first, units) => ({ __proto__: null, source, first, units });
const spanOf = ({ source, first, units }) => {
  const at = host.toBytes(source.index, first);
  const whole = first === 0 && units === source.units;
  return { __proto__: null, ctx: source.index, at, len: (whole ? source.bytes : host.toBytes(source.index, first + units)) - at };
};
const textOfSpan = (span) => host.text(span.ctx, span.at, span.len);

class Doc {
  #segments;
  constructor(segments) {
    this.#segments = segments;
    shownSet(shownBy, this, () => `<doc: ${group(this.length)} characters, ${segments.length} document${segments.length === 1 ? "" : "s"}>`);
    freeze(this);
  }
  static segmentsOf(value) {
    return typeof value === "object" && value !== null && #segments in value ? value.#segments : undefined;
  }

  get length() {
    let units = 0;
    for (let i = 0; i < this.#segments.length; i++) units += this.#segments[i].units;
    return units;
  }
  get bytes() {
    let bytes = 0;
    for (let i = 0; i < this.#segments.length; i++) bytes += spanOf(this.#segments[i]).len;
    return bytes;
  }
  get meta() { return this.#segments.length === 1 ? this.#segments[0].source.meta : this.#list((part) => part.source.meta); }
  get name() { return join(this.#list((part) => part.source.name), ", "); }
  get parts() {
    let start = 0;
    return this.#list((part) => ({ name: part.source.name, start, end: start += part.units }));
  }
  get lineCount() {
    let count = 0;
    for (let i = 0; i < this.#segments.length; i++) count += linesIn(this.#segments[i]);
    return count;
  }

  // A view of [start, end): no text is moved. String(view) is the text.
  slice(start, end) {
    const [from, to] = rangeOf(this.length, start, end), parts = [];
    let base = 0;
    for (let i = 0; i < this.#segments.length; i++) {
      const part = this.#segments[i];
      const first = max(from - base, 0), last = min(to - base, part.units);
      if (first < last) push(parts, segment(part.source, part.first + first, last - first));
      base += part.units;
    }
    return new Doc(parts);
  }
  text(start, end) { return this.slice(start, end).toString(); }
  at(index) { return this.text(index, index === -1 ? undefined : index + 1); }
  toString() {
    const limit = features.context_string_max;
    if (this.bytes > min(limit, LONGEST)) {
      throw new DataError(`the text has ${group(this.bytes)} bytes, and one string may have ${group(min(limit, LONGEST))}: `
        + "use doc.slice(a, b), doc.grep(pattern) or doc.chunks(size)");
    }
    return join(this.#list((part) => textOfSpan(spanOf(part))), "");
  }
  toJSON() { return `${this}`; }
  includes(text) { return this.find(text) >= 0; }
  indexOf(text, from) { return this.find(text, from); }

  lines(start, end) {
    const [from, to] = rangeOf(this.lineCount, start, end), lines = [];
    let base = 0;
    for (let i = 0; i < this.#segments.length; i++) {
      const part = this.#segments[i], count = linesIn(part);
      const first = max(from - base, 0), last = min(to - base, count);
      base += count;
      if (first >= last) continue;
      const found = linesOf(part, first, last);
      for (let k = 0; k < found.length; k++) push(lines, found[k]);
    }
    return lines;
  }
  *[Symbol.iterator]() {
    for (let i = 0; i < this.#segments.length; i++) {
      const part = this.#segments[i], count = linesIn(part);
      for (let at = 0; at < count; at += BATCH) {
        const lines = linesOf(part, at, min(at + BATCH, count));
        for (let k = 0; k < lines.length; k++) yield lines[k];
      }
    }
  }

  // Lines that match, at most `max`: [{line, text, start, end, name}]; `.total` counts all.
  grep(pattern, options = {}) {
    const regular = typeof pattern === "object" && pattern !== null && own(pattern, "source") === undefined;
    let source = `${pattern}`, flags = "";
    try { source = regExpSource(pattern); flags = regExpFlags(pattern); } catch { if (regular) source = `${pattern}`; }
    const most = own(options, "max") ?? 1000;
    const found = [];
    let total = 0, base = 0;
    for (let i = 0; i < this.#segments.length; i++) {
      const part = this.#segments[i], index = part.source.index;
      const value = host.ask("grep", {
        ctx: index, pattern: source, max: max(most - found.length, 0),
        ignore_case: !!(own(options, "ignoreCase") ?? own(options, "ignore_case") ?? indexOf(flags, "i") >= 0),
        context: own(options, "context") ?? 0,
      }, []);
      total += value.total;
      for (let k = 0; k < value.matches.length; k++) {
        const row = value.matches[k], start = host.toUnits(index, row.at), end = host.toUnits(index, row.at + row.len);
        if (start < part.first || end > part.first + part.units) { total--; continue; }
        push(found, {
          line: row.line, text: replaceText(host.text(index, row.context_at ?? row.line_at, row.context_len ?? row.line_len), /\r?\n$/, ""),
          start: base + start - part.first, end: base + end - part.first, name: part.source.name,
        });
      }
      base += part.units;
    }
    hide(found, "total", total);
    return found;
  }
  find(text, from = 0) {
    const wanted = `${text}`, length = this.length;
    const [first] = rangeOf(length, from, length);
    let base = 0;
    for (let i = 0; i < this.#segments.length; i++) {
      const part = this.#segments[i], { index } = part.source;
      const low = part.first + max(first - base, 0), high = part.first + part.units;
      if (low < high) {
        const value = host.ask("find", { ctx: index, text: wanted, from_byte: host.toBytes(index, low), to_byte: host.toBytes(index, high) }, []);
        const at = typeof value === "object" && value !== null ? value.at : value;
        if (at !== null && at >= 0) return base + host.toUnits(index, at) - part.first;
      }
      base += part.units;
    }
    return -1;
  }
  count(text) {
    const wanted = `${text}`;
    let total = 0;
    for (let i = 0; i < this.#segments.length; i++) {
      const part = this.#segments[i];
      if (part.units === part.source.units) total += host.ask("count", { ctx: part.source.index, text: wanted }, []).count;
      else total += split(textOfSpan(spanOf(part)), wanted).length - 1;
    }
    return total;
  }
  // The k passages that fit the words of the query best: [{text, start, end, score, name}].
  search(query, k = 10) {
    const hits = [];
    let base = 0;
    for (let i = 0; i < this.#segments.length; i++) {
      const part = this.#segments[i], { index } = part.source;
      const rows = host.ask("search", { ctx: index, query: `${query}`, k }, []).hits;
      for (let n = 0; n < rows.length; n++) {
        const start = host.toUnits(index, rows[n].at), end = host.toUnits(index, rows[n].at + rows[n].len);
        if (start < part.first || end > part.first + part.units) continue;
        push(hits, { text: host.text(index, rows[n].at, rows[n].len), start: base + start - part.first,
          end: base + end - part.first, score: rows[n].score, name: part.source.name });
      }
      base += part.units;
    }
    sort(hits, (a, b) => b.score - a.score);
    if (hits.length > k) hits.length = k;
    return hits;
  }
  // Views of `size` chars, lines, records or tokens, or of about `size` bytes, cut where the content
  // says; none crosses a document.
  chunks(size, options = {}) {
    if (size !== null && typeof size === "object") [size, options] = [undefined, size];
    let by = own(options, "by") ?? "chars", overlap = own(options, "overlap") ?? 0;
    if (by === "content") return this.#content(size ?? CONTENT_SIZE, overlap);
    if (!(size > 0) || !(overlap >= 0) || overlap >= size) throw new RangeErrorClass("chunks needs size > 0 and 0 <= overlap < size");
    if (by === "tokens") { size *= 3; overlap *= 3; by = "chars"; }
    if (by !== "chars" && by !== "lines" && by !== "records") throw new RangeErrorClass("chunks: by is 'chars', 'lines', 'records', 'tokens' or 'content'");
    const views = [];
    let without = 0;
    for (let i = 0; i < this.#segments.length; i++) {
      const part = this.#segments[i];
      const units = by === "chars" ? part.units : by === "lines" ? linesIn(part) : infoOf(part.source).count;
      if (units === null && ++without === this.#segments.length) throw new DataError(`chunks: ${this.#segments[0].source.name || "the context"} has no records; use by: "lines"`);
      for (let at = 0; at < max(units - overlap, units ? 1 : 0); at += size - overlap) {
        push(views, chunkOf(part, by, at, min(at + size, units)));
      }
    }
    return views;
  }

  #content(size, overlap) {
    if (overlap !== 0) throw new RangeErrorClass("chunks: pieces by content do not overlap");
    const views = [];
    for (let i = 0; i < this.#segments.length; i++) {
      const part = this.#segments[i], { index } = part.source, span = spanOf(part);
      const { ends } = host.ask("cuts", { ctx: index, size, from_byte: span.at, to_byte: span.at + span.len }, []);
      for (let k = 0, first = part.first; k < ends.length; k++) {
        const end = host.toUnits(index, ends[k]);
        push(views, new Doc([segment(part.source, first, end - first)]));
        first = end;
      }
    }
    return views;
  }
  #list(of) {
    const list = [];
    for (let i = 0; i < this.#segments.length; i++) push(list, of(this.#segments[i]));
    return list;
  }
}
const LONGEST = 1_073_741_822;

const chunkOf = (part, by, from, to) => {
  if (by === "chars") return new Doc([segment(part.source, part.first + from, to - from)]);
  const { index } = part.source;
  const span = by === "records" ? host.ask("record_span", { ctx: index, from, to }, []) : host.ask("lines", { ctx: index, from, to }, []);
  const first = host.toUnits(index, span.at);
  return new Doc([segment(part.source, first, host.toUnits(index, span.at + span.len) - first)]);
};
const wholeOf = (part) => part.units === part.source.units;
const splitLines = (text) => {
  const lines = split(text, "\n");
  if (lines.length > 0 && lines[lines.length - 1] === "") lines.length--;
  for (let i = 0; i < lines.length; i++) {
    if (codeAt(lines[i], lines[i].length - 1) === 13) lines[i] = sliceText(lines[i], 0, -1);
  }
  return lines;
};
const linesIn = (part) => {
  if (!wholeOf(part)) return splitLines(textOfSpan(spanOf(part))).length;
  if (part.source.lines === undefined) part.source.lines = host.ask("line_count", { ctx: part.source.index }, []).count;
  return part.source.lines;
};
const linesOf = (part, from, to) => {
  if (!wholeOf(part)) {
    const lines = splitLines(textOfSpan(spanOf(part))), some = [];
    for (let i = from; i < to; i++) push(some, lines[i]);
    return some;
  }
  const span = host.ask("lines", { ctx: part.source.index, from, to }, []);
  return splitLines(host.text(part.source.index, span.at, span.len));
};
const infoOf = (source) => {
  if (source.info === undefined) {
    try { source.info = host.ask("records_info", { ctx: source.index }, []); } catch { source.info = { count: null }; }
  }
  return source.info;
};

// The rows of all documents with records, one after the other, fetched in batches.
class Rows {
  #tables = [];
  #batches = new MapClass();  // first row: rows; the newest is the last
  length = 0;
  constructor() {
    for (let i = 0; i < sources.length; i++) {
      const info = infoOf(sources[i]), beside = sources.length > 1 && info.beside;
      if (info.count === null || beside) continue;
      push(this.#tables, { __proto__: null, source: sources[i], base: this.length, count: info.count });
      this.length += info.count;
    }
    this.named = sources.length > 1;
  }
  get some() { return this.#tables.length > 0; }
  row(index) {
    const first = index - index % BATCH;
    let rows = mapGet(this.#batches, first);
    if (rows === undefined) {
      rows = this.#fetch(first);
      mapSet(this.#batches, first, rows);
      if (mapSize(this.#batches) > CACHED) {
        let oldest;
        try { mapEach(this.#batches, (_, key) => { oldest = key; throw 0; }); } catch { /* the first is enough */ }
        mapDelete(this.#batches, oldest);
      }
    }
    return rows[index - first];
  }
  #fetch(first) {
    const rows = [], end = min(first + BATCH, this.length);
    for (let i = 0; i < this.#tables.length; i++) {
      const table = this.#tables[i];
      let at = max(first - table.base, 0);
      const last = min(end - table.base, table.count);
      if (at >= last) continue;
      const span = host.ask("record_span", { ctx: table.source.index, from: at, to: last }, []);
      host.noteRead(table.source.index, span.at, span.len);
      while (at < last) {
        const value = host.ask("records", { ctx: table.source.index, from: at, max_records: last - at, max_bytes: BATCH_BYTES }, []);
        const some = parseJson(value.rows);
        for (let k = 0; k < some.length; k++) {
          const row = some[k] !== null && typeof some[k] === "object" && !isArray(some[k]) ? some[k] : { value: some[k] };
          if (this.named && !hasOwn(row, "_file")) put(row, "_file", table.source.name);
          push(rows, row);
        }
        if (some.length === 0) throw new DataError(`record ${group(table.base + at)} could not be read`);
        at += some.length;
      }
    }
    return rows;
  }
  // Where rows [from, to) stand; by record for map_llm.
  spans(from, to) {
    return this.#cover(from, to, (table, first, last) => {
      const span = host.ask("record_span", { ctx: table.source.index, from: first, to: last }, []);
      return { __proto__: null, ctx: table.source.index, at: span.at, len: span.len };
    });
  }
  ranges(from, to) {
    return this.#cover(from, to, (table, first, last) => ({ ctx: table.source.index, from: first, to: last }));
  }
  #cover(from, to, of) {
    const list = [];
    for (let i = 0; i < this.#tables.length; i++) {
      const table = this.#tables[i];
      const first = max(from - table.base, 0), last = min(to - table.base, table.count);
      if (first < last) push(list, of(table, first, last));
    }
    return list;
  }
}

const viewsOfRows = new WeakMap();
const rowsViewGet = uncurry(WeakMap.prototype.get), rowsViewSet = uncurry(WeakMap.prototype.set);
const viewOf = (value) => (value !== null && typeof value === "object" ? rowsViewGet(viewsOfRows, value) : undefined);
const indexOfKey = (key) => {
  if (typeof key !== "string" || exec(/^(?:0|[1-9]\d{0,14})$/, key) === null) return -1;
  return +key;
};

// An array whose rows are read when they are used. A slice is another one.
const makeRecords = (rows, from, to) => {
  const target = [];
  target.length = to - from;
  const slice = function slice(start, end) {
    const [first, last] = rangeOf(to - from, start, end);
    return makeRecords(rows, from + first, from + last);
  };
  const handler = {
    __proto__: null,
    get(list, key, receiver) {
      const index = indexOfKey(key);
      if (index >= 0) return index < to - from ? rows.row(from + index) : undefined;
      if (key === "slice") return slice;
      if (key === "fields") return fieldNames();
      return Reflect.get(list, key, receiver);
    },
    has(list, key) {
      const index = indexOfKey(key);
      return index >= 0 ? index < to - from : Reflect.has(list, key);
    },
    getOwnPropertyDescriptor(list, key) {
      const index = indexOfKey(key);
      if (index < 0 || index >= to - from) return getOwnPropertyDescriptor(list, key);
      return { value: rows.row(from + index), writable: true, enumerable: true, configurable: true };
    },
    ownKeys() {
      const names = [];
      for (let i = 0; i < to - from; i++) push(names, `${i}`);
      push(names, "length");
      return names;
    },
    set() { throw new TypeErrorClass("records is read only: const rows = [...records] is a list of your own"); },
    defineProperty() { throw new TypeErrorClass("records is read only: const rows = [...records] is a list of your own"); },
    deleteProperty() { throw new TypeErrorClass("records is read only: const rows = [...records] is a list of your own"); },
  };
  const view = new ProxyClass(target, handler);
  rowsViewSet(viewsOfRows, view, { __proto__: null, rows, from, to });
  shownSet(shownBy, view, (shower, depth) => {
    if (to - from > SHOWN_ROWS) return `<records: ${group(to - from)} rows; fields: ${join(fieldNames(), ", ")}>`;
    const some = [];
    for (let i = from; i < to; i++) push(some, rows.row(i));
    return shower.value(some, depth);
  });
  return view;
};
const fieldNames = () => {
  const names = [];
  for (let i = 0; i < sources.length; i++) {
    const fields = infoOf(sources[i]).fields ?? [];
    for (let k = 0; k < fields.length; k++) push(names, fields[k].shown);
  }
  return names;
};
const noRecords = () => {
  const info = sources.length > 0 ? infoOf(sources[0]) : {};
  const kind = info.label ?? info.format ?? "text";
  const way = info.way ?? (startsWith(`${info.format}`, "json") ? "JSON.parse(__vars.context)" : "__vars.context, doc.grep(pattern) or doc.lines(a, b)");
  return new DataError(`the context has no records: it is ${kind}; use ${way}`);
};

// The places of a view of `doc` or `records`; undefined for any other value.
const placesOf = (value) => {
  const segments = Doc.segmentsOf(value);
  if (segments !== undefined) {
    const list = [];
    for (let i = 0; i < segments.length; i++) push(list, spanOf(segments[i]));
    return list;
  }
  const view = viewOf(value);
  return view === undefined ? undefined : view.rows.spans(view.from, view.to);
};

// Where a part of the data stands, as an answer may carry it: "[name:12-30]", by lines from 1.
class Reference {
  constructor(document, lines, bytes) {
    this.document = document;
    this.lines = lines;
    this.bytes = bytes;
    this.ref = `[${document}:${lines[0]}${lines[1] === lines[0] ? "" : `-${lines[1]}`}]`;
    shownSet(shownBy, this, () => this.ref);
  }
  toString() { return this.ref; }
  toJSON() { return this.ref; }
}
const cite = function cite(part) {
  const spans = placesOf(part), parts = [];
  if (spans === undefined) throw new TypeErrorClass("cite takes a view, such as cite(doc.slice(120, 180)) or cite(records.slice(3, 4))");
  for (let i = 0; i < spans.length; i++) if (spans[i].len > 0) push(parts, spans[i]);
  if (parts.length === 0) throw new RangeErrorClass("cite: the view is empty");
  const first = parts[0], last = parts[parts.length - 1], lines = [];
  for (let i = 0; i < parts.length; i++) {
    if (parts[i].ctx !== first.ctx) throw new RangeErrorClass("cite: the view reaches over several documents; cite each part of it");
  }
  const bytes = [first.at, last.at + last.len];
  for (let i = 0; i < 2; i++) push(lines, host.ask("locate", { ctx: first.ctx, byte: bytes[i] - i }, []).line + 1);
  let name = "";
  for (let i = 0; i < sources.length; i++) if (sources[i].index === first.ctx) name = sources[i].name;
  return new Reference(name, lines, bytes);
};
