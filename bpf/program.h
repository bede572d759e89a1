/* Common to all programs.
 *
 * Build (scripts/lib/bpf.mjs): one object for each tier and architecture, from the *.bpf.c in this folder,
 *
 *   clang-19 -target bpf -mcpu=v3 -O2 -g -Wall -Werror -D__TARGET_ARCH_x86 -I bpf -c lsm.bpf.c
 *
 * stripped of DWARF but not of BTF. The objects are CO-RE: kernel.h declares kernel types with the fields in use, and
 * libbpf fills in the running kernel's offsets at load time. The build needs no kernel headers except for the UAPI and
 * no vmlinux.h, the node no compiler. Kernel 5.15 and later.
 *
 *   svc.h      numbers and layouts shared with the agent      paths/    detection, one file for each attack path
 *   kernel.h   kernel types                                   find/     from numbers and files to processes
 *   arch/      system calls and their arguments               lsm.bpf.c, fmod_ret.bpf.c, tracepoint.bpf.c
 *   maps.h     all state                                      the tiers: where the attack paths are hooked
 */
#ifndef SVC_PROGRAM_H
#define SVC_PROGRAM_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "svc.h"

#define EPERM 1
#define ESRCH 3
#define E2BIG 7
#define EBADF 9
#define EACCES 13
#define EEXIST 17
#define EOPNOTSUPP 95
#define EALREADY 114
#define EDQUOT 122

#define inlined static __always_inline

#endif
