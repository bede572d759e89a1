import { encodeOriginalArgs } from '../../command-line/original-args.ts';
import type { Container, EnvironmentVariable } from '../../kubernetes/pod.ts';
import { wrapperProgram } from './names.ts';
import type { Word } from './original-command.ts';
import { literal, type Piece, piecesOf, reference } from './references.ts';
import { originalArgs, originalCmd } from './wrapped.ts';

/** How a container starts once it is wrapped. */
export interface Start {
  readonly command: readonly string[];
  /** To stand behind every variable of the container's own, so that references find those. */
  readonly variables: readonly EnvironmentVariable[];
}

/** Linux takes 128 KiB in one variable. A character has up to three bytes, and may be written as two. */
const longestVariable = 20_000;

/**
 * The command line moves into SVC_ORIGINAL_CMD and SVC_ORIGINAL_ARGS. Where an argument refers to a variable whose value
 * is not known here and might hold a comma, which would split the argument once the kubelet has put it in, the arguments
 * go behind `--` instead, where the kubelet expands them one by one.
 * @param words at least one
 * @param added names of the variables that the wrapped container has and the original one has not
 */
export function startOf(words: readonly Word[], container: Container, added: ReadonlySet<string>): Start {
  const [first, ...rest] = words;
  const command = { name: originalCmd, value: first === undefined ? '' : asVariable(first) };
  const args = encodeOriginalArgs(rest.map(({ text }) => text)) ?? '';
  const fits = args.length <= longestVariable && rest.every(survivesIn(container));
  if (!fits) {
    return {
      command: [wrapperProgram, '--', ...words.map(argumentsOf(container, added))],
      variables: [command],
    };
  }
  const variables = rest.length === 0 ? [] : [{ name: originalArgs, value: rest.map(asItem).join(',') }];
  return { command: [wrapperProgram], variables: [command, ...variables] };
}

function survivesIn(container: Container): (word: Word) => boolean {
  const survives = survivorsOf(container);
  return ({ text, expanded }) => {
    if (!expanded) return true;
    const references = piecesOf(text).filter((piece) => piece.kind === 'reference');
    return references.every(({ name }) => name !== originalCmd && survives(name));
  };
}

/** The value that the kubelet expands to what the container was started with. */
function asVariable(word: Word, encode: (text: string) => string = (text) => text): string {
  if (!word.expanded) return literal(encode(word.text));
  return piecesOf(word.text)
    .map((piece) => (piece.kind === 'text' ? literal(encode(piece.text)) : reference(piece.name)))
    .join('');
}

const asItem = (word: Word): string => asVariable(word, (text) => encodeOriginalArgs([text]) ?? '');

/** A name that only the wrapped container has must go on standing for itself. */
function argumentsOf({ env = [] }: Container, added: ReadonlySet<string>): (word: Word) => string {
  const own = new Set(env.map(({ name }) => name));
  const unknown = (name: string) => (name === originalCmd || added.has(name)) && !own.has(name);
  const asText = (piece: Piece) => {
    if (piece.kind === 'text') return literal(piece.text);
    return unknown(piece.name) ? literal(reference(piece.name)) : reference(piece.name);
  };
  return ({ text, expanded }) => (expanded ? piecesOf(text).map(asText).join('') : literal(text));
}

/** Fields of a pod whose values hold neither comma nor backslash. */
const plainFields: ReadonlySet<string> = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.podIP',
]);

/**
 * Tells whether a reference may stand in SVC_ORIGINAL_ARGS: its name and all that can take its place hold nothing that
 * has a meaning there.
 */
function survivorsOf({ env = [], envFrom = [] }: Container): (name: string) => boolean {
  // of several with one name the last counts
  const last = new Map(env.map((variable) => [variable.name, variable]));
  return (name) => {
    if (!/^[\w.-]+$/.test(name)) return false;
    const defined = last.get(name);
    if (defined !== undefined) return isPlain(defined);
    // what is left is a variable of a Service, an address, or none, which stays as it is written
    return envFrom.length === 0;
  };
}

function isPlain({ value, valueFrom }: EnvironmentVariable): boolean {
  if (value !== undefined && value !== '') return !/[$,\\]/.test(value);
  if (valueFrom === undefined) return true;
  const { fieldRef, resourceFieldRef } = valueFrom;
  return resourceFieldRef !== undefined || (fieldRef !== undefined && plainFields.has(fieldRef.fieldPath));
}
