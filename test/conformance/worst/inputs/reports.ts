import {
  embedded,
  message,
  type ProtobufField,
  string,
  unsigned,
} from '../../../../src/runtime/protocols/protobuf.ts';
import { MiB } from './pieces.ts';

/** A report of a node's agent to the operator. */
export interface ReportInput {
  readonly name: string;
  readonly bytes: () => Uint8Array;
}

/** What gRPC passes on; reports may have a quarter of it. */
const received = 4 * MiB;
const nothing = new Uint8Array(0);
const head: ProtobufField = message(string(1, 'node-1'), string(2, 'i'), unsigned(5, 1));

function times(bytes: number, field: ProtobufField): Uint8Array {
  return Buffer.alloc(Math.floor(bytes / field.length) * field.length, field);
}

const full = (bytes: number, field: ProtobufField) => () => message(head, times(bytes, field));
const inState = (bytes: number, field: ProtobufField) => () =>
  message(head, embedded(7, message(unsigned(1, 1), unsigned(2, 1), times(bytes, field))));
const pod = (field: ProtobufField) => embedded(6, field);
const hit = (number: number) => embedded(10, message(unsigned(1, number), unsigned(2, 1)));

export const reportInputs: readonly ReportInput[] = [
  { name: 'report: empty hits', bytes: full(MiB - 100, embedded(10, nothing)) },
  { name: 'report: empty states', bytes: full(MiB - 100, embedded(7, nothing)) },
  { name: 'report: empty pods', bytes: inState(MiB - 100, pod(nothing)) },
  { name: 'report: empty processes', bytes: inState(MiB - 100, pod(times(60_000, embedded(3, nothing)))) },
  { name: 'report: fields that there are not', bytes: full(MiB - 100, unsigned(1_000, 1)) },
  { name: 'report: fields of 4 MiB', bytes: full(received - 100, embedded(10, nothing)) },
  {
    name: 'report: as many hits as are taken',
    bytes: () => message(head, ...Array.from({ length: 1_000 }, (_, at) => hit(at + 1))),
  },
  {
    name: 'report: as many pods and processes as are taken',
    bytes: () => {
      const processes = message(...Array.from({ length: 5 }, () => embedded(3, nothing)));
      const pods = Array.from({ length: 1_000 }, (_, at) => pod(message(string(1, `pod-${at}`), processes)));
      return message(head, embedded(7, message(unsigned(1, 1), unsigned(2, 1), ...pods)));
    },
  },
];
