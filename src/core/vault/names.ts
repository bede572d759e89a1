import { matching, type Parser } from '../settings/parsers.ts';

/** Of a role of an auth method. */
export const roleName = (): Parser<string> => matching(/^(?!\.{1,2}$)[\w.-]+$/, 'a role name');

/** Of a key of the transit engine. */
export const transitKeyName = (): Parser<string> => matching(/^(?!\.{1,2}$)[\w.-]{1,128}$/, 'a key name');
