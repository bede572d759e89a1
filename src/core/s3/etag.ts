const stored = /^("?)([0-9a-fA-F]{32})("?)$/;
const shown = /^("?)([0-9a-fA-F]{32})-svc("?)$/;

/**
 * The store's ETag as callers see it: 32 hexadecimal digits get the suffix `-svc`, because clients take a bare one
 * for the MD5 of what they sent. Quotes stay as they are; every other ETag is returned untouched.
 */
export function outward(etag: string): string {
  return replace(etag, stored, '-svc');
}

/** The caller's ETag as the store knows it: the reverse of `outward`. */
export function inward(etag: string): string {
  return replace(etag, shown, '');
}

function replace(etag: string, pattern: RegExp, suffix: string): string {
  const match = pattern.exec(etag);
  if (!match || match[1] !== match[3]) return etag;
  return `${match[1]}${match[2]}${suffix}${match[3]}`;
}

const inList = /(^|[\s,"/])([0-9a-fA-F]{32})-svc(?=$|[\s,"])/g;

/** `inward` for each ETag of an If-Match or If-None-Match list; `W/` and `*` stay as they are. */
export function inwardList(header: string): string {
  return header.replace(inList, '$1$2');
}

/** Without the surrounding quotes, as Complete lists and listings are compared. */
export function unquote(etag: string): string {
  return etag.length >= 2 && etag.startsWith('"') && etag.endsWith('"') ? etag.slice(1, -1) : etag;
}
