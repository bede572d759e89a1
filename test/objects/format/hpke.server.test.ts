import { randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hpkeOpen, hpkeSeal } from '../../../src/objects/format/hpke.ts';
import { x25519PrivateKey, x25519PublicKey } from '../../../src/runtime/recovery-recipients/x25519.ts';
import { ageKey } from '../../support/age-keys.ts';
import { runCommand } from '../../support/run-command.ts';
import { requireTool } from '../../testbed/ensure.ts';

const test = suite('HPKE beside the implementation of OpenSSL');

/** Reads and writes base64 lines: what it is to open, and what it has sealed. */
const script = `
import base64, sys
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
suite = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)
raw, info, sealed, message = (base64.b64decode(line) for line in sys.argv[1:])
key = X25519PrivateKey.from_private_bytes(raw)
print(base64.b64encode(suite.decrypt(sealed, key, info)).decode())
print(base64.b64encode(suite.encrypt(message, key.public_key(), info)).decode())
`;

test('each opens what the other has sealed', async () => {
  const { bins } = await requireTool('cryptography');
  const { rawPublic, rawPrivate } = ageKey();
  const identity = x25519PrivateKey(rawPrivate);
  for (const info of [Buffer.alloc(0), Buffer.from('svc/recovery/1\n["svc",1,null,"ü","object"]')]) {
    const [mine, theirs] = [randomBytes(32), randomBytes(32)];
    const sealed = hpkeSeal(x25519PublicKey(rawPublic), info, mine);
    const args = [rawPrivate, info, sealed, theirs].map((bytes) => bytes.toString('base64'));
    const { status, stdout, stderr } = await runCommand(
      bins['python'] as string,
      ['-c', script, ...args],
      '/',
    );
    assert.is(status, 0, stderr);
    const [opened = '', made = ''] = stdout.trim().split('\n');
    assert.is(opened, mine.toString('base64'));
    assert.equal(hpkeOpen(identity, info, Buffer.from(made, 'base64')), theirs);
  }
});

test.run();
