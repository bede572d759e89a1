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

/**
 * The ways to write a secret that the search knows: raw, in 16-bit units as V8 may hold it, hexadecimal, base64 of
 * both alphabets wherever it begins, and, where they differ, as text in a URL and in JSON.
 */
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
    { name: 'UTF-16', bytes: Buffer.from(textOf(secret) ?? secret.toString('latin1'), 'utf16le') },
    ...escapedForms(secret),
    ...texts.map(([name, text]) => ({ name, bytes: Buffer.from(text) })),
  ];
}

/** Undefined for what is not UTF-8. */
function textOf(secret: Buffer): string | undefined {
  const text = secret.toString();
  return Buffer.from(text).equals(secret) ? text : undefined;
}

function escapedForms(secret: Buffer): Form[] {
  const text = textOf(secret);
  if (text === undefined) return [];
  const json = JSON.stringify(text).slice(1, -1);
  const url = encodeURIComponent(text);
  const forms = {
    URL: url,
    'URL in lower case': lowerEscapes(url),
    JSON: json,
    'ASCII JSON': asciiOnly(json),
  };
  return Object.entries(forms)
    .map(([name, escaped]) => ({ name, bytes: Buffer.from(escaped) }))
    .filter(({ bytes }) => !bytes.equals(secret));
}

const lowerEscapes = (url: string): string => url.replace(/%../g, (one) => one.toLowerCase());

const asciiOnly = (json: string): string =>
  json.replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

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
