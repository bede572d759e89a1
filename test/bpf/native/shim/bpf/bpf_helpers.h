/* Stands in for libbpf's header of this name, so that bpf/ compiles into a program of the host: sections mean
 * nothing, maps are tables (host.h), helpers are functions. */
#ifndef SHIM_BPF_HELPERS_H
#define SHIM_BPF_HELPERS_H

#include <linux/bpf.h>

#include "host.h"

#undef __always_inline
#define __always_inline inline __attribute__((unused))
#undef __noinline
#define __noinline __attribute__((noinline, unused))

#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#define LIBBPF_PIN_BY_NAME 1

#define bpf_map_lookup_elem(map, key) host_lookup(map, key)
/* an error in the lower half only, as before Linux 6.4 */
#define bpf_map_update_elem(map, key, value, flags) ((long)(__u32)host_update(map, key, value, flags))
#define bpf_map_delete_elem(map, key) host_delete(map, key)
/* a macro, since the callback is called by its own type; it may delete the entry that it is called with */
#define bpf_for_each_map_elem(map, visit, context, flags)                                                            \
	({                                                                                                           \
		long visited_ = host_can_visit(map, flags) ? 0 : -EINVAL;                                            \
		struct host_entry *entry_ = visited_ ? 0 : host_map(map)->first, *next_;                             \
                                                                                                                     \
		for (; entry_; entry_ = next_) {                                                                     \
			next_ = entry_->next;                                                                        \
			visited_++;                                                                                  \
			if (host_stops(visit((struct bpf_map *)(map), (void *)entry_->key, entry_->value, context))) \
				break;                                                                               \
		}                                                                                                    \
		visited_;                                                                                            \
	})
#define bpf_ringbuf_reserve(map, size, flags) host_reserve(map, size)
#define bpf_ringbuf_submit(record, flags) host_submit(record, flags)

#define bpf_get_current_task() ((unsigned long)host.current)
#define bpf_get_current_task_btf() ((struct task_struct *)host.current)
#define bpf_task_pt_regs(task) host_registers(task)
#define bpf_get_current_pid_tgid() host_pid_tgid()
#define bpf_ktime_get_boot_ns() (++host.now)
#define bpf_send_signal(number) host_send_signal(number)
#define bpf_probe_read_kernel(to, size, from) host_read_kernel(to, size, from)
#define bpf_probe_read_kernel_str(to, size, from) host_read_kernel_string(to, size, from)
#define bpf_probe_read_user(to, size, from) host_read_user(to, size, from)

#endif
