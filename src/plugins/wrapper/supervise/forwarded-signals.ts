/**
 * What is passed on to the application: every signal that a program can be sent and that Node can listen to.
 * Left out are those by which the kernel reports a fault of the wrapper itself (SEGV, BUS, FPE, ILL, SYS, TRAP),
 * PIPE, which the wrapper's own writes can cause, and CHLD. Node knows no real-time signals.
 */
export const forwardedSignals = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGABRT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGALRM',
  'SIGTERM',
  'SIGSTKFLT',
  'SIGCONT',
  'SIGTSTP',
  'SIGTTIN',
  'SIGTTOU',
  'SIGURG',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGVTALRM',
  'SIGPROF',
  'SIGWINCH',
  'SIGIO',
  'SIGPWR',
] as const satisfies readonly NodeJS.Signals[];

/** A wrapper that has a terminal gets these for its own use of it only. */
export const terminalAccessSignals = ['SIGTTIN', 'SIGTTOU'] as const satisfies readonly NodeJS.Signals[];

/** With no application to pass them to, these end the wrapper. */
export const endingSignals: ReadonlySet<string> = new Set(['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP']);
