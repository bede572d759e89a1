import { visitNested } from '../../../core/protobuf/nested.ts';
import { invalid } from './refusal.ts';

const longestReport = 1_048_576;

/** What a message of that kind holds, by field number. */
interface Shape {
  readonly [number: number]: Shape | undefined;
  /** How many of it a report holds in all, in how many at most. */
  readonly most?: number;
  readonly name?: string;
}

/** Bounds of the schema, where it has them; the others are far above what an agent sends. */
const report: Shape = {
  7: {
    ...{ name: 'state', most: 1 },
    4: { name: 'passed_over', most: 16 },
    6: {
      ...{ name: 'pods', most: 1_000 },
      3: { name: 'processes', most: 5_000, 4: { name: 'measured', most: 1_000 } },
    },
  },
  8: { name: 'counts', most: 100 },
  10: { name: 'hits', most: 1_000 },
};

/**
 * Judges a report by its bytes: a megabyte of empty messages would take a hundred of memory once it is decoded.
 * @throws Refusal INVALID_ARGUMENT beyond a bound; ProtobufError when it cannot be read
 */
export function checkShape(bytes: Uint8Array): void {
  if (bytes.length > longestReport) throw invalid(`a report has at most ${longestReport} bytes`);
  const counts = new Map<Shape, number>();
  const check = (shape: Shape, start: number, end: number): void =>
    visitNested(bytes, start, end, (number, from, to) => {
      const inner = shape[number];
      if (inner === undefined) return;
      const count = (counts.get(inner) ?? 0) + 1;
      counts.set(inner, count);
      const { most = Number.POSITIVE_INFINITY, name } = inner;
      if (count > most) throw invalid(`${name}: at most ${most}`);
      check(inner, from, to);
    });
  check(report, 0, bytes.length);
}
