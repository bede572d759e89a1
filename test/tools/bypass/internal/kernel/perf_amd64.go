package kernel

// stackPointer selects PERF_REG_X86_SP.
const stackPointer = 1 << 7
