import { failed, notEvaluated, passed } from '../../results.ts';
import { keyCheck } from './key-check.ts';

const dayMs = 86_400_000;
/** A quarter has at most so many. */
const longestDays = 92;

export const rotated = keyCheck(
  {
    id: 'SVC-KEK-004',
    title: 'The key was rotated within a quarter',
    level: 'error',
    cause: 'Nobody has rotated it for more than 92 days, and nothing does it by itself.',
    fix: 'Rotate it (bao write -f transit/keys/svc/rotate), and set auto_rotate_period=2160h on the key. Objects stay readable.',
  },
  ({ path, rotatedAt, latestVersion }, context) => {
    if (Number.isNaN(rotatedAt)) return notEvaluated('The secrets server does not tell how old the key is.');
    const days = Math.floor((context.now() - rotatedAt) / dayMs);
    const made = `Version ${latestVersion} is ${days} days old`;
    return days > longestDays ? failed({ subject: path, message: `${made}.` }) : passed(made);
  },
);
