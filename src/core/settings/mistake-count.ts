/** `a mistake` or `3 mistakes`, for the line above their list. */
export const mistakeCount = ({ length }: readonly string[]): string =>
  length === 1 ? 'a mistake' : `${length} mistakes`;
