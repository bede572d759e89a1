import type { KeyAnswer, KeyRequest, KeyServerState } from './exchange.ts';
import { noSuchPath, Refusal } from './refusal.ts';
import type { TransitKey } from './transit-key.ts';
import { decrypt, encrypt, runTransit } from './transit-operations.ts';

const done: KeyAnswer = { status: 204 };

/** Wraps, unwraps and looks after keys. @throws Refusal */
export function answerTransit({ mounts }: KeyServerState, { method, path, body }: KeyRequest): KeyAnswer {
  const { mount, rest } = mounts.resolve(path);
  const [area, name = '', action, ...more] = rest;
  if (name === '' || more.length > 0) throw noSuchPath();
  const route = `${method === 'PUT' ? 'POST' : method} ${area}${action === undefined ? '' : `/${action}`}`;
  switch (route) {
    case 'POST encrypt':
      return runTransit(encrypt, mounts.key(mount, name), body);
    case 'POST decrypt':
      return runTransit(decrypt, mounts.key(mount, name), body);
    case 'GET keys':
      return describe(mounts.find(mount, name), name);
    case 'POST keys':
      return describe(mounts.create(mount, name), name);
    case 'POST keys/rotate':
      mounts.change(mount, name, (key) => key.rotate());
      return done;
    case 'POST keys/config':
      mounts.change(mount, name, (key) =>
        key.setMinDecryptionVersion(Number(body['min_decryption_version'])),
      );
      return done;
    default:
      throw noSuchPath();
  }
}

function describe(key: TransitKey | undefined, name: string): KeyAnswer {
  if (key === undefined) throw new Refusal(404, 'no such key');
  const versions = Array.from({ length: key.latest }, (_, index) => [index + 1, key.created]);
  const data = {
    name,
    type: 'aes256-gcm96',
    latest_version: key.latest,
    min_decryption_version: key.minDecryptionVersion,
    keys: Object.fromEntries(versions),
  };
  return { status: 200, body: { data } };
}
