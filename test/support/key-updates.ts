import { createCipheriv, createHmac } from 'node:crypto';

/** Of TLS_AES_128_GCM_SHA256, which both ends must have chosen. */
const hash = { name: 'sha256', bytes: 32 };
const keyBytes = 16;
const ivBytes = 12;
/** A handshake message of type 24 with one byte: the peer need not update its own keys. */
const keyUpdate = Buffer.from([24, 0, 0, 1, 0]);
const contentTypes = { handshake: 22, applicationData: 23 };

/** The cipher whose records `keyUpdates` makes. */
export const cipherOfKeyUpdates = 'TLS_AES_128_GCM_SHA256';

/** The traffic secret of one side in a line of Node's `keylog` event, if it is that. */
export function trafficSecretIn(line: Buffer, side: 'CLIENT' | 'SERVER'): Buffer | undefined {
  const [label, , secret = ''] = line.toString().trim().split(' ');
  return label === `${side}_TRAFFIC_SECRET_0` ? Buffer.from(secret, 'hex') : undefined;
}

/**
 * Records of TLS 1.3 that do nothing but announce other keys: RFC 8446, 4.6.3, lets a peer send any number of them.
 * @param secret of the side that sends them @param sent records that it has sent under this secret
 */
export function keyUpdates(secret: Buffer, sent: number, count: number): Buffer {
  const records: Buffer[] = [];
  let current = secret;
  for (let at = 0; at < count; at += 1) {
    records.push(sealRecord(current, at === 0 ? sent : 0));
    current = expandLabel(current, 'traffic upd', hash.bytes);
  }
  return Buffer.concat(records);
}

function sealRecord(secret: Buffer, sequence: number): Buffer {
  const nonce = expandLabel(secret, 'iv', ivBytes);
  nonce.writeUInt32BE((nonce.readUInt32BE(ivBytes - 4) ^ sequence) >>> 0, ivBytes - 4);
  const inner = Buffer.concat([keyUpdate, Buffer.from([contentTypes.handshake])]);
  const header = Buffer.from([contentTypes.applicationData, 3, 3, 0, inner.length + 16]);
  const cipher = createCipheriv('aes-128-gcm', expandLabel(secret, 'key', keyBytes), nonce);
  cipher.setAAD(header);
  return Buffer.concat([header, cipher.update(inner), cipher.final(), cipher.getAuthTag()]);
}

/** HKDF-Expand-Label of RFC 8446, 7.1, without context and for at most one block. */
function expandLabel(secret: Buffer, label: string, bytes: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([Buffer.from([0, bytes, name.length]), name, Buffer.from([0, 1])]);
  return createHmac(hash.name, secret).update(info).digest().subarray(0, bytes);
}
