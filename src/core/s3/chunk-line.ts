import { s3Error } from './error-catalog.ts';

const maxLine = 1024;
const CR = 13;
const LF = 10;

/** Collects one CRLF-ended line of bounded length across pieces. A lone CR is refused. */
export class ChunkLine {
  #text = '';
  #sawCr = false;
  #complete = false;

  get complete(): boolean {
    return this.#complete;
  }

  /** Takes what belongs to the line from `input` at `at`; returns where it stopped. */
  take(input: Buffer, at: number): number {
    if (this.#sawCr) return this.#takeLf(input, at);
    const cr = input.indexOf(CR, at);
    const end = cr < 0 ? input.length : cr;
    if (this.#text.length + end - at > maxLine) throw malformed();
    this.#text += input.toString('latin1', at, end);
    if (cr < 0) return end;
    this.#sawCr = true;
    return cr + 1;
  }

  /** The line without its CRLF; the next one may follow. */
  reset(): string {
    const line = this.#text;
    this.#text = '';
    this.#sawCr = false;
    this.#complete = false;
    return line;
  }

  #takeLf(input: Buffer, at: number): number {
    if (input[at] !== LF) throw malformed();
    this.#complete = true;
    return at + 1;
  }
}

function malformed() {
  return s3Error('InvalidRequest', 'A line of the chunked body is too long or not ended by CRLF.');
}
