/** A part of a command, an argument or the value of a variable, as the kubelet reads it. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reference'; readonly name: string };

const pattern = /\$(?:\$|\(([^)]*)\)|[\s\S])?|[^$]+/g;
/** Where no parenthesis closes any more; each `$(` would look for one up to the end. */
const patternWithoutReferences = /\$[\s\S]?|[^$]+/g;

/**
 * `$(NAME)` is a reference, `$$` a dollar; any other `$` stands for itself.
 * Source: https://github.com/kubernetes/kubernetes/blob/v1.37.1/third_party/forked/golang/expansion/expand.go
 */
export function piecesOf(text: string): Piece[] {
  const end = text.lastIndexOf(')') + 1;
  return [...text.slice(0, end).matchAll(pattern), ...text.slice(end).matchAll(patternWithoutReferences)].map(
    ([all, name]) => {
      if (name !== undefined) return { kind: 'reference', name };
      return { kind: 'text', text: all === '$$' ? '$' : all };
    },
  );
}

export const reference = (name: string): string => `$(${name})`;

/** What the kubelet expands to the text itself. */
export const literal = (text: string): string => text.replaceAll('$', '$$$$');
