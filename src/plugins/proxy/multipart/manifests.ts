import type { ObjectName } from '../../../core/envelope/binding.ts';
import type { PartList } from '../../../core/envelope/manifest.ts';
import type { Envelope } from '../../../core/envelope/metadata.ts';

/** Part lists of multipart objects, whether inline or in a manifest object, with their seals verified. */
export interface Manifests {
  /**
   * The verified part list of an object whose envelope is `inline` or `pointer`.
   * A short, bounded cache holds lists (wrapped keys only) that were verified before.
   * @throws EnvelopeError `manifest-missing`, `manifest-forged`, `malformed-metadata`.
   */
  load(name: ObjectName, envelope: Envelope, signal?: AbortSignal): Promise<PartList>;
  /** The stored manifest as it stands, seal not verified, or undefined. */
  find(name: ObjectName, id: string): Promise<PartList | undefined>;
  save(name: ObjectName, list: PartList): Promise<void>;
  remove(name: ObjectName, id: string): Promise<void>;
  /** Deletes it once those who read by it have had their time; a process that ends before leaves it to others. */
  removeLater(name: ObjectName, id: string): void;
  /** Whether any manifest may lie where those of the bucket's objects do: asked now and then, `false` may be half a minute old. */
  mayExist(bucket: string): Promise<boolean>;
}
