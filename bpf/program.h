/* What every program here needs.
 *
 * How these are built (scripts/lib/bpf.mjs): one object a tier and architecture, from the *.bpf.c in this folder,
 *
 *   clang-19 -target bpf -mcpu=v3 -O2 -g -Wall -Werror -D__TARGET_ARCH_x86 -I bpf -c lsm.bpf.c
 *
 * and stripped of DWARF, not of BTF. They are CO-RE: kernel types stand in kernel.h with the fields that are used,
 * and libbpf puts in the offsets of the running kernel as it loads them. No kernel headers but the UAPI are needed,
 * no vmlinux.h, no compiler on the node. Kernel 5.15 and later.
 *
 *   svc.h      numbers and layouts that the agent shares      paths/    what an attempt is, one file an attack path
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
