export type { Application } from './application.ts';
export { becomeApplication } from './become.ts';
export { killChildren } from './descendants.ts';
export type { Ending } from './ending.ts';
export type { SupervisionEvent } from './events.ts';
export type { Launch } from './launch.ts';
export { catchSignals, type SignalPost } from './signal-post.ts';
export { createSupervisor, type Supervisor, type SupervisorOptions } from './supervisor.ts';
