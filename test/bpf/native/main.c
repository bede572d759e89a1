/* Cases over the programs of a tier in one program of the host; they are included as they are. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

#if defined(TIER_TRACEPOINT)
#include "tracepoint.bpf.c"
#else
#include "lsm.bpf.c"
#endif

#include "world.h"
#include "system_calls.h"

#include "cases/arch.h"
#include "cases/file_target.h"
#include "cases/find_pid.h"
#include "cases/judge.h"
#include "cases/machine_guarded.h"
#include "cases/manage.h"
#include "cases/protection.h"
#include "cases/token_table.h"
#include "cases/track.h"

#if defined(TIER_TRACEPOINT)
#include "cases/memory_lock.h"
#include "cases/pidfd.h"
#include "cases/tracepoint_files.h"
#include "cases/tracepoint_kill.h"
#include "cases/tracepoint_perf.h"
#include "cases/tracepoint_tasks.h"
#else
#include "cases/core_limit.h"
#include "cases/descriptor_link.h"
#include "cases/kernel_memory.h"
#include "cases/not_denied.h"
#include "cases/perf.h"
#include "cases/proc_file.h"
#include "cases/ptrace.h"
#include "cases/token.h"
#endif

int main(void)
{
	setvbuf(stdout, 0, _IOLBF, 0);
	begin();
	run_cases();
	printf("%d cases\n", case_count);
	return 0;
}
