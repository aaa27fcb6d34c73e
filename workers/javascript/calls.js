// Model requests as code sees them. Texts travel as parts: a string lies in the raw bytes, a view of
// `doc` or `records` is named by its offsets and is never copied.

class LLMError extends ErrorClass {
  constructor(message, kind = "failed", retryable = false) {
    super(message);
    hide(this, "kind", kind);
    hide(this, "retryable", retryable);
  }
  get name() { return "LLMError"; }
}
const makeError = (code, message, retryable) =>
  (code === "bad_argument" || code === "unknown_method" ? new DataError(message) : new LLMError(message, code, retryable));

const asText = (value) => {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (typeof value === "object" && !host.isProxy(value)) {
    try { return toJson(value) ?? show(value); } catch { return show(value); }
  }
  return typeof value === "object" ? show(value) : TextOf(value);
};

class Parts {
  texts = [];
  blank = true;
  #size = 0;
  // A text, a view, or a list of them.
  add(value, between = "") {
    const wire = [];
    this.blank = true;
    const list = isArray(value) && viewOf(value) === undefined ? value : [value];
    for (let i = 0; i < list.length; i++) {
      if (i > 0 && between !== "") this.#text(between, wire);
      const spans = placesOf(list[i]);
      if (spans === undefined) this.#text(asText(list[i]), wire);
      else for (let k = 0; k < spans.length; k++) {
        if (spans[k].len > 0) this.blank = false;
        push(wire, spans[k]);
      }
    }
    return wire;
  }
  #text(text, wire) {
    if (trim(text) !== "") this.blank = false;
    const length = host.utf8Length(text);
    push(wire, { blob: [this.#size, length] });
    push(this.texts, text);
    this.#size += length;
  }
}

const optionNames = ["model", "responseFormat", "schema", "max_tokens", "maxTokens", "temperature", "system", "media"];
// Names that are no field of data: beside one of them, what there is not is an option that is refused.
const surelyOptions = ["responseFormat", "max_tokens", "maxTokens", "temperature"];
const holdsName = (list, name) => {
  for (let i = 0; i < list.length; i++) if (list[i] === name) return true;
  return false;
};
const isOptions = (value) => {
  if (value === null || typeof value !== "object" || isArray(value) || placesOf(value) !== undefined) return false;
  const names = ownKeys(value);
  let all = names.length > 0;
  for (let i = 0; i < names.length; i++) {
    if (holdsName(surelyOptions, names[i])) return true;
    all = all && holdsName(optionNames, names[i]);
  }
  return all;
};

// What the host is told besides the texts. What there is not is refused by name.
const settingsOf = (options = {}) => {
  if (options === null || typeof options !== "object") throw new TypeErrorClass("the options of a model call are an object: {model, responseFormat}");
  const names = ownKeys(options);
  for (let i = 0; i < names.length; i++) {
    if (!holdsName(optionNames, names[i])) throw new TypeErrorClass(`a model call has no option ${show(names[i])}; it has model, responseFormat, media, max_tokens, temperature, system`);
  }
  const format = own(options, "responseFormat");
  const settings = { model: own(options, "model") ?? null, schema: own(format, "schema") ?? own(options, "schema") ?? null };
  const optional = { max_tokens: own(options, "max_tokens") ?? own(options, "maxTokens"), temperature: own(options, "temperature"), system: own(options, "system") };
  const given = keysOf(optional);
  for (let i = 0; i < given.length; i++) if (optional[given[i]] !== undefined) put(settings, given[i], optional[given[i]]);
  return settings;
};
// The names of the images of a request, as the host reads them: one name or a list; nothing if there are none.
const mediaOf = (options) => {
  const given = own(options, "media") ?? [], names = [];
  const list = isArray(given) ? given : [given];
  for (let i = 0; i < list.length; i++) {
    if (typeof list[i] !== "string") throw new TypeErrorClass("media takes the name of an image, or a list of names");
    push(names, list[i]);
  }
  return names.length > 0 ? { media: names } : {};
};
const allowed = () => {
  if (features.depth === 0) throw new LLMError("sub-calls are off in this run (depth 0): answer with code alone", "denied");
};
// A child with its own session where depth allows one, no model is named and no image is shown.
const methodOf = (settings, media, plain, child) =>
  (settings.model === null && media.media === undefined && features.depth > 1 ? child : plain);

const requestOf = (parts, query, context, who) => {
  if (query === undefined || query === null) throw new TypeErrorClass(`${who} is ${query}: give the text that the model shall read`);
  const wire = parts.add(query);
  if (parts.blank) throw new LLMError(`${who} is blank: nothing was sent`, "bad_argument");
  return { parts: wire, context: context === undefined || context === null ? null : parts.add(context, "\n") };
};
const replyOf = (value, settings, who = "A reply") => {
  if (settings.schema !== null) {
    if (value.problem && !value.is_value) throw new LLMError(value.problem, value.finish ?? "failed");
    try { return parseJson(value.text); } catch (error) {
      throw new LLMError(`the reply is not the JSON asked for: ${describe(error).message}`, "schema");
    }
  }
  if (value.problem && value.text === "") throw new LLMError(value.problem, value.finish ?? "failed");
  if (value.problem) note(`${who} is not whole: ${value.problem}`);
  return value.text;
};

// One context for all queries, or a list with one for each.
const contextsFor = (contexts, count) => {
  const list = isArray(contexts) && viewOf(contexts) === undefined;
  if (list && contexts.length !== count) {
    throw new TypeErrorClass(`contexts is a list of ${contexts.length} for ${count} queries: give one for each query, or one text for all`);
  }
  return (index) => (list ? contexts[index] : contexts);
};

const llm_query = async function llm_query(query, context, options) {
  allowed();
  if (options === undefined && isOptions(context)) { options = context; context = undefined; }
  const settings = settingsOf(options), media = mediaOf(options), parts = new Parts();
  const args = { ...requestOf(parts, query, context, "the prompt"), ...settings, ...media };
  return replyOf(await host.call(methodOf(settings, media, "llm", "rlm"), args, parts.texts), settings);
};

const llm_query_batched = async function llm_query_batched(queries, contexts, options) {
  allowed();
  if (options === undefined && isOptions(contexts)) { options = contexts; contexts = undefined; }
  if (!isArray(queries)) throw new TypeErrorClass("llm_query_batched takes a list of prompts; for one prompt use llm_query");
  const settings = settingsOf(options), media = mediaOf(options), parts = new Parts(), prompts = [];
  const contextOf = contextsFor(contexts, queries.length);
  for (let i = 0; i < queries.length; i++) {
    push(prompts, { ...requestOf(parts, queries[i], contextOf(i), `prompt ${i}`), ...media });
  }
  if (prompts.length === 0) return [];
  const value = await host.call(methodOf(settings, media, "llm_batch", "rlm_batch"), { prompts, ...settings }, parts.texts);
  const replies = [];
  for (let i = 0; i < value.results.length; i++) {
    const result = value.results[i];
    try {
      push(replies, result.ok ? replyOf(result, settings, `Reply ${i} of the batch`) : `[ERROR] ${result.error}`);
    } catch (error) {
      push(replies, `[ERROR] ${describe(error).message}`);
    }
  }
  return replies;
};

// What a batch would take; nothing is sent.
const estimate = function estimate(queries, contexts, options) {
  allowed();
  if (options === undefined && isOptions(contexts)) { options = contexts; contexts = undefined; }
  const settings = settingsOf(options), media = mediaOf(options), parts = new Parts(), prompts = [];
  const many = isArray(queries) && viewOf(queries) === undefined, list = many ? queries : [queries];
  const contextOf = many ? contextsFor(contexts, list.length) : () => contexts;
  for (let i = 0; i < list.length; i++) {
    push(prompts, { ...requestOf(parts, list[i], contextOf(i), `prompt ${i}`), ...media });
  }
  return host.call("estimate", { prompts, ...settings }, parts.texts);
};

// One plain request about images, by name; a list of names counts as its names.
const llm_query_with_media = async function llm_query_with_media(query, ...names) {
  allowed();
  const given = names.length === 1 && isArray(names[0]) ? names[0] : names;
  if (given.length === 0) throw new TypeErrorClass('name the images: llm_query_with_media(prompt, "NAME")');
  const settings = settingsOf(), media = mediaOf({ media: given }), parts = new Parts();
  const args = { ...requestOf(parts, query, undefined, "the prompt"), ...settings, ...media };
  return replyOf(await host.call("llm", args, parts.texts), settings);
};

// Rows of one statement that reads over the records, as objects.
const sql = function sql(query, ...params) {
  if (params.length === 1 && isArray(params[0])) params = params[0];
  const wire = [];
  for (let i = 0; i < params.length; i++) push(wire, params[i] === undefined ? null : params[i]);
  const rows = host.sql(`${query}`, wire), schemas = features.sql_schemas ?? [];
  for (let i = 0; i < schemas.length; i++) host.noteRead(schemas[i], 0, sources[schemas[i]].bytes);
  return rows;
};

// Hands a text, or anything as JSON, to the user as a file.
const save_file = function save_file(name, data) {
  const text = typeof data === "string" ? data : Doc.segmentsOf(data) !== undefined ? `${data}` : toJson(data);
  host.ask("out_file", { name: `${name}`, append: false }, [text]);
  return `${name}`;
};

// What earlier runs left, and what this one leaves.
const memoryFunctions = {
  __proto__: null,
  memory_search(query, k = 10) { return host.ask("memory_search", { query: `${query}`, k }, []).hits; },
  memory_get(id) { return host.ask("memory_get", { id }, []).record; },
  memory_write(text, tags = []) { return host.ask("memory_write", { text: `${text}`, tags: isArray(tags) ? tags : [tags] }, []).id; },
};

const labelNames = (labels) => {
  const names = [];
  if (typeof labels === "string") labels = split(labels, ",");
  if (isArray(labels)) {
    for (let i = 0; i < labels.length; i++) push(names, trim(`${labels[i]}`));
  } else if (labels !== null && typeof labels === "object") {
    return keysOf(labels);
  }
  if (names.length === 0) throw new TypeErrorClass('map_llm needs labels, e.g. {labels: ["yes", "no"]}; for free text replies use llm_query_batched');
  return names;
};
const itemsOf = (items, field) => {
  if (items === undefined || items === null) items = rowsOrNothing();
  if (items === undefined) {
    const whole = [];
    for (let i = 0; i < sources.length; i++) push(whole, { wire: { lines: { ctx: sources[i].index } }, texts: [] });
    return whole;
  }
  const view = viewOf(items);
  if (view !== undefined && (field === null || indexOf(field, ".") < 0)) {
    const ranges = view.rows.ranges(view.from, view.to), list = [];
    for (let i = 0; i < ranges.length; i++) push(list, { wire: { records: { ...ranges[i], field } }, texts: [] });
    return list;
  }
  if (typeof items === "string") items = splitLines(items);
  const parts = new Parts(), wire = [];
  for (let i = 0; i < items.length; i++) {
    const item = field === null ? items[i] : own(items[i], field);
    push(wire, item === undefined || item === null ? null : parts.add(item));
  }
  return wire.length > 0 ? [{ wire, texts: parts.texts }] : [];
};

class LabelResult {
  constructor(names, indexes, errors) {
    this.labels = [];
    this.counts = {};
    for (let i = 0; i < names.length; i++) put(this.counts, names[i], 0);
    for (let i = 0; i < indexes.length; i++) {
      const label = indexes[i] >= 0 ? names[indexes[i]] : null;
      push(this.labels, label);
      if (label !== null) this.counts[label]++;
    }
    this.failed = [];
    const places = keysOf(errors);
    for (let i = 0; i < places.length; i++) push(this.failed, +places[i]);
    this.errors = errors;
    this.total = indexes.length;
    shownSet(shownBy, this, () => tableOf(this));
  }
}
const tableOf = (result) => {
  const rows = [];
  const names = keysOf(result.counts);
  for (let i = 0; i < names.length; i++) push(rows, `${names[i]}  ${group(result.counts[names[i]])}`);
  push(rows, `total  ${group(result.total)}`);
  if (result.failed.length > 0) push(rows, `without a label: ${group(result.failed.length)}`);
  return join(rows, "\n");
};

// Values by a schema: {values (null where it failed), failed, errors, total}.
const extracted = async (items, options) => {
  const schema = own(options, "schema"), field = own(options, "field") ?? null;
  const instruction = trim(`${own(options, "instruction") ?? ""}`) || "Read the values that the schema asks for out of the text.";
  if (own(options, "labels") !== undefined) throw new TypeErrorClass("map_llm: labels and schema exclude each other");
  if (items === undefined || items === null) items = rowsOrNothing();
  if (items === undefined) {
    items = [];
    for (let i = 0; i < sources.length; i++) addAll(items, splitLines(host.whole(sources[i].index)));
  }
  if (typeof items === "string") items = splitLines(items);
  const texts = [], places = [], prompts = [], result = { values: [], failed: [], errors: {}, total: items.length };
  const seen = new MapClass();
  for (let i = 0; i < items.length; i++) {
    const item = field === null ? items[i] : own(items[i], field), view = placesOf(item) !== undefined;
    push(result.values, null);
    if (!view && trim(asText(item)) === "") { put(result.errors, `${i}`, "empty"); push(places, -1); continue; }
    const key = view ? toJson(placesOf(item)) : asText(item);
    if (!mapHas(seen, key)) { mapSet(seen, key, texts.length); push(texts, view ? item : key); push(prompts, instruction); }
    push(places, mapGet(seen, key));
  }
  const settings = settingsOf({ schema, model: own(options, "model") }), parts = new Parts(), requests = [];
  if (own(options, "remember") === true) settings.remember = true;
  for (let i = 0; i < texts.length; i++) push(requests, requestOf(parts, prompts[i], texts[i], `prompt ${i}`));
  if (own(options, "dry") === true) return host.call("estimate", { prompts: requests, ...settings }, parts.texts);
  const replies = requests.length > 0 ? (await host.call("llm_batch", { prompts: requests, ...settings }, parts.texts)).results : [];
  for (let i = 0; i < places.length; i++) {
    if (places[i] < 0) continue;
    const reply = replies[places[i]];
    if (reply.ok && reply.is_value) result.values[i] = parseJson(reply.text);
    else put(result.errors, `${i}`, reply.ok ? reply.problem ?? "empty" : `${reply.code}: ${reply.error}`);
  }
  const failed = keysOf(result.errors);
  for (let i = 0; i < failed.length; i++) push(result.failed, +failed[i]);
  if (failed.length > 0) note(`map_llm: ${group(failed.length)} of ${group(result.total)} items failed.`);
  if (failed.length > 0 && failed.length === result.total) throw new LLMError(`map_llm: all ${group(result.total)} items failed; ${result.errors[failed[0]]}`);
  return result;
};

const map_llm = async function map_llm(items, options = {}) {
  allowed();
  if ((own(options, "schema") ?? null) !== null) return extracted(items, options);
  const names = labelNames(own(options, "labels"));
  const field = own(options, "field") ?? null, unknown = own(options, "unknown") === true;
  let instruction = `${own(options, "instruction") ?? ""}`;
  const labels = own(options, "labels");
  if (!isArray(labels) && typeof labels === "object") {
    for (let i = 0; i < names.length; i++) instruction += `\n${names[i]}: ${own(labels, names[i])}`;
  }
  const base = { labels: names, instruction: trim(instruction), batch: own(options, "batch") ?? null, model: own(options, "model") ?? null, unknown };
  if (own(options, "remember") === true) base.remember = true;
  const indexes = [], errors = {}, batches = itemsOf(items, field);
  if (own(options, "dry") === true) {
    const whole = { calls: 0, cached: 0, tokens: 0, output_tokens: 0, usd: 0 }, fields = keysOf(whole);
    for (let i = 0; i < batches.length; i++) {
      const one = await host.call("map", { items: batches[i].wire, ...base, dry: true }, batches[i].texts);
      for (let k = 0; k < fields.length; k++) {
        const name = fields[k], unknown = whole[name] === null || one[name] === null;
        whole[name] = unknown ? null : whole[name] + one[name];
      }
    }
    return whole;
  }
  for (let i = 0; i < batches.length; i++) {
    const value = await host.call("map", { items: batches[i].wire, ...base }, batches[i].texts);
    const failed = parseJson(value.failed);
    for (let k = 0; k < failed.length; k++) put(errors, failed[k][0] + indexes.length, failed[k][1]);
    for (let k = 0; k < value.labels.length; k++) push(indexes, value.labels[k]);
    if (value.stopped) note(`map_llm was stopped: ${value.stopped}.`);
  }
  const result = new LabelResult(unknown ? addAll(addAll([], names), ["unknown"]) : names, indexes, errors);
  if (result.failed.length > 0) {
    note(`map_llm: ${group(result.failed.length)} of ${group(result.total)} items failed; .counts covers ${group(result.total - result.failed.length)}.`);
    if (result.failed.length === result.total) throw new LLMError(`map_llm: all ${group(result.total)} items failed, so there is nothing to count; ${errors[result.failed[0]]}`);
  }
  return result;
};

const budget = function budget() {
  const value = host.ask("budget", {}, []);
  return {
    iterationsRemaining: value.iterations_left, llmCallsRemaining: value.calls_left,
    tokensRemaining: value.tokens_left,
    timeRemainingMs: value.seconds_left === null ? null : value.seconds_left * 1000,
    costRemainingUsd: value.usd_left, depth: value.depth, maxDepth: value.max_depth,
  };
};

// A function of the caller: arguments in order, or one object with them by name.
const toolOf = ({ name, parameters }) => async (...given) => {
  const only = given[0], args = {};
  const named = given.length === 1 && only !== null && typeof only === "object" && !isArray(only) && placesOf(only) === undefined;
  if (!named && given.length > parameters.length) throw new TypeErrorClass(`${name} takes ${parameters.length} arguments: ${join(parameters, ", ")}`);
  const names = named ? keysOf(only) : parameters;
  for (let i = 0; i < names.length; i++) {
    const value = named ? only[names[i]] : given[i];
    if (value !== undefined) put(args, names[i], value);
  }
  return (await host.call("tool", { name, args }, [])).value;
};

// Many texts merged into one, in groups where they are many.
const reduce_llm = async function reduce_llm(items, instruction, options = {}) {
  allowed();
  if (trim(`${instruction ?? ""}`) === "") throw new TypeErrorClass('reduce_llm needs an instruction, e.g. "Merge these notes into one list."');
  let texts = [];
  for (let i = 0; i < items.length; i++) if (trim(asText(items[i])) !== "") push(texts, asText(items[i]));
  if (texts.length === 0) throw new TypeErrorClass("reduce_llm: there is no text to merge");
  for (;;) {
    const groups = [];
    let size = 0, count = 0;
    for (let i = 0; i < texts.length; i++) {
      if (groups.length === 0 || count === 20 || size + texts[i].length > 40000) { push(groups, ""); size = count = 0; }
      groups[groups.length - 1] += `${count > 0 ? "\n\n" : ""}[${++count}]\n${texts[i]}`;
      size += texts[i].length;
    }
    const last = groups.length === 1, merged = [];
    const settings = settingsOf({ model: own(options, "model"), schema: last ? own(options, "schema") : null });
    const parts = new Parts(), requests = [];
    for (let i = 0; i < groups.length; i++) push(requests, requestOf(parts, instruction, groups[i], `group ${i}`));
    const { results } = await host.call("llm_batch", { prompts: requests, ...settings }, parts.texts);
    for (let i = 0; i < results.length; i++) {
      if (!results[i].ok || results[i].problem) throw new LLMError(`reduce_llm: a group failed: ${results[i].error ?? results[i].problem}`, results[i].code ?? "failed");
      push(merged, replyOf(results[i], settings));
    }
    if (last) return merged[0];
    if (groups.length === texts.length) throw new LLMError("reduce_llm: the texts do not get fewer; ask for a shorter result", "too_large");
    texts = merged;
  }
};
