import type { EnvironmentVariable } from '../../../src/cluster/kube/pod.ts';
import type { AgentProtection, PodProtection, WorkloadFacts } from '../../../src/cluster/score/contract.ts';
import { bestProtection, bestReport, factsOf, plainPod, protectedPod, wrappedContainer } from './facts.ts';

export interface ScoreVector {
  readonly title: string;
  readonly facts: WorkloadFacts;
  readonly score: number;
  /** Points of the addends that this one is about. */
  readonly points?: Readonly<Record<string, number>>;
}

const one = (more: Partial<PodProtection>): WorkloadFacts => factsOf([bestProtection(more)]);
const agent = (tier: number, enforcing: boolean, covered = true): AgentProtection => ({
  tier,
  enforcing,
  covered,
});
const unreported = (env: readonly EnvironmentVariable[]): WorkloadFacts =>
  one({ reports: [], pod: protectedPod([wrappedContainer({ env })]) });
const shared = { name: 'config', configMapRef: { name: 'shop' } };
const planned = (annotations?: Record<string, string>): WorkloadFacts =>
  factsOf([], { template: { ...plainPod(), metadata: annotations ? { annotations } : {} } });
const best = bestReport();
const wrapperOf = (more: object) =>
  one({ reports: [bestReport({ wrapper: { ...best.wrapper, ...more } as never })] });

/** Every way in which a pod can have less than everything, and what it then has. */
export const vectors: readonly ScoreVector[] = [
  { title: 'everything', facts: one({}), score: 100 },
  { title: 'nothing', facts: one({ pod: plainPod(), agent: undefined, reports: [] }), score: 0 },
  {
    title: 'nothing, on a guarded node',
    facts: one({ pod: plainPod(), agent: agent(1, true, false), reports: [] }),
    score: 0,
  },
  { title: 'neither pod nor template', facts: factsOf([]), score: 0 },
  {
    title: 'no agent and no report',
    facts: one({ agent: undefined, reports: [] }),
    score: 63,
    points: { 'secret-memory': 0, delivery: 5, enforcement: 0, coverage: 0 },
  },
  {
    title: 'an agent that does not know the pod',
    facts: one({ agent: agent(1, true, false) }),
    score: 75,
    points: { enforcement: 0, coverage: 0 },
  },
  { title: 'tier 2', facts: one({ agent: agent(2, true) }), score: 100 },
  {
    title: 'tier 3 that kills',
    facts: one({ agent: agent(3, true) }),
    score: 92,
    points: { enforcement: 12 },
  },
  {
    title: 'tier 3 that watches',
    facts: one({ agent: agent(3, false) }),
    score: 83,
    points: { enforcement: 3 },
  },
  {
    title: 'tier 1 that watches',
    facts: one({ agent: agent(1, false) }),
    score: 84,
    points: { enforcement: 4 },
  },
  { title: 'tier 4', facts: one({ agent: agent(4, false) }), score: 80, points: { enforcement: 0 } },
  {
    title: 'a tier that nobody told',
    facts: one({ agent: agent(0, true) }),
    score: 80,
    points: { enforcement: 0 },
  },
  {
    title: 'both ways of delivery',
    facts: one({ reports: [bestReport({ delivery: 'both' })] }),
    score: 95,
    points: { delivery: 5 },
  },
  {
    title: 'the environment',
    facts: one({ reports: [bestReport({ delivery: 'env' })] }),
    score: 93,
    points: { delivery: 3 },
  },
  {
    title: 'memory locked in part',
    facts: wrapperOf({ lockMode: 'partial' }),
    score: 95,
    points: { 'memory-lock': 3 },
  },
  {
    title: 'memory not locked',
    facts: wrapperOf({ lockMode: 'none' }),
    score: 92,
    points: { 'memory-lock': 0 },
  },
  {
    title: 'memory that was swapped out',
    facts: wrapperOf({ swappedBytes: 4096 }),
    score: 92,
    points: { 'memory-lock': 0 },
  },
  {
    title: 'core dumps into pipes',
    facts: wrapperOf({ coreLimit: 0 }),
    score: 97,
    points: { 'core-dumps': 2 },
  },
  {
    title: 'core dumps without a limit',
    facts: wrapperOf({ coreLimit: undefined }),
    score: 95,
    points: { 'core-dumps': 0 },
  },
  {
    title: 'an application that raised its limit',
    facts: one({
      reports: [bestReport({ application: { ...best.application, coreLimit: undefined } as never })],
    }),
    score: 95,
    points: { 'core-dumps': 0 },
  },
  {
    title: 'anonymous memory, locked',
    facts: one({
      reports: [bestReport({ secretMemory: { kind: 'anonymous', bytes: 1, locked: true, undumped: true } })],
    }),
    score: 96,
    points: { 'secret-memory': 3 },
  },
  {
    title: 'anonymous memory',
    facts: one({
      reports: [bestReport({ secretMemory: { kind: 'anonymous', bytes: 1, locked: false, undumped: true } })],
    }),
    score: 93,
    points: { 'secret-memory': 0 },
  },
  {
    title: 'no word of secret memory',
    facts: one({ reports: [bestReport({ secretMemory: undefined })] }),
    score: 93,
    points: { 'secret-memory': 0 },
  },
  {
    title: 'no word at all',
    facts: one({ reports: [] }),
    score: 88,
    points: { delivery: 5, 'memory-lock': 8, 'secret-memory': 0, 'core-dumps': 5 },
  },
  {
    title: 'a lock that is not required',
    facts: unreported([{ name: 'SVC_REQUIRE_MLOCK', value: 'false' }]),
    score: 80,
    points: { 'memory-lock': 0 },
  },
  {
    title: 'a lock whose setting was left out',
    facts: unreported([{ name: 'SVC_REQUIRE_MLOCK' }]),
    score: 80,
    points: { 'memory-lock': 0 },
  },
  {
    title: 'required memfd_secret',
    facts: unreported([{ name: 'SVC_REQUIRE_MEMFD_SECRET', value: 'true' }]),
    score: 95,
    points: { 'secret-memory': 7 },
  },
  {
    title: 'configured delivery',
    facts: unreported([{ name: 'SVC_DELIVERY', value: 'fd' }]),
    score: 100,
    points: { delivery: 10, 'secret-memory': 7 },
  },
  {
    title: 'delivery of no known kind',
    facts: unreported([{ name: 'SVC_DELIVERY', value: 'toString' }]),
    score: 83,
    points: { delivery: 0 },
  },
  {
    title: 'an inherited limit of core dumps',
    facts: unreported([{ name: 'SVC_CORE_LIMIT', value: 'inherit' }]),
    score: 83,
    points: { 'core-dumps': 0 },
  },
  {
    title: 'verification off',
    facts: unreported([{ name: 'VAULT_SKIP_VERIFY', value: 'true' }]),
    score: 83,
    points: { verification: 0 },
  },
  {
    title: 'verification said to be on',
    facts: unreported([{ name: 'VAULT_SKIP_VERIFY', value: 'false' }]),
    score: 88,
    points: { verification: 5 },
  },
  {
    title: 'verification on, then off',
    facts: unreported([
      { name: 'VAULT_SKIP_VERIFY', value: 'false' },
      { name: 'VAULT_SKIP_VERIFY', value: '$(OTHER)' },
    ]),
    score: 83,
    points: { verification: 0 },
  },
  {
    title: 'variables that a config map may set',
    facts: one({ pod: protectedPod([wrappedContainer({ envFrom: [shared] as never })]) }),
    score: 95,
    points: { verification: 0 },
  },
  {
    title: 'variables of a config map below a prefix',
    facts: one({
      pod: protectedPod([wrappedContainer({ envFrom: [{ ...shared, prefix: 'SHOP_' }] as never })]),
    }),
    score: 100,
  },
  {
    title: 'no egress policy',
    facts: factsOf([bestProtection()], { egressPolicy: false }),
    score: 90,
    points: { egress: 0 },
  },
  {
    title: 'an egress policy that is not known',
    facts: factsOf([bestProtection()], { egressPolicy: undefined }),
    score: 90,
    points: { egress: 0 },
  },
  {
    title: 'a policy that lets it reach more',
    facts: factsOf([bestProtection()], { wideningPolicies: ['allow-all'] }),
    score: 90,
    points: { egress: 0 },
  },
  {
    title: 'the network of the node',
    facts: one({ pod: protectedPod(undefined, { hostNetwork: true }) }),
    score: 90,
    points: { egress: 0 },
  },
  {
    title: 'a label that was taken off',
    facts: one({ pod: { ...protectedPod(), metadata: {} } }),
    score: 90,
    points: { egress: 0 },
  },
  {
    title: 'one Secret',
    facts: one({
      pod: protectedPod([
        wrappedContainer({ env: [{ name: 'P', valueFrom: { secretKeyRef: { name: 'db', key: 'p' } } }] }),
      ]),
    }),
    score: 95,
    points: { references: 5 },
  },
  {
    title: 'two Secrets',
    facts: one({
      pod: protectedPod([wrappedContainer({ envFrom: [{ prefix: 'X', secretRef: { name: 'db' } }] })], {
        volumes: [
          { name: 'svc-wrapper', emptyDir: {} },
          { name: 'tls', secret: { secretName: 'tls' } },
        ],
      }),
    }),
    score: 90,
    points: { references: 0 },
  },
  {
    title: 'one of two containers wrapped',
    facts: one({ pod: protectedPod([wrappedContainer(), { name: 'log', image: 'log:1' }]) }),
    score: 85,
    points: { wrapper: 5 },
  },
  {
    title: 'a sidecar of a mesh and the proxy',
    facts: one({ pod: protectedPod([wrappedContainer(), { name: 'istio-proxy' }, { name: 'svc-proxy' }]) }),
    score: 100,
  },
  {
    title: 'two wrappers of which one told',
    facts: one({ pod: protectedPod([wrappedContainer(), wrappedContainer({ name: 'two' })]) }),
    score: 88,
    points: { delivery: 5, 'secret-memory': 0 },
  },
  {
    title: 'arguments behind the wrapper',
    facts: one({
      pod: protectedPod([wrappedContainer({ command: ['/svc/svc-wrapper', '--', '/shop', '$(PORT)'] })]),
    }),
    score: 100,
  },
  {
    title: 'flags for the wrapper',
    facts: one({
      pod: protectedPod([wrappedContainer({ command: ['/svc/svc-wrapper', '--require-mlock=false'] })]),
    }),
    score: 35,
  },
  {
    title: 'arguments for the wrapper',
    facts: one({ pod: protectedPod([wrappedContainer({ args: ['--help'] })]) }),
    score: 35,
  },
  {
    title: 'a wrapper out of another volume',
    facts: one({
      pod: protectedPod([wrappedContainer({ volumeMounts: [{ name: 'data', mountPath: '/svc' }] })]),
    }),
    score: 35,
  },
  {
    title: 'a file over the wrapper',
    facts: one({
      pod: protectedPod([
        wrappedContainer({
          volumeMounts: [
            { name: 'svc-wrapper', mountPath: '/svc' },
            { name: 'data', mountPath: '/svc/svc-wrapper' },
          ],
        }),
      ]),
    }),
    score: 35,
  },
  {
    title: 'private authorities below the wrapper',
    facts: one({
      pod: protectedPod([
        wrappedContainer({
          volumeMounts: [
            { name: 'svc-wrapper', mountPath: '/svc' },
            { name: 'svc-ca', mountPath: '/svc/certs' },
          ],
        }),
      ]),
    }),
    score: 100,
  },
  {
    title: 'no pod, and a template that asks',
    facts: planned({ 'svc/inject': 'true' }),
    score: 40,
    points: { wrapper: 20, egress: 10, references: 10 },
  },
  {
    title: 'no pod, and a template that asks in capitals, as the webhook hears it',
    facts: planned({ 'SVC/Inject': 'true' }),
    score: 40,
  },
  { title: 'no pod, and a template that opts out', facts: planned({ 'svc/inject': 'false' }), score: 0 },
  { title: 'no pod, and a template that says nothing', facts: planned(), score: 0 },
  {
    title: 'its worst pod',
    facts: factsOf([bestProtection(), bestProtection({ agent: agent(4, false) })]),
    score: 80,
  },
  {
    title: 'an older pod beside protected ones',
    facts: factsOf([bestProtection(), bestProtection({ pod: plainPod(), agent: undefined, reports: [] })]),
    score: 0,
  },
];
