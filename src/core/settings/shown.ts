const longest = 60;

/** A given value for a message: quoted, control characters escaped, a URL's credentials masked, cut when long. */
export function shown(value: string): string {
  const masked = value.replace(/\/\/[^/@\s]*@/g, '//***@');
  return JSON.stringify(masked.length > longest ? `${masked.slice(0, longest)}…` : masked);
}
