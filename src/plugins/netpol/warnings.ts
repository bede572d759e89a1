/** Most namespaces that a warning names. */
const most = 5;

/** Warnings of many namespaces, each once, sorted. */
export interface Warnings {
  /** @param namespace undefined: it is about none in particular */
  add(text: string, namespace?: string): void;
  lines(): string[];
}

/** @param namespaces of all: what is true in each of them is not said of them one by one */
export function createWarnings(namespaces: readonly string[]): Warnings {
  const known = new Map<string, Set<string>>();
  return {
    add(text, namespace) {
      const where = known.get(text) ?? new Set();
      if (namespace !== undefined) where.add(namespace);
      known.set(text, where);
    },
    lines() {
      return [...known].map(([text, where]) => `${text}${suffix([...where].sort(), namespaces)}`).sort();
    },
  };
}

function suffix(where: readonly string[], all: readonly string[]): string {
  if (where.length === 0 || where.length === all.length) return '';
  const rest = where.length > most ? ` and ${where.length - most} more` : '';
  return ` (in ${where.slice(0, most).join(', ')}${rest})`;
}
