/**
 * The socket's path, as connect(2) takes it, of a gRPC address: `unix:path`, `unix:///absolute/path` or
 * `unix-abstract:name` (a name without a file; the path then begins with NUL).
 * Undefined for anything else.
 */
export function unixSocketPath(address: string): string | undefined {
  const abstract = after(address, 'unix-abstract:');
  if (abstract) return `\0${abstract}`;
  const path = after(address, 'unix:');
  if (!path || path.includes('\0')) return undefined;
  if (!path.startsWith('//')) return path;
  return path.startsWith('///') ? path.slice(2) : undefined;
}

function after(text: string, prefix: string): string | undefined {
  return text.startsWith(prefix) ? text.slice(prefix.length) : undefined;
}

/** How a message names the socket: its path, or `@name` in the abstract namespace. */
export function socketName(path: string): string {
  return path.replace(/^\0/, '@');
}
