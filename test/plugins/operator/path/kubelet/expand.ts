/**
 * `$(NAME)` where the name is known, `$$` for a dollar.
 * Source: kubernetes/third_party/forked/golang/expansion/expand.go
 */
export function expand(input: string, known: ReadonlyMap<string, string>): string {
  let out = '';
  for (let at = 0; at < input.length; at++) {
    const next = input[at + 1];
    if (input[at] !== '$' || next === undefined) {
      out += input[at];
      continue;
    }
    at += 1;
    const end = next === '(' ? input.indexOf(')', at) : -1;
    if (end !== -1) {
      const name = input.slice(at + 1, end);
      out += known.get(name) ?? `$(${name})`;
      at = end;
    } else out += next === '$' ? '$' : `$${next}`;
  }
  return out;
}
