import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  literal,
  piecesOf,
  reference,
} from '../../../../src/cluster/injection/mutate/application-process.ts';
import { mutatePod } from '../../../../src/cluster/injection/mutate/mutate-pod.ts';
import type { Container, EnvironmentVariable } from '../../../../src/cluster/kube/pod.ts';
import { argvOf, startedByWrapper } from './kubelet.ts';
import { appImage, bare, defaults, image, plan, pod } from './pods/case.ts';

const lines = suite('command lines through the wrapper');

const name = fc.constantFrom(
  'A',
  'B',
  'C',
  'VAULT_ADDR',
  'SVC_ORIGINAL_CMD',
  'HEALTH_ADDR',
  'NONE',
  'FROM_MAP',
);
const part = fc.oneof(
  name.map(reference),
  fc.constantFrom(
    '$',
    '$$',
    '$(',
    ')',
    ',',
    '\\',
    '',
    'x',
    ' ',
    '(',
    '\n',
    'é',
    '$(A',
    '$$(A)',
    '$()',
    '$(A,B)',
  ),
  fc.string({ maxLength: 4 }),
);
const text = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''));
const nonEmpty = fc
  .tuple(fc.constantFrom('/bin/x', '$(A)/x', 'y$', '$$z'), text)
  .map((parts) => parts.join(''));
const words = fc.array(text, { maxLength: 5 });

const ownName = fc.constantFrom('A', 'B', 'C', 'D');
const variable: fc.Arbitrary<EnvironmentVariable> = fc.oneof(
  fc.record({ name: ownName, value: text }),
  fc.record({ name: ownName, valueFrom: fc.constant({ secretKeyRef: { name: 's', key: 'k' } }) }),
  fc.record({ name: ownName, valueFrom: fc.constant({ fieldRef: { fieldPath: 'status.podIP' } }) }),
  fc.record({ name: ownName, valueFrom: fc.constant({ resourceFieldRef: { resource: 'limits.cpu' } }) }),
);
const container: fc.Arbitrary<Container> = fc
  .record({
    env: fc.array(variable, { maxLength: 4 }),
    envFrom: fc.constantFrom([], [{ configMapRef: { name: 'settings' } }]),
    command: fc.option(
      fc.tuple(nonEmpty, words).map(([first, rest]) => [first, ...rest]),
      { nil: undefined },
    ),
    args: fc.option(words, { nil: undefined }),
  })
  .map(({ command, args, ...members }) =>
    bare({ ...members, ...(command && { command }), ...(args && { args }) }),
  );

lines('the application gets the arguments that it got without the wrapper', () => {
  fc.assert(
    fc.property(container, nonEmpty, words, words, (original, entry, more, cmd) => {
      const ofImage = image([entry, ...more], cmd);
      const mutation = mutatePod(pod({ containers: [original] }), plan, defaults, {
        podSecurity: 'baseline',
        nativeSidecars: true,
        images: new Map([[appImage, ofImage]]),
      });
      if (mutation.kind === 'deny') throw new Error(mutation.errors.join('\n'));
      const wrapped = mutation.pod.spec.containers[0];
      assert.equal(wrapped && startedByWrapper(wrapped), argvOf(original, ofImage));
    }),
    { numRuns: 3_000 },
  );
});

lines('pieces put together are the text, and what is literal stays literal', () => {
  fc.assert(
    fc.property(text, (given) => {
      const back = piecesOf(given).map((piece) =>
        piece.kind === 'text' ? literal(piece.text) : reference(piece.name),
      );
      assert.equal(piecesOf(back.join('')).map(asText).join(''), piecesOf(given).map(asText).join(''));
      assert.is(piecesOf(literal(given)).map(asText).join(''), given);
      assert.not(piecesOf(literal(given)).some(({ kind }) => kind === 'reference'));
    }),
  );
});

const asText = (piece: ReturnType<typeof piecesOf>[number]): string =>
  piece.kind === 'text' ? piece.text : `<${piece.name}>`;

lines.run();
