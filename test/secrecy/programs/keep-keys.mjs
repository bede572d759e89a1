/** Loaded before the proxy: keeps a copy of every key that a cipher is made from, as a defect might. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const kept = [];
for (const name of ['createCipheriv', 'createDecipheriv']) {
  const original = crypto[name];
  crypto[name] = (algorithm, key, ...rest) => {
    kept.push(key instanceof crypto.KeyObject ? key.export() : Uint8Array.from(key));
    return original(algorithm, key, ...rest);
  };
}
syncBuiltinESMExports();
globalThis.keptKeys = kept;
