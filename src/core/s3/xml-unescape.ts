const predefined: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const reference = /&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#x([0-9a-fA-F]{1,6}));|&/g;

/** Text with XML's five entities and character references resolved; undefined when it holds any other `&`. */
export function unescapeXml(text: string): string | undefined {
  if (!text.includes('&')) return text;
  let valid = true;
  const plain = text.replace(reference, (_match, name?: string, decimal?: string, hexadecimal?: string) => {
    const character = name ? predefined[name] : fromCode(decimal, hexadecimal);
    if (character === undefined) valid = false;
    return character ?? '';
  });
  return valid ? plain : undefined;
}

function fromCode(decimal: string | undefined, hexadecimal: string | undefined): string | undefined {
  const code = decimal ? Number(decimal) : Number.parseInt(hexadecimal ?? '', 16);
  const valid = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return valid ? String.fromCodePoint(code) : undefined;
}
