/**
 * Text as a cell of a table: one line, no end of the cell within it, and nothing that is taken for a tag or for a link
 * to an example.
 */
export const cell = (text: string): string =>
  text
    .trim()
    .replace(/\s+/g, ' ')
    .replaceAll('|', '\\|')
    .replaceAll('<', '\\<')
    .replace(/\bhttps?:\/\/\w[^\s,;)]*/g, '`$&`');

/** Several lines of one cell, without those that say nothing. */
export const lines = (...texts: readonly string[]): string =>
  texts.filter((text) => text !== '').join('<br>');

/** As it is written in the code; empty where there is nothing. */
export const code = (text: string): string =>
  text === '' ? '' : `\`${text.trim().replace(/\s+/g, ' ').replaceAll('|', '\\|')}\``;

export const codes = (texts: readonly string[]): string => texts.map(code).join(', ');
