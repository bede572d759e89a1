/* What went on past the hooks, seen at the end of its call. */
static void read_at_end(int abi, __u32 number, const __u64 arguments[5], long answered)
{
	in_call(abi, number, arguments);
	end(answered);
}

CASE(slipped_open, "an opening that no hook denied is ended for, and reported once")
{
	bystander->descriptors[3] = proc_file("environ", covered_process(1100)->pid);
	IN_CALL(0, openat, -100);
	end(3);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->path, SVC_PATH_ENVIRON);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_KILLED);
	EQUAL(host.signals, 1);
	end(-13);
	EQUAL(hit_count(), 1);
}

CASE(slipped_calls, "calls that brought memory, descriptors or a tracee are ended for, those that did not are not")
{
	covered_process(1101);
	for (int abi = 0; abi < ABIS; abi++) {
		int before = hit_count();

		read_at_end(abi, NUMBER(abi, process_vm_readv), (const __u64[5]){ 1101 }, -1);
		read_at_end(abi, NUMBER(abi, process_vm_readv), (const __u64[5]){ 1101 }, 0);
		read_at_end(abi, NUMBER(abi, ptrace), (const __u64[5]){ 16, 1101 }, -1);
		EQUAL(hit_count(), before);
		read_at_end(abi, NUMBER(abi, process_vm_readv), (const __u64[5]){ 1101 }, 8);
		EQUAL(hit_count(), before + 1);
		read_at_end(abi, NUMBER(abi, ptrace), (const __u64[5]){ 16, 1101 }, 0);
		EQUAL(hit_count(), before + 2);
	}
	EQUAL(host.signals, hit_count());
}

CASE(slipped_choice,
     "what slipped past hooks is only reported without the choice to kill, and not where nothing is enforced")
{
	covered_process(1102);
	rules()->kill = 0;
	read_at_end(0, NATIVE_process_vm_readv, (const __u64[5]){ 1102 }, 8);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
	rules()->kill = 1;
	rules()->enforce = 0;
	read_at_end(0, NATIVE_process_vm_readv, (const __u64[5]){ 1102 }, 8);
	EQUAL(hit_count(), 1);
	EQUAL(host.signals, 0);
}

CASE(slipped_read, "a read of a descriptor that brought something is ended for")
{
	bystander->descriptors[5] = proc_file("mem", covered_process(1103)->pid);
	read_at_end(0, NATIVE_read, (const __u64[5]){ 5 }, 0);
	EQUAL(hit_count(), 0);
	read_at_end(0, NATIVE_read, (const __u64[5]){ 5 }, 10);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->path, SVC_PATH_OPEN_DESCRIPTOR);
	read_at_end(0, NATIVE_read, (const __u64[5]){ 6 }, 10);
	EQUAL(hit_count(), 1);
}
