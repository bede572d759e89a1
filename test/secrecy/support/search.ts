/** Something that must not be found, by a name that may be shown. */
export interface Secret {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Where it must not be found. */
export interface Place {
  readonly name: string;
  readonly bytes: Buffer;
}

interface Form {
  readonly name: string;
  readonly bytes: Buffer;
}

/** The ways to write a secret that the search knows: raw, hexadecimal, base64 of both alphabets wherever it begins. */
export function formsOf(secret: Buffer): readonly Form[] {
  const hex = secret.toString('hex');
  const texts: [string, string][] = [
    ['hex', hex],
    ['HEX', hex.toUpperCase()],
  ];
  for (const alphabet of ['base64', 'base64url'] as const)
    for (const offset of [0, 1, 2])
      texts.push([`${alphabet} at ${offset}`, innerBase64(secret, alphabet, offset)]);
  return [
    { name: 'raw', bytes: secret },
    ...texts.map(([name, text]) => ({ name, bytes: Buffer.from(text) })),
  ];
}

/** The characters that stand for nothing but the secret when `offset` other bytes precede it. */
function innerBase64(secret: Buffer, alphabet: 'base64' | 'base64url', offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), secret])
    .toString(alphabet)
    .replaceAll('=', '');
  const first = Math.ceil((offset * 4) / 3);
  const last = Math.floor(((offset + secret.length) * 8) / 6);
  return text.slice(first, last);
}

/** Everything that was found, as `<secret> as <form> in <place>`. */
export function findSecrets(secrets: readonly Secret[], places: readonly Place[]): readonly string[] {
  return secrets.flatMap((secret) =>
    formsOf(secret.bytes).flatMap((form) =>
      places
        .filter(({ bytes }) => bytes.includes(form.bytes))
        .map((place) => `${secret.name} as ${form.name} in ${place.name}`),
    ),
  );
}
