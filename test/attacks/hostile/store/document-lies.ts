import type { Choices } from '../choices.ts';
import type { Lie, Situation } from './lies.ts';
import type { StoreReply } from './model.ts';
import type { WirePlan } from './wire-plan.ts';

type Edit = (text: string, choices: Choices, situation: Situation) => string | undefined;

const edited = (reply: StoreReply, text: string): WirePlan => ({
  reply: { ...reply, body: Buffer.from(text) },
});

const aboutXml =
  (edit: Edit): Lie =>
  (choices, situation) => {
    const { reply } = situation;
    if (reply.status !== 200 || reply.body.subarray(0, 5).toString() !== '<?xml') return undefined;
    const text = edit(reply.body.toString(), choices, situation);
    return text === undefined ? undefined : edited(reply, text);
  };

/** Of what the proxy has written for itself. */
const aboutState =
  (edit: Edit): Lie =>
  (choices, situation) => {
    const { request, reply } = situation;
    if (request.method !== 'GET' || !request.key.startsWith('.svc/') || reply.status !== 200)
      return undefined;
    const text = edit(reply.body.toString(), choices, situation);
    return text === undefined ? undefined : edited(reply, text);
  };

const entries = /<(Contents|Version|Part|Upload)>.*?<\/\1>/gs;

/** Another helper object of the same kind: `create`, `done` or a manifest. */
const anotherOfItsKind: Edit = (_text, choices, { request, bucket }) => {
  const kind = request.key.endsWith('/create')
    ? '/create'
    : request.key.endsWith('/done')
      ? '/done'
      : '.svc/manifests/';
  const others = [...bucket.history].filter(([key]) => key !== request.key && key.includes(kind));
  if (others.length === 0) return undefined;
  const [, versions] = choices.pick(others);
  return choices.pick(versions).body.toString();
};

/** The text of another one under the names of this one: what a store can write that cannot make a seal. */
const underItsOwnNames: Edit = (text, choices, situation) => {
  const other = anotherOfItsKind(text, choices, situation);
  if (other === undefined) return undefined;
  try {
    const [own, foreign] = [JSON.parse(text), JSON.parse(other)];
    const names = ['bucket', 'key', 'uploadId'].filter((name) => name in own);
    return JSON.stringify({ ...foreign, ...Object.fromEntries(names.map((name) => [name, own[name]])) });
  } catch {
    return undefined;
  }
};

const oneFieldEdited: Edit = (text, choices) => {
  const fields = [...text.matchAll(/"(\w+)":("[^"]*"|\d+)/g)];
  if (fields.length === 0) return undefined;
  const field = choices.pick(fields);
  const [whole, name = '', value = ''] = field;
  const instead = value.startsWith('"')
    ? choices.pick(['""', '"none"', '"key"', '"svc"', value.toUpperCase(), '"AAAA"', 'null', '1'])
    : choices.pick([`${Number(value) + 1}`, '0', '-1', '1e9', '"1"', 'null']);
  return `${text.slice(0, field.index)}"${name}":${instead}${text.slice(field.index + whole.length)}`;
};

const partsReordered: Edit = (text, choices) => {
  try {
    const manifest = JSON.parse(text);
    const { parts } = manifest.list;
    if (parts.length < 2) return undefined;
    const edits = [
      () => parts.reverse(),
      () => parts.pop(),
      () => parts.shift(),
      () => parts.push({ ...parts[0], n: 9999 }),
      () => ([parts[0].dek, parts[1].dek] = [parts[1].dek, parts[0].dek]),
      () => ([parts[0].nonce, parts[1].nonce] = [parts[1].nonce, parts[0].nonce]),
    ];
    choices.pick(edits)();
    return JSON.stringify(manifest);
  } catch {
    return undefined;
  }
};

export const documentLies: Readonly<Record<string, Lie>> = {
  'XML cut': aboutXml((text, choices) => text.slice(0, choices.below(text.length))),
  'XML of another root': aboutXml((text, choices) =>
    text.replace(/<(\w+)/, `<${choices.pick(['Error', 'Other', 'ListBucketResult', 'CopyObjectResult'])}`),
  ),
  'XML with entities': aboutXml((text) =>
    text
      .replace('?>', '?><!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>')
      .replace(/>([^<]{1,40})<\//, '>&b;</'),
  ),
  'an entry twice': aboutXml((text, choices) => {
    const found = text.match(entries);
    return found ? text.replace(found[0], found[0] + choices.pick(found)) : undefined;
  }),
  'an entry less': aboutXml((text, choices) => {
    const found = text.match(entries);
    return found ? text.replace(choices.pick(found), '') : undefined;
  }),
  'entries turned round': aboutXml((text) => {
    const found = text.match(entries);
    const reversed = found?.toReversed();
    return reversed && text.replace(entries, () => reversed.pop() ?? '');
  }),
  'an element twice': aboutXml((text, choices) => {
    const found = text.match(/<(\w+)>[^<]*<\/\1>/g);
    return found ? text.replace(found[0], found[0] + choices.pick(found)) : undefined;
  }),
  'an element edited': aboutXml((text, choices) => {
    const found = [...text.matchAll(/<(\w+)>([^<]*)<\/\1>/g)];
    if (found.length === 0) return undefined;
    const at = choices.pick(found);
    const value = choices.pick([
      '',
      '0',
      '-1',
      '99999999999999',
      'true',
      '.svc/x',
      '../x',
      '"x"',
      '"0123456789abcdef0123456789abcdef"',
      '&lt;',
      '\u{1f512}',
      'x'.repeat(3000),
      choices.pick(found)[2] ?? '',
    ]);
    return `${text.slice(0, at.index)}<${at[1]}>${value}</${at[1]}>${text.slice(at.index + at[0].length)}`;
  }),
  'a listing that goes on': aboutXml((text) =>
    text.includes('<IsTruncated>false')
      ? text.replace(
          '<IsTruncated>false</IsTruncated>',
          '<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken><NextMarker>x</NextMarker>',
        )
      : undefined,
  ),
  "another upload's id": aboutXml((text, choices, { bucket }) => {
    const ids = [...bucket.uploads.keys()];
    return text.includes('<UploadId>') && ids.length > 0
      ? text.replace(/<UploadId>[^<]*/, `<UploadId>${choices.pick(ids)}`)
      : undefined;
  }),
  'records of another upload': aboutXml((text, choices, { bucket, request }) => {
    const prefix = request.query.get('prefix') ?? '';
    if (!prefix.startsWith('.svc/uploads/') || !text.includes('<Key>')) return undefined;
    const foreign = [...bucket.history.keys()].filter(
      (key) => key.startsWith('.svc/uploads/') && !key.startsWith(prefix),
    );
    if (foreign.length === 0) return undefined;
    const other = choices
      .pick(foreign)
      .replace(/^\.svc\/uploads\/[^/]*\//, choices.chance(0.8) ? prefix : '.svc/uploads/x/');
    return choices.chance(0.5)
      ? text.replace(/<Key>[^<]*/, `<Key>${other}`)
      : text.replaceAll(/<Key>[^<]*/g, `<Key>${other}`);
  }),
  'another helper object': aboutState(anotherOfItsKind),
  'another helper object under the names of this one': aboutState(underItsOwnNames),
  'a field of a helper object edited': aboutState(oneFieldEdited),
  'parts of a manifest reordered': aboutState(partsReordered),
  'a helper object cut': aboutState((text, choices) => text.slice(0, choices.below(text.length))),
};
