import type { Part, StoredObject, Upload } from './model.ts';

/** What the catalog keeps on disk. */
export type KeptRecord =
  | { readonly kind: 'bucket'; readonly name: string; readonly created: number }
  | { readonly kind: 'object'; readonly object: StoredObject }
  | { readonly kind: 'upload'; readonly upload: Upload }
  | {
      readonly kind: 'part';
      readonly bucket: string;
      readonly key: string;
      readonly upload: string;
      readonly part: Part;
    };

const order: readonly KeptRecord['kind'][] = ['bucket', 'object', 'upload', 'part'];

/** What others need comes first. */
export function recordsInOrder(values: readonly unknown[]): KeptRecord[] {
  const place = ({ kind }: KeptRecord) => order.indexOf(kind);
  return (values as KeptRecord[]).toSorted((left, right) => place(left) - place(right));
}
