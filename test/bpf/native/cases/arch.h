static enum call_kind expected_kind(const struct numbered *calls, unsigned count, __u32 number)
{
	for (unsigned at = 0; at < count; at++)
		if (calls[at].number == number)
			return calls[at].kind;
	return CALL_OTHER;
}

static struct call call_made(int abi, __u32 number, const __u64 arguments[5])
{
	struct call call;

	in_call(abi, number, arguments);
	read_call(&call, host.current, &registers);
	return call;
}

#define NO_ARGUMENTS ((const __u64[5]){})

CASE(arch_native, "native calls have the kinds that the kernel's numbers say, and no other number has one")
{
	for (__u32 number = 0; number < 512; number++) {
		struct call call = call_made(0, number, NO_ARGUMENTS);

		EQUAL(call.number, number);
		EXPECT(!call.compat);
		if (call.kind != expected_kind(native_calls, COUNT(native_calls), number))
			EQUAL(number, -1);
	}
}

CASE(arch_arguments, "native arguments are found in their registers")
{
	struct call call =
		call_made(0, 0, (const __u64[5]){ 1ULL << 40, 2ULL << 40, 3ULL << 40, 4ULL << 40, 5ULL << 40 });

	for (int at = 0; at < 5; at++)
		EQUAL(argument(&call, at), (at + 1ULL) << 40);
}

CASE(arch_compat, "32-bit calls have the kinds that the kernel's numbers say, and no other number has one")
{
	for (__u32 number = 0; number < 600; number++) {
		struct call call = call_made(1, number, NO_ARGUMENTS);

		EQUAL(call.number, number);
		EXPECT(call.compat);
		if (call.kind != expected_kind(compat_calls, COUNT(compat_calls), number))
			EQUAL(number, -1);
	}
}

CASE(arch_compat_arguments, "32-bit arguments are found in their registers, without the upper halves")
{
	struct call call = call_made(1, 0, (const __u64[5]){ 0x80000001, 2, 3, 4, 5 });

	EQUAL(argument(&call, 0), 0x80000001);
	for (int at = 1; at < 5; at++)
		EQUAL(argument(&call, at), at + 1);
}

#if defined(__TARGET_ARCH_x86)

CASE(arch_x32, "x32 calls have the kinds that the kernel's numbers say, and are known by numbers without the bit")
{
	for (unsigned at = 0; at < COUNT(x32_calls); at++) {
		struct call call = call_made(0, x32_calls[at].number, NO_ARGUMENTS);

		EXPECT(x32_calls[at].number & 0x40000000);
		EQUAL(call.number, x32_calls[at].number & ~0x40000000);
		EXPECT(!call.compat);
		if (call.kind != x32_calls[at].kind) {
			printf("%s ", x32_calls[at].name);
			EQUAL(call.kind, x32_calls[at].kind);
		}
	}
}

#endif

CASE(arch_no_registers, "where the kernel does not tell the call, it is none of those that matter")
{
	struct call call;

	memset(&call, 0xff, sizeof(call));
	IN_CALL(0, ptrace, 16, 1);
	host.knows_registers = false;
	current_call(&call);
	EQUAL(call.kind, CALL_OTHER);
	EQUAL(call.number, 0);
}
