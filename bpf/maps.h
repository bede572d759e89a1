/* All state of the guard. Maps but `answer` are pinned, so that they outlive the agent and the next one reuses them. */
#ifndef SVC_MAPS_H
#define SVC_MAPS_H

#include "program.h"

#define SVC_MOST_PROCESSES 65536
#define SVC_MOST_CGROUPS 4096
#define SVC_MOST_TOKENS 4096
#define SVC_MOST_KEEPERS 16
#define SVC_RING_BYTES (4 << 20)

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SVC_MOST_PROCESSES);
	__type(key, struct svc_process);
	__type(value, struct svc_protection);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} processes SEC(".maps");

/* By the id of the cgroup (v2); everything below it is covered as well. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SVC_MOST_CGROUPS);
	__type(key, __u64);
	__type(value, struct svc_protection);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} cgroups SEC(".maps");

/* Number of entries of each cgroup; cgroups beyond the map's size are not counted. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SVC_MOST_CGROUPS);
	__type(key, __u32);
	__type(value, struct svc_crowd);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} crowds SEC(".maps");

/* Processes that are not covered and whose environment or memory another process has opened. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SVC_MOST_PROCESSES);
	__type(key, struct svc_process);
	__type(value, __u32);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} opened SEC(".maps");

struct svc_file {
	__u64 file; /* address of the open file */
	struct svc_process target;
};

/* Reported open files, with the reading thread group, so that their reads are not reported again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct svc_file);
	__type(value, __u32);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} reported SEC(".maps");

/* Volumes of service account tokens that only wrappers may open. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SVC_MOST_TOKENS);
	__type(key, struct svc_volume);
	__type(value, struct svc_token);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} tokens SEC(".maps");

/* The processes that may open a token, and the volume of each. Not inherited. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SVC_MOST_TOKENS);
	__type(key, struct svc_process);
	__type(value, struct svc_volume);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} token_openers SEC(".maps");

/* The kubelet, which writes all tokens; new kubelets displace earlier ones. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SVC_MOST_KEEPERS);
	__type(key, struct svc_process);
	__type(value, __u32);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} token_keepers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct svc_settings);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SVC_TALLIES);
	__type(key, __u32);
	__type(value, __u64);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} tallies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, SVC_RING_BYTES);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} hits SEC(".maps");

/* The answer of the program `manage`; each loaded set of programs has its own. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct svc_answer);
} answer SEC(".maps");

/* Distinguishes this set of programs from one that another agent left behind or replaces it with. */
const volatile __u32 generation;

/* Address of the kernel's `preempt_dynamic_mode`, from /proc/kallsyms; 0 if unknown. */
const volatile __u64 preemption_address;

inlined struct svc_settings *current_settings(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&settings, &first);
}

inlined void tally(__u32 which)
{
	__u64 *value = bpf_map_lookup_elem(&tallies, &which);

	if (value)
		*value += 1;
}

#endif
