/**
 * Both outputs of a process as one text, in which lines stay whole: what one stream has written of a line when the other
 * is read does not end up within a line of that one.
 */
export class JoinedOutput {
  readonly #begun = new Map<string, string>();
  #lines = '';

  /** @param stream any name of it */
  add(text: string, stream: string): void {
    const all = (this.#begun.get(stream) ?? '') + text;
    const whole = all.lastIndexOf('\n') + 1;
    this.#lines += all.slice(0, whole);
    this.#begun.set(stream, all.slice(whole));
  }

  /** All that came, lines that have no end yet last. */
  get text(): string {
    return this.#lines + [...this.#begun.values()].filter(Boolean).join('\n');
  }
}
