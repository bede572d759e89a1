const limit = 64;

/** A version as a caller gives it, fit for logs and lists: on one line, 64 characters at most. */
export function versionText(text: string): string {
  return text.replace(/\p{C}+/gu, ' ').slice(0, limit);
}
