import type { DriverRecord, Records } from './driver/plan.ts';

/** Finds what came of a phase or step. */
export interface Told {
  /** @param of its phase, where several of the kind were carried out @throws Error where it is not there */
  of<Name extends keyof Records>(name: Name, of?: string): Records[Name];
}

export function toldBy(records: readonly DriverRecord[]): Told {
  return {
    of<Name extends keyof Records>(name: Name, of?: string) {
      const found = records.find((each) => each.name === name && (of === undefined || each.of === of));
      if (found === undefined) throw new Error(`Nothing came of ${of ?? ''} ${name}`);
      return found.record as Records[Name];
    },
  };
}
