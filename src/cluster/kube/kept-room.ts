import { bytesPerPart } from '../../runtime/bounds/bounded-json.ts';

/** Members whose names users choose, so that V8 shares no layout among such objects. */
const dictionaries: ReadonlySet<string> = new Set([
  ...['labels', 'annotations', 'matchLabels', 'nodeSelector', 'variables'],
]);

/** Key, entry, and the entries in indexes. */
const bytesPerObject = 200;

/** Estimated bytes of values that several objects have in common. */
const common = new WeakMap<object, number>();

/** Says that several objects will have this value, or its members, in common: each namespace is charged once. */
export function shareInRoom(value: object): void {
  // labels and annotations are shared by themselves
  const isDictionary = Object.values(value).every((member) => typeof member === 'string');
  common.set(value, bytesOf(value, [], isDictionary));
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null && !common.has(member))
      common.set(member, bytesOf(member));
  }
}

/**
 * Estimated bytes on V8's heap, a little more than measured for objects that were parsed from JSON.
 * @param parts receives the common values in it, which are not counted
 */
export function bytesOf(value: unknown, parts: object[] = [], hasChosenNames = false): number {
  if (typeof value === 'string') return 20 + Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 8;
  if (common.has(value)) {
    parts.push(value);
    return 8;
  }
  let sum = 40;
  if (value instanceof Map) {
    for (const entry of value) sum += 2 * bytesPerPart + bytesOf(entry, parts);
    return sum;
  }
  if (Array.isArray(value)) {
    for (const item of value) sum += 8 + bytesOf(item, parts);
    return sum;
  }
  for (const [name, member] of Object.entries(value)) {
    sum += hasChosenNames ? 2 * bytesPerPart + Buffer.byteLength(name) : 8;
    sum += bytesOf(member, parts, dictionaries.has(name));
  }
  return sum;
}

/** What an object is charged for. */
export interface Charge {
  readonly bytes: number;
  readonly parts: readonly object[];
}

interface Tenant {
  used: number;
  /** Number of objects that have each common value. */
  readonly parts: Map<object, number>;
}

/**
 * The memory for everything that is kept of a cluster. A namespace may take as much as is left free by all together:
 * alone half of the room, and however many namespaces take their most, one that takes little still finds room.
 */
export class KeptRoom {
  readonly #bytes: number;
  readonly #tenants = new Map<string, Tenant>();
  #used = 0;
  #released = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** Estimated bytes of all objects. */
  get used(): number {
    return this.#used;
  }

  /** Grows with every release: an object that did not fit may fit now. */
  get released(): number {
    return this.#released;
  }

  /** Charges a namespace for an object, or returns undefined if there is no room. */
  take(namespace: string, value: unknown): Charge | undefined {
    const tenant = this.#tenants.get(namespace) ?? { used: 0, parts: new Map<object, number>() };
    const parts: object[] = [];
    const bytes = bytesPerObject + bytesOf(value, parts);
    const fresh = new Set(parts.filter((part) => !tenant.parts.has(part)));
    const sum = [...fresh].reduce((total, part) => total + (common.get(part) ?? 0), bytes);
    if (tenant.used + sum > this.#bytes - this.#used - sum) return undefined;
    for (const part of parts) tenant.parts.set(part, (tenant.parts.get(part) ?? 0) + 1);
    this.#add(tenant, sum);
    this.#tenants.set(namespace, tenant);
    return { bytes, parts };
  }

  release(namespace: string, { bytes, parts }: Charge): void {
    const tenant = this.#tenants.get(namespace);
    if (tenant === undefined) return;
    this.#released += 1;
    this.#add(tenant, -bytes);
    for (const part of parts) {
      const count = (tenant.parts.get(part) ?? 0) - 1;
      if (count > 0) tenant.parts.set(part, count);
      else if (tenant.parts.delete(part)) this.#add(tenant, -(common.get(part) ?? 0));
    }
    if (tenant.used === 0) this.#tenants.delete(namespace);
  }

  #add(tenant: Tenant, bytes: number): void {
    tenant.used += bytes;
    this.#used += bytes;
  }
}
