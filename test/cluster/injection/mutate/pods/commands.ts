import { appImage, bare, container, image, type PodCase, pod } from './case.ts';

const runsApp = (...args: string[]) => ({ app: ['/bin/app', ...args] });

/** What pods and images say of the command line. */
export const commandPods: readonly PodCase[] = [
  {
    name: 'no command: entrypoint and arguments of the image',
    pod: pod({ containers: [bare()] }),
    images: { [appImage]: image(['/entry', '-x'], ['serve']) },
    runs: { app: ['/entry', '-x', 'serve'] },
    variables: { app: { SVC_ORIGINAL_CMD: '/entry', SVC_ORIGINAL_ARGS: '-x,serve' } },
  },
  {
    name: 'no command, and an image without an entrypoint',
    pod: pod({ containers: [bare()] }),
    images: { [appImage]: image([], ['nginx', '-g', 'daemon off;']) },
    runs: { app: ['nginx', '-g', 'daemon off;'] },
  },
  {
    name: 'no command, and an image whose entrypoint is one empty string',
    pod: pod({ containers: [bare()] }),
    images: { [appImage]: image([''], ['run']) },
    runs: { app: ['run'] },
  },
  {
    name: 'an empty list is no command',
    pod: pod({ containers: [bare({ command: [], args: [] })] }),
    images: { [appImage]: image(['/entry'], ['a']) },
    runs: { app: ['/entry', 'a'] },
  },
  {
    name: 'command only: the arguments of the image are not used',
    pod: pod({ containers: [container()] }),
    images: { [appImage]: image(['/entry'], ['of', 'the', 'image']) },
    runs: runsApp(),
    variables: { app: { SVC_ORIGINAL_CMD: '/bin/app', SVC_ORIGINAL_ARGS: null } },
  },
  {
    name: 'arguments only: entrypoint of the image',
    pod: pod({ containers: [bare({ args: ['a', 'b'] })] }),
    images: { [appImage]: image(['/entry', 'first'], ['not', 'used']) },
    runs: { app: ['/entry', 'first', 'a', 'b'] },
  },
  {
    name: 'arguments only, and an image without an entrypoint',
    pod: pod({ containers: [bare({ args: ['$(BIN)', 'x'], env: [{ name: 'BIN', value: '/bin/x' }] })] }),
    images: { [appImage]: image([], ['not used']) },
    runs: { app: ['/bin/x', 'x'] },
  },
  {
    name: 'command and arguments',
    pod: pod({ containers: [container({ command: ['sh', '-c'], args: ['exec app'] })] }),
    runs: { app: ['sh', '-c', 'exec app'] },
  },
  {
    name: 'a relative command and a working folder',
    pod: pod({ containers: [container({ command: ['./run'], workingDir: '/srv' })] }),
    runs: { app: ['./run'] },
  },
  {
    name: 'commas, backslashes, empty arguments, line ends',
    pod: pod({
      containers: [container({ args: ['a,b', '\\', '\\,', 'c\\', '', 'x\ny', ' ', '"', "'", ',', ''] })],
    }),
    runs: runsApp('a,b', '\\', '\\,', 'c\\', '', 'x\ny', ' ', '"', "'", ',', ''),
  },
  {
    name: 'one empty argument',
    pod: pod({ containers: [container({ args: [''] })] }),
    runs: runsApp(''),
    variables: { app: { SVC_ORIGINAL_ARGS: '' } },
  },
  {
    name: 'letters beyond ASCII',
    pod: pod({ containers: [container({ args: ['größe', '日本', '🙂,🙂'] })] }),
    runs: runsApp('größe', '日本', '🙂,🙂'),
  },
  {
    name: 'a reference to a variable of the container',
    pod: pod({
      containers: [container({ args: ['--port=$(PORT)', '$(PORT)'], env: [{ name: 'PORT', value: '80' }] })],
    }),
    runs: runsApp('--port=80', '80'),
    variables: { app: { SVC_ORIGINAL_ARGS: '--port=$(PORT),$(PORT)' } },
  },
  {
    name: 'a reference to a variable whose value has commas',
    pod: pod({
      containers: [container({ args: ['--hosts=$(HOSTS)'], env: [{ name: 'HOSTS', value: 'a,b\\,c' }] })],
    }),
    runs: runsApp('--hosts=a,b\\,c'),
  },
  {
    name: 'a reference to a variable that is made of others',
    pod: pod({
      containers: [
        container({
          args: ['$(URL)'],
          env: [
            { name: 'HOST', value: 'h' },
            { name: 'URL', value: 'http://$(HOST)/$(NONE)/$$(HOST)' },
          ],
        }),
      ],
    }),
    runs: runsApp('http://h/$(NONE)/$(HOST)'),
  },
  {
    name: 'a reference to a secret, whose value is not known',
    pod: pod({
      containers: [
        container({
          args: ['--password=$(PASSWORD)'],
          env: [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } }],
        }),
      ],
    }),
    runs: runsApp('--password=a,b\\c$(X)'),
  },
  {
    name: 'a reference to a field of the pod',
    pod: pod({
      containers: [
        container({
          args: ['$(IP)'],
          env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
        }),
      ],
    }),
    runs: runsApp('<status.podIP>'),
    variables: { app: { SVC_ORIGINAL_ARGS: '$(IP)' } },
  },
  {
    name: 'a reference to what a config map may define',
    pod: pod({
      containers: [container({ args: ['$(FROM_MAP)'], envFrom: [{ configMapRef: { name: 'settings' } }] })],
    }),
    runs: runsApp('one,two'),
  },
  {
    name: 'a reference to nothing stays as it is',
    pod: pod({ containers: [container({ args: ['$(NONE)', '$(', '$()', '$(a,b)'] })] }),
    runs: runsApp('$(NONE)', '$(', '$()', '$(a,b)'),
  },
  {
    name: 'references to variables that only the wrapper has',
    pod: pod({
      containers: [container({ args: ['$(VAULT_ADDR)', '$(SVC_ORIGINAL_CMD)', '$(SVC_POD_UID)'] })],
    }),
    runs: runsApp('$(VAULT_ADDR)', '$(SVC_ORIGINAL_CMD)', '$(SVC_POD_UID)'),
  },
  {
    name: 'dollars of every kind',
    pod: pod({
      containers: [
        container({
          args: ['$$', '$$(A)', '$', 'a$', '$x', '$$$(A)', '$(A'],
          env: [{ name: 'A', value: '1' }],
        }),
      ],
    }),
    runs: runsApp('$', '$(A)', '$', 'a$', '$x', '$1', '$(A'),
  },
  {
    name: 'a reference that would reach into the next argument',
    pod: pod({
      containers: [container({ args: ['$(A', 'B)$(A)'], env: [{ name: 'A', value: '1' }] })],
    }),
    runs: runsApp('$(A', 'B)1'),
  },
  {
    name: 'a reference in the command itself',
    pod: pod({
      containers: [container({ command: ['$(DIR)/app'], env: [{ name: 'DIR', value: '/opt,1' }] })],
    }),
    runs: { app: ['/opt,1/app'] },
  },
  {
    name: 'dollars of the image are not for the kubelet',
    pod: pod({ containers: [bare({ env: [{ name: 'A', value: '1' }] })] }),
    images: { [appImage]: image(['/entry$$'], ['$(A)', '$$', '$(A,']) },
    runs: { app: ['/entry$$', '$(A)', '$$', '$(A,'] },
  },
  {
    name: 'dollars of the image beside references of the pod',
    pod: pod({
      containers: [
        bare({
          args: ['$(S)'],
          env: [{ name: 'S', valueFrom: { secretKeyRef: { name: 's', key: 'password' } } }],
        }),
      ],
    }),
    images: { [appImage]: image(['/entry', '$(S)']) },
    runs: { app: ['/entry', '$(S)', 'a,b\\c$(X)'] },
  },
  {
    name: 'more arguments than one variable can hold',
    pod: pod({
      containers: [container({ args: Array.from({ length: 3_000 }, (_, at) => `argument-${at}`) })],
    }),
    runs: runsApp(...Array.from({ length: 3_000 }, (_, at) => `argument-${at}`)),
  },
  {
    name: 'svc/command in place of the image',
    pod: pod({ containers: [bare({ args: ['--flag'] })] }),
    plan: { command: ['/given', '$(A)', 'x'] },
    runs: { app: ['/given', '$(A)', 'x', '--flag'] },
  },
  {
    name: 'svc/command beside a container that says its command',
    pod: pod(),
    plan: { command: ['/given'] },
    runs: runsApp(),
    warns: [/memory is not locked/, /svc\/command is ignored/],
  },
  {
    name: 'svc/command for containers of several images',
    pod: pod({ containers: [bare(), bare({ name: 'b', image: 'other:1' })] }),
    plan: { command: ['/given'] },
    denied: [/^svc\/command: .*app, b/],
  },
  {
    name: 'an image that was not looked up',
    pod: pod({ containers: [bare()] }),
    denied: [/^container app: .*registry\.example\/app:1 has not been looked up.*svc\/command/],
  },
  {
    name: 'an image that says nothing',
    pod: pod({ containers: [bare()] }),
    images: { [appImage]: image([]) },
    denied: [/^container app: neither it nor .* has a command/],
  },
  {
    name: 'an empty command',
    pod: pod({ containers: [container({ command: [''] })] }),
    denied: [/^container app: its command is empty/],
  },
  {
    name: 'the wrapper with flags of its own',
    pod: pod({
      containers: [container({ command: ['/svc/svc-wrapper', '--require-mlock=false', '--', '/bin/app'] })],
    }),
    denied: [/^container app: starts svc-wrapper itself/],
  },
];
