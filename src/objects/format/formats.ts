import type { BodyFormat, EnvelopeFormat } from './body-format.ts';
import { format1 } from './format-1.ts';
import { format2 } from './format-2.ts';

/** @param id absent in what format 1 stores */
export const bodyFormat = (id: EnvelopeFormat | undefined): BodyFormat =>
  (id === 2 ? format2 : format1) as BodyFormat;

/** The format of that name in stored metadata. */
export const formatNamed = (algorithm: string): BodyFormat | undefined =>
  ([format1, format2] as BodyFormat[]).find((format) => format.algorithm === algorithm);

/** As it stands in stored structures: format 1 is not named. */
export const formatField = (id: EnvelopeFormat | undefined): { readonly format?: 2 } =>
  id === 2 ? { format: id } : {};
