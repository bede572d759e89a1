import { failed, passed } from '../../results.ts';
import { hostCheck, subject } from './host-check.ts';

export const secretMemory = hostCheck(
  {
    id: 'SVC-HOST-002',
    title: 'Secret memory (memfd_secret) can be used',
    level: 'warning',
    cause:
      'Kernels before 6.5 have it only with secretmem.enable=1 at boot; a seccomp profile or a memory-lock limit can forbid it. Without it secrets lie in locked memory, which root can read.',
    fix: 'Boot with secretmem.enable=1, or use a kernel from 6.5 on, and a seccomp profile that permits memfd_secret.',
  },
  async (host) => {
    const refusal = await host.trySecretMemory();
    return refusal === undefined ? passed() : failed({ subject, message: `It is refused: ${refusal}.` });
  },
);
