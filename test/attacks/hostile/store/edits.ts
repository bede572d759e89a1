import type { Choices } from '../choices.ts';
import type { StoredBucket, StoredVersion } from './model.ts';

/** Changes what is stored, as who has the disks can. @returns the keys that are no longer what they were */
export type Edit = (bucket: StoredBucket, choices: Choices) => readonly string[];

const own = (bucket: StoredBucket) => [...bucket.objects.keys()].filter((key) => !key.startsWith('.svc/'));
const helpers = (bucket: StoredBucket, kind: string) =>
  [...bucket.objects.keys()].filter((key) => key.startsWith(`.svc/${kind}`));

const change =
  (
    edit: (version: StoredVersion, bucket: StoredBucket, choices: Choices) => StoredVersion | undefined,
  ): Edit =>
  (bucket, choices) => {
    const keys = own(bucket);
    if (keys.length === 0) return [];
    const key = choices.pick(keys);
    const edited = edit(bucket.objects.get(key) as StoredVersion, bucket, choices);
    if (edited !== undefined) bucket.objects.set(key, edited);
    return edited === undefined ? [] : [key];
  };

const exchange =
  (take: (one: StoredVersion, other: StoredVersion) => StoredVersion): Edit =>
  (bucket, choices) => {
    const keys = own(bucket);
    if (keys.length < 2) return [];
    const first = choices.pick(keys);
    const second = choices.pick(keys.filter((key) => key !== first));
    const [one, other] = [
      bucket.objects.get(first) as StoredVersion,
      bucket.objects.get(second) as StoredVersion,
    ];
    bucket.objects.set(first, take(one, other));
    bucket.objects.set(second, take(other, one));
    return [first, second];
  };

const any = (bucket: StoredBucket, choices: Choices): StoredVersion | undefined => {
  const all = own(bucket).flatMap((key) => bucket.history.get(key) ?? []);
  return all.length === 0 ? undefined : choices.pick(all);
};

/** Of manifests and records: text or key exchanged, cut, gone. */
const ofHelper =
  (kind: string, edit: (bucket: StoredBucket, keys: readonly string[], choices: Choices) => void): Edit =>
  (bucket, choices) => {
    const keys = helpers(bucket, kind);
    if (keys.length === 0) return [];
    edit(bucket, keys, choices);
    return own(bucket);
  };

const exchanged = (bucket: StoredBucket, keys: readonly string[], choices: Choices) => {
  const [one, other] = [choices.pick(keys), choices.pick(keys)];
  const [first, second] = [
    bucket.objects.get(one) as StoredVersion,
    bucket.objects.get(other) as StoredVersion,
  ];
  bucket.objects.set(one, second);
  bucket.objects.set(other, first);
};

const cutOrGone = (bucket: StoredBucket, keys: readonly string[], choices: Choices) => {
  const key = choices.pick(keys);
  const version = bucket.objects.get(key) as StoredVersion;
  if (choices.chance(0.5)) bucket.objects.delete(key);
  else
    bucket.objects.set(key, {
      ...version,
      body: version.body.subarray(0, choices.below(version.body.length + 1)),
    });
};

/** Undefined where an earlier edit has cut it. */
function parsed(body: Buffer) {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** A part less, said in one voice by list and body: the seal alone can tell. */
const partDropped: Edit = (bucket, choices) => {
  const wrapped = 'x-amz-meta-svc-wrapped-dek';
  const several = own(bucket).filter((key) => bucket.objects.get(key)?.headers[wrapped]?.startsWith('{'));
  if (several.length === 0) return [];
  const key = choices.pick(several);
  const version = bucket.objects.get(key) as StoredVersion;
  const told = JSON.parse(version.headers[wrapped] ?? '');
  const helper = [...bucket.objects].find(
    ([name]) => name.startsWith('.svc/manifests/') && name.endsWith(told.manifest),
  );
  const whole = told.parts ? told : helper && parsed(helper[1].body);
  const list = whole?.list ?? whole;
  if (!Array.isArray(list?.parts) || list.parts.length < 2) return [];
  const { size } = list.parts.pop();
  const headers = told.parts ? { ...version.headers, [wrapped]: JSON.stringify(whole) } : version.headers;
  bucket.objects.set(key, { ...version, headers, body: version.body.subarray(0, -(size + 28)) });
  if (!told.parts && helper)
    bucket.objects.set(helper[0], { ...helper[1], body: Buffer.from(JSON.stringify(whole)) });
  return [key];
};

export const edits: Readonly<Record<string, Edit>> = {
  'bodies exchanged': exchange((one, other) => ({ ...one, body: other.body })),
  'objects exchanged': exchange((_one, other) => other),
  'metadata exchanged': exchange((one, other) => ({ ...one, headers: other.headers })),
  'rolled back': change((version, bucket, choices) => {
    const versions = [...bucket.history.values()].find((all) => all.includes(version));
    return versions && choices.pick(versions);
  }),
  'body of any version': change((version, bucket, choices) => ({
    ...version,
    body: any(bucket, choices)?.body ?? version.body,
  })),
  'metadata of any version': change((version, bucket, choices) => ({
    ...version,
    headers: any(bucket, choices)?.headers ?? version.headers,
  })),
  'any version': change((_version, bucket, choices) => any(bucket, choices)),
  'a bit flipped': change((version, _bucket, choices) => {
    if (version.body.length === 0) return undefined;
    const body = Buffer.from(version.body);
    const at = choices.below(body.length);
    body.writeUInt8(body.readUInt8(at) ^ (1 << choices.below(8)), at);
    return { ...version, body };
  }),
  cut: change((version, _bucket, choices) => ({
    ...version,
    body: version.body.subarray(0, choices.below(version.body.length + 1)),
  })),
  extended: change((version, _bucket, choices) => ({
    ...version,
    body: Buffer.concat([version.body, Buffer.alloc(choices.between(1, 60))]),
  })),
  stripped: change((version) => ({
    ...version,
    headers: Object.fromEntries(
      Object.entries(version.headers).filter(([name]) => !name.startsWith('x-amz-meta-svc-')),
    ),
  })),
  deleted: (bucket, choices) => {
    const keys = own(bucket);
    if (keys.length === 0) return [];
    const key = choices.pick(keys);
    bucket.objects.delete(key);
    return [key];
  },
  'a part dropped from list and body': partDropped,
  'manifests exchanged': ofHelper('manifests/', exchanged),
  'a manifest cut or gone': ofHelper('manifests/', cutOrGone),
  'records exchanged': ofHelper('uploads/', exchanged),
  'a record cut or gone': ofHelper('uploads/', cutOrGone),
};
