import type { Charge, KeptRoom } from './kept-room.ts';

/** How much is kept of all objects. */
export interface Keeping<T> {
  /** May be shared with other kinds, like the one of the marks. */
  readonly room: KeptRoom;
  /** For marks of objects that have a namespace; those of others are always kept. */
  readonly roomOfMarks: KeptRoom;
  /** What is kept of an object that does not fit, or is too large to be built. */
  readonly mark: (value: T) => T;
  /**
   * What is kept of all objects of a namespace whose marks do not fit either: the mark of the first of them, as one
   * that stands for anything they might be.
   * @param key no object has it
   */
  readonly standIn: (mark: T, key: string) => T;
  /** Called with each new mark, and that of each object that is left out. */
  readonly onMarked: (mark: T) => void;
  /** Called with the number of marks when it has changed. */
  readonly onMarks: (count: number) => void;
}

/** Why a value is not the whole of its object: no room for it, or too large to be built. */
export type MarkReason = 'no room' | 'too large';

export interface KeptObject<T> {
  readonly value: T;
  /** Undefined for the whole. */
  readonly mark: MarkReason | undefined;
  readonly namespace: string;
  readonly charge: Charge | undefined;
}

/** Of what there is no room for, the mark that there would be. */
export type LeftOut<T> = Pick<KeptObject<T>, 'value'> & { readonly mark: 'left out' };

export interface ObjectPlace {
  readonly namespace: string;
  /** Nobody but those who may create namespaces can make more of these. */
  readonly isClusterWide: boolean;
}

/** Charges the room for what is kept, and marks what does not fit. */
export class ObjectKeeper<T> {
  readonly #keeping: Keeping<T> | undefined;
  readonly #marks: Record<MarkReason, number> = { 'no room': 0, 'too large': 0 };
  #releasedBefore = 0;

  /** @param keeping without it, everything is kept */
  constructor(keeping: Keeping<T> | undefined) {
    this.#keeping = keeping;
  }

  keep(place: ObjectPlace, value: T): KeptObject<T> | LeftOut<T> {
    return this.keepWhole(place, value) ?? this.#mark(place, value, 'no room');
  }

  /** @returns undefined if there is no room */
  keepWhole({ namespace }: ObjectPlace, value: T): KeptObject<T> | undefined {
    const charge = this.#keeping?.room.take(namespace, value);
    if (this.#keeping !== undefined && charge === undefined) return undefined;
    return { value, mark: undefined, namespace, charge };
  }

  /** Of an object that is too large to be built. */
  keepOutline(place: ObjectPlace, value: T): KeptObject<T> | LeftOut<T> {
    return this.#mark(place, value, 'too large');
  }

  release({ mark, namespace, charge }: KeptObject<T>): void {
    const room = mark === undefined ? this.#keeping?.room : this.#keeping?.roomOfMarks;
    if (charge !== undefined) room?.release(namespace, charge);
    if (mark !== undefined) this.#count(mark, -1);
  }

  /** Call it when a list begins. */
  listed(): void {
    this.#releasedBefore = this.#released();
  }

  /** Whether room was released for something that had none; what is too large to be built never fits. */
  mayFit(hasLeftOut: boolean): boolean {
    return (this.#marks['no room'] > 0 || hasLeftOut) && this.#released() !== this.#releasedBefore;
  }

  #mark(
    { namespace, isClusterWide }: ObjectPlace,
    unmarked: T,
    mark: MarkReason,
  ): KeptObject<T> | LeftOut<T> {
    const value = this.#keeping?.mark(unmarked) ?? unmarked;
    this.#keeping?.onMarked(value);
    const isFree = isClusterWide || this.#keeping === undefined;
    const charge = isFree ? undefined : this.#keeping.roomOfMarks.take(namespace, value);
    if (!isFree && charge === undefined) return { value, mark: 'left out' };
    this.#count(mark, 1);
    return { value, mark, namespace, charge };
  }

  #count(mark: MarkReason, change: number): void {
    this.#marks[mark] += change;
    this.#keeping?.onMarks(this.#marks['no room'] + this.#marks['too large']);
  }

  #released(): number {
    const { room, roomOfMarks } = this.#keeping ?? {};
    return (room?.released ?? 0) + (roomOfMarks?.released ?? 0);
  }
}
