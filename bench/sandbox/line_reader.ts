// Stands in for the line reader that dspy's runner imports from a host which may be out of reach.
export async function* readLines(reader) {
  const decoder = new TextDecoder();
  const block = new Uint8Array(65536);
  let rest = "";
  for (;;) {
    const size = await reader.read(block);
    if (size === null) break;
    rest += decoder.decode(block.subarray(0, size), { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop();
    yield* lines;
  }
  if (rest) yield rest;
}
