/* The least that programs on the busiest hooks of a tier can cost: they do nothing. HOOK as in bpf/hooks.h; without it
 * those of the lowest tier. */
#include "program.h"

struct file;

#ifdef HOOK
SEC(HOOK("file_open"))
int BPF_PROG(file_open, struct file *file, int verdict)
{
	return verdict;
}

SEC(HOOK("file_permission"))
int BPF_PROG(file_permission, struct file *file, int mask, int verdict)
{
	return verdict;
}
#else
SEC("raw_tp/sys_enter")
int call_entered(struct bpf_raw_tracepoint_args *context)
{
	return 0;
}

SEC("raw_tp/sys_exit")
int call_ended(struct bpf_raw_tracepoint_args *context)
{
	return 0;
}
#endif

char LICENSE[] SEC("license") = "GPL";
