// Which texts of a block's output its code says itself: what stands there as a literal, or is made of
// nothing but such. The host takes them away from the output, and what is left came out of data.
//
//   typedBy(statementsOf("print(records.length, 6 * 7)"))   // ["42"]
//
// A choice that data make between constants (`n > 3 ? "a" : "b"`) is none of them.

const fixed = new MapClass();  // names at the top that hold a constant, of all blocks of the session
const MOST_TYPED = 1 << 20;    // characters of all such texts that a block shows; above, it is no evidence
const DEEPEST = 40;

const constant = (value) => ({ __proto__: null, value });
const isPlain = (value) => typeof value === "string" || typeof value === "number" || typeof value === "boolean";
const nameOf = (node) => (node.type === "Identifier" ? node.name
  : node.type === "MemberExpression" && !node.computed ? node.property.name : "");
// What an assignment binds: a name, or one of __vars.
const boundName = (node) => (node.type === "Identifier" ? node.name : isVar(node) ? node.property.name : "");
const isVar = (node) => node.type === "MemberExpression" && !node.computed && node.object.type === "Identifier"
  && node.object.name === "__vars";
const PURE = { __proto__: null, String: TextOf, Number, parseInt, parseFloat };
const CONVERTS = setOf(["String", "Number", "parseInt", "parseFloat", "toString", "toFixed", "stringify", "join", "trim",
  "toUpperCase", "toLowerCase", "replace", "replaceAll", "concat", "padStart", "padEnd"]);
const SHOWS = setOf(["print", "log", "info", "warn", "error", "debug", "SUBMIT"]);

// The value of an expression that is made of constants alone, in a box; else undefined.
const foldNode = (node, depth = 0) => {
  if (node === null || depth > DEEPEST) return undefined;
  const part = (inner) => foldNode(inner, depth + 1);
  switch (node.type) {
    case "Literal": return isPlain(node.value) ? constant(node.value) : undefined;
    case "Identifier": return mapHas(fixed, node.name) ? constant(mapGet(fixed, node.name)) : undefined;
    case "MemberExpression":  // __vars.n
      return isVar(node) && mapHas(fixed, node.property.name) ? constant(mapGet(fixed, node.property.name)) : undefined;
    case "TemplateLiteral": {
      let text = "";
      for (let i = 0; i < node.elements.length; i++) {
        const found = part(node.elements[i]);
        if (found === undefined || text.length > MOST_TYPED) return undefined;
        text += TextOf(found.value);
      }
      return constant(text);
    }
    case "UnaryExpression": {
      const found = part(node.argument);
      if (found === undefined) return undefined;
      return node.operator === "-" ? constant(-found.value) : node.operator === "+" ? constant(+found.value) : undefined;
    }
    case "BinaryExpression": {
      const left = part(node.left), right = left === undefined ? undefined : part(node.right);
      if (right === undefined) return undefined;
      const a = left.value, b = right.value;
      if (typeof a === "string" && typeof b === "string" && a.length + b.length > MOST_TYPED) return undefined;
      switch (node.operator) {
        case "+": return constant(a + b);
        case "-": return constant(a - b);
        case "*": return constant(a * b);
        case "/": return constant(a / b);
        case "%": return constant(a % b);
        case "**": return constant(a ** b);
      }
      return undefined;
    }
    case "CallExpression": {
      const pure = node.callee.type === "Identifier" && node.callee.name in PURE ? PURE[node.callee.name] : undefined;
      if (pure === undefined || node.arguments.length === 0) return undefined;
      const given = [];
      for (let i = 0; i < node.arguments.length; i++) {
        const found = part(node.arguments[i]);
        if (found === undefined) return undefined;
        push(given, found.value);
      }
      return constant(apply(pure, undefined, given));
    }
  }
  return undefined;
};

// Calls `see` for each node below `node`, with those of functions.
const walkNodes = (node, see) => {
  if (node === null || typeof node !== "object") return;
  if (isArray(node)) {
    for (let i = 0; i < node.length; i++) walkNodes(node[i], see);
    return;
  }
  if (typeof own(node, "type") !== "string") return;
  see(node);
  const names = keysOf(node);
  for (let i = 0; i < names.length; i++) if (names[i] !== "loc") walkNodes(node[names[i]], see);
};

// The expressions whose texts stand in what `node` shows.
const partsOf = (node) => {
  switch (node.type) {
    case "TemplateLiteral": return node.elements;
    case "ArrayExpression": return node.elements;
    case "SequenceExpression": return [node.expressions[node.expressions.length - 1]];
    case "SpreadExpression": return [node.expression];
    case "AwaitExpression": return [node.argument];
    case "UnaryExpression": return node.operator === "await" ? [node.argument] : [];
    case "BinaryExpression": return node.operator === "+" ? [node.left, node.right] : [];
    case "ObjectExpression": {
      const list = [];
      for (let i = 0; i < node.properties.length; i++) push(list, node.properties[i].value ?? node.properties[i]);
      return list;
    }
    // What is given where nothing is there: zero and "" are common, and judged elsewhere.
    case "LogicalExpression": {
      const found = foldNode(node.right);
      return found !== undefined && found.value ? [node.right] : [];
    }
    case "CallExpression": {
      if (!setHas(CONVERTS, nameOf(node.callee))) return [];
      return addAll(node.callee.type === "MemberExpression" ? [node.callee.object] : [], node.arguments);
    }
  }
  return [];
};
const literalsOf = (node, texts, depth = 0) => {
  if (node === null || depth > 8) return;
  const found = foldNode(node);
  if (found !== undefined) {
    if (typeof found.value !== "boolean") push(texts, TextOf(found.value));
    return;
  }
  const parts = partsOf(node);
  for (let i = 0; i < parts.length; i++) literalsOf(parts[i], texts, depth + 1);
};

// What print makes of constants that follow each other.
const joinedBy = (given, texts) => {
  let run = [];
  const close = () => {
    if (run.length > 1) push(texts, join(run, " "));
    run = [];
  };
  for (let i = 0; i < given.length; i++) {
    const found = foldNode(given[i]);
    if (found === undefined) close();
    else push(run, TextOf(found.value));
  }
  close();
};

// A name that is bound once, at the top and to a constant, holds it; any other binding ends that.
const learnNames = (body) => {
  const bound = new MapClass();
  const note_ = (name) => mapSet(bound, name, (mapGet(bound, name) ?? 0) + 1);
  walkNodes(body, (node) => {
    if (node.type === "VariableDeclarator") walkNodes(node.id, (part) => { if (part.type === "Identifier") note_(part.name); });
    if (node.type === "AssignmentExpression") note_(boundName(node.left));
    if (node.type === "UpdateExpression") note_(boundName(node.argument));
    if (node.type === "ForOfStatement" || node.type === "ForInStatement") note_(boundName(node.left));
    if (node.type === "FunctionDeclaration") note_(node.id.name);
  });
  mapEach(bound, (_, name) => { mapDelete(fixed, name); });
  const learn = (name, value) => {
    const found = name !== "" && mapGet(bound, name) === 1 ? foldNode(value) : undefined;
    if (found !== undefined) mapSet(fixed, name, found.value);
  };
  for (let i = 0; i < body.length; i++) {
    const node = body[i];
    if (node.type === "VariableDeclaration") {
      for (let k = 0; k < node.declarations.length; k++) {
        const { id, init } = node.declarations[k];
        if (init !== null && id.type === "Identifier") learn(id.name, init);
      }
    } else if (node.type === "ExpressionStatement" && node.expression.type === "AssignmentExpression"
        && node.expression.operator === "=") {
      learn(boundName(node.expression.left), node.expression.right);
    }
  }
};

// The texts that a block shows or hands over and says itself, each once; undefined: too many, or too deep.
const typedBy = (body) => {
  try {
    return typedIn(body);
  } catch {
    return undefined;
  }
};
const typedIn = (body) => {
  learnNames(body);
  const texts = [];
  walkNodes(body, (node) => {
    if (node.type !== "CallExpression") return;
    const name = nameOf(node.callee);
    if (!setHas(SHOWS, name)) return;
    for (let i = 0; i < node.arguments.length; i++) literalsOf(node.arguments[i], texts);
    joinedBy(node.arguments, texts);
    // SUBMIT({variable: "name"}) hands over what that holds.
    const given = name === "SUBMIT" && node.arguments[0]?.type === "ObjectExpression" ? node.arguments[0].properties : [];
    for (let i = 0; i < given.length; i++) {
      const named = nameOf(given[i].key ?? given[i]) === "variable" ? foldNode(given[i].value) : undefined;
      if (named !== undefined && mapHas(fixed, named.value)) push(texts, TextOf(mapGet(fixed, named.value)));
    }
  });
  const last = body.length > 0 ? body[body.length - 1] : null;
  if (last?.type === "ExpressionStatement") {
    literalsOf(last.expression.type === "AssignmentExpression" ? last.expression.right : last.expression, texts);
  }
  if (last?.type === "VariableDeclaration") {
    for (let i = 0; i < last.declarations.length; i++) literalsOf(last.declarations[i].init, texts);
  }
  const seen = new SetClass(), list = [];
  let size = 0;
  for (let i = 0; i < texts.length; i++) {
    const text = trim(texts[i]);
    if (text === "" || setHas(seen, text)) continue;
    setAdd(seen, text);
    push(list, text);
    size += text.length;
  }
  return size > MOST_TYPED ? undefined : list;
};
