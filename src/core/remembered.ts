import { type Age, BoundedMap } from './bounded-map.ts';

/** Answers by name, each asked for once however many want it meanwhile. A failure is forgotten as soon as it comes. */
export class Remembered<T> {
  readonly #answers: BoundedMap<string, Promise<T>>;

  /**
   * @param most answers
   * @param age counted from the question on
   */
  constructor(most: number, age: Age) {
    this.#answers = new BoundedMap(most, { age });
  }

  /** Undefined where it has to be asked for. */
  get(name: string): Promise<T> | undefined {
    return this.#answers.get(name);
  }

  /** @returns the answer */
  keep(name: string, answer: Promise<T>): Promise<T> {
    this.#answers.set(name, answer);
    answer.catch(() => {
      if (this.#answers.peek(name) === answer) this.#answers.delete(name);
    });
    return answer;
  }
}
