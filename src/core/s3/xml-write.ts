const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

const special = /[&<>"']|[^\t\n\x20-\ud7ff\ue000-\ufffd]/g;

/**
 * Text for element content and attributes. Characters that XML 1.0 cannot hold become references as S3 writes
 * them (`&#x1;`); paired surrogates pass, lone ones become U+FFFD.
 */
export function escapeXml(text: string): string {
  return text.toWellFormed().replace(special, (character) => escapes[character] ?? reference(character));
}

function reference(character: string): string {
  const code = character.charCodeAt(0);
  return code >= 0xd800 && code <= 0xdfff ? character : `&#x${code.toString(16)};`;
}

/** `<name>text</name>` with the text escaped; `name` is trusted. */
export function element(name: string, text: string | number | boolean): string {
  return `<${name}>${typeof text === 'string' ? escapeXml(text) : text}</${name}>`;
}
