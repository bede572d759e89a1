/**
 * Variables that tell a program what to run, what to trust or where to send data, so a secret's field must not become
 * one unintentionally.
 */
export interface SteeringFamily {
  /** Programs that read them. */
  readonly readBy: string;
  /** Variable names; one `*` stands for any characters. */
  readonly names: readonly string[];
  /** Names are case-insensitive, like those for proxies; a dot or a hyphen counts as `_`. */
  readonly anyCase?: boolean;
  /** Patterns match names of credentials, too. */
  readonly evenCredentials?: boolean;
}

export const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * What is filed under patterns, found without comparing a name with each of them: by the name itself, by its beginnings
 * and by its ends. A pattern is a name; one `*` in it stands for any characters.
 */
export class Patterns<V> {
  readonly #whole = new Map<string, V>();
  readonly #starts = new Map<string, V>();
  readonly #ends = new Map<string, V>();
  /** Those with a `*` in the middle, which are few. */
  readonly #others: { readonly start: string; readonly end: string; readonly value: V }[] = [];
  #longestStart = 0;
  #longestEnd = 0;

  add(pattern: string, value: V): void {
    const star = pattern.indexOf('*');
    if (star < 0) this.#whole.set(pattern, value);
    else if (star === pattern.length - 1) {
      this.#starts.set(pattern.slice(0, star), value);
      this.#longestStart = Math.max(this.#longestStart, star);
    } else if (star === 0) {
      this.#ends.set(pattern.slice(1), value);
      this.#longestEnd = Math.max(this.#longestEnd, pattern.length - 1);
    } else this.#others.push({ start: pattern.slice(0, star), end: pattern.slice(star + 1), value });
  }

  named(name: string): V | undefined {
    return this.#whole.get(name);
  }

  /** What is filed under a pattern that matches the name: the more of it a pattern names, the better. */
  matching(name: string): V | undefined {
    return this.#byStart(name) ?? this.#byBoth(name) ?? this.#byEnd(name);
  }

  #byStart(name: string): V | undefined {
    for (let length = Math.min(name.length, this.#longestStart); length > 0; length--) {
      const value = this.#starts.get(name.slice(0, length));
      if (value !== undefined) return value;
    }
    return undefined;
  }

  #byEnd(name: string): V | undefined {
    for (let length = Math.min(name.length, this.#longestEnd); length > 0; length--) {
      const value = this.#ends.get(name.slice(-length));
      if (value !== undefined) return value;
    }
    return undefined;
  }

  #byBoth(name: string): V | undefined {
    return this.#others.find(
      ({ start, end }) =>
        name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end),
    )?.value;
  }
}
